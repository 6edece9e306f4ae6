package kubernetestest

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// The plurals of what is listed.
const (
	pods      = "pods"
	sandboxes = "sandboxes"
	claims    = "sandboxclaims"
)

const (
	agentsGroup     = "agents.x-k8s.io"
	extensionsGroup = "extensions.agents.x-k8s.io"
)

var groups = map[string]string{sandboxes: agentsGroup, claims: extensionsGroup, "sandboxtemplates": extensionsGroup,
	"sandboxwarmpools": extensionsGroup}

// A place is where the cluster keeps what a world's sandbox is.
type place struct{ kind, namespace, name, uid string }

func placeOf(id string) (place, bool) {
	parts := strings.Split(id, "_")
	if len(parts) != 4 {
		return place{}, false
	}
	return place{parts[0], parts[1], parts[2], parts[3]}, true
}

// as is the name and uid of the object of a kind that belongs to the sandbox: a claim's
// Sandbox and its Pod have the name that the pool gave.
func (p place) as(plural string) (name, uid string, ok bool) {
	switch {
	case plural == pods && p.kind == "pod", plural == claims && p.kind == "claim",
		plural == sandboxes && (p.kind == "sandbox" || p.kind == "spare"):
		return p.name, p.uid, true
	case plural == sandboxes && p.kind == "claim":
		return "pool-" + p.name, "5b" + p.uid[2:], true
	case plural == pods && p.kind == "claim":
		return "pool-" + p.name, "90" + p.uid[2:], true
	case plural == pods && (p.kind == "sandbox" || p.kind == "spare"):
		return p.name, "90" + p.uid[2:], true
	}
	return "", "", false
}

// find is the world's sandbox that an object belongs to.
func (s *Server) find(plural, namespace, name string) (simulated.Sandbox, place, bool) {
	for _, b := range s.world.Sandboxes() {
		p, ok := placeOf(b.ID)
		if !ok || p.namespace != namespace || b.Hidden() {
			continue
		}
		if called, _, ok := p.as(plural); ok && called == name {
			return b, p, true
		}
	}
	return simulated.Sandbox{}, place{}, false
}

type object = map[string]any

// object is one object as the API shows it.
func (s *Server) object(plural string, b simulated.Sandbox, p place) object {
	switch plural {
	case claims:
		return s.claim(b, p)
	case sandboxes:
		return s.sandbox(b, p)
	}
	return s.pod(b, p)
}

func (s *Server) metadata(plural string, b simulated.Sandbox, p place) object {
	name, uid, _ := p.as(plural)
	out := object{"name": name, "namespace": p.namespace, "uid": uid, "resourceVersion": s.versionOf(b),
		"creationTimestamp": stamp(b.CreatedAt), "generation": 1,
		"managedFields": []object{{"manager": "controller", "operation": "Update", "apiVersion": "v1",
			"time": stamp(b.CreatedAt), "fieldsType": "FieldsV1",
			"fieldsV1": object{"f:metadata": object{"f:labels": object{".": object{}}}}}}}
	if len(b.Labels) > 0 {
		out["labels"] = b.Labels
	}
	if b.Doomed {
		out["deletionTimestamp"], out["deletionGracePeriodSeconds"] = stamp(b.UpdatedAt), 30
	}
	return out
}

// versionOf is another one after each change; that of a locked sandbox changes all the time.
func (s *Server) versionOf(b simulated.Sandbox) string {
	h := fnv.New32a()
	fmt.Fprint(h, b.State, b.Raw, b.Doomed, b.UpdatedAt, b.Labels, b.Error)
	if b.Locked {
		s.mu.Lock()
		s.version++
		fmt.Fprint(h, s.version)
		s.mu.Unlock()
	}
	return fmt.Sprint(h.Sum32())
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// unit is what the containers of the world are called.
const unit = "main"

func (s *Server) pod(b simulated.Sandbox, p place) object {
	meta := s.metadata(pods, b, p)
	meta["annotations"] = object{"kubectl.kubernetes.io/default-container": unit}
	switch {
	case p.kind != "pod":
		name, uid, _ := p.as(sandboxes)
		delete(meta, "labels")
		meta["ownerReferences"] = []owner{{agentsGroup + "/v1beta1", "Sandbox", name, uid, true, true}}
	case len(s.o.Controlled) > 0:
		meta["ownerReferences"] = s.o.Controlled
	}
	image := b.Template
	if p.kind != "pod" {
		image = "registry.test/agent:1"
	}
	used := usageOf(b)
	return object{"kind": "Pod", "apiVersion": "v1", "metadata": meta,
		"spec": object{"nodeName": b.Region, "restartPolicy": "Never", "serviceAccountName": "default",
			"containers": []object{{"name": unit, "image": image, "resources": object{"limits": object{
				"cpu": "1", "memory": fmt.Sprint(used.MemoryTotal)}}},
				{"name": "proxy", "image": "registry.test/proxy:1"}}},
		"status": podStatus(b)}
}

// phases are the usual words for the states. One that the world spells out goes first.
var phases = map[reconcile.SandboxState]string{
	reconcile.SandboxCreating: "Pending", reconcile.SandboxRunning: "Running", reconcile.SandboxStopped: "Succeeded",
	reconcile.SandboxSuspended: "Succeeded", reconcile.SandboxFailed: "Failed", reconcile.SandboxDeleting: "Running",
	reconcile.SandboxEnded: "Succeeded",
}

func podStatus(b simulated.Sandbox) object {
	phase := phases[b.State]
	if b.State == reconcile.SandboxUnknown {
		phase = b.Raw
	}
	out := object{"phase": phase, "qosClass": "Guaranteed", "startTime": stamp(b.CreatedAt),
		"conditions": []object{conditionOf("PodScheduled", "True", "", b),
			conditionOf("Ready", yes(phase == "Running"), "", b)}}
	if b.Error != "" {
		out["reason"], out["message"] = "Evicted", b.Error
	}
	how := object{"running": object{"startedAt": stamp(b.CreatedAt)}}
	switch phase {
	case "Pending":
		how = object{"waiting": object{"reason": "ContainerCreating"}}
	case "Succeeded":
		how = ended(0, "Completed", b)
	case "Failed":
		how = ended(1, "Error", b)
		if b.EndedFor == "oom" {
			how = ended(137, "OOMKilled", b)
		}
	}
	out["containerStatuses"] = []object{
		{"name": "proxy", "image": "registry.test/proxy:1", "ready": true, "restartCount": 0, "state": how},
		{"name": unit, "image": b.Template, "ready": phase == "Running", "restartCount": 0, "state": how},
	}
	return out
}

func ended(code int, reason string, b simulated.Sandbox) object {
	return object{"terminated": object{"exitCode": code, "reason": reason, "finishedAt": stamp(b.UpdatedAt)}}
}

func yes(holds bool) string {
	if holds {
		return "True"
	}
	return "False"
}

func conditionOf(kind, status, reason string, b simulated.Sandbox) object {
	return object{"type": kind, "status": status, "reason": reason, "message": b.Error,
		"lastTransitionTime": stamp(b.UpdatedAt)}
}

// notReady are the reasons for which a Sandbox or a claim is not ready.
var notReady = map[reconcile.SandboxState]string{
	reconcile.SandboxCreating: "DependenciesNotReady", reconcile.SandboxSuspended: "SandboxSuspended",
	reconcile.SandboxStopped: "PodSucceeded", reconcile.SandboxFailed: "PodFailed",
	reconcile.SandboxDeleting: "DependenciesNotReady", reconcile.SandboxEnded: "SandboxExpired",
}

func conditionsOf(b simulated.Sandbox) []object {
	reason := notReady[b.State]
	switch b.State {
	case reconcile.SandboxRunning:
		return []object{conditionOf("Ready", "True", "DependenciesReady", b)}
	case reconcile.SandboxUnknown:
		return []object{conditionOf("Ready", "False", b.Raw, b)}
	case reconcile.SandboxStopped, reconcile.SandboxFailed:
		return []object{conditionOf("Ready", "False", reason, b), conditionOf("Finished", "True", reason, b)}
	}
	return []object{conditionOf("Ready", "False", reason, b)}
}

func (s *Server) sandbox(b simulated.Sandbox, p place) object {
	meta := s.metadata(sandboxes, b, p)
	switch p.kind {
	case "claim":
		// Labels of a claim are not copied to what it adopts.
		meta["labels"] = object{agentsGroup + "/claim-uid": p.uid, agentsGroup + "/launch-type": "warm"}
		meta["ownerReferences"] = []owner{{extensionsGroup + "/v1beta1", "SandboxClaim", p.name, p.uid, true, true}}
	case "spare":
		labels := object{agentsGroup + "/warm-pool-sandbox": "1a2b3c4d", agentsGroup + "/launch-type": "warm"}
		for key, value := range b.Labels {
			labels[key] = value
		}
		meta["labels"] = labels
		meta["ownerReferences"] = OwnedBy(extensionsGroup+"/v1beta1", "SandboxWarmPool", "pool")
	}
	mode := "Running"
	if b.State == reconcile.SandboxSuspended {
		mode = "Suspended"
	}
	return object{"kind": "Sandbox", "apiVersion": agentsGroup + "/v1beta1", "metadata": meta,
		"spec": object{"operatingMode": mode, "shutdownPolicy": "Retain", "podTemplate": object{"spec": object{
			"containers": []object{{"name": unit, "image": b.Template}}}}},
		"status": object{"conditions": conditionsOf(b), "selector": "agents.x-k8s.io/sandbox-name-hash=1a2b3c4d",
			"podIPs": []string{"10.0.0.7"}, "nodeName": b.Region}}
}

func (s *Server) claim(b simulated.Sandbox, p place) object {
	name, _, _ := p.as(sandboxes)
	how := object{"conditions": conditionsOf(b), "sandbox": object{"name": name, "podIPs": []string{"10.0.0.7"}}}
	if b.State == reconcile.SandboxEnded {
		how["sandbox"] = object{}
	}
	return object{"kind": "SandboxClaim", "apiVersion": extensionsGroup + "/v1beta1",
		"metadata": s.metadata(claims, b, p),
		"spec":     object{"warmPoolRef": object{"name": b.Template}, "lifecycle": object{"shutdownPolicy": "Retain"}},
		"status":   how}
}
