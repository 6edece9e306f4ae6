package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/kubernetes/kubernetestest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A clusterArena is an arena whose sandboxes are claims in a cluster, with their Sandboxes
// and Pods, beside Pods and spares.
type clusterArena struct {
	*arena
	cluster *kubernetestest.Server
	options kubernetestest.Options
}

func newClusterArena(t *testing.T, o kubernetestest.Options) *clusterArena {
	t.Helper()
	a := &clusterArena{arena: newArena(t, settings{rules: "{idle-broken: {after: 30s, failures: 2}}"}), options: o}
	a.cloud = simulated.New(simulated.Options{IDs: kubernetestest.IDs("claim")})
	a.cloud.PutTemplate(simulated.Template{Name: "ai-agent-dev-light", LastUsedAt: time.Now()})
	o.Key, o.TaskLabel = "cluster-token", "task_id"
	a.cluster = kubernetestest.New(a.cloud, o)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodDelete && !strings.Contains(r.URL.Path, "/sandboxclaims/") &&
			!strings.Contains(r.URL.Path, "/pods/pod-"):
			t.Errorf("%s %s ends something behind a claim", r.Method, r.URL)
		case strings.Contains(r.URL.RawQuery, "gracePeriodSeconds"):
			t.Errorf("%s %s is by force", r.Method, r.URL)
		}
		a.cluster.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	text, err := os.ReadFile(a.config)
	if err != nil {
		t.Fatal(err)
	}
	config := strings.NewReplacer("name: daytona", "name: cloud", "kind: daytona", "kind: kubernetes", a.url, server.URL,
		"token: key", "token: cluster-token", "    owns:", "    namespace: default\n    objects: all\n    owns:").Replace(string(text))
	a.url = server.URL
	if err := os.WriteFile(a.config, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return a
}

// object puts an object of a kind into the cluster, of ours, for a task.
func (a *clusterArena) object(kind, task string, s simulated.Sandbox) string {
	s.ID = fmt.Sprintf("%s_default_%s-%s_%s", kind, kind, newUUID()[:8], newUUID())
	s.CreatedAt = time.Now().Add(-10 * time.Minute)
	if s.Labels == nil {
		s.Labels = map[string]string{"project": "omoios", "task_id": task}
	}
	return a.cloud.Put(s).ID
}

// TestKubernetes: what is broken is repaired at the claim, and what waits in a pool, is a
// record of the past, rests, or is somebody else's is left alone.
func TestKubernetes(t *testing.T) {
	a := newClusterArena(t, kubernetestest.Options{})
	ws := a.working(6)
	hung, lost, full := ws[0], ws[1], ws[2]
	a.cloud.Change(hung.sandbox, func(s *simulated.Sandbox) { s.Exec, s.Files = simulated.Hung, simulated.Hung })
	a.cloud.Change(lost.sandbox, func(s *simulated.Sandbox) { s.Files = simulated.NoPath })
	a.cloud.Change(full.sandbox, func(s *simulated.Sandbox) { s.Exec = simulated.Lost }) // in between, its node is not sure
	orphan := a.object("claim", nobody, simulated.Sandbox{})
	pod := a.object("pod", newUUID(), simulated.Sandbox{})
	failed := a.object("pod", newUUID(), simulated.Sandbox{State: reconcile.SandboxFailed, Error: "The node was low on memory"})
	ignored := a.stopped(time.Minute).ID
	stay := map[string]string{
		"spare":     a.object("spare", newUUID(), simulated.Sandbox{}),
		"tombstone": a.object("claim", newUUID(), simulated.Sandbox{State: reconcile.SandboxEnded}),
		"foreign":   a.object("claim", "", simulated.Sandbox{Labels: map[string]string{"project": "research", "task_id": newUUID()}}),
		"odd":       a.object("claim", newUUID(), simulated.Sandbox{Raw: "hibernating"}),
	}
	a.once(0)
	if !a.ended(ignored) || a.ended(orphan) || a.ended(pod) {
		t.Errorf("after a pass the sandbox of a cancelled task is ended %t, the orphans %t and %t; want only the former",
			a.ended(ignored), a.ended(orphan), a.ended(pod))
	}
	for range 3 {
		a.later(61*time.Second, ws...)
		a.once(0)
	}
	for name, id := range map[string]string{"orphan": orphan, "orphaned Pod": pod, "failed Pod": failed, "hung": hung.sandbox,
		"empty": lost.sandbox} {
		if !a.ended(id) {
			t.Errorf("later the %s sandbox lives on", name)
		}
	}
	for w, want := range map[worker]string{hung: "no answer within", lost: "No such file"} {
		if status, why := a.state(w.task); status != "failed" || !strings.Contains(why, want) {
			t.Errorf("the task of a broken sandbox is %s: %s; want it failed, with %q", status, why, want)
		}
	}
	for name, id := range stay {
		if a.ended(id) {
			t.Errorf("the %s was ended", name)
		}
		for _, kind := range a.asked(id) {
			if kind == simulated.Exec || kind == simulated.Files || kind == simulated.Delete {
				t.Errorf("the %s was asked for %s", name, kind)
			}
		}
	}
	a.keeps(ws[2:])
}

// TestKubernetesListingFails: whatever fails of a listing, nothing is concluded from what it
// does not show.
func TestKubernetesListingFails(t *testing.T) {
	for name, fault := range map[string]simulated.Fault{
		"it broke":                 {Effect: simulated.Answer, Status: 500},
		"it expired":               {Effect: simulated.Answer, Status: 410},
		"the role was taken":       {Effect: simulated.Answer, Status: 403},
		"a page of HTML":           {Effect: simulated.Answer, Status: 200, ContentType: "text/html", Body: "<html>"},
		"a Status":                 {Effect: simulated.Answer, Status: 200, Body: `{"kind":"Status","status":"Success"}`},
		"nothing, as a new server": {Effect: simulated.EmptyList},
		"the kind is not there":    {Effect: simulated.Answer, Status: 404, ContentType: "text/plain", Body: "404 page not found"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newClusterArena(t, kubernetestest.Options{})
			ws := a.working(3)
			a.once(0)
			a.later(3*time.Minute, ws...)
			before := a.rows()
			fault.On = simulated.List
			a.cloud.Inject(fault)
			if r := a.doubting(); !distrusts(r, "listing:cloud") {
				t.Errorf("sources = %+v, want the listing distrusted", r.Sources)
			}
			a.untouched(before)
			a.keeps(ws)
		})
	}
}

// TestKubernetesRefuses: what a controller would make anew is reported, not ended.
func TestKubernetesRefuses(t *testing.T) {
	a := newClusterArena(t, kubernetestest.Options{Controlled: kubernetestest.OwnedBy("batch/v1", "Job", "nightly")})
	ws := a.working(3)
	pod := a.object("pod", nobody, simulated.Sandbox{})
	for range 3 {
		a.once(0)
		a.later(61*time.Second, ws...)
	}
	if a.ended(pod) || len(a.cloud.Destructive()) > 0 {
		t.Errorf("a Pod of a Job was ended: %v", a.cloud.Destructive())
	}
	if out := a.must("explain", pod); !strings.Contains(out, "Job nightly") {
		t.Errorf("explain = %s, want who controls it", out)
	}
	a.keeps(ws)
}

// TestKubernetesCheck: who the credential is, and each right that it lacks.
func TestKubernetesCheck(t *testing.T) {
	a := newClusterArena(t, kubernetestest.Options{})
	a.must("migrate")
	a.working(1)
	out := a.must("check")
	for _, want := range []string{"system:serviceaccount:sandkeeper:sandkeeper", "delete sandboxclaims in default",
		"create pods/exec in default", "1 sandboxes, 1 owned"} {
		if !strings.Contains(out, want) {
			t.Errorf("check = %s, want %q", out, want)
		}
	}
}

// TestKubernetesCheckWithoutRights: each right that the credential lacks, and how to give it.
func TestKubernetesCheckWithoutRights(t *testing.T) {
	a := newClusterArena(t, kubernetestest.Options{Denied: []string{"delete sandboxclaims", "get pods/log"}})
	a.must("migrate")
	code, out, errs := a.run("check")
	for _, want := range []string{"allow delete sandboxclaims in default", "allow get pods/log", "deploy/kubernetes-rbac.yaml"} {
		if code == 0 || !strings.Contains(out+errs, want) {
			t.Errorf("check: exit code %d, %s%s; want %q", code, out, errs, want)
		}
	}
}
