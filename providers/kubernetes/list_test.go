package kubernetes

import (
	"net/url"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

const (
	podsPath   = "GET /api/v1/namespaces/default/pods"
	claimsPath = "GET /apis/extensions.agents.x-k8s.io/v1beta1/namespaces/default/sandboxclaims"
	boxesPath  = "GET /apis/agents.x-k8s.io/v1beta1/namespaces/default/sandboxes"
)

// listOf is a page of objects of ours, each "name labels".
func listOf(next string, items ...string) string {
	var out []string
	for _, item := range items {
		name, meta, _ := strings.Cut(item, " ")
		out = append(out, `{"metadata":{"name":"`+name+`","namespace":"default","uid":"u-`+name+`"`+meta+`},"status":{"phase":"Running"}}`)
	}
	return `200 {"kind":"List","metadata":{"continue":"` + next + `"},"items":[` + strings.Join(out, ",") + `]}`
}

func listAll(t *testing.T, c *cluster) (string, reconcile.Listing, error) {
	t.Helper()
	var names []string
	l, err := c.List(t.Context(), func(page []reconcile.Sandbox) error {
		for _, s := range page {
			names = append(names, s.Name)
		}
		return nil
	})
	return strings.Join(names, " "), l, err
}

func TestList(t *testing.T) {
	const inconsistent = `410 {"kind":"Status","status":"Failure","reason":"Expired","message":"The provided continue parameter is too old",` +
		`"metadata":{"continue":"rest"},"details":{"name":"p1"}}`
	const spare = ` ,"ownerReferences":[{"apiVersion":"extensions.agents.x-k8s.io/v1beta1","kind":"SandboxWarmPool","controller":true}]`
	for name, test := range map[string]struct {
		objects  string
		answers  map[string][]string
		want     string
		complete bool
		missing  string
		fails    string
	}{
		"two pages":              {"pods", map[string][]string{podsPath: {listOf("x", "a"), listOf("", "b")}}, "a b", true, "", ""},
		"the second one expired": {"pods", map[string][]string{podsPath: {listOf("x", "a"), inconsistent, listOf("y", "a"), listOf("", "b")}}, "a b", true, "", ""},
		"it begins with the same token again": {"pods", map[string][]string{podsPath: {listOf("x", "a"), inconsistent,
			listOf("x", "a"), listOf("", "b")}}, "a b", true, "", ""},
		"it expires twice":      {"pods", map[string][]string{podsPath: {listOf("x", "a"), inconsistent, listOf("y", "a"), inconsistent}}, "a", false, "", "too old"},
		"no list at all":        {"pods", map[string][]string{podsPath: {`200 {"kind":"Status","status":"Success"}`}}, "", false, "", "no list"},
		"items that are null":   {"pods", map[string][]string{podsPath: {`200 {"kind":"PodList","metadata":{},"items":null}`}}, "", false, "", "no list"},
		"an item without a uid": {"pods", map[string][]string{podsPath: {`200 {"kind":"PodList","items":[{"metadata":{"name":"a"}}]}`}}, "", false, "", "has no id"},
		"agent-sandbox": {"sandboxes", map[string][]string{claimsPath: {listOf("", "c1")}, boxesPath: {listOf("", "s1", "pool-1"+spare)}},
			"c1 s1", true, "", ""},
		"agent-sandbox is not there": {"sandboxes", nil, "", false, "", "install agent-sandbox"},
		"only half of it is there": {"sandboxes", map[string][]string{claimsPath: {listOf("", "c1")}}, "c1", false,
			"sandboxes of default", ""},
		"all": {"all", map[string][]string{claimsPath: {listOf("", "c1")}, boxesPath: {listOf("")}, podsPath: {listOf("", "p1",
			`pool-1 ,"ownerReferences":[{"apiVersion":"agents.x-k8s.io/v1beta1","kind":"Sandbox","controller":true}]`)}}, "c1 p1", true, "", ""},
	} {
		c := scripted(t, entry.Entry{Extra: map[string]string{"objects": test.objects}}, test.answers)
		got, l, err := listAll(t, c)
		if got != test.want || l.Complete != test.complete || strings.Join(l.Missing, " ") != test.missing && err == nil ||
			(err != nil) != (test.fails != "") || err != nil && !strings.Contains(err.Error(), test.fails) {
			t.Errorf("%s: List = %q, %+v, %v; want %q, complete %t, missing %q, error %q", name, got, l, err, test.want,
				test.complete, test.missing, test.fails)
		}
	}
}

// A listing asks for what is true now, and for ours alone.
func TestListAsks(t *testing.T) {
	c := scripted(t, entry.Entry{Link: entry.Link{TaskLabel: "task"}, Extra: map[string]string{"namespace": "default"}},
		map[string][]string{podsPath: {listOf("")}})
	if _, _, err := listAll(t, c); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Find(t.Context(), "t-1"); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"project=mine", "project=mine,task=t-1"} {
		query, err := url.ParseQuery(c.queries[i])
		if err != nil || query.Get("labelSelector") != want || query.Has("resourceVersion") || query.Get("limit") != "250" {
			t.Errorf("call %d asked %v, %v; want %s, and no version", i, query, err, want)
		}
	}
	before := c.count("GET")
	if got, err := c.Find(t.Context(), strings.Repeat("x", 64)); err != nil || len(got) != 0 || c.count("GET") != before {
		t.Errorf("Find of what cannot be a label = %v, %v; want none without a call", got, err)
	}
}

// Every namespace is a part of the listing that may be missing.
func TestNamespaces(t *testing.T) {
	c := scripted(t, entry.Entry{Extra: map[string]string{"namespace": "default, other"}}, map[string][]string{podsPath: {listOf("", "a")}})
	got, l, err := listAll(t, c)
	if got != "a" || err != nil || l.Complete || strings.Join(l.Missing, "") != "pods of other" {
		t.Errorf("List = %q, %+v, %v; want the other namespace missing", got, l, err)
	}
}

func TestTemplates(t *testing.T) {
	use := func(name, image, at, phase, state string) string {
		return `{"metadata":{"name":"` + name + `","namespace":"default","uid":"u","creationTimestamp":"2026-01-01T0` + at + `:00:00Z"},
			"spec":{"containers":[{"name":"m","image":"` + image + `"}]},
			"status":{"phase":"` + phase + `","containerStatuses":[{"name":"m","state":` + state + `}]}}`
	}
	const failing, runs = `{"waiting":{"reason":"ImagePullBackOff","message":"no such image"}}`, `{"running":{}}`
	pods := func(items ...string) string {
		return `200 {"kind":"PodList","items":[` + strings.Join(items, ",") + `]}`
	}
	for name, test := range map[string]struct {
		pods string
		want reconcile.TemplateState
		why  string
	}{
		"nobody uses it":             {pods(), reconcile.TemplateUnknown, ""},
		"it runs":                    {pods(use("a", "i:1", "1", "Running", runs)), reconcile.TemplateActive, ""},
		"it does not come":           {pods(use("a", "i:1", "1", "Pending", failing)), reconcile.TemplateFailed, "no such image"},
		"it does not come any more":  {pods(use("a", "i:1", "1", "Running", runs), use("b", "i:1", "2", "Pending", failing)), reconcile.TemplateFailed, "no such image"},
		"it comes again":             {pods(use("b", "i:1", "2", "Running", runs), use("a", "i:1", "1", "Pending", failing)), reconcile.TemplateActive, ""},
		"another one does not come":  {pods(use("a", "i:1", "1", "Running", runs), use("b", "i:2", "2", "Pending", failing)), reconcile.TemplateActive, ""},
		"it is being pulled, mutely": {pods(use("a", "i:1", "1", "Pending", `{"waiting":{"reason":"ContainerCreating"}}`)), reconcile.TemplateUnknown, ""},
	} {
		c := scripted(t, entry.Entry{}, map[string][]string{podsPath: {test.pods}})
		got, err := c.Template(t.Context(), "i:1")
		if err != nil || got.State != test.want || !strings.Contains(got.Error, test.why) || got.Name != "i:1" {
			t.Errorf("%s: Template = %+v, %v; want %q, why %q", name, got, err, test.want, test.why)
		}
	}
}

// A claim names a pool: it is as usable as the pool's template.
func TestPoolsAsTemplates(t *testing.T) {
	const in = "GET /apis/extensions.agents.x-k8s.io/v1beta1/namespaces/default/"
	missing := `404 {"kind":"Status","status":"Failure","reason":"NotFound","details":{"name":"x"}}`
	pool := `200 {"metadata":{"name":"fast","namespace":"default","uid":"p"},"spec":{"sandboxTemplateRef":{"name":"base"}}}`
	base := `200 {"metadata":{"name":"base","namespace":"default","uid":"t"}}`
	for name, test := range map[string]struct {
		asked   string
		answers map[string][]string
		want    reconcile.TemplateState
		fails   bool
	}{
		"a template":              {"base", map[string][]string{in + "sandboxtemplates/base": {base}}, reconcile.TemplateActive, false},
		"a pool and its template": {"fast", map[string][]string{in + "sandboxtemplates/fast": {missing}, in + "sandboxwarmpools/fast": {pool}, in + "sandboxtemplates/base": {base}}, reconcile.TemplateActive, false},
		"a pool without one":      {"fast", map[string][]string{in + "sandboxtemplates/fast": {missing}, in + "sandboxwarmpools/fast": {pool}, in + "sandboxtemplates/base": {missing}}, reconcile.TemplateMissing, false},
		"neither":                 {"fast", map[string][]string{in + "sandboxtemplates/fast": {missing}, in + "sandboxwarmpools/fast": {missing}}, reconcile.TemplateMissing, false},
		"nothing is installed":    {"fast", nil, "", true},
	} {
		c := scripted(t, entry.Entry{Extra: map[string]string{"objects": "sandboxes"}}, test.answers)
		if got, err := c.Template(t.Context(), test.asked); got.State != test.want || (err != nil) != test.fails {
			t.Errorf("%s: Template = %+v, %v; want %q, failed %t", name, got, err, test.want, test.fails)
		}
	}
}
