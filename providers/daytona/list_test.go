package daytona

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/daytona/daytonatest"
	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/providertest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

func TestListAsksForWhatIsOurs(t *testing.T) {
	for name, test := range map[string]struct {
		owns entry.Owns
		want string
	}{
		"labels":      {entry.Owns{Labels: map[string]string{"b": "2", "a": "1"}}, `{"a":"1","b":"2"}`},
		"a prefix":    {entry.Owns{NamePrefix: "x-"}, ""},
		"referenced":  {entry.Owns{Referenced: true}, ""},
		"odd letters": {entry.Owns{Labels: map[string]string{"a": `"&=`}}, `{"a":"\"\u0026="}`},
	} {
		d := &double{answer: func(_ int, w http.ResponseWriter, r *http.Request) {
			v := r.URL.Query()
			if v.Get("labels") != test.want || v.Get("limit") != "200" || v.Get("sort") != "createdAt" ||
				v.Get("order") != "asc" || v.Get("includeErroredDeleted") != "true" {
				t.Errorf("%s: asked %s", name, r.URL.RawQuery)
			}
			sendJSON(w, 200, `{"items":[],"nextCursor":null}`)
		}}
		if _, l, err := ids(t.Context(), over(t, d, func(e *entry.Entry) { e.Owns = test.owns })); err != nil || !l.Complete {
			t.Errorf("%s: List = %+v, %v", name, l, err)
		}
	}
}

func TestListProves(t *testing.T) {
	page := func(items, next string) string { return `{"items":[` + items + `],"nextCursor":` + next + `}` }
	two := one + "," + strings.Replace(one, "sb-1", "sb-2", 1)
	for name, test := range map[string]struct {
		pages []string
		want  string // ids, "" when the listing must fail
	}{
		"one page": {[]string{page(one, "null")}, "sb-1"},
		"two pages": {
			[]string{page(one, `"c"`), page(strings.Replace(one, "sb-1", "sb-2", 1), "null")}, "sb-1 sb-2",
		},
		"an empty page amid": {[]string{page("", `"c"`), page(one, "null")}, "sb-1"},
		"an empty cursor":    {[]string{page(one, `""`)}, "sb-1"},
		"null for what is not needed": {
			[]string{page(`{"id":"sb-1","name":null,"state":null,"labels":null,"createdAt":null}`, "null")},
			"sb-1",
		},
		"another type where not needed": {
			[]string{page(`{"id":"sb-1","labels":{"a":1},"cpu":"many","createdAt":5}`, "null")}, "sb-1",
		},
		"the same one on both pages":   {[]string{page(one, `"c"`), page(two, "null")}, "sb-1 sb-2"},
		"an item without id":           {[]string{page(one+`,{"name":"x"}`, "null")}, ""},
		"an item that is null":         {[]string{page(one+`,null`, "null")}, ""},
		"an item whose id is a number": {[]string{page(`{"id":5}`, "null")}, ""},
		"no items":                     {[]string{`{"nextCursor":null}`}, ""},
		"no items after a page with some": {
			[]string{page(one, `"c"`), `{"nextCursor":null}`}, "",
		},
		"an empty page after one with some": {
			[]string{page(one, `"c"`), page("", "null")}, "sb-1",
		},
		"items that are null":      {[]string{`{"items":null,"nextCursor":null}`}, ""},
		"items that are no list":   {[]string{`{"items":"none","nextCursor":null}`}, ""},
		"no cursor, not even null": {[]string{`{"items":[` + one + `]}`}, "sb-1"},
		"a full page without a cursor": {
			[]string{`{"items":[` + strings.TrimSuffix(strings.Repeat(one+",", pageSize), ",") + `]}`}, "",
		},
		"a cursor that is no text":        {[]string{page(one, "5")}, ""},
		"a cursor that leads back":        {[]string{page(one, `"c"`), page("", `"c"`)}, ""},
		"cursors that lead back later":    {[]string{page(one, `"c"`), page("", `"d"`), page("", `"c"`)}, ""},
		"a list instead of a page":        {[]string{`[` + one + `]`}, ""},
		"an error amid":                   {[]string{page(one, `"c"`), `500`}, ""},
		"the end of the answer cut off":   {[]string{page(one, "null")[:60]}, ""},
		"something after the answer":      {[]string{page(one, "null") + "x"}, ""},
		"an answer larger than any page":  {[]string{page(`{"id":"`+strings.Repeat("x", wire.MaxPage)+`"}`, "null")}, ""},
		"an error in the shape of a page": {[]string{`{"statusCode":503,"message":"maintenance"}`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := &double{answer: func(call int, w http.ResponseWriter, _ *http.Request) {
				body := test.pages[min(call, len(test.pages))-1]
				if body == "500" {
					sendJSON(w, 500, `{}`)
					return
				}
				sendJSON(w, 200, body)
			}}
			got, l, err := ids(t.Context(), over(t, d))
			if test.want == "" && (err == nil || l.Complete) {
				t.Errorf("List = %v, %+v; want an error and not complete", got, l)
			}
			if test.want != "" && (err != nil || !l.Complete || strings.Join(got, " ") != test.want) {
				t.Errorf("List = %v, %+v, %v; want %s", got, l, err, test.want)
			}
		})
	}
}

// A page is read to where the one before was: neither shows anything of the other.
func TestPagesShareNothing(t *testing.T) {
	const labelled = `{"id":"sb-%d","name":"n%[1]d","state":"started","desiredState":"destroyed","snapshot":"s",` +
		`"labels":{"project":"mine","task_id":"t%[1]d"},"createdAt":"2026-01-20T09:00:00Z","errorReason":"e%[1]d"}`
	pages := []string{
		`{"items":[` + fmt.Sprintf(labelled, 1) + `,` + fmt.Sprintf(labelled, 2) + `],"nextCursor":"c"}`,
		`{"items":[{"id":"sb-3","labels":{"project":"mine"}}],"nextCursor":"d"}`,
		`{"items":[{"id":"sb-4"},` + fmt.Sprintf(labelled, 5) + `],"nextCursor":null}`,
	}
	var listed []reconcile.Sandbox
	d := &double{answer: func(call int, w http.ResponseWriter, _ *http.Request) { sendJSON(w, 200, pages[call-1]) }}
	l, err := over(t, d).List(t.Context(), func(page []reconcile.Sandbox) error {
		listed = append(listed, page...)
		return nil
	})
	if err != nil || !l.Complete || len(listed) != 5 {
		t.Fatalf("List = %+v, %+v, %v; want five", listed, l, err)
	}
	for i, s := range listed {
		got := fmt.Sprint(s.ID, s.Task, s.Labels["task_id"], s.Template, s.Error, s.CreatedAt.IsZero(), len(s.Labels))
		want := map[int]string{2: "sb-3true1", 3: "sb-4true0"}[i]
		if n := i + 1; want == "" {
			want = fmt.Sprintf("sb-%dt%[1]dt%[1]dse%[1]dfalse2", n)
		}
		if strings.ReplaceAll(got, " ", "") != want {
			t.Errorf("sandbox %d is %s, want %s", i+1, got, want)
		}
	}
}

// What the list shows as being deleted is found only while a get finds it: a delete of a failed one
// hides it from all but the list, for days.
func TestFindsWhatIsThere(t *testing.T) {
	const gone = `{"statusCode":404,"message":"Sandbox with ID or name sb-1 not found"}`
	labelled := strings.Replace(one, `"project":"mine"`, `"project":"mine","task_id":"t1"`, 1)
	deleted := func(state string) string {
		return strings.NewReplacer(`"state":"started"`, `"state":"`+state+`"`,
			`"desiredState":"started"`, `"desiredState":"destroyed"`).Replace(labelled)
	}
	for name, test := range map[string]struct {
		listed  string
		status  int
		body    string
		want    int // found
		unknown bool
		gets    int32
	}{
		"it runs":                               {labelled, 500, `{}`, 1, false, 0},
		"it failed":                             {strings.Replace(labelled, `"started"`, `"error"`, 1), 500, `{}`, 1, false, 0},
		"it failed and was deleted":             {deleted("error"), 404, gone, 0, false, 1},
		"its build failed and it was deleted":   {deleted("build_failed"), 404, gone, 0, false, 1},
		"it is gone, and the list lags":         {deleted("destroying"), 404, gone, 0, false, 1},
		"it is being deleted":                   {deleted("started"), 200, deleted("destroying"), 1, false, 1},
		"nobody says whether it is still there": {deleted("error"), 403, `{"message":"no"}`, 0, true, 1},
	} {
		for how, find := range map[string]func(p *Provider) ([]reconcile.Sandbox, error){
			"Find":  func(p *Provider) ([]reconcile.Sandbox, error) { return p.Find(t.Context(), "t1") },
			"Named": func(p *Provider) ([]reconcile.Sandbox, error) { return p.Named(t.Context(), "t1") },
		} {
			var gets atomic.Int32
			d := &double{answer: func(_ int, w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/api/sandbox" {
					sendJSON(w, 200, `{"items":[`+test.listed+`],"nextCursor":null}`)
					return
				}
				gets.Add(1)
				sendJSON(w, test.status, test.body)
			}}
			found, err := find(over(t, d, func(e *entry.Entry) { e.Link.Sandbox = "label:task_id" }))
			if len(found) != test.want || (err != nil) != test.unknown || gets.Load() != test.gets {
				t.Errorf("%s: %s = %+v, %v after %d gets; want %d after %d", name, how, found, err, gets.Load(), test.want,
					test.gets)
			}
		}
	}
}

// An endless listing ends.
func TestListIsBounded(t *testing.T) {
	d := &double{answer: func(call int, w http.ResponseWriter, _ *http.Request) {
		sendJSON(w, 200, fmt.Sprintf(`{"items":[],"nextCursor":"c%d"}`, call))
	}}
	if _, l, err := ids(t.Context(), over(t, d)); err == nil || l.Complete || d.calls.Load() != 200 {
		t.Errorf("List = %+v, %v after %d calls, want an error after 200", l, err, d.calls.Load())
	}
}

// A circle is seen at its first turn.
func TestListSeesACircle(t *testing.T) {
	d := &double{answer: func(_ int, w http.ResponseWriter, _ *http.Request) {
		sendJSON(w, 200, `{"items":[],"nextCursor":"c"}`)
	}}
	if _, _, err := ids(t.Context(), over(t, d)); err == nil || d.calls.Load() != 2 {
		t.Errorf("List = %v after %d calls, want an error after 2", err, d.calls.Load())
	}
}

// The listing is as old as its first page.
func TestListDate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stamps := []string{"Thu, 01 Jan 2026 00:00:00 GMT", "Thu, 01 Jan 2026 00:00:30 GMT", ""}
		d := &double{answer: func(call int, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Date", stamps[call-1])
			next := `"c"`
			if call != 1 {
				next = "null"
			}
			sendJSON(w, 200, `{"items":[],"nextCursor":`+next+`}`)
		}}
		p := over(t, d)
		if _, l, err := ids(t.Context(), p); err != nil || !l.Date.Equal(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("List = %+v, %v; want the first page's date", l, err)
		}
		if _, l, err := ids(t.Context(), p); err != nil || !l.Date.Equal(time.Now()) {
			t.Errorf("List without a Date = %+v, %v; want our own now", l, err)
		}
	})
}

func TestFindChecksTheAnswer(t *testing.T) {
	mine := `{"id":"sb-1","labels":{"project":"mine","task_id":"t1"}}`
	for name, test := range map[string]struct {
		items string
		owns  entry.Owns
		want  []string
	}{
		"ours": {
			mine, entry.Owns{Labels: map[string]string{"project": "mine"}}, []string{"sb-1"},
		},
		"a filter that was not obeyed": {
			mine + `,{"id":"sb-2","labels":{"project":"mine","task_id":"t2"}}`,
			entry.Owns{Labels: map[string]string{"project": "mine"}}, []string{"sb-1"},
		},
		"foreign, of the same task": {
			`{"id":"sb-2","labels":{"project":"theirs","task_id":"t1"}}`,
			entry.Owns{Labels: map[string]string{"project": "mine"}}, nil,
		},
		"ours because a row refers to it":   {mine, entry.Owns{Referenced: true}, []string{"sb-1"}},
		"foreign by its name, despite rows": {mine, entry.Owns{NamePrefix: "x-", Referenced: true}, nil},
	} {
		d := &double{answer: func(_ int, w http.ResponseWriter, r *http.Request) {
			if !strings.Contains(r.URL.Query().Get("labels"), `"task_id":"t1"`) {
				t.Errorf("%s: asked %s", name, r.URL.RawQuery)
			}
			sendJSON(w, 200, `{"items":[`+test.items+`],"nextCursor":null}`)
		}}
		found, err := over(t, d, func(e *entry.Entry) { e.Owns = test.owns }).Find(t.Context(), "t1")
		var got []string
		for _, s := range found {
			got = append(got, s.ID)
		}
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: Find = %v, %v; want %v", name, got, err, test.want)
		}
	}
	none := over(t, &double{answer: func(_ int, w http.ResponseWriter, _ *http.Request) { sendJSON(w, 500, `{}`) }},
		func(e *entry.Entry) { e.Link.TaskLabel = "" })
	if found, err := none.Find(t.Context(), "t1"); err != nil || found != nil {
		t.Errorf("Find without a link = %v, %v; want none and no call", found, err)
	}
}

func TestStates(t *testing.T) {
	for name, test := range map[string]struct {
		state, desired string
		want           reconcile.SandboxState
	}{
		"started":                        {"started", "started", reconcile.SandboxRunning},
		"started, but a delete accepted": {"started", "destroyed", reconcile.SandboxDeleting},
		"failed, but a delete accepted":  {"error", "destroyed", reconcile.SandboxDeleting},
		"destroyed":                      {"destroyed", "destroyed", reconcile.SandboxEnded},
		"destroying":                     {"destroying", "", reconcile.SandboxDeleting},
		"unknown, meant to start":        {"unknown", "started", reconcile.SandboxCreating},
		"unknown":                        {"unknown", "stopped", reconcile.SandboxUnknown},
		"a new word":                     {"hibernating", "started", reconcile.SandboxUnknown},
		"a new word, delete accepted":    {"hibernating", "destroyed", reconcile.SandboxDeleting},
		"nothing":                        {"", "", reconcile.SandboxUnknown},
		"resizing runs":                  {"resizing", "resized", reconcile.SandboxRunning},
		"archiving is kept":              {"archiving", "archived", reconcile.SandboxSuspended},
		"stopping":                       {"stopping", "stopped", reconcile.SandboxSuspended},
		"build_failed":                   {"build_failed", "started", reconcile.SandboxFailed},
		"pending_build":                  {"pending_build", "started", reconcile.SandboxCreating},
	} {
		if got := (&box{State: test.state, DesiredState: test.desired}).state(); got != test.want {
			t.Errorf("%s: state = %q, want %q", name, got, test.want)
		}
	}
	if len(states) != 21 { // the vendor's 22 words, of which unknown depends on what is desired
		t.Errorf("%d states are mapped, want 21", len(states))
	}
}

func TestFormerName(t *testing.T) {
	for name, want := range map[string]string{
		"DESTROYED_worker_1_1700000000000": "worker_1", "DESTROYED_worker": "DESTROYED_worker", "worker": "worker",
		"DESTROYED_a_b": "DESTROYED_a_b", "DESTROYED__1": "", "": "",
	} {
		if got := formerName(name); got != want {
			t.Errorf("formerName(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestTerminate(t *testing.T) {
	expected := reconcile.Sandbox{Ref: reconcile.Ref{Provider: "lab", ID: "sb-1"}, Owned: true}
	for name, test := range map[string]struct {
		status  int
		body    string
		deletes int
		want    reconcile.Termination
		err     error
	}{
		"accepted": {
			200, `{"id":"sb-1","state":"destroying","desiredState":"destroyed"}`, 1, reconcile.TerminateAccepted,
			nil,
		},
		"done": {200, `{"id":"sb-1","state":"destroyed"}`, 1, reconcile.TerminateDone, nil},
		"gone meanwhile": {
			404, `{"message":"Sandbox with ID or name sb-1 not found"}`, 1, reconcile.TerminateGone, nil,
		},
		"gone for good":       {410, `{"message":"Gone"}`, 1, reconcile.TerminateGone, nil},
		"a 404 of the router": {404, `{"message":"Cannot DELETE /api/sandbox/sb-1"}`, 1, "", errAny},
		"refused": {
			400, `{"message":"has active fork children"}`, 1, reconcile.TerminateRefused, errAny,
		},
		"no permission":               {403, `{"message":"Forbidden resource"}`, 1, "", reconcile.ErrUnauthorized},
		"an error is not repeated":    {502, `{}`, 1, "", errAny},
		"maintenance is not repeated": {503, `{}`, 1, "", errAny},
		"busy until patience ends": {
			409, `{"message":"Sandbox state change in progress"}`, 3, "", reconcile.ErrHeld,
		},
		"limited until patience ends":    {429, `{}`, 3, "", reconcile.ErrThrottled},
		"an answer of another sandbox":   {200, `{"id":"sb-2","state":"destroying"}`, 1, "", errAny},
		"an answer that says not a word": {200, `{}`, 1, "", errAny},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				deletes := 0
				d := &double{answer: func(_ int, w http.ResponseWriter, r *http.Request) {
					if r.Method == http.MethodGet {
						sendJSON(w, 200, one)
						return
					}
					deletes++
					sendJSON(w, test.status, test.body)
				}}
				p := over(t, d)
				how, err := p.Terminate(t.Context(), expected)
				if how != test.want || !is(err, test.err) {
					t.Errorf("Terminate = %q, %v; want %q, %v", how, err, test.want, test.err)
				}
				if test.deletes == 1 && deletes != 1 || deletes < test.deletes {
					t.Errorf("%d deletes, want %d", deletes, test.deletes)
				}
			})
		})
	}
}

// One that is being deleted, or was, is not deleted again.
func TestTerminateOfWhatEnds(t *testing.T) {
	for now, want := range map[string]reconcile.Termination{
		`{"id":"sb-1","state":"started","desiredState":"destroyed"}`:   reconcile.TerminateAccepted,
		`{"id":"sb-1","state":"destroying"}`:                           reconcile.TerminateAccepted,
		`{"id":"sb-1","state":"destroyed","desiredState":"destroyed"}`: reconcile.TerminateGone,
	} {
		d := &double{answer: func(_ int, w http.ResponseWriter, r *http.Request) { sendJSON(w, 200, now) }}
		how, err := over(t, d).Terminate(t.Context(), reconcile.Sandbox{Ref: reconcile.Ref{ID: "sb-1"}})
		if how != want || err != nil || d.calls.Load() != 1 {
			t.Errorf("Terminate of %s = %s, %v after %d calls; want %s after the look", now, how, err, d.calls.Load(), want)
		}
	}
}

// One that was seen being deleted, and is to be ended all the same, is stuck: it is asked for
// again.
func TestTerminateOfWhatIsStuck(t *testing.T) {
	const now = `{"id":"sb-1","state":"destroying"}`
	for status, want := range map[int]reconcile.Termination{
		200: reconcile.TerminateAccepted, 409: reconcile.TerminateAccepted, 400: reconcile.TerminateRefused,
	} {
		deletes := 0
		d := &double{answer: func(_ int, w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodDelete {
				sendJSON(w, 200, now)
				return
			}
			deletes++
			sendJSON(w, status, now)
		}}
		stuck := reconcile.Sandbox{Ref: reconcile.Ref{ID: "sb-1"}, State: reconcile.SandboxDeleting}
		how, err := over(t, d).Terminate(t.Context(), stuck)
		if how != want || (err != nil) != (status == 400) || deletes != 1 {
			t.Errorf("Terminate answered with %d = %s, %v after %d deletes; want %s after 1", status, how, err, deletes, want)
		}
	}
}

// A delete that is refused as busy is tried again until the transition is over.
func TestTerminateWaitsForATransition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deletes := 0
		d := &double{answer: func(_ int, w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == http.MethodGet:
				sendJSON(w, 200, one)
			case deletes < 3:
				deletes++
				sendJSON(w, 409, `{"message":"Sandbox state change in progress"}`)
			default:
				sendJSON(w, 200, `{"id":"sb-1","state":"destroying"}`)
			}
		}}
		how, err := over(t, d).Terminate(t.Context(), reconcile.Sandbox{Ref: reconcile.Ref{ID: "sb-1"}})
		if how != reconcile.TerminateAccepted || err != nil || deletes != 3 {
			t.Errorf("Terminate = %q, %v after %d refusals; want accepted after 3", how, err, deletes)
		}
	})
}

// What was sent and got no answer may have been done: it is not sent again.
func TestTerminateIsSentOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deletes := 0
		d := &double{answer: func(_ int, w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				sendJSON(w, 200, one)
				return
			}
			deletes++
			<-r.Context().Done()
		}}
		how, err := over(t, d).Terminate(t.Context(), reconcile.Sandbox{Ref: reconcile.Ref{ID: "sb-1"}})
		if how != "" || err == nil || errors.Is(err, reconcile.ErrNotFound) || deletes != 1 {
			t.Errorf("Terminate = %q, %v after %d deletes; want an error after 1", how, err, deletes)
		}
	})
}

// A listing of many pages is read side by side, from moments of creation on: it shows the same, and asks for little
// more. A server that knows no such filter shows the same too, one page after the other.
func TestLargeListIsReadSideBySide(t *testing.T) {
	const fleet = 21*pageSize + 5
	for name, test := range map[string]struct {
		ignored bool
		from    int32 // listings from a moment on, at least
	}{"by the vendor": {false, 4}, "by a server that ignores the filter": {true, 1}} {
		t.Run(name, func(t *testing.T) {
			world, clock := providertest.World(Abilities)
			for i := range fleet {
				world.Put(simulated.Sandbox{Labels: map[string]string{"project": "mine"},
					CreatedAt: clock.Now().Add(-time.Duration(i) * time.Second)})
			}
			server, from := daytonatest.New(world, daytonatest.Options{Key: "s3cret"}), atomic.Int32{}
			d := &double{answer: func(_ int, w http.ResponseWriter, r *http.Request) {
				if query := r.URL.Query(); query.Has("createdAtAfter") && !query.Has("cursor") {
					if from.Add(1); test.ignored {
						query.Del("createdAtAfter")
						r.URL.RawQuery = query.Encode()
					}
				}
				server.ServeHTTP(w, r)
			}}
			got, l, err := ids(t.Context(), over(t, d))
			slices.Sort(got)
			if err != nil || !l.Complete || len(got) != fleet || len(slices.Compact(got)) != fleet {
				t.Fatalf("List = %d sandboxes, %+v, %v; want %d, complete", len(got), l, err, fleet)
			}
			if from.Load() < test.from || d.calls.Load() > 22*3/2 {
				t.Errorf("it took %d calls, %d of them from a moment on", d.calls.Load(), from.Load())
			}
		})
	}
}
