package wire_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// answering is a client of a provider that answers every call alike.
func answering(t *testing.T, status int, body string) *wire.Client {
	t.Helper()
	c, _, err := wire.Open(entry.Entry{Name: "lab", URL: "https://lab.test"}, entry.Options{
		Transport: wiretest.Transport(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			sendJSON(w, status, body)
		})),
	}, wire.Dialect{Certain: func(a wire.Answer, s wire.APIError) bool { return a.Status == 404 && s.Code == "gone" }})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestUnchanged(t *testing.T) {
	for name, test := range map[string]struct {
		status  int
		body    string
		want    reconcile.Termination
		wantErr error
	}{
		"the thing is not there":      {404, `{"code":"gone","message":"no such sandbox"}`, reconcile.TerminateGone, nil},
		"a router's 404":              {404, `{"message":"no such page"}`, "", errAny},
		"another change is under way": {409, `{"message":"busy"}`, "", reconcile.ErrHeld},
		"refused for good":            {422, `{"message":"it has children"}`, reconcile.TerminateRefused, errAny},
		"a refusal of another vendor": {400, `{"message":"no"}`, "", errAny},
		"the credential":              {403, `{"message":"no"}`, "", reconcile.ErrUnauthorized},
		"broken":                      {500, `{"message":"oh"}`, "", errAny},
	} {
		a, err := answering(t, test.status, test.body).Ask(t.Context(), wire.Call{URL: "https://lab.test/x"}, nil)
		how, err := wire.Unchanged(a, err, 422)
		if how != test.want || !is(err, test.wantErr) {
			t.Errorf("%s: Unchanged = %q, %v; want %q, %v", name, how, err, test.want, test.wantErr)
		}
		if err := wire.Unstarted(a, errAny); errors.Is(err, reconcile.ErrHeld) != (test.status == http.StatusConflict) {
			t.Errorf("%s: Unstarted = %v", name, err)
		}
	}
	how, err := wire.Unchanged(wire.Answer{}, errAny, 422)
	if how != "" || !errors.Is(err, errAny) {
		t.Errorf("no answer: Unchanged = %q, %v; want that nobody knows", how, err)
	}
}

func TestJudge(t *testing.T) {
	judge := wire.Judge{
		Good: func(a wire.Answer, _ wire.APIError) (wire.ProbePart, bool) { return wire.Listed(3), a.OK() },
		Outcome: func(a wire.Answer, _ wire.APIError) reconcile.ProbeOutcome {
			if a.Status == http.StatusInternalServerError {
				return reconcile.CannotStart
			}
			return reconcile.Infrastructure
		},
	}
	for name, test := range map[string]struct {
		status int
		body   string
		want   wire.ProbePart
	}{
		"known":          {200, `{}`, wire.Listed(3)},
		"with a code":    {500, `{"code":"no_fork","message":"cannot fork"}`, wire.Failed("500 Internal Server Error: no_fork cannot fork")},
		"with a number":  {500, `{"code":7000,"message":"cannot fork"}`, wire.Failed("500 Internal Server Error: cannot fork")},
		"said already":   {500, `{"code":"cannot","message":"cannot fork"}`, wire.Failed("500 Internal Server Error: cannot fork")},
		"of a gateway":   {502, `{"message":"no"}`, wire.Unclear("502 Bad Gateway: no")},
		"without a word": {500, `{}`, wire.Failed("500 Internal Server Error")},
	} {
		got := answering(t, test.status, test.body).Judge(t.Context(), wire.Call{Method: "GET", URL: "https://lab.test/x"}, judge)
		if got != test.want {
			t.Errorf("%s: Judge = %+v, want %+v", name, got, test.want)
		}
	}
	lost := func(context.Context, wire.Call) (wire.Answer, error) {
		return wire.Answer{}, &wire.Lost{Err: errAny, Slow: true, Connected: true}
	}
	got := answering(t, 200, `{}`).Judge(t.Context(), wire.Call{Timeout: time.Second}, wire.Judge{Ask: lost})
	if got.Outcome != reconcile.Hung {
		t.Errorf("no answer in time: Judge = %+v, want it hung", got)
	}
}

func TestHalves(t *testing.T) {
	well := func(time.Duration) wire.ProbePart { return wire.Listed(1) }
	hung := func(within time.Duration) wire.ProbePart {
		return wire.ProbePart{Outcome: reconcile.Hung, Words: within.String()}
	}
	lost := func(time.Duration) wire.ProbePart { return wire.Missing("404") }
	never := func(time.Duration) wire.ProbePart {
		t.Error("a half was asked for that is not configured")
		return wire.ProbePart{}
	}
	both := reconcile.ProbePolicy{Exec: "true", Path: "/", Timeout: 1500 * time.Millisecond}
	for name, test := range map[string]struct {
		got  wire.ProbePart
		want wire.ProbePart
	}{
		"both":           {wire.Halves(both, well, well), wire.ProbePart{Outcome: reconcile.Answered, Words: "exec: 1 entries; files of /: 1 entries"}},
		"one fails":      {wire.Halves(both, hung, well), wire.ProbePart{Outcome: reconcile.Hung, Words: "exec: 2s; files of /: 1 entries"}},
		"only a command": {wire.Halves(reconcile.ProbePolicy{Exec: "true"}, well, never), wire.ProbePart{Outcome: reconcile.Answered, Words: "exec: 1 entries"}},
		"only files":     {wire.Halves(reconcile.ProbePolicy{Path: "/x"}, never, well), wire.ProbePart{Outcome: reconcile.Answered, Words: "files of /x: 1 entries"}},
		"a path that is not there": {wire.Halves(reconcile.ProbePolicy{Exec: "true", Path: "/work"}, well, lost),
			wire.Unclear("exec: 1 entries; files of /work: 404, while commands run: is probe.path right?")},
		"the root is not there": {wire.Halves(both, well, lost),
			wire.Failed("exec: 1 entries; files of /: 404")},
		"no path, and no command": {wire.Halves(reconcile.ProbePolicy{Exec: "true", Path: "/work"}, hung, lost),
			wire.Failed("exec: 1s; files of /work: 404")},
		"only the path is asked for": {wire.Halves(reconcile.ProbePolicy{Path: "/work"}, never, lost),
			wire.Failed("files of /work: 404")},
	} {
		if test.got != test.want {
			t.Errorf("%s: Halves = %+v, want %+v", name, test.got, test.want)
		}
	}
}

func TestPageOf(t *testing.T) {
	read := func(id *string) reconcile.Sandbox { return box(*id, reconcile.SandboxRunning) }
	a := wire.Answer{Date: time.Unix(7, 0)}
	page, err := wire.PageOf(a, "next", []string{"a", "b"}, read)
	if err != nil || len(page.Sandboxes) != 2 || page.Next != "next" || !page.Date.Equal(a.Date) {
		t.Errorf("PageOf = %+v, %v", page, err)
	}
	if _, err := wire.PageOf(a, "", []string{"a", ""}, read); err == nil || !strings.Contains(err.Error(), "item 1 has no id") {
		t.Errorf("PageOf with an item without id = %v, want an error that names it", err)
	}
	page.Sandboxes[0].State = reconcile.SandboxEnded
	if alive := page.Alive().Sandboxes; len(alive) != 1 || alive[0].ID != "b" {
		t.Errorf("Alive = %+v, want b", alive)
	}
}

func TestListReads(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		body   string
		fails  bool
	}{
		"a page":         {200, `{"items":[1,2]}`, false},
		"a refusal":      {403, `{"message":"no"}`, true},
		"half an answer": {200, `{"items":[1,`, true},
	} {
		var in struct {
			Items []int `json:"items"`
		}
		_, err := wire.List(t.Context(), answering(t, test.status, test.body), "https://lab.test/list", &in)
		if (err != nil) != test.fails || !test.fails && len(in.Items) != 2 {
			t.Errorf("%s: List = %v, %v", name, in, err)
		}
	}
}

func TestFrameTemplate(t *testing.T) {
	at := time.Unix(7, 0)
	for name, test := range map[string]struct {
		ask     string
		err     error
		want    reconcile.Template
		wantErr error
	}{
		"there":       {ask: "base", want: reconcile.Template{Name: "base", State: reconcile.TemplateActive, AsOf: at}},
		"not there":   {ask: "base", err: reconcile.ErrNotFound, want: reconcile.Template{Name: "base", Raw: "missing", State: reconcile.TemplateMissing, AsOf: at}},
		"not known":   {ask: "base", err: errAny, wantErr: errAny},
		"not a name":  {ask: "..", wantErr: reconcile.ErrUnknownID},
		"not allowed": {ask: "base", err: reconcile.ErrUnauthorized, wantErr: reconcile.ErrUnauthorized},
	} {
		got, err := frame().Template(t.Context(), "snapshot", test.ask,
			func(context.Context, string) (reconcile.Template, wire.Answer, error) {
				return reconcile.Template{Name: "base", State: reconcile.TemplateActive}, wire.Answer{Date: at}, test.err
			})
		if got != test.want || !is(err, test.wantErr) {
			t.Errorf("%s: Template = %+v, %v; want %+v, %v", name, got, err, test.want, test.wantErr)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "read snapshot "+test.ask+" of lab: ") {
			t.Errorf("%s: %v does not say what was read", name, err)
		}
	}
}

func TestSame(t *testing.T) {
	if err := wire.Same("sandbox", "a", "a"); err != nil {
		t.Errorf("the same: %v", err)
	}
	if err := wire.Same("sandbox", "a", "b"); !errors.Is(err, wire.ErrAnother) {
		t.Errorf("another: %v, want ErrAnother", err)
	}
	if err := wire.Same("sandbox", "a", ""); err == nil || errors.Is(err, reconcile.ErrNotFound) {
		t.Errorf("none: %v, want an error that does not say that it is gone", err)
	}
}

// One cause that several scopes meet is told once.
func TestFrameListsTellsACauseOnce(t *testing.T) {
	_, err := frame().List(t.Context(), func([]reconcile.Sandbox) error { return nil },
		wire.Scope{Name: "east", Read: pagesOf("!")}, wire.Scope{Name: "west", Read: pagesOf("a", "!")},
		wire.Scope{Name: "north", Read: pagesOf("!")})
	want := "list sandboxes of lab: east, north: page 1: no page\nwest: page 2: no page"
	if err == nil || err.Error() != want {
		t.Errorf("List = %v, want %s", err, want)
	}
}

// Probes that leave something behind are made freely at first, then less and less.
func TestMayLeave(t *testing.T) {
	for left, wait := range []time.Duration{0, 0, 0, 0, 0, 10 * time.Minute, 20 * time.Minute, 40 * time.Minute} {
		if !wire.MayLeave(left, wait) {
			t.Errorf("with %d left behind %s ago no further one may be, want it may", left, wait)
		}
		if wait > 0 && wire.MayLeave(left, wait-time.Nanosecond) {
			t.Errorf("with %d left behind less than %s ago a further one may be, want it waits", left, wait)
		}
	}
	if wire.MayLeave(wire.MostLeft, 1000*time.Hour) || wire.MayLeave(5, -time.Hour) {
		t.Error("a further one may be left behind where there are enough, or before the last one was; want none")
	}
}
