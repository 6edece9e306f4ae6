package serve

import (
	"context"
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/web"
	"github.com/sandkeeper/sandkeeper/web/api"
	"github.com/sandkeeper/sandkeeper/web/webtest"
)

var noon = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

// recorded are records with one of everything, whose every field is set; it notes what it was asked for.
type recorded struct {
	asked *[]reconcile.Chosen
	next  reconcile.Cursor
	err   error
}

func (r recorded) note(c reconcile.Chosen) error {
	if r.asked != nil {
		*r.asked = append(*r.asked, c)
	}
	return r.err
}

const hostile = "<b>\u202e\x1b[31m\u200bx"

func (r recorded) finding() reconcile.FindingSeen {
	return reconcile.FindingSeen{
		Finding: reconcile.Finding{Rule: "orphan", Subject: "sandbox:daytona/sb-1", Provider: "daytona", Sandbox: "sb-1", Task: "t-1",
			Reason: hostile, Evidence: []reconcile.Evidence{{Source: "daytona", At: noon, Fact: "listed"}}, FirstSeen: noon, LastSeen: noon,
			Sightings: 2, Due: true, Incident: "i-1",
			HeldBy: reconcile.HeldBy{{Kind: reconcile.HeldHold, What: "task:t-1", Reason: "why", By: "ana", Since: noon, Until: noon}}},
		OpenedAt: noon, ResolvedAt: noon,
	}
}

func (r recorded) action(id string) reconcile.Action {
	return reconcile.Action{ID: id, Remedy: id, Pass: 3, PlannedAt: noon, Rule: "orphan", Subject: "sandbox:daytona/sb-1",
		Provider: "daytona", Sandbox: "sb-1", Task: "t-1", Step: reconcile.StepTerminate, Reason: "why", Author: "ana", Running: true,
		Evidence: []reconcile.Evidence{{Source: "daytona", At: noon, Fact: "listed"}}, Attempts: 2, ClaimedBy: "one", NextAttempt: noon,
		FirstActed: noon, ActedAt: noon, Outcome: reconcile.OutcomeConfirmed, Detail: "gone", ClosedAt: noon}
}

func (r recorded) Findings(_ context.Context, c reconcile.Chosen) ([]reconcile.FindingSeen, reconcile.Cursor, error) {
	return []reconcile.FindingSeen{r.finding()}, r.next, r.note(c)
}

func (r recorded) Actions(_ context.Context, c reconcile.Chosen) ([]reconcile.Action, reconcile.Cursor, error) {
	return []reconcile.Action{r.action("a1")}, r.next, r.note(c)
}

func (r recorded) Action(_ context.Context, id string) (reconcile.Action, error) {
	if id == "none" {
		return reconcile.Action{}, reconcile.ErrNotFound
	}
	return r.action(id), r.err
}

func (r recorded) BrowseIncidents(_ context.Context, c reconcile.Chosen) ([]reconcile.Incident, reconcile.Cursor, error) {
	return []reconcile.Incident{{ID: "i-1", Rule: "orphan", Provider: "daytona", Count: 3, OpenedAt: noon}}, r.next, r.note(c)
}

func (r recorded) Incident(_ context.Context, id string) (reconcile.Incident, error) {
	if id == "none" {
		return reconcile.Incident{}, reconcile.ErrNotFound
	}
	return reconcile.Incident{ID: id, Rule: "orphan", Provider: "daytona", Count: 3, OpenedAt: noon}, r.err
}

func (r recorded) Tasks(_ context.Context, c reconcile.Chosen) ([]reconcile.TaskSeen, reconcile.Cursor, error) {
	return []reconcile.TaskSeen{{ID: "t-1", Status: "running", State: reconcile.TaskRunning, Live: true, Since: noon}}, r.next, r.note(c)
}

func (r recorded) box() reconcile.SandboxSeen {
	return reconcile.SandboxSeen{Ref: reconcile.Ref{Provider: "daytona", ID: "sb-1"}, Name: "box", Task: "t-1", Template: "dev",
		State: reconcile.SandboxRunning, Raw: "started", CreatedAt: noon, FirstSeen: noon, StateSince: noon}
}

func (r recorded) Sandboxes(_ context.Context, c reconcile.Chosen) ([]reconcile.SandboxSeen, reconcile.Cursor, error) {
	return []reconcile.SandboxSeen{r.box()}, r.next, r.note(c)
}

func (r recorded) SandboxTotals(context.Context) (map[string]int, error) {
	return map[string]int{"running": 3, "creating": 2, "deleting": 1, "stopped": 4, "gone": 10}, r.err
}

func (r recorded) PassesBelow(_ context.Context, below int64, most int) ([]reconcile.PassSeen, error) {
	var all []reconcile.PassSeen
	for id := int64(3); id > 0 && len(all) < most; id-- {
		if below == 0 || id < below {
			all = append(all, reconcile.PassSeen{ID: id, Kind: reconcile.Full, Holder: "one", BeganAt: noon, EndedAt: noon, Complete: true,
				Counts: map[string]int{"tasks:running": 1}})
		}
	}
	return all, r.err
}

func (r recorded) OperatorEvents(context.Context, reconcile.Cursor, int) ([]reconcile.TimelineEvent, reconcile.Cursor, error) {
	return []reconcile.TimelineEvent{{At: noon, Subject: "task:t-1", Kind: "operator", What: "held by ana: why"}}, r.next, r.err
}

func (r recorded) Subject(_ context.Context, id string) (reconcile.History, error) {
	if strings.Contains(id, "none") {
		return reconcile.History{}, reconcile.ErrNotFound
	}
	cpu := 12.5
	a := r.action("a1")
	a.Detail = "gone"
	return reconcile.History{
		Sandboxes: []reconcile.SandboxSeen{r.box()}, Findings: []reconcile.FindingSeen{r.finding()}, Actions: []reconcile.Action{a},
		Tasks: []reconcile.TaskSeen{{ID: "t-1", Status: "running"}},
		Probes: []reconcile.ProbeResult{{Ref: r.box().Ref, At: noon, Took: time.Second, Measurements: &reconcile.Measurements{At: noon, CPU: &cpu,
			Memory: &reconcile.MemoryUse{Used: 64 << 20}, Executions: &reconcile.ExecutionsSeen{Queued: 1, Running: 2}}}},
		Timeline: []reconcile.TimelineEvent{{At: noon, Subject: "task:t-1", Kind: "seen", What: "seen"}},
	}, r.err
}

func (r recorded) RecordEnd(context.Context) (reconcile.RecordPlace, error) {
	return reconcile.RecordPlace{Link: 2, Within: 1, Pass: 3}, r.err
}

// RecordAfter are two lines and a pass that follow one another.
func (r recorded) RecordAfter(_ context.Context, p reconcile.RecordPlace, _ int) (found []reconcile.RecordEvent, _ error) {
	pass := reconcile.PassSeen{ID: 3, Kind: reconcile.Full, Holder: "one", BeganAt: noon, EndedAt: noon, Complete: true}
	for _, e := range []reconcile.RecordEvent{
		{Place: reconcile.RecordPlace{Link: 1, Within: 1, Pass: 2}, Number: 11, TimelineEvent: reconcile.TimelineEvent{At: noon, Subject: "task:t-1",
			Kind: "finding", What: "orphan: " + hostile + "\ndata: {}"}},
		{Place: reconcile.RecordPlace{Link: 2, Within: 1, Pass: 2}, Number: 12, TimelineEvent: reconcile.TimelineEvent{At: noon, Subject: "task:t-1",
			Kind: "action", What: "terminated"}},
		{Place: reconcile.RecordPlace{Link: 2, Within: 1, Pass: 3}, Pass: &pass},
	} {
		if e.Place.Beyond(p) {
			found = append(found, e)
		}
	}
	return found, r.err
}

// programs is a handler of the API over records.
func programs(r web.Reading, records Records) http.Handler {
	o := options()
	o.Ledger, o.Records, o.Acts = fixedOf(r), records, &asking{}
	o.Ready = func(context.Context) error { return r.Unready }
	return New(o)
}

// asking stands for what records requests; it notes them.
type asking struct {
	asked  []string
	author string
	act    api.Act
	err    error
}

func (a *asking) Preview(context.Context, string, api.Act) (api.Preview, error) {
	return api.Preview{Will: []string{"It is recorded."}, Subjects: []string{"daytona/sb-1"}, Count: 1, Hash: "h"}, a.err
}

func (a *asking) Do(_ context.Context, verb string, act api.Act, author string) (api.Done, error) {
	a.asked, a.act, a.author = append(a.asked, verb+" "+act.Target), act, author
	return api.Done{Said: "recorded", Actions: []api.Action{{ID: "a1", PlannedAt: noon}}}, a.err
}

func (a *asking) Intend(_ context.Context, target string, act api.Act, author string) (api.Done, error) {
	a.asked, a.act, a.author = append(a.asked, "intent "+target), act, author
	return api.Done{Said: "recorded"}, a.err
}

// example is a path that a pattern matches.
func example(pattern string) string {
	return strings.NewReplacer("{$}", "", "{id}", "sb-1", "{provider}", "daytona", "{n}", "2", "{name}", "orphan", "{verb}", "hold").
		Replace(pattern)
}

// TestAnswersAreAsDescribed: each answer, and each refusal, is what the document for programs says.
func TestAnswersAreAsDescribed(t *testing.T) {
	doc, err := libopenapi.NewDocument(openAPIText)
	if err != nil {
		t.Fatal(err)
	}
	v, errs := validator.NewValidator(doc)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if ok, wrong := v.ValidateDocument(); !ok {
		t.Fatalf("the document is none of OpenAPI 3.1: %v", wrong)
	}
	world := webtest.Healthy()
	world.Controls.Holds = []reconcile.Hold{{ID: 1, Target: "task:t-1", Reason: hostile, Author: "ana", At: noon}}
	world.Controls.Pauses = []reconcile.Pause{{Scope: "all", Reason: "why", Author: "ana", At: noon, Until: noon}}
	world.Incidents = []reconcile.Incident{{ID: "i-1", Rule: "orphan", OpenedAt: noon, Count: 5}}
	well := programs(web.Reading{Overview: world}, recorded{next: reconcile.Cursor{At: noon, Key: "7"}})
	down := programs(web.Reading{Err: context.DeadlineExceeded}, recorded{err: context.DeadlineExceeded})
	for _, r := range table() {
		if !strings.HasPrefix(r.path, "/api/") || r.method != http.MethodGet || operations[r.method+" "+r.path].kind != "" {
			continue
		}
		for name, h := range map[string]http.Handler{"well": well, "down": down} {
			for _, query := range []string{"", "?nonsense=1"} {
				request := httptest.NewRequest(r.method, example(r.path)+query, http.NoBody)
				request.SetBasicAuth("ben", "secret")
				w := httptest.NewRecorder()
				h.ServeHTTP(w, request)
				want := http.StatusOK
				switch {
				case query != "" && r.path != "/api/v1/openapi.json":
					want = http.StatusBadRequest
				case r.path == "/api/v1/acts/{verb}": // who records requests says how that is
				case name == "down" && r.path != "/api/v1/openapi.json":
					want = http.StatusServiceUnavailable
				}
				if w.Code != want {
					t.Errorf("%s: GET %s%s = %d, want %d: %s", name, r.path, query, w.Code, want, w.Body)
				}
				if strings.Contains(w.Body.String(), "\u202e") || strings.Contains(w.Body.String(), "context deadline") {
					t.Errorf("GET %s shows what is not to be seen: %s", r.path, w.Body)
				}
				if ok, wrong := v.ValidateHttpResponse(request, w.Result()); !ok {
					for _, e := range wrong {
						t.Errorf("%s: GET %s%s: %s %s %v", name, r.path, query, e.Message, e.Reason, e.SchemaValidationErrors)
					}
				}
			}
		}
	}
}

// TestCollectionsAreAskedFor: filters, parts and their cursors reach the ledger as they were given, and what is misspelt
// is refused.
func TestCollectionsAreAskedFor(t *testing.T) {
	var asked []reconcile.Chosen
	h := programs(web.Reading{Overview: webtest.Healthy()}, recorded{asked: &asked, next: reconcile.Cursor{At: noon, Key: "7"}})
	w := ask(h, "GET", "/api/v1/findings?state=held&rule=orphan&provider=daytona&held_by=observe&incident=i-1&template=dev&text=sb&limit=7")
	var first struct{ Next string }
	if err := json.Unmarshal(w.Body.Bytes(), &first); err != nil || first.Next == "" {
		t.Fatalf("%d, %v: %s", w.Code, err, w.Body)
	}
	want := reconcile.Chosen{State: "held", Rule: "orphan", Provider: "daytona", HeldBy: "observe", Incident: "i-1", Template: "dev",
		Text: "sb", Most: 7}
	if len(asked) != 1 || asked[0] != want {
		t.Errorf("the ledger was asked for %+v, want %+v", asked, want)
	}
	ask(h, "GET", "/api/v1/findings?cursor="+first.Next)
	if got := asked[len(asked)-1].After; !got.At.Equal(noon) || got.Key != "7" {
		t.Errorf("the cursor came back as %+v", got)
	}
	for _, query := range []string{"limit=0", "limit=501", "limit=x", "cursor=%21", "cursor=eA", "rules=orphan", "rule=a&rule=b",
		"cursor=" + cursor(reconcile.Cursor{Key: "no number"})} {
		before := len(asked)
		if w := ask(h, "GET", "/api/v1/findings?"+query); w.Code != http.StatusBadRequest || len(asked) != before {
			t.Errorf("%s = %d, the ledger was asked %d times: %s", query, w.Code, len(asked)-before, w.Body)
		}
	}
	for path, want := range map[string]int{
		"/api/v1/actions?step=explode": 400, "/api/v1/actions?step=terminate&outcome=done&pass=4": 200, "/api/v1/actions?pass=x": 400,
		"/api/v1/actions/none": 404, "/api/v1/incidents/none": 404, "/api/v1/tasks/none": 404, "/api/v1/passes/9": 404, "/api/v1/passes/x": 404,
		"/api/v1/rules/none": 404, "/api/sandbox/none": 404, "/api/sandbox/other": 404, "/api/sandbox/daytona%2Fsb-1": 200, "/api/nothing": 404,
	} {
		if w := ask(h, "GET", path); w.Code != want {
			t.Errorf("GET %s = %d, want %d: %s", path, w.Code, want, w.Body)
		}
	}
}

// silent are records without a row.
type silent struct{ recorded }

func (s silent) Findings(_ context.Context, c reconcile.Chosen) ([]reconcile.FindingSeen, reconcile.Cursor, error) {
	return nil, reconcile.Cursor{}, s.note(c)
}

func (s silent) Sandboxes(_ context.Context, c reconcile.Chosen) ([]reconcile.SandboxSeen, reconcile.Cursor, error) {
	return nil, reconcile.Cursor{}, s.note(c)
}

// TestMisspeltFiltersAreSaid: what chooses nothing because nobody knows the word looks like no answer, on the pages as well.
func TestMisspeltFiltersAreSaid(t *testing.T) {
	o := options()
	o.Policy = func() reconcile.Policy {
		return reconcile.Policy{Providers: map[string]reconcile.ProviderPolicy{"daytona": {}, "e2b": {}}}
	}
	o.Ledger, o.Records = fixedOf(web.Reading{Overview: webtest.Healthy()}), silent{}
	h := New(o)
	for path, want := range map[string]string{
		"findings?rule=orphn":                 `rule=orphn is not known; did you mean "orphan"?`,
		"findings?state=opne":                 `state=opne is not known; did you mean "open"?`,
		"findings?provider=datona":            `provider=datona is not known; did you mean "daytona"?`,
		"findings?provider=azure":             "provider=azure is not known; known are daytona, e2b",
		"findings?held_by=obsrve":             `held_by=obsrve is not known; did you mean "observe"?`,
		"findings?held_by=budgte":             `held_by=budgte is not known; did you mean "budget"?`,
		"findings?rul=orphan":                 `"rul"`,
		"findings?sort=-subjct":               `sort=subjct is not known; did you mean "subject"?`,
		"sandboxes?sort=size":                 "sort=size is not known; known are id, state, name, task, template, age",
		"findings?held_by=budget":             "",
		"findings?held_by=listing:daytona":    "",
		"findings?held_by=rule:orphan":        "",
		"findings?sort=-subject":              "",
		"sandboxes?state=runnng":              `state=runnng is not known; did you mean "running"?`,
		"tasks?state=runnng":                  `state=runnng is not known; did you mean "running"?`,
		"incidents?state=opened":              `state=opened is not known; did you mean "open"?`,
		"actions?step=terminat":               `step=terminat is not known; did you mean "terminate"?`,
		"actions?outcome=confirmet":           `outcome=confirmet is not known; did you mean "confirmed"?`,
		"findings?template=ai-agent-dev-lite": `template=ai-agent-dev-lite is not known; did you mean "ai-agent-dev-light"?`,
		"findings?rule=orphan":                "",
		"findings?provider=e2b":               "",
		"findings?held_by=observe":            "",
		"sandboxes?state=ended":               "",
		"tasks?state=parked":                  "",
		"incidents?state=closed":              "",
		"actions?state=closed":                "",
		"sandboxes?text=x&state=gone":         "",
	} {
		for _, root := range []string{"/", "/api/v1/"} {
			w := ask(h, "GET", root+path)
			said := html.UnescapeString(strings.ReplaceAll(w.Body.String(), `\"`, `"`))
			switch {
			case want == "" && w.Code != http.StatusOK:
				t.Errorf("GET %s%s = %d: %s", root, path, w.Code, said)
			case want != "" && (w.Code != http.StatusBadRequest || !strings.Contains(strings.ToLower(said), strings.ToLower(want))):
				t.Errorf("GET %s%s = %d, want 400 and %s in %s", root, path, w.Code, want, said)
			case want != "" && root == "/" && !strings.Contains(said, `aria-label="Filter"`):
				t.Errorf("GET %s%s has no filter to put it right", root, path)
			case want != "" && root != "/" && w.Header().Get("Content-Type") != "application/problem+json":
				t.Errorf("GET %s%s is %s", root, path, w.Header().Get("Content-Type"))
			}
		}
	}
}

// blaming are records whose incident blames a template.
type blaming struct{ recorded }

func (b blaming) BrowseIncidents(context.Context, reconcile.Chosen) ([]reconcile.Incident, reconcile.Cursor, error) {
	return webtest.Incident().Incidents[:1], reconcile.Cursor{}, nil
}

func (b blaming) Incident(context.Context, string) (reconcile.Incident, error) {
	return webtest.Incident().Incidents[0], nil
}

// TestCauseThatIsOver is said in the past tense to programs too, though the incident is open.
func TestCauseThatIsOver(t *testing.T) {
	over := webtest.With(webtest.Incident(), webtest.Recover)
	for said, o := range map[string]reconcile.Overview{"is inactive": webtest.Incident(), "was inactive": over} {
		for _, path := range []string{"/api/v1/incidents", "/api/v1/incidents/i-3k9f2"} {
			if w := ask(programs(web.Reading{Overview: o}, blaming{}), "GET", path); !strings.Contains(w.Body.String(), said) {
				t.Errorf("GET %s does not say that it %s: %s", path, said, w.Body)
			}
		}
	}
}

// TestWhatIsGoneIsNotMisspelt: rows of a provider that the config has no more are shown.
func TestWhatIsGoneIsNotMisspelt(t *testing.T) {
	h := programs(web.Reading{Overview: webtest.Healthy()}, recorded{})
	if w := ask(h, "GET", "/api/v1/findings?provider=gone&rule=old"); w.Code != http.StatusOK {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
}

// TestPassesAreParted by their numbers.
func TestPassesAreParted(t *testing.T) {
	h := programs(web.Reading{Overview: webtest.Healthy()}, recorded{})
	got, at := "", ""
	for range 4 {
		var part struct {
			Items []struct{ ID int64 }
			Next  string
		}
		w := ask(h, "GET", "/api/v1/passes?limit=2&cursor="+at)
		if err := json.Unmarshal(w.Body.Bytes(), &part); err != nil {
			t.Fatal(err)
		}
		for _, p := range part.Items {
			got += strconv.FormatInt(p.ID, 10)
		}
		if at = part.Next; at == "" {
			break
		}
	}
	if got != "321" {
		t.Errorf("the parts have passes %s, want 321", got)
	}
}

// TestKnownDocumentsAreNotSentAgain, and one that changed is.
func TestKnownDocumentsAreNotSentAgain(t *testing.T) {
	h := programs(web.Reading{Overview: webtest.Healthy()}, recorded{})
	for _, path := range []string{"/api/v1/status", "/api/v1/findings", "/api/v1/openapi.json", "/api/sandbox/stats"} {
		first := ask(h, "GET", path)
		tag := first.Header().Get("ETag")
		if again := ask(h, "GET", path, "If-None-Match", `"x", `+tag); tag == "" || again.Code != http.StatusNotModified || again.Body.Len() > 0 {
			t.Errorf("%s with ETag %s = %d, %d bytes", path, tag, again.Code, again.Body.Len())
		}
		if other := ask(h, "GET", path, "If-None-Match", `"x"`); other.Code != http.StatusOK {
			t.Errorf("%s with another ETag = %d", path, other.Code)
		}
	}
}

// TestRunbookPaths answer with the runbook's JSON.
func TestRunbookPaths(t *testing.T) {
	h := programs(web.Reading{Overview: webtest.Healthy()}, recorded{})
	for path, words := range map[string][]string{
		"/api/sandbox/stats": {`"active":3`, `"provisioning":2`, `"terminating":1`, `"total_created":20`, `"total_destroyed":10`},
		"/api/sandbox/list": {`"id":"sb-1"`, `"status":"active"`, `"created_at":"2026-11-25T12:00:00Z"`, `"age_minutes":`, `"agent_type":"dev"`,
			`"task_id":"t-1"`},
		"/api/sandbox/sb-1/resources": {`"cpu_percent":12.5`, `"memory_mb":64`, `"duration_ms":1000`, `"operations":3`},
		"/api/sandbox/sb-1/logs":      {`"logs":[`},
	} {
		w := ask(h, "GET", path)
		for _, word := range words {
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), word) {
				t.Errorf("GET %s = %d without %s: %s", path, w.Code, word, w.Body)
			}
		}
	}
}

// TestRunbookAge is since it was created, as a script takes the two fields next to each other; else since it was first seen.
func TestRunbookAge(t *testing.T) {
	box := recorded{}.box()
	box.CreatedAt, box.FirstSeen = noon.Add(-time.Hour), noon.Add(-time.Minute)
	if got := api.ListedOf(&box, noon).AgeMinutes; got != 60 {
		t.Errorf("created an hour ago, it is %v minutes old", got)
	}
	box.CreatedAt = time.Time{}
	if got := api.ListedOf(&box, noon).AgeMinutes; got != 1 {
		t.Errorf("first seen a minute ago, it is %v minutes old", got)
	}
}
