package kubernetes

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A cluster answers what a test writes for each call, in order; the last answer stays.
type cluster struct {
	*Provider
	mu      sync.Mutex
	answers map[string][]string // by method and path: "CODE body"
	asked   []string
	bodies  []string
	queries []string
}

func scripted(t *testing.T, e entry.Entry, answers map[string][]string) *cluster {
	t.Helper()
	c := &cluster{answers: answers}
	server := httptest.NewServer(http.HandlerFunc(c.serve))
	t.Cleanup(server.Close)
	e.Name, e.URL, e.Token = "lab", server.URL, "secret-key"
	if e.Owns.Labels == nil {
		e.Owns.Labels = map[string]string{"project": "mine"}
	}
	p, err := New(e, entry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c.Provider = p
	return c
}

func (c *cluster) serve(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := r.Method + " " + r.URL.Path
	body, _ := io.ReadAll(r.Body)
	c.asked, c.bodies, c.queries = append(c.asked, key), append(c.bodies, string(body)), append(c.queries, r.URL.RawQuery)
	left := c.answers[key]
	if len(left) == 0 {
		http.Error(w, "404 page not found", http.StatusNotFound)
		return
	}
	if len(left) > 1 {
		c.answers[key] = left[1:]
	}
	code, text, _ := strings.Cut(left[0], " ")
	w.Header().Set("Content-Type", "application/json")
	if !strings.HasPrefix(text, "{") {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	}
	w.WriteHeader(map[string]int{"200": 200, "202": 202, "400": 400, "403": 403, "404": 404, "409": 409, "410": 410, "422": 422,
		"500": 500}[code])
	_, _ = io.WriteString(w, text)
}

// count is how many calls began so.
func (c *cluster) count(prefix string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, a := range c.asked {
		if strings.HasPrefix(a, prefix) {
			n++
		}
	}
	return n
}

const (
	podPath   = "/api/v1/namespaces/default/pods/p1"
	claimPath = "/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/default/sandboxclaims/c1"
	boxPath   = "/apis/agents.x-k8s.io/v1beta1/namespaces/default/sandboxes/pool-x"
)

// onePod is a Pod of ours, with a version, and more of its metadata.
func onePod(version, more string) string {
	return `200 {"kind":"Pod","metadata":{"name":"p1","namespace":"default","uid":"u1","resourceVersion":"` + version + `",
		"labels":{"project":"mine"}` + more + `},"spec":{"containers":[{"name":"main"}]},
		"status":{"phase":"Running","containerStatuses":[{"name":"main","state":{"running":{}}}]}}`
}

// refusal is a Status that says no.
func refusal(code, reason, message string) string {
	name := ""
	if reason == "NotFound" {
		name = `"name":"p1"`
	}
	return code + ` {"kind":"Status","status":"Failure","reason":"` + reason + `","message":"` + message + `","details":{` + name + `}}`
}

func expected(state reconcile.SandboxState) reconcile.Sandbox {
	return reconcile.Sandbox{Ref: reconcile.Ref{Provider: "lab", ID: "pod_default_p1_u1"}, State: state, Owned: true}
}

func TestTerminate(t *testing.T) {
	const (
		doomed = `,"deletionTimestamp":"2026-01-01T00:00:00Z"`
		job    = `,"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"j","controller":true}]`
	)
	modified := refusal("409", "Conflict", "the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (2)")
	other := refusal("409", "Conflict", "the UID in the precondition (u1) does not match the UID in record (u2)")
	for name, test := range map[string]struct {
		looks, deletes []string
		was            reconcile.SandboxState
		want           reconcile.Termination
		err            error
		words          string
		calls          int // deletes
	}{
		"it goes":               {looks: []string{onePod("1", "")}, deletes: []string{onePod("2", doomed)}, want: reconcile.TerminateAccepted, calls: 1},
		"it goes at once":       {looks: []string{onePod("1", "")}, deletes: []string{`200 {"kind":"Status","status":"Success","details":{"uid":"u1"}}`}, want: reconcile.TerminateDone, calls: 1},
		"another goes at once":  {looks: []string{onePod("1", "")}, deletes: []string{`200 {"kind":"Status","status":"Success","details":{"uid":"u2"}}`}, calls: 1, words: "answer to the delete"},
		"another is answered":   {looks: []string{onePod("1", "")}, deletes: []string{strings.Replace(onePod("2", doomed), `"u1"`, `"u2"`, 1)}, calls: 1, words: "u2"},
		"it was gone":           {looks: []string{refusal("404", "NotFound", "no p1")}, want: reconcile.TerminateGone},
		"it goes meanwhile":     {looks: []string{onePod("1", "")}, deletes: []string{refusal("404", "NotFound", "no p1")}, want: reconcile.TerminateGone, calls: 1},
		"a path that is wrong":  {looks: []string{onePod("1", "")}, deletes: []string{"404 404 page not found"}, calls: 1, words: "404"},
		"a namespace is wrong":  {looks: []string{`404 {"kind":"Status","status":"Failure","reason":"NotFound","message":"the server could not find the requested resource","details":{}}`}, words: "404"},
		"its name is another's": {looks: []string{strings.Replace(onePod("1", ""), `"u1"`, `"u2"`, 1)}, want: reconcile.TerminateChanged},
		"replaced meanwhile":    {looks: []string{onePod("1", "")}, deletes: []string{other}, want: reconcile.TerminateChanged, calls: 1},
		"it changed meanwhile": {looks: []string{onePod("1", ""), onePod("2", "")}, deletes: []string{modified, onePod("3", doomed)},
			err: reconcile.ErrHeld, words: "precondition", calls: 1},
		"it is being deleted":            {looks: []string{onePod("1", doomed)}, want: reconcile.TerminateAccepted},
		"it is still being deleted":      {looks: []string{onePod("1", doomed)}, was: reconcile.SandboxDeleting, deletes: []string{onePod("1", doomed)}, want: reconcile.TerminateAccepted, calls: 1},
		"a Job would make it anew":       {looks: []string{onePod("1", job)}, want: reconcile.TerminateRefused, words: "Job j"},
		"a webhook denies it":            {looks: []string{onePod("1", "")}, deletes: []string{refusal("403", "Forbidden", "admission webhook x denied the request: not today")}, want: reconcile.TerminateRefused, words: "not today", calls: 1},
		"a policy denies it":             {looks: []string{onePod("1", "")}, deletes: []string{refusal("422", "Invalid", "ValidatingAdmissionPolicy p denied request: never")}, want: reconcile.TerminateRefused, words: "never", calls: 1},
		"the role does not allow it":     {looks: []string{onePod("1", "")}, deletes: []string{refusal("403", "Forbidden", "pods p1 is forbidden")}, err: reconcile.ErrUnauthorized, calls: 1},
		"it is not said what came of it": {looks: []string{onePod("1", "")}, deletes: []string{refusal("500", "InternalError", "etcd is gone")}, words: "etcd is gone", calls: 1},
	} {
		c := scripted(t, entry.Entry{Link: entry.Link{TaskLabel: "task"}}, map[string][]string{"GET " + podPath: test.looks, "DELETE " + podPath: test.deletes})
		how, err := c.Terminate(t.Context(), expected(test.was))
		fine := err == nil
		if how != test.want || test.err != nil && !errors.Is(err, test.err) || fine != (test.err == nil && test.words == "") ||
			!fine && !strings.Contains(err.Error(), test.words) || c.count("DELETE") != test.calls {
			t.Errorf("%s: Terminate = %q, %v after %d deletes; want %q, %v %q after %d", name, how, err, c.count("DELETE"),
				test.want, test.err, test.words, test.calls)
		}
	}
}

// The name of a sandbox that is gone may be another one's by now: that is not it, and no
// command is run there.
func TestNamesAreUsedAgain(t *testing.T) {
	c := scripted(t, entry.Entry{}, map[string][]string{"GET " + podPath: {strings.Replace(onePod("1", ""), `"u1"`, `"u2"`, 1)}})
	if s, err := c.Get(t.Context(), "pod_default_p1_u1"); !errors.Is(err, reconcile.ErrNotFound) {
		t.Errorf("Get = %+v, %v; want it gone", s, err)
	}
	got := c.Probe(t.Context(), expected(reconcile.SandboxRunning), reconcile.ProbePolicy{Exec: "true"})
	if got.Outcome != reconcile.Infrastructure || c.count("GET "+podPath+"/exec")+c.count("POST") != 0 {
		t.Errorf("Probe = %s, %s; want nothing known, and no exec", got.Outcome, got.Detail)
	}
}

// A delete compares, keeps the Pod's own grace and takes along what belongs to a claim.
func TestDeleteOptions(t *testing.T) {
	o := seen(t, `{"metadata":{"uid":"u1","resourceVersion":"7"}}`)
	for _, test := range []struct {
		kind kind
		want string
	}{{pods, "Background"}, {sandboxes, "Foreground"}, {claims, "Foreground"}} {
		var got map[string]any
		if err := json.Unmarshal(deleteOptions(test.kind, o), &got); err != nil {
			t.Fatal(err)
		}
		compared, _ := got["preconditions"].(map[string]any)
		_, forced := got["gracePeriodSeconds"]
		if got["propagationPolicy"] != test.want || compared["uid"] != "u1" || compared["resourceVersion"] != "7" || forced {
			t.Errorf("a delete of a %s says %v", test.kind.word, got)
		}
	}
}

// A Sandbox behind a claim, or in a pool, is never ended by itself, also not where rows
// alone say what is ours.
func TestTerminateLeavesWhatIsApart(t *testing.T) {
	for name, meta := range map[string]string{
		"a spare":        `"labels":{"project":"mine","agents.x-k8s.io/warm-pool-sandbox":"1"}`,
		"a claimed one":  `"labels":{"project":"mine","agents.x-k8s.io/claim-uid":"c"}`,
		"one of a claim": `"labels":{"project":"mine"},"ownerReferences":[{"apiVersion":"extensions.agents.x-k8s.io/v1beta1","kind":"SandboxClaim","name":"c1","uid":"c","controller":true}]`,
	} {
		for _, byRow := range []bool{false, true} {
			c := scripted(t, entry.Entry{Extra: map[string]string{"objects": "sandboxes"}, Owns: entry.Owns{Referenced: byRow}}, map[string][]string{
				"GET " + boxPath: {`200 {"kind":"Sandbox","metadata":{"name":"pool-x","namespace":"default","uid":"s",` + meta + `},
					"status":{"conditions":[{"type":"Ready","status":"True"}]}}`},
				claimsPath: {`200 {"kind":"List","items":[{"metadata":{"name":"c1","namespace":"default","uid":"c"}}]}`},
			})
			how, err := c.Terminate(t.Context(), reconcile.Sandbox{Ref: reconcile.Ref{ID: "sandbox_default_pool-x_s"}, Owned: !byRow})
			if how != reconcile.TerminateChanged && how != reconcile.TerminateRefused || c.count("DELETE") != 0 {
				t.Errorf("%s: Terminate = %q, %v after %d deletes; want it left alone", name, how, err, c.count("DELETE"))
			}
		}
	}
}

// A claim that expired and is kept as a record costs nothing: it is gone.
func TestTombstones(t *testing.T) {
	c := scripted(t, entry.Entry{Extra: map[string]string{"objects": "sandboxes"}}, map[string][]string{
		"GET " + claimPath: {`200 {"kind":"SandboxClaim","metadata":{"name":"c1","namespace":"default","uid":"c","labels":{"project":"mine"}},
			"status":{"sandbox":{},"conditions":[{"type":"Ready","status":"False","reason":"ClaimExpired"}]}}`},
	})
	s, err := c.Get(t.Context(), "claim_default_c1_c")
	if err != nil || s.State != reconcile.SandboxEnded {
		t.Errorf("Get = %+v, %v; want it ended", s, err)
	}
	if how, err := c.Terminate(t.Context(), s); how != reconcile.TerminateGone || err != nil || c.count("DELETE") != 0 {
		t.Errorf("Terminate = %q, %v; want gone, without a delete", how, err)
	}
}

// What a row names a claim by.
func TestRowHolds(t *testing.T) {
	o := seen(t, `{"metadata":{"name":"c1","namespace":"default","uid":"c"},"status":{"sandbox":{"name":"pool-x"}}}`)
	for holds, want := range map[string]string{"": "c1", "name": "c1", "uid": "c", "sandbox": "pool-x"} {
		c := scripted(t, entry.Entry{Extra: map[string]string{"row_holds": holds}, Link: entry.Link{Sandbox: "name"}}, nil)
		if got := c.sandbox(claims, o, c.client.Now()); got.SandboxKey != want {
			t.Errorf("row_holds %q: %q, want %q", holds, got.SandboxKey, want)
		}
	}
}

// A Sandbox outlives its claim where that was deleted without it, or expired and is kept as a
// record. Nothing stands before it then: it is listed, and it is ended.
func TestSandboxesThatSurviveTheirClaim(t *testing.T) {
	const (
		labelled = `"labels":{"project":"mine","agents.x-k8s.io/claim-uid":"c"}`
		owned    = labelled + `,"ownerReferences":[{"apiVersion":"extensions.agents.x-k8s.io/v1beta1","kind":"SandboxClaim","name":"c1","uid":"c","controller":true}]`
		session  = labelled + `,"ownerReferences":[{"apiVersion":"x.test/v1","kind":"Session","name":"x","uid":"x","controller":true}]`
		spare    = `"labels":{"project":"mine","agents.x-k8s.io/warm-pool-sandbox":"1"}`
		claim    = `{"metadata":{"name":"c1","namespace":"default","uid":"c"},"status":{"conditions":[{"type":"Ready","status":"False","reason":"`
	)
	for name, test := range map[string]struct {
		meta, claims string
		listed       bool
		want         reconcile.Termination
	}{
		"no claim at all":             {labelled, `200 {"kind":"List","items":[]}`, true, reconcile.TerminateAccepted},
		"the claim expired":           {owned, `200 {"kind":"List","items":[` + claim + `ClaimExpired"}]}}]}`, true, reconcile.TerminateAccepted},
		"the claim lives":             {owned, `200 {"kind":"List","items":[` + claim + `SandboxNotReady"}]}}]}`, false, reconcile.TerminateChanged},
		"the claim is being deleted":  {owned, `200 {"kind":"List","items":[{"metadata":{"name":"c1","namespace":"default","uid":"c","deletionTimestamp":"2026-01-01T00:00:00Z"}}]}`, false, reconcile.TerminateChanged},
		"the claims cannot be read":   {owned, refusal("403", "Forbidden", "no"), false, ""},
		"somebody else makes it anew": {session, `200 {"kind":"List","items":[]}`, true, reconcile.TerminateRefused},
		"a spare, which has no claim": {spare, `200 {"kind":"List","items":[]}`, false, reconcile.TerminateChanged},
	} {
		box := `{"kind":"Sandbox","metadata":{"name":"pool-x","namespace":"default","uid":"s",` + test.meta + `},
			"status":{"conditions":[{"type":"Ready","status":"True"}]}}`
		ours := `200 {"kind":"List","items":[]}`
		c := scripted(t, entry.Entry{Extra: map[string]string{"objects": "sandboxes"}}, map[string][]string{
			"GET " + boxPath: {"200 " + box}, "DELETE " + boxPath: {"200 " + box}, claimsPath: {ours, test.claims},
			boxesPath: {`200 {"kind":"List","items":[` + box + `]}`},
		})
		names, l, err := listAll(t, c)
		if (names == "pool-x") != test.listed || l.Complete != (test.want != "") || err != nil {
			t.Errorf("%s: List = %q, %+v, %v; want it listed %t", name, names, l, err, test.listed)
		}
		how, err := c.Terminate(t.Context(), reconcile.Sandbox{Ref: reconcile.Ref{ID: "sandbox_default_pool-x_s"}, Owned: true})
		if how != test.want || (err != nil) != (test.want == "" || test.want == reconcile.TerminateRefused) {
			t.Errorf("%s: Terminate = %q, %v; want %q", name, how, err, test.want)
		}
	}
}

// What is no id of ours may be another provider's, which is not here. A name, or a uid, that the
// cluster knows is no id either, and nobody is told that it is gone.
func TestNoIDOfOurs(t *testing.T) {
	const uuid = "0f6a2c1e-0000-4000-8000-00000000cf10"
	none := refusal("404", "NotFound", "none")
	pod := `200 {"kind":"Pod","metadata":{"name":"w1","namespace":"default","uid":"u1"},"status":{"phase":"Running"}}`
	page := `200 {"kind":"PodList","metadata":{},"items":[{"metadata":{"name":"w1","namespace":"default","uid":"` + uuid + `"}}]}`
	for name, test := range map[string]struct {
		id, objects string
		answers     map[string][]string
		gone        bool
		calls       int
	}{
		"another provider's":       {"task-1", "", map[string][]string{podsPath + "/task-1": {none}}, true, 1},
		"the id of a container":    {strings.Repeat("a", 64), "", map[string][]string{podsPath + "/" + strings.Repeat("a", 64): {none}}, true, 1},
		"a name":                   {"w1", "", map[string][]string{podsPath + "/w1": {pod}}, false, 1},
		"a name of another kind":   {"w1", "sandboxes", map[string][]string{claimsPath + "/w1": {none}, boxesPath + "/w1": {pod}}, false, 2},
		"of no kind":               {"w1", "sandboxes", map[string][]string{claimsPath + "/w1": {none}, boxesPath + "/w1": {none}}, true, 2},
		"the cluster is ill":       {"w1", "", map[string][]string{podsPath + "/w1": {"500 {}"}}, false, 0},
		"it does not know":         {"w1", "", nil, false, 0},
		"a uuid":                   {uuid, "", map[string][]string{podsPath: {listOf("", "w1")}}, true, 1},
		"a uid":                    {uuid, "", map[string][]string{podsPath: {page}}, false, 1},
		"a uuid, and it is ill":    {uuid, "", map[string][]string{podsPath: {"500 {}"}}, false, 0},
		"what can be no name here": {"Task_1/../x", "", nil, true, 0},
	} {
		c := scripted(t, entry.Entry{Extra: map[string]string{"objects": test.objects, "namespace": "default"}}, test.answers)
		_, err := c.Get(t.Context(), test.id)
		if err == nil || errors.Is(err, reconcile.ErrNotFound) != test.gone || test.calls > 0 && c.count("GET ") != test.calls {
			t.Errorf("%s: Get(%q) = %v after %v, want an error, gone %t", name, test.id, err, c.asked, test.gone)
		}
	}
}
