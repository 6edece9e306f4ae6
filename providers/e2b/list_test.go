package e2b

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/e2b/e2btest"
	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// What is asked for, to the letter.
func TestListAsks(t *testing.T) {
	for name, test := range map[string]struct {
		labels map[string]string
		want   string
	}{
		"labels":             {map[string]string{"b": "2", "a": "one-two_3.4"}, "limit=100&metadata=a%3Done-two_3.4%26b%3D2&order=asc"},
		"no labels":          {nil, "limit=100&order=asc"},
		"a value with blank": {map[string]string{"a": "t 1", "b": "2"}, "limit=100&metadata=b%3D2&order=asc"},
		"a value with =":     {map[string]string{"a": "x=y"}, "limit=100&order=asc"},
		"a value with %":     {map[string]string{"a": "100%"}, "limit=100&order=asc"},
		"a key with a slash": {map[string]string{"a/b": "c"}, "limit=100&order=asc"},
	} {
		l := newLab(t, func(e *entry.Entry) { e.Owns = entry.Owns{Labels: test.labels} })
		if _, err := l.list(); err != nil {
			t.Fatal(err)
		}
		if r := l.seen[0]; r.URL.Path != "/v2/sandboxes" || r.URL.RawQuery != test.want ||
			r.Header.Get("X-API-Key") != "s3cret-key" || r.Header.Get("Authorization") != "" {
			t.Errorf("%s: asked %s with %v, want %s", name, r.URL, r.Header, test.want)
		}
	}
}

// A label that cannot be asked for still proves whose a sandbox is, and which is a task's.
func TestOddLabelsAreFiltersOfOurOwn(t *testing.T) {
	odd := map[string]string{"project": "team a/b=c&d%"}
	l := newLab(t, func(e *entry.Entry) { e.Owns = entry.Owns{Labels: odd} })
	with := func(task string) map[string]string {
		labels := maps.Clone(odd)
		labels["task_id"] = task
		return labels
	}
	mine := l.put(simulated.Sandbox{Labels: with("task 1")})
	l.put(simulated.Sandbox{Labels: with("task 2")})
	l.world.Put(simulated.Sandbox{Labels: map[string]string{"project": "theirs", "task_id": "task 1"}})
	owned := 0
	if _, err := l.List(t.Context(), func(page []reconcile.Sandbox) error {
		for _, s := range page {
			if s.Owned {
				owned++
			}
		}
		return nil
	}); err != nil || owned != 2 {
		t.Errorf("List shows %d of ours, %v; want 2", owned, err)
	}
	found, err := l.Find(t.Context(), "task 1")
	if err != nil || len(found) != 1 || found[0].ID != mine.ID {
		t.Errorf("Find = %+v, %v; want %s", found, err, mine.ID)
	}
}

// What is no page is an error, and no listing without sandboxes.
func TestListRefusesWhatIsNoPage(t *testing.T) {
	one := `{"sandboxID":"i1","state":"running"}`
	full := "[" + strings.TrimSuffix(strings.Repeat(one+",", pageSize), ",") + "]"
	less := "[" + strings.TrimSuffix(strings.Repeat(one+",", pageSize-1), ",") + "]"
	running := func(n int) map[string]string { return map[string]string{"X-Total-Running": fmt.Sprint(n)} }
	for name, test := range map[string]struct {
		answer reply
		want   string // in the error; "" when it is a listing
	}{
		"none":                              {reply{200, js, "[]", nil}, ""},
		"null":                              {reply{200, js, "null", nil}, "no page"},
		"an object":                         {reply{200, js, `{"sandboxes":[]}`, nil}, "read the answer's JSON"},
		"an item without id":                {reply{200, js, `[{"state":"running"}]`, nil}, "item 0 has no id"},
		"half a page":                       {reply{200, js, `[{"sandboxID":"i1"`, nil}, "read the answer's JSON"},
		"a page of somebody else":           {reply{200, "text/html", "<html>", nil}, "is the url right?"},
		"nearly full, no headers":           {reply{200, js, less, nil}, ""},
		"full, no headers":                  {reply{200, js, full, nil}, "does a proxy drop the headers?"},
		"full, and as many run":             {reply{200, js, full, running(pageSize)}, ""},
		"full, and more run":                {reply{200, js, full, running(pageSize + 1)}, "only 100 of 101"},
		"full, and the count is none":       {reply{200, js, full, map[string]string{"X-Total-Running": "x"}}, "full page"},
		"a field of another type":           {reply{200, js, `[{"sandboxID":"i1","metadata":7,"endAt":"soon"}]`, nil}, ""},
		"the words of an invalid token 400": {reply{400, js, `{"code":400,"message":"Invalid next token"}`, nil}, "Invalid next token"},
	} {
		l := newLab(t)
		l.says["GET /v2/sandboxes"] = test.answer
		_, err := l.list()
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: List = %v, want %q", name, err, test.want)
		}
	}
}

// A full last page of which the vendor says that it is the last is a complete listing: the
// count of those that run starts anew with each listing.
func TestListOfExactlyAPage(t *testing.T) {
	l := newLab(t)
	for range 2 * pageSize {
		l.world.Put(simulated.Sandbox{Labels: map[string]string{"project": "mine"}})
	}
	for range 2 {
		if ids, err := l.list(); err != nil || len(ids) != 2*pageSize {
			t.Errorf("List = %d sandboxes, %v; want %d", len(ids), err, 2*pageSize)
		}
	}
}

// What was counted in one reading does not make up for what lacks in the next.
func TestListCountsAnew(t *testing.T) {
	one := `{"sandboxID":"i1","state":"running"}`
	l := newLab(t)
	l.says["GET /v2/sandboxes"] = reply{200, js, "[" + strings.TrimSuffix(strings.Repeat(one+",", pageSize), ",") + "]",
		map[string]string{"X-Total-Running": "150"}}
	read := l.pages(nil)
	for range 2 {
		if _, err := read(t.Context(), ""); err == nil {
			t.Error("a page that lacks 50 is read without an error")
		}
	}
}

// One that is resumed while the pages are read gets a new time of its start. In this order it
// is met again behind, and never missed.
func TestListMeetsWhatIsResumed(t *testing.T) {
	l := newLab(t)
	var last string
	for i := range 2*pageSize + 10 {
		s := l.world.Put(simulated.Sandbox{CreatedAt: l.clock.Now().Add(time.Duration(i-500) * time.Minute),
			State: reconcile.SandboxSuspended, Labels: map[string]string{"project": "mine"}})
		last = s.ID
	}
	seen := map[string]int{}
	_, err := l.List(t.Context(), func(page []reconcile.Sandbox) error {
		for _, s := range page {
			seen[s.ID]++
		}
		if len(seen) == pageSize { // one of the second page moves
			s, _ := l.world.Sandbox(last)
			s.CreatedAt, s.State = l.clock.Now(), reconcile.SandboxRunning
			l.world.Put(s)
		}
		return nil
	})
	if err != nil || seen[last] != 1 || len(seen) != 2*pageSize+10 {
		t.Errorf("List met %d sandboxes and the resumed one %d times, %v; want all, once", len(seen), seen[last], err)
	}
}

// The states of the vendor, and what each makes of the two times.
func TestStates(t *testing.T) {
	began, ends := time.Date(2026, 11, 1, 11, 0, 0, 0, time.UTC), time.Date(2026, 11, 1, 13, 0, 0, 0, time.UTC)
	for raw, want := range map[string]reconcile.Sandbox{
		"running":      {State: reconcile.SandboxRunning, UpdatedAt: began, ExpiresAt: ends},
		"paused":       {State: reconcile.SandboxSuspended, UpdatedAt: ends},
		"snapshotting": {State: reconcile.SandboxUnknown, UpdatedAt: began},
		"Running":      {State: reconcile.SandboxUnknown, UpdatedAt: began},
		"":             {State: reconcile.SandboxUnknown, UpdatedAt: began},
	} {
		l := newLab(t)
		l.says["GET /sandboxes/i1"] = reply{200, js, `{"sandboxID":"i1","clientID":"6532622b","templateID":"tpl",
			"startedAt":"2026-11-01T11:00:00Z","endAt":"2026-11-01T13:00:00Z","state":"` + raw + `"}`, nil}
		got, err := l.Get(t.Context(), "i1")
		if err != nil || got.State != want.State || got.Raw != raw || !got.CreatedAt.Equal(began) || got.Template != "tpl" ||
			!got.UpdatedAt.Equal(want.UpdatedAt) || !got.ExpiresAt.Equal(want.ExpiresAt) || got.Name != "" || got.Owned {
			t.Errorf("%q: Get = %+v, %v; want %+v", raw, got, err, want)
		}
	}
}

// The long ids of former clients are taken by the vendor. That is not the sandbox that was
// asked for, and no news that it is gone.
func TestLongIDsAreNotGone(t *testing.T) {
	l := newLab(t)
	s := l.put(simulated.Sandbox{})
	long := s.ID + "-6532622b"
	_, err := l.Get(t.Context(), long)
	if err == nil || errors404(err) || !strings.Contains(err.Error(), "former clients") {
		t.Errorf("Get of a long id = %v, want an error that says so and not gone", err)
	}
	s.ID = long
	if how, err := l.Terminate(t.Context(), s); how != "" || err == nil {
		t.Errorf("Terminate of a long id = %q, %v; want an error", how, err)
	}
	if calls := l.world.Destructive(); len(calls) != 0 {
		t.Errorf("it made %v", calls)
	}
	l.world.Change(long[:len(long)-9], func(s *simulated.Sandbox) { s.Gone = true })
	if _, err := l.Get(t.Context(), long); !errors404(err) {
		t.Errorf("Get of a long id of one that is gone = %v, want ErrNotFound", err)
	}
}

// Each answer to a kill and to a pause, and what it means.
func TestTurned(t *testing.T) {
	const gone = `{"code":404,"message":"Sandbox \"i1\" doesn't exist or you don't have access to it"}`
	for name, test := range map[string]struct {
		answer reply
		want   reconcile.Termination
		held   bool
	}{
		"done":                        {reply{204, "", "", nil}, reconcile.TerminateDone, false},
		"somebody else says accepted": {reply{202, js, "{}", nil}, reconcile.TerminateAccepted, false},
		"gone":                        {reply{404, js, gone, nil}, reconcile.TerminateGone, false},
		"a page":                      {reply{200, "text/html", "<html>", nil}, "", false},
		"a 404 of somebody else":      {reply{404, "text/html", "<html>", nil}, "", false},
		"busy": {reply{409, js, `{"code":409,"message":"Sandbox 'i1' cannot be paused while in 'killing' state"}`,
			map[string]string{"Retry-After": "60"}}, "", true},
		"it broke":    {reply{500, js, `{"code":500,"message":"Error killing sandbox"}`, nil}, "", false},
		"not allowed": {reply{403, js, `{"code":403,"message":"no"}`, nil}, "", false},
		"too many":    {reply{429, js, `{"code":429,"message":"Rate limit exceeded"}`, map[string]string{"Retry-After": "60"}}, "", false},
		"a wrong id":  {reply{400, js, `{"code":400,"message":"Invalid sandbox ID"}`, nil}, "", false},
	} {
		for _, call := range []string{"DELETE /sandboxes/", "POST /sandboxes/"} {
			l := newLab(t)
			s := l.put(simulated.Sandbox{})
			do, path := l.Terminate, call+s.ID
			if strings.HasPrefix(call, "POST") {
				do, path = l.Suspend, path+"/pause"
			}
			l.says[path] = test.answer
			how, err := do(t.Context(), s)
			if how != test.want || (err != nil) != (test.want == "") || isHeld(err) != test.held {
				t.Errorf("%s, %s: = %q, %v; want %q, held %t", name, call, how, err, test.want, test.held)
			}
		}
	}
}

// A restore is the only thing that ever connects, and it asks for a bounded time.
func TestResume(t *testing.T) {
	for name, test := range map[string]struct {
		answer http.Handler
		is     func(error) bool
	}{
		"it comes back":        {nil, func(err error) bool { return err == nil }},
		"busy":                 {reply{409, js, `{"code":409,"message":"x"}`, nil}, isHeld},
		"gone":                 {reply{410, js, `{"code":410,"message":"Sandbox \"i1\" was killed"}`, nil}, errors404},
		"too many run already": {reply{429, js, `{"code":429,"message":"you have reached the maximum"}`, nil}, isThrottled},
		"another one":          {reply{201, js, `{"sandboxID":"i2"}`, nil}, isOther},
		"a page":               {reply{200, "text/html", "<html>", nil}, isOther},
	} {
		l := newLab(t)
		s := l.put(simulated.Sandbox{State: reconcile.SandboxSuspended})
		path := "/sandboxes/" + s.ID + "/connect"
		if test.answer != nil {
			l.says["POST "+path] = test.answer
		}
		if err := l.Resume(t.Context(), s); !test.is(err) {
			t.Errorf("%s: Resume = %v", name, err)
		}
		if r := l.seen[len(l.seen)-1]; r.URL.Path != path {
			t.Errorf("%s: the last call is %s, want one connect", name, r.URL)
		}
		now, _ := l.world.Sandbox(s.ID)
		if test.answer == nil && !now.ExpiresAt.Equal(l.clock.Now().Add(time.Hour)) {
			t.Errorf("it ends %s, want in an hour", now.ExpiresAt)
		}
	}
	l := newLab(t)
	s := l.put(simulated.Sandbox{})
	if err := l.Resume(t.Context(), s); err != nil || slices.ContainsFunc(l.seen, connects) {
		t.Errorf("Resume of one that runs = %v, want nothing done", err)
	}
}

func connects(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/connect") }

// A key of another team is no reason to take anything for gone: neither what its listing does
// not show, nor what it is told does not exist.
func TestAnotherTeam(t *testing.T) {
	for name, test := range map[string]struct {
		team  string
		ours  int
		wrong bool
	}{
		"the key's own team":            {e2btest.Team, 0, false},
		"another one":                   {"another", 0, true},
		"another one that shows things": {"another", 1, true},
		"nobody says":                   {"", 0, false},
	} {
		l := newLab(t, func(e *entry.Entry) { e.Extra["team"] = test.team })
		for range test.ours {
			l.put(simulated.Sandbox{})
		}
		_, listed := l.list()
		_, found := l.Find(t.Context(), "t1")
		for _, err := range []error{listed, found} {
			if (err != nil) != test.wrong || test.wrong && !errors.Is(err, reconcile.ErrUnauthorized) {
				t.Errorf("%s: List, Find = %v, want an error %t", name, err, test.wrong)
			}
		}
		if _, err := l.Get(t.Context(), "i0none"); errors404(err) == test.wrong {
			t.Errorf("%s: Get of what is not told of = %v, want it gone %t", name, err, !test.wrong)
		}
		none := reconcile.Sandbox{Ref: reconcile.Ref{Provider: "lab", ID: "i0none"}}
		if how, err := l.Terminate(t.Context(), none); (how == reconcile.TerminateGone) == test.wrong {
			t.Errorf("%s: Terminate of what is not told of = %q, %v", name, how, err)
		}
	}
}

// A server that knows no teams, or cannot tell now, is no other team. It is told apart from one
// that never said whose key it is.
func TestTeamThatCannotBeTold(t *testing.T) {
	lost := map[string]reply{"no such route": {404, js, `{"code":404,"message":"no matching operation was found"}`, nil},
		"broken": {500, js, `{"code":500,"message":"x"}`, nil}}
	for name, answer := range lost {
		l := newLab(t, func(e *entry.Entry) { e.Extra["team"] = e2btest.Team })
		const path = "GET /teams/" + e2btest.Team + "/metrics"
		l.says[path] = answer
		if _, err := l.list(); err == nil || !strings.Contains(err.Error(), "leave out team:") {
			t.Errorf("%s, from the start: List = %v, want what to do", name, err)
		}
		delete(l.says, path)
		if _, err := l.list(); err != nil {
			t.Errorf("%s, then not: List = %v", name, err)
		}
		l.says[path] = answer
		if _, err := l.list(); err != nil {
			t.Errorf("%s, after it was told: List = %v", name, err)
		}
		l.says[path] = reply{403, js, `{"code":403,"message":"You are not authorized"}`, nil}
		for range 2 {
			if _, err := l.list(); !errors.Is(err, reconcile.ErrUnauthorized) {
				t.Errorf("%s, then another team: List = %v, want it refused", name, err)
			}
			l.says[path] = reply{403, js, `{"code":403,"message":"no"}`, nil}
		}
		l.says[path] = answer
		if _, err := l.list(); err == nil {
			t.Errorf("%s, after it was another team: List = nil, want an error", name)
		}
	}
}
