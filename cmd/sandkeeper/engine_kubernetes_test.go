package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
)

var clusterAt = flag.String("kubernetes", "", "folder of a cluster that may be filled; tools/engines-kubernetes.sh starts one")

// TestEngineKubernetes makes real Pods and claims in a real cluster, breaks them in the ways
// that are known, and lets the real janitor judge and repair them, with no more rights than
// the manifest gives.
func TestEngineKubernetes(t *testing.T) {
	if *clusterAt == "" {
		t.Skip("it needs a cluster and nobody gave one: make test-engine-kubernetes")
	}
	h := newHarbor(t, *clusterAt)
	h.grant()
	h.must("migrate")
	if out := h.must("check"); !strings.Contains(out, "user janitor") {
		t.Errorf("check = %s, want the user", out)
	}
	h.fill()
	h.freeze("frozen")
	h.keep(2 * time.Minute)
	h.judge()
}

// A harbor is a cluster with the sandboxes of a platform, and the arena of its tasks.
type harbor struct {
	*arena
	folder string
	api    dynamic.Interface
	ships  map[string]*ship // by name
	shims  []int            // stopped processes
}

// A ship is one sandbox, the task it is for, and what has to become of both.
type ship struct {
	name, task, key string
	claim, spare    bool

	command string // in the container; default a sleep
	image   string
	restart string // policy; default Never
	keeper  string // a finalizer
	idle    bool   // its task has no life sign any more
	orphan  bool   // no task

	ends bool   // the sandbox has to go
	says string // what the row has to say; "": the task goes on
	rule string // that ends it

	id string // of its Pod
}

// ships are healthy ones, and one of each ill.
func ships() []*ship {
	return []*ship{
		{name: "well-1"}, {name: "well-2"}, {name: "well-3"}, {name: "well-4"}, {name: "claimed", claim: true},
		{name: "spare", orphan: true, spare: true},
		{name: "frozen", ends: true, says: "no answer"},
		{name: "empty", command: "rm /bin/sh; sleep 1000000", ends: true, says: "executable file not found"},
		{name: "done", command: "true", idle: true, ends: true, says: "done"},
		{name: "crashing", command: "echo it broke; exit 3", restart: "Always", orphan: true, ends: true, rule: "errored"},
		{name: "unpulled", image: "docker.io/library/none:1", orphan: true, ends: true, rule: "provisioning-stuck"},
		{name: "orphan", orphan: true, ends: true, rule: "orphan"},
		{name: "orphaned-claim", orphan: true, claim: true, ends: true},
		{name: "kept", orphan: true, keeper: "sandkeeper.test/keep"},
	}
}

// The kinds that the test makes.
var (
	podsOf    = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	claimsOf  = schema.GroupVersionResource{Group: "extensions.agents.x-k8s.io", Version: "v1beta1", Resource: "sandboxclaims"}
	boxesOf   = schema.GroupVersionResource{Group: "agents.x-k8s.io", Version: "v1beta1", Resource: "sandboxes"}
	crdsOf    = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	rolesOf   = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"}
	bindingOf = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"}
)

func newHarbor(t *testing.T, folder string) *harbor {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(folder, "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	h := &harbor{arena: newArena(t, settings{}), folder: folder, ships: map[string]*ship{}}
	if h.api, err = dynamic.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`installation: test
mode: enforce
proof: off
database: %q
tasks: {preset: omoios}
providers:
  - name: cluster
    kind: kubernetes
    url: %q
    token: janitortoken
    ca_file: %s/certs/apiserver.crt
    namespace: default
    objects: all
    owns: {labels: {project: omoios}, exclusive: true}
    link: {task_label: task_id}
    rate: 1000/s
    timeout: 5s
    probe: {exec: "true", path: /, every: 3s, timeout: 1s, budget: 1000/m}
rules:
  idle-broken: {after: 5s, failures: 2}
  orphan: {after: 30s, sightings: 2, apart: 1s}
  provisioning-stuck: {after: 15s}
  errored: {after: 1s}
limits: {per_pass: 100, per_hour: 1000, share: 100%%, breaker: 100%%}
log: {level: warn}
`, h.dsn, config.Host, folder)
	if err := os.WriteFile(h.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.thaw)
	h.kinds()
	return h
}

// create makes an object and returns it.
func (h *harbor) create(of schema.GroupVersionResource, o map[string]any) *unstructured.Unstructured {
	h.Helper()
	var where dynamic.ResourceInterface = h.api.Resource(of)
	if of != crdsOf {
		where = h.api.Resource(of).Namespace("default")
	}
	out, err := where.Create(h.Context(), &unstructured.Unstructured{Object: o}, metav1.CreateOptions{})
	if err != nil {
		h.Fatalf("create %s: %v", of.Resource, err)
	}
	return out
}

// kinds makes the kinds of agent-sandbox, without their rules: nothing here tends them.
func (h *harbor) kinds() {
	h.Helper()
	for of, kind := range map[schema.GroupVersionResource]string{claimsOf: "SandboxClaim", boxesOf: "Sandbox",
		claimsOf.GroupVersion().WithResource("sandboxtemplates"): "SandboxTemplate",
		claimsOf.GroupVersion().WithResource("sandboxwarmpools"): "SandboxWarmPool"} {
		any1 := map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
		h.create(crdsOf, map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
			"metadata": map[string]any{"name": of.Resource + "." + of.Group,
				"annotations": map[string]any{"api-approved.kubernetes.io": "unapproved, for a test"}},
			"spec": map[string]any{"group": of.Group, "scope": "Namespaced",
				"names": map[string]any{"plural": of.Resource, "singular": strings.ToLower(kind), "kind": kind, "listKind": kind + "List"},
				"versions": []any{map[string]any{"name": of.Version, "served": true, "storage": true,
					"subresources": map[string]any{"status": map[string]any{}}, "schema": map[string]any{"openAPIV3Schema": any1}}}}})
		h.soon("kind "+kind, func() bool {
			_, err := h.api.Resource(of).Namespace("default").List(h.Context(), metav1.ListOptions{})
			return err == nil
		})
	}
}

// soon waits until something holds.
func (h *harbor) soon(what string, holds func() bool) {
	h.Helper()
	for until := time.Now().Add(time.Minute); !holds(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(until) {
			h.Fatalf("%s did not come", what)
		}
	}
}

// grant gives the janitor what the manifest gives, and nothing else.
func (h *harbor) grant() {
	h.Helper()
	text, err := os.ReadFile("../../deploy/kubernetes-rbac.yaml")
	if err != nil {
		h.Fatal(err)
	}
	for _, part := range strings.Split(string(text), "\n---\n") {
		o := map[string]any{}
		if err := yaml.Unmarshal([]byte(part), &o); err != nil {
			h.Fatal(err)
		}
		of := rolesOf
		if o["kind"] == "RoleBinding" {
			of = bindingOf
			o["subjects"] = []any{map[string]any{"kind": "User", "name": "janitor", "apiGroup": of.Group}}
		}
		h.create(of, o)
	}
}

// fill makes the tasks and the sandboxes.
func (h *harbor) fill() {
	h.Helper()
	for _, s := range ships() {
		h.ships[s.name] = s
		s.task, s.key = newUUID(), "omoios-"+s.name
		if !s.orphan {
			s.task = h.task(row{status: "running", key: s.key, created: 6 * time.Minute, updated: 5 * time.Minute, started: 5 * time.Minute})
			h.event(s.key, "agent.started", 5*time.Minute)
			h.event(s.key, "agent.heartbeat", 80*time.Second)
		}
		h.launch(s)
	}
	for name := range h.ships {
		h.soon("Pod "+name, func() bool { return h.settled(name) })
	}
}

func (s *ship) or(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

// launch makes a Pod, with a Sandbox and a claim before it where it is one, as the controller
// of agent-sandbox would leave them.
func (h *harbor) launch(s *ship) {
	h.Helper()
	labels := map[string]any{"project": "omoios", "task_id": s.task}
	meta := map[string]any{"name": s.name, "labels": labels}
	ready := map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": "DependenciesReady",
		"lastTransitionTime": time.Now().UTC().Format(time.RFC3339)}}, "sandbox": map[string]any{"name": s.name}}
	if s.claim {
		claim := h.crewed(claimsOf, "SandboxClaim", meta, ready)
		meta = map[string]any{"name": s.name, "ownerReferences": ownedBy(claim),
			"labels": map[string]any{"agents.x-k8s.io/claim-uid": string(claim.GetUID())}}
	}
	if s.spare {
		meta = map[string]any{"name": s.name, "labels": map[string]any{"project": "omoios", "agents.x-k8s.io/warm-pool-sandbox": "1a2b"}}
	}
	if s.claim || s.spare {
		box := h.crewed(boxesOf, "Sandbox", meta, ready)
		meta = map[string]any{"name": s.name, "ownerReferences": ownedBy(box), "labels": map[string]any{"project": "omoios"}}
	}
	if s.keeper != "" {
		meta["finalizers"] = []any{s.keeper}
	}
	pod := h.create(podsOf, map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": map[string]any{
		"nodeName": "node", "restartPolicy": s.or(s.restart, "Never"), "terminationGracePeriodSeconds": 1, "enableServiceLinks": false,
		"containers": []any{map[string]any{"name": "main", "image": s.or(s.image, "docker.io/library/bb:2"), "imagePullPolicy": "IfNotPresent",
			"command": []any{"sh", "-c", s.or(s.command, "sleep 1000000")}}}}})
	s.id = fmt.Sprintf("pod_default_%s_%s", s.name, pod.GetUID())
}

// crewed makes a custom resource with a status.
func (h *harbor) crewed(of schema.GroupVersionResource, kind string, meta, status map[string]any) *unstructured.Unstructured {
	h.Helper()
	o := h.create(of, map[string]any{"apiVersion": of.GroupVersion().String(), "kind": kind, "metadata": meta,
		"spec": map[string]any{"warmPoolRef": map[string]any{"name": "pool"}}})
	o.Object["status"] = status
	o, err := h.api.Resource(of).Namespace("default").UpdateStatus(h.Context(), o, metav1.UpdateOptions{})
	if err != nil {
		h.Fatal(err)
	}
	return o
}

func ownedBy(o *unstructured.Unstructured) []any {
	return []any{map[string]any{"apiVersion": o.GetAPIVersion(), "kind": o.GetKind(), "name": o.GetName(), "uid": string(o.GetUID()),
		"controller": true, "blockOwnerDeletion": true}}
}

// pod is a Pod as it is now; nil when it is gone.
func (h *harbor) pod(name string) *unstructured.Unstructured {
	h.Helper()
	o, err := h.api.Resource(podsOf).Namespace("default").Get(h.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		h.Fatal(err)
	}
	return o
}

// settled reports whether the node has done with a Pod what it can.
func (h *harbor) settled(name string) bool {
	phase, _, _ := unstructured.NestedString(h.pod(name).Object, "status", "phase")
	all, _, _ := unstructured.NestedSlice(h.pod(name).Object, "status", "containerStatuses")
	return (phase != "Pending" || name == "unpulled") && len(all) > 0
}

// inside are the processes of a Pod, by their numbers here.
func (h *harbor) inside(name string) []int {
	h.Helper()
	uid := string(h.pod(name).GetUID())
	var out []int
	groups, _ := filepath.Glob("/proc/[0-9]*/cgroup")
	for _, file := range groups {
		var pid int
		_, _ = fmt.Sscanf(file, "/proc/%d/cgroup", &pid)
		if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), "pod"+uid) {
			out = append(out, pid)
		}
	}
	return out
}

// stat is a field of a process's status.
func stat(pid int, field string) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut("\n"+string(text), "\n"+field+":\t")
	line, _, _ := strings.Cut(rest, "\n")
	return line
}

// freeze stops the process of the runtime that tends a Pod. Its status stays as it is.
func (h *harbor) freeze(name string) {
	h.Helper()
	for _, pid := range h.inside(name) {
		var parent int
		_, _ = fmt.Sscan(stat(pid, "PPid"), &parent)
		if strings.HasPrefix(stat(parent, "Name"), "containerd-shim") {
			if err := syscall.Kill(parent, syscall.SIGSTOP); err != nil {
				h.Fatal(err)
			}
			h.shims = append(h.shims, parent)
			return
		}
	}
	h.Fatalf("no process of the runtime tends %s", name)
}

// thaw lets go on what was stopped, and lets go what was kept.
func (h *harbor) thaw() {
	for _, pid := range h.shims {
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
	h.shims = nil
}

// keep makes passes, while the workers live, until all is as it has to be.
func (h *harbor) keep(patience time.Duration) {
	h.Helper()
	for until := time.Now().Add(patience); ; time.Sleep(2 * time.Second) {
		for _, s := range h.ships {
			if !s.orphan && !s.idle {
				h.event(s.key, "agent.heartbeat", time.Second)
			}
		}
		h.once(0)
		left := h.left()
		if len(left) == 0 {
			return
		}
		if time.Now().After(until) {
			h.Errorf("after %s it lacks: %s", patience, strings.Join(left, "; "))
			return
		}
	}
}

// left is what has not become as it has to be yet.
func (h *harbor) left() []string {
	h.Helper()
	var out []string
	for name, s := range h.ships {
		pod := h.pod(name)
		going := pod == nil || pod.GetDeletionTimestamp() != nil
		if (s.ends || s.keeper != "") && !going {
			out = append(out, name+" is not ended")
		}
		if s.says != "" {
			if status, why := h.state(s.task); status != "failed" || !strings.Contains(why, s.says) {
				out = append(out, fmt.Sprintf("the task of %s is %s: %s", name, status, why))
			}
		}
	}
	return out
}

// judge looks at what has to be as it was.
func (h *harbor) judge() {
	h.Helper()
	for name, s := range h.ships {
		pod := h.pod(name)
		if !s.ends && s.keeper == "" && (pod == nil || pod.GetDeletionTimestamp() != nil) {
			h.Errorf("healthy %s was ended", name)
		}
		if !s.orphan && s.says == "" {
			if status, why := h.state(s.task); status != "running" {
				h.Errorf("the task of healthy %s is %s: %s", name, status, why)
			}
		}
		if s.rule != "" {
			if out := h.must("explain", s.id); !strings.Contains(out, s.rule) {
				h.Errorf("%s was not ended by %s: %s", name, s.rule, out)
			}
		}
		if !s.ends && s.keeper == "" && pod != nil {
			for _, pid := range h.inside(name) {
				if state := stat(pid, "State"); strings.HasPrefix(state, "Z") {
					h.Errorf("the probes left process %d of %s behind: %s", pid, name, state)
				}
			}
		}
	}
	frozen := h.pod("frozen")
	if frozen == nil || *frozen.GetDeletionGracePeriodSeconds() == 0 {
		h.Error("the Pod of a frozen runtime was deleted by force: what runs there is forgotten")
	}
	if h.pod("kept") == nil {
		h.Error("the Pod with a finalizer is gone")
	}
	if o, err := h.api.Resource(claimsOf).Namespace("default").Get(h.Context(), "claimed", metav1.GetOptions{}); err != nil ||
		o.GetDeletionTimestamp() != nil {
		h.Errorf("the healthy claim = %v, %v; want it there", o, err)
	}
	h.thaw()
	h.soon("the end of the frozen Pod, once it goes on", func() bool { return h.pod("frozen") == nil })
	h.soon("the end of the orphaned claim and of all that is behind it", func() bool {
		_, err := h.api.Resource(claimsOf).Namespace("default").Get(h.Context(), "orphaned-claim", metav1.GetOptions{})
		return apierrors.IsNotFound(err) && h.pod("orphaned-claim") == nil
	})
}
