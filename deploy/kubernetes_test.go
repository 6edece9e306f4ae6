package deploy

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// These types have the fields of Kubernetes that the manifests use, and no others: a
// misspelt field, which a cluster may drop in silence, is an error here.

// An Object is what all of them have.
type Object struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
	Metadata   meta   `yaml:"metadata"`
}

type meta struct {
	Name        string            `yaml:"name"`
	Namespace   string            `yaml:"namespace"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

type configMap struct {
	Object `yaml:",inline"`
	Data   map[string]string `yaml:"data"`
}

type serviceAccount struct {
	Object    `yaml:",inline"`
	Automount *bool `yaml:"automountServiceAccountToken"`
}

type service struct {
	Object `yaml:",inline"`
	Spec   struct {
		Selector        map[string]string `yaml:"selector"`
		PublishNotReady bool              `yaml:"publishNotReadyAddresses"`
		Ports           []struct {
			Name       string `yaml:"name"`
			Port       int    `yaml:"port"`
			TargetPort string `yaml:"targetPort"`
		} `yaml:"ports"`
	} `yaml:"spec"`
}

type selector struct {
	MatchLabels map[string]string `yaml:"matchLabels"`
}

type deployment struct {
	Object `yaml:",inline"`
	Spec   struct {
		Replicas int      `yaml:"replicas"`
		Selector selector `yaml:"selector"`
		Template pod      `yaml:"template"`
	} `yaml:"spec"`
}

type job struct {
	Object `yaml:",inline"`
	Spec   jobSpec `yaml:"spec"`
}

type jobSpec struct {
	BackoffLimit   *int `yaml:"backoffLimit"`
	ActiveDeadline int  `yaml:"activeDeadlineSeconds"`
	TTL            *int `yaml:"ttlSecondsAfterFinished"`
	Template       pod  `yaml:"template"`
}

type cronJob struct {
	Object `yaml:",inline"`
	Spec   struct {
		Schedule          string `yaml:"schedule"`
		ConcurrencyPolicy string `yaml:"concurrencyPolicy"`
		StartingDeadline  int    `yaml:"startingDeadlineSeconds"`
		KeepSuccessful    *int   `yaml:"successfulJobsHistoryLimit"`
		KeepFailed        *int   `yaml:"failedJobsHistoryLimit"`
		JobTemplate       struct {
			Metadata meta    `yaml:"metadata"`
			Spec     jobSpec `yaml:"spec"`
		} `yaml:"jobTemplate"`
	} `yaml:"spec"`
}

type podMonitor struct {
	Object `yaml:",inline"`
	Spec   struct {
		Selector  selector   `yaml:"selector"`
		Endpoints []endpoint `yaml:"podMetricsEndpoints"`
	} `yaml:"spec"`
}

type endpoint struct {
	Port          string `yaml:"port"`
	Path          string `yaml:"path"`
	Interval      string `yaml:"interval"`
	ScrapeTimeout string `yaml:"scrapeTimeout"`
	BasicAuth     struct {
		Username secretKey `yaml:"username"`
		Password secretKey `yaml:"password"`
	} `yaml:"basicAuth"`
}

type serviceMonitor struct {
	Object `yaml:",inline"`
	Spec   struct {
		Selector  selector   `yaml:"selector"`
		Endpoints []endpoint `yaml:"endpoints"`
	} `yaml:"spec"`
}

type prometheusRule struct {
	Object `yaml:",inline"`
	Spec   map[string]any `yaml:"spec"`
}

type budget struct {
	Object `yaml:",inline"`
	Spec   struct {
		MaxUnavailable int      `yaml:"maxUnavailable"`
		Selector       selector `yaml:"selector"`
	} `yaml:"spec"`
}

type secretKey struct {
	Name string `yaml:"name"`
	Key  string `yaml:"key"`
}

type pod struct {
	Metadata meta    `yaml:"metadata"`
	Spec     podSpec `yaml:"spec"`
}

type podSpec struct {
	Account      string              `yaml:"serviceAccountName"`
	PullSecrets  []map[string]string `yaml:"imagePullSecrets"`
	Nodes        map[string]string   `yaml:"nodeSelector"`
	Tolerations  []map[string]string `yaml:"tolerations"`
	Automount    *bool               `yaml:"automountServiceAccountToken"`
	ServiceLinks *bool               `yaml:"enableServiceLinks"`
	Restart      string              `yaml:"restartPolicy"`
	Grace        *int                `yaml:"terminationGracePeriodSeconds"`
	Spread       []struct {
		MaxSkew     int      `yaml:"maxSkew"`
		TopologyKey string   `yaml:"topologyKey"`
		Unsatisfied string   `yaml:"whenUnsatisfiable"`
		Selector    selector `yaml:"labelSelector"`
	} `yaml:"topologySpreadConstraints"`
	Containers []container `yaml:"containers"`
	Volumes    []volume    `yaml:"volumes"`
}

type volume struct {
	Name      string `yaml:"name"`
	ConfigMap struct {
		Name string `yaml:"name"`
	} `yaml:"configMap"`
	Secret struct {
		Name string `yaml:"secretName"`
	} `yaml:"secret"`
}

type container struct {
	Name    string   `yaml:"name"`
	Image   string   `yaml:"image"`
	Pull    string   `yaml:"imagePullPolicy"`
	Args    []string `yaml:"args"`
	EnvFrom []struct {
		Secret struct {
			Name string `yaml:"name"`
		} `yaml:"secretRef"`
	} `yaml:"envFrom"`
	Env []struct {
		Name  string `yaml:"name"`
		Value string `yaml:"value"`
	} `yaml:"env"`
	Ports []struct {
		Name string `yaml:"name"`
		Port int    `yaml:"containerPort"`
	} `yaml:"ports"`
	Liveness  *probe `yaml:"livenessProbe"`
	Readiness *probe `yaml:"readinessProbe"`
	Resources struct {
		Requests map[string]string `yaml:"requests"`
		Limits   map[string]string `yaml:"limits"`
	} `yaml:"resources"`
	Security security `yaml:"securityContext"`
	Mounts   []struct {
		Name     string `yaml:"name"`
		Path     string `yaml:"mountPath"`
		ReadOnly bool   `yaml:"readOnly"`
	} `yaml:"volumeMounts"`
}

type probe struct {
	HTTP struct {
		Path string `yaml:"path"`
		Port string `yaml:"port"`
	} `yaml:"httpGet"`
	Period           int `yaml:"periodSeconds"`
	Timeout          int `yaml:"timeoutSeconds"`
	FailureThreshold int `yaml:"failureThreshold"`
}

type security struct {
	NonRoot      bool  `yaml:"runAsNonRoot"`
	User         int   `yaml:"runAsUser"`
	Group        int   `yaml:"runAsGroup"`
	ReadOnlyRoot bool  `yaml:"readOnlyRootFilesystem"`
	Escalation   *bool `yaml:"allowPrivilegeEscalation"`
	Capabilities struct {
		Drop []string `yaml:"drop"`
	} `yaml:"capabilities"`
	Seccomp struct {
		Type string `yaml:"type"`
	} `yaml:"seccompProfile"`
}

// A shape is what a folder of manifests comes to.
type shape struct {
	configs     []configMap
	accounts    []serviceAccount
	services    []service
	deployments []deployment
	jobs        []job
	cronJobs    []cronJob
	monitors    []podMonitor
	byService   []serviceMonitor
	rules       []prometheusRule
	budgets     []budget
	others      []Object // that only the types of Kubernetes itself are held against
	image       string   // of our container; "": that of the folders, or of an overlay of a platform
}

// parse reads what kustomize printed, strictly.
func parse(text string) (shape, error) {
	var s shape
	for document := range strings.SplitSeq(strings.TrimPrefix(text, "---\n"), "\n---\n") {
		var o Object
		if err := yaml.Unmarshal([]byte(document), &o); err != nil {
			return s, err
		}
		if err := conforms(o, document); err != nil {
			return s, fmt.Errorf("%s %s: %w", o.Kind, o.Metadata.Name, err)
		}
		if err := s.add(o, document); err != nil {
			return s, fmt.Errorf("%s %s: %w", o.Kind, o.Metadata.Name, err)
		}
	}
	return s, nil
}

func (s *shape) add(o Object, document string) error {
	switch o.APIVersion + " " + o.Kind {
	case "v1 ConfigMap":
		return decode(document, &s.configs)
	case "v1 ServiceAccount":
		return decode(document, &s.accounts)
	case "v1 Service":
		return decode(document, &s.services)
	case "apps/v1 Deployment":
		return decode(document, &s.deployments)
	case "batch/v1 Job":
		return decode(document, &s.jobs)
	case "batch/v1 CronJob":
		return decode(document, &s.cronJobs)
	case "monitoring.coreos.com/v1 PodMonitor":
		return decode(document, &s.monitors)
	case "monitoring.coreos.com/v1 ServiceMonitor":
		return decode(document, &s.byService)
	case "monitoring.coreos.com/v1 PrometheusRule":
		return decode(document, &s.rules)
	case "policy/v1 PodDisruptionBudget":
		return decode(document, &s.budgets)
	case "networking.k8s.io/v1 Ingress", "networking.k8s.io/v1 NetworkPolicy", "rbac.authorization.k8s.io/v1 Role",
		"rbac.authorization.k8s.io/v1 RoleBinding":
		s.others = append(s.others, o)
		return nil
	}
	return fmt.Errorf("apiVersion %s has no such kind that these tests know", o.APIVersion)
}

func decode[T any](document string, list *[]T) error {
	var one T
	d := yaml.NewDecoder(bytes.NewReader([]byte(document)), yaml.Strict())
	if err := d.Decode(&one); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	*list = append(*list, one)
	return nil
}

// A workload is a pod of a shape, with what it is.
type workload struct {
	name  string
	pod   pod
	owned bool   // all of the pod is ours; else it is the platform's, with us in it
	image string // that our container has to have
}

func (s shape) workloads() []workload {
	var out []workload
	add := func(o Object, p pod) {
		// An overlay gives the image and the namespace; a folder that it builds on has neither.
		image := "sandkeeper"
		if o.Metadata.Namespace != "" {
			image = "registry.example.com/sandkeeper:v1"
		}
		out = append(out, workload{o.Metadata.Name, p, o.Metadata.Labels["sandkeeper"] != "sidecar", cmp.Or(s.image, image)})
	}
	for _, d := range s.deployments {
		add(d.Object, d.Spec.Template)
	}
	for _, j := range s.jobs {
		add(j.Object, j.Spec.Template)
	}
	for _, c := range s.cronJobs {
		add(c.Object, c.Spec.JobTemplate.Spec.Template)
	}
	return out
}

// keeper is our container of a pod.
func (w workload) keeper() (container, bool) {
	i := slices.IndexFunc(w.pod.Spec.Containers, func(c container) bool { return c.Name == "sandkeeper" })
	if i < 0 {
		return container{}, false
	}
	return w.pod.Spec.Containers[i], true
}

// secrets are those that the pod reads.
func (w workload) secrets() []string {
	c, _ := w.keeper()
	var out []string
	for _, e := range c.EnvFrom {
		out = append(out, e.Secret.Name)
	}
	for _, v := range w.pod.Spec.Volumes {
		if v.Secret.Name != "" {
			out = append(out, v.Secret.Name)
		}
	}
	return out
}

func (c container) env(name string) (string, bool) {
	for _, e := range c.Env {
		if e.Name == name {
			return e.Value, true
		}
	}
	return "", false
}
