package kubernetes

import (
	"encoding/base64"
	"encoding/pem"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/kubernetes/kubernetestest"
	"github.com/sandkeeper/sandkeeper/providers/providertest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

var podResource = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// A town is a simulated cluster over real HTTP.
type town struct {
	world  *simulated.World
	clock  *simulated.Clock
	server *kubernetestest.Server
	url    string
}

func newTown(t testing.TB, kind string, o kubernetestest.Options) town {
	world, clock := providertest.World(Abilities, func(o *simulated.Options) { o.IDs = kubernetestest.IDs(kind) })
	o.Key = "secret-key"
	s := kubernetestest.New(world, o)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return town{world, clock, s, server.URL}
}

func (w town) open(t testing.TB, extra map[string]string) *Provider {
	t.Helper()
	e := providertest.Entry("kubernetes", Abilities)
	e.URL, e.Extra = w.url, extra
	p, err := New(e, entry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (w town) put(s simulated.Sandbox) simulated.Sandbox {
	s.Labels = map[string]string{"project": "mine", "task_id": "t1"}
	return w.world.Put(s)
}

// The vendor's own client speaks with the simulator as with a cluster.
func TestDynamicClientDrivesTheSimulator(t *testing.T) {
	w := newTown(t, "pod", kubernetestest.Options{})
	var made []simulated.Sandbox
	for range 7 {
		made = append(made, w.put(simulated.Sandbox{Template: "agent:1"}))
	}
	client, err := dynamic.NewForConfig(&rest.Config{Host: w.url, BearerToken: "secret-key"})
	if err != nil {
		t.Fatal(err)
	}
	api := client.Resource(podResource).Namespace("default")
	list, err := api.List(t.Context(), metav1.ListOptions{LabelSelector: "project=mine", Limit: 4})
	if err != nil || len(list.Items) != 4 || list.GetContinue() == "" || list.GetRemainingItemCount() != nil {
		t.Fatalf("List = %d items, continue %q, %v; want 4 and more to come", len(list.Items), list.GetContinue(), err)
	}
	others, err := api.List(t.Context(), metav1.ListOptions{LabelSelector: "project=mine", Limit: 4, Continue: list.GetContinue()})
	if err != nil || len(others.Items) != 3 || others.GetContinue() != "" {
		t.Errorf("the next List = %d items, %v; want the other 3", len(others.Items), err)
	}
	w.server.Compact()
	if _, err = api.List(t.Context(), metav1.ListOptions{Continue: list.GetContinue()}); !apierrors.IsResourceExpired(err) {
		t.Errorf("List with an old token = %v, want it expired", err)
	}
	if _, err = api.Get(t.Context(), "none", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("Get of none = %v, want not found", err)
	}
	n, _ := parseID(made[0].ID)
	got, err := api.Get(t.Context(), n.name, metav1.GetOptions{})
	if err != nil || string(got.GetUID()) != n.uid {
		t.Fatalf("Get = %v, %v; want uid %s", got, err, n.uid)
	}
	wrong, uid, version := metav1.ObjectMeta{UID: "other"}.UID, got.GetUID(), "1"
	for name, p := range map[string]metav1.Preconditions{"uid": {UID: &wrong}, "version": {UID: &uid, ResourceVersion: &version}} {
		if err := api.Delete(t.Context(), n.name, metav1.DeleteOptions{Preconditions: &p}); !apierrors.IsConflict(err) {
			t.Errorf("Delete with another %s = %v, want a conflict", name, err)
		}
	}
	version = got.GetResourceVersion()
	if err := api.Delete(t.Context(), n.name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version}}); err != nil {
		t.Errorf("Delete = %v, want none", err)
	}
	if got, err = api.Get(t.Context(), n.name, metav1.GetOptions{}); err != nil || got.GetDeletionTimestamp() == nil {
		t.Errorf("Get after it = %v, %v; want it being deleted", got, err)
	}
	if strange, err := dynamic.NewForConfig(&rest.Config{Host: w.url, BearerToken: "no"}); err != nil {
		t.Fatal(err)
	} else if _, err = strange.Resource(podResource).Namespace("default").List(t.Context(), metav1.ListOptions{}); !apierrors.IsUnauthorized(err) {
		t.Errorf("List with another token = %v, want it unauthorized", err)
	}
}

// A token that expires while pages are read leaves the listing without proof.
func TestListingExpires(t *testing.T) {
	w := newTown(t, "pod", kubernetestest.Options{})
	for range pageSize + 1 {
		w.put(simulated.Sandbox{})
	}
	l, err := w.open(t, nil).List(t.Context(), func([]reconcile.Sandbox) error { w.server.Compact(); return nil })
	if err == nil || l.Complete || errors.Is(err, reconcile.ErrNotFound) || !strings.Contains(err.Error(), "too old") {
		t.Errorf("List = %+v, %v; want it expired, and proving nothing", l, err)
	}
}

// A fresh spare of a pool is nobody's orphan, whatever labels its template gave it.
func TestSparesAreNotListed(t *testing.T) {
	for _, objects := range []string{"pods", "sandboxes", "all"} {
		w := newTown(t, "spare", kubernetestest.Options{})
		spare := w.put(simulated.Sandbox{})
		n := strings.Split(spare.ID, "_")
		p := w.open(t, map[string]string{"objects": objects})
		listing, err := p.List(t.Context(), func(page []reconcile.Sandbox) error {
			if len(page) > 0 {
				t.Errorf("%s: listed %+v, want no spare", objects, page)
			}
			return nil
		})
		if err != nil || !listing.Complete {
			t.Errorf("%s: List = %+v, %v", objects, listing, err)
		}
		how, err := p.Terminate(t.Context(), reconcile.Sandbox{Ref: reconcile.Ref{ID: "sandbox_default_" + n[2] + "_" + n[3]}, Owned: true})
		if how != reconcile.TerminateChanged || err != nil || len(w.world.Destructive()) != 0 {
			t.Errorf("%s: Terminate of a spare = %q, %v; want it left alone", objects, how, err)
		}
	}
}

// Behind a claim there are a Sandbox and a Pod: only the claim is listed and ended.
func TestClaimsStandForWhatIsBehind(t *testing.T) {
	w := newTown(t, "claim", kubernetestest.Options{})
	claim := w.put(simulated.Sandbox{Template: "pool"})
	p := w.open(t, map[string]string{"objects": "all"})
	var all []reconcile.Sandbox
	if _, err := p.List(t.Context(), func(page []reconcile.Sandbox) error { all = append(all, page...); return nil }); err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 || all[0].ID != claim.ID || all[0].Template != "pool" {
		t.Fatalf("List = %+v, want the claim alone", all)
	}
	if got := p.Probe(t.Context(), all[0], reconcile.ProbePolicy{Exec: "true", Path: "/", Timeout: time.Minute}); got.Outcome != reconcile.Answered {
		t.Errorf("Probe = %+v, want it answered by the Pod behind the claim", got)
	}
	if how, err := p.Terminate(t.Context(), all[0]); how != reconcile.TerminateAccepted || err != nil {
		t.Errorf("Terminate = %q, %v; want it accepted", how, err)
	}
}

// Where websockets do not get through, SPDY does.
func TestExecOverSPDY(t *testing.T) {
	for name, o := range map[string]kubernetestest.Options{
		"an old server":             {NoSockets: true},
		"a role without get":        {Denied: []string{"get pods/exec"}},
		"a server that speaks both": {},
	} {
		w := newTown(t, "pod", o)
		p := w.open(t, nil)
		for _, test := range []struct {
			box  simulated.Sandbox
			want reconcile.ProbeOutcome
		}{
			{simulated.Sandbox{}, reconcile.Answered}, {simulated.Sandbox{Exec: simulated.Dead}, reconcile.CannotStart},
			{simulated.Sandbox{Exec: simulated.Hung}, reconcile.Hung}, {simulated.Sandbox{Files: simulated.NoPath}, reconcile.CannotStart},
		} {
			s, err := p.Get(t.Context(), w.put(test.box).ID)
			if err != nil {
				t.Fatal(err)
			}
			policy := reconcile.ProbePolicy{Exec: "true", Path: "/", Timeout: time.Minute}
			if test.want == reconcile.Hung {
				policy.Timeout = time.Second
			}
			got := p.Probe(t.Context(), s, policy)
			if got.Outcome != test.want {
				t.Errorf("%s: Probe = %s, %s; want %s", name, got.Outcome, got.Detail, test.want)
			}
		}
	}
	w := newTown(t, "pod", kubernetestest.Options{Denied: []string{"get pods/exec", "create pods/exec"}})
	p := w.open(t, nil)
	s, err := p.Get(t.Context(), w.put(simulated.Sandbox{}).ID)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Probe(t.Context(), s, reconcile.ProbePolicy{Exec: "true", Timeout: time.Minute}); got.Outcome != reconcile.Infrastructure {
		t.Errorf("Probe without a right to exec = %+v, want nothing known", got)
	}
}

func TestCheck(t *testing.T) {
	for name, test := range map[string]struct {
		o       kubernetestest.Options
		objects string
		want    []string // what is not in order
	}{
		"all well":          {kubernetestest.Options{}, "all", nil},
		"no metrics-server": {kubernetestest.Options{NoMetrics: true}, "pods", nil},
		"an old cluster":    {kubernetestest.Options{NoReviews: true}, "pods", nil},
		"it may not delete": {kubernetestest.Options{Denied: []string{"delete pods"}}, "pods", []string{"delete pods in default"}},
		"it may not exec":   {kubernetestest.Options{Denied: []string{"create pods/exec"}}, "pods", []string{"create pods/exec in default"}},
		"agent-sandbox is lacking": {kubernetestest.Options{NoAgents: true}, "sandboxes",
			[]string{"listing of sandboxclaims of default", "listing of sandboxes of default"}},
		"its container":     {kubernetestest.Options{}, "pods main", nil},
		"another container": {kubernetestest.Options{}, "pods nosuch", []string{"container nosuch of pods of default"}},
	} {
		w := newTown(t, "pod", test.o)
		w.put(simulated.Sandbox{Template: "bb:2"})
		var wrong []string
		objects, container, _ := strings.Cut(test.objects, " ")
		for _, line := range w.open(t, map[string]string{"objects": objects, "container": container}).Check(t.Context()) {
			if !line.OK {
				wrong = append(wrong, line.What)
			}
			if line.OK != (line.Fix == "") || line.Said == "" {
				t.Errorf("%s: line %+v", name, line)
			}
		}
		if !slices.Equal(wrong, test.want) {
			t.Errorf("%s: not in order are %v, want %v", name, wrong, test.want)
		}
	}
}

const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: "https://127.0.0.1:1"}}, {name: b, cluster: {server: "URL", certificate-authority-data: CA}}]
users: [{name: u, user: {token: secret-key}}]
contexts: [{name: wrong, context: {cluster: a, user: u}}, {name: right, context: {cluster: b, user: u, namespace: agents}}]
current-context: wrong
`

func TestCredentials(t *testing.T) {
	w := newTown(t, "pod", kubernetestest.Options{})
	mine := w.put(simulated.Sandbox{ID: "pod_agents_p_u1"})
	server := httptest.NewTLSServer(w.server) // client-go sends no token in the clear
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	file := filepath.Join(t.TempDir(), "config")
	text := strings.NewReplacer("URL", server.URL, "CA", base64.StdEncoding.EncodeToString(ca)).Replace(kubeconfig)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	e := providertest.Entry("kubernetes", Abilities)
	e.Token, e.Extra = "", map[string]string{"kubeconfig": file, "context": "right"}
	p, err := New(e, entry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	if _, err := p.List(t.Context(), func(page []reconcile.Sandbox) error {
		for _, s := range page {
			ids = append(ids, s.ID)
		}
		return nil
	}); err != nil || !slices.Equal(ids, []string{mine.ID}) {
		t.Errorf("List by a kubeconfig = %v, %v; want %s of its namespace", ids, err, mine.ID)
	}
	s, err := p.Get(t.Context(), mine.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Probe(t.Context(), s, reconcile.ProbePolicy{Exec: "true", Timeout: time.Minute}); got.Outcome != reconcile.Answered {
		t.Errorf("Probe by a kubeconfig = %+v, want it answered", got)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("HOME", t.TempDir())
	for want, e := range map[string]entry.Entry{
		"token needs url":      {Token: "secret-key"},
		"run in the cluster":   {},
		"is not one of pods":   {URL: "https://c.test", Extra: map[string]string{"objects": "jobs"}},
		"names none":           {URL: "https://c.test", Extra: map[string]string{"namespace": " , "}},
		`"A_b" is none`:        {URL: "https://c.test", Extra: map[string]string{"namespace": "agents, A_b"}},
		"row_holds":            {URL: "https://c.test", Extra: map[string]string{"row_holds": "id"}},
		"no label of":          {URL: "https://c.test", Owns: entry.Owns{Labels: map[string]string{"project": "a b"}}},
		"link.task_label":      {URL: "https://c.test", Link: entry.Link{TaskLabel: "a b"}},
		"must look like":       {URL: "https://user:pass@c.test"},
		"cluster's credential": {URL: "https://c.test", Extra: map[string]string{"ca_file": "/nowhere"}},
	} {
		if p, err := New(e, entry.Options{}); err == nil || p != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New(%+v) = %v, want %q", e, err, want)
		}
	}
}

// What has no limit cannot be told in percent.
func TestUsed(t *testing.T) {
	for name, test := range map[string]struct {
		usage, limits amounts
		want          reconcile.Resources
		fails         bool
	}{
		"all is limited": {amounts{CPU: "975000000n", Memory: "1Mi"}, amounts{CPU: "1", Memory: "2Mi"}, reconcile.Resources{CPUPercent: 97.5, MemoryUsed: 1 << 20, MemoryTotal: 2 << 20}, false},
		"half a core":    {amounts{CPU: "250m", Memory: "1Mi"}, amounts{CPU: "500m", Memory: ""}, reconcile.Resources{CPUPercent: 50}, false},
		"no limit":       {amounts{CPU: "1", Memory: "1Mi"}, amounts{CPU: "", Memory: "2Mi"}, reconcile.Resources{}, true},
		"a limit of 0":   {amounts{CPU: "1", Memory: "1Mi"}, amounts{CPU: "0", Memory: "2Mi"}, reconcile.Resources{}, true},
		"no measurement": {amounts{CPU: "much", Memory: "1Mi"}, amounts{CPU: "1", Memory: "2Mi"}, reconcile.Resources{}, true},
	} {
		if got, err := used(test.usage, test.limits); got != test.want || (err != nil) != test.fails {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, test.want)
		}
	}
}
