package kubernetes

import (
	"fmt"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// The groups of agent-sandbox.
const (
	agents     = "agents.x-k8s.io"
	extensions = "extensions.agents.x-k8s.io"
)

// A kind is a kind of object that the adapter reads.
type kind struct {
	word   string // in ids
	path   []string
	plural string
	group  string
}

var (
	pods      = kind{"pod", []string{"api", "v1"}, "pods", ""}
	sandboxes = kind{"sandbox", []string{"apis", agents, "v1beta1"}, "sandboxes", agents}
	claims    = kind{"claim", []string{"apis", extensions, "v1beta1"}, "sandboxclaims", extensions}
	pools     = kind{"pool", claims.path, "sandboxwarmpools", extensions}
	templates = kind{"template", claims.path, "sandboxtemplates", extensions}
	metrics   = kind{"metrics", []string{"apis", "metrics.k8s.io", "v1beta1"}, "pods", "metrics.k8s.io"}
)

// A name is the full name of an object. A uid is never used again; the rest may be.
type name struct {
	kind
	namespace, name, uid string
}

// id is the name as one word, much as the node writes it in the folders of logs. None of
// the parts can hold an underscore.
func (n name) id() string {
	if n.name == "" || n.uid == "" {
		return ""
	}
	return strings.Join([]string{n.word, n.namespace, n.name, n.uid}, "_")
}

func (n name) String() string { return n.word + " " + n.namespace + "/" + n.name }

// parseID reads an id.
func parseID(id string) (name, error) {
	parts := strings.Split(id, "_")
	for _, k := range []kind{pods, sandboxes, claims} {
		if len(parts) == 4 && parts[0] == k.word && parts[1] != "" && parts[2] != "" && parts[3] != "" {
			return name{k, parts[1], parts[2], parts[3]}, nil
		}
	}
	return name{}, fmt.Errorf("%w: %q is not kind_namespace_name_uid", reconcile.ErrUnknownID, text.Clip(id, 80))
}

// at is the address of a kind's objects in a namespace, or of what parts name below.
func (p *Provider) at(k kind, namespace string, parts ...string) string {
	all := append(append([]string{}, k.path...), "namespaces", namespace, k.plural)
	return p.client.At(append(all, parts...)...)
}

// An object holds the fields of all kinds that are used, and no others. Everything may be
// missing.
type object struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name              string            `json:"name"`
		Namespace         string            `json:"namespace"`
		UID               string            `json:"uid"`
		ResourceVersion   string            `json:"resourceVersion"`
		CreationTimestamp wire.Stamp        `json:"creationTimestamp"`
		DeletionTimestamp wire.Stamp        `json:"deletionTimestamp"`
		Labels            map[string]string `json:"labels"`
		Annotations       notes             `json:"annotations"`
		Finalizers        []string          `json:"finalizers"`
		Owners            []owner           `json:"ownerReferences"`
	} `json:"metadata"`
	Spec   spec   `json:"spec"`
	Status actual `json:"status"`

	survives bool // its claim, and does not belong to it any more
}

// notes are the annotations that are used.
type notes struct {
	Container string `json:"kubectl.kubernetes.io/default-container"`
	Pod       string `json:"agents.x-k8s.io/pod-name"`
}

type owner struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
	Controller bool   `json:"controller"`
}

type spec struct {
	// Of a Pod.
	NodeName       string      `json:"nodeName"`
	RestartPolicy  string      `json:"restartPolicy"`
	ActiveDeadline int64       `json:"activeDeadlineSeconds"`
	Containers     []container `json:"containers"`

	// Of a Sandbox, a SandboxClaim and a SandboxWarmPool.
	OperatingMode string     `json:"operatingMode"`
	ShutdownTime  wire.Stamp `json:"shutdownTime"`
	PodTemplate   struct {
		Spec struct {
			Containers []container `json:"containers"`
		} `json:"spec"`
	} `json:"podTemplate"`
	WarmPool  ref `json:"warmPoolRef"`
	Lifecycle struct {
		ShutdownTime wire.Stamp `json:"shutdownTime"`
	} `json:"lifecycle"`
	Template ref `json:"sandboxTemplateRef"`
}

type ref struct {
	Name string `json:"name"`
}

type container struct {
	Name      string `json:"name"`
	Image     string `json:"image"`
	Resources struct {
		Limits amounts `json:"limits"`
	} `json:"resources"`
}

// amounts are quantities in the cluster's own form: 500m, 1Gi.
type amounts struct {
	CPU    string `json:"cpu"`
	Memory string `json:"memory"`
	GPU    string `json:"nvidia.com/gpu"`
}

type actual struct {
	Phase      string      `json:"phase"`
	Reason     string      `json:"reason"`
	Message    string      `json:"message"`
	StartTime  string      `json:"startTime"` // read only where it matters
	Conditions []condition `json:"conditions"`
	Init       []run       `json:"initContainerStatuses"`
	Containers []run       `json:"containerStatuses"`
	Sandbox    ref         `json:"sandbox"` // of a claim
	PodIPs     some        `json:"podIPs"`
	NodeName   string      `json:"nodeName"`
}

// A some tells whether a list holds anything.
type some bool

// UnmarshalJSON never fails.
func (s *some) UnmarshalJSON(text []byte) error {
	*s = text[0] == '[' && len(text) > len("[]")
	return nil
}

type condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Since   string `json:"lastTransitionTime"` // of the cluster's one form, which sorts as it is
}

// A run is how a container is.
type run struct {
	Name     string `json:"name"`
	Restarts int    `json:"restartCount"`
	State    struct {
		Waiting    *waiting    `json:"waiting"`
		Running    *struct{}   `json:"running"`
		Terminated *terminated `json:"terminated"`
	} `json:"state"`
	Last struct {
		Terminated *terminated `json:"terminated"`
	} `json:"lastState"`
}

type waiting struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

type terminated struct {
	Reason   string `json:"reason"`
	Message  string `json:"message"`
	ExitCode int    `json:"exitCode"`
	Signal   int    `json:"signal"`

	FinishedAt wire.Stamp `json:"finishedAt"`
}
