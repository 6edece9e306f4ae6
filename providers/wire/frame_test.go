package wire_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

func frame() *wire.Base {
	return &wire.Base{Entry: entry.Entry{Name: "lab", Link: entry.Link{TaskLabel: "task"},
		Owns: entry.Owns{Labels: map[string]string{"project": "mine"}}}, Now: time.Now}
}

func box(id string, state reconcile.SandboxState) reconcile.Sandbox {
	return reconcile.Sandbox{Ref: reconcile.Ref{Provider: "lab", ID: id}, State: state, Raw: string(state), Owned: true}
}

// showing is a look that shows a sandbox.
func showing(s reconcile.Sandbox, err error) wire.Look {
	return func(context.Context, string) (reconcile.Sandbox, error) { return s, err }
}

func TestFrameTerminates(t *testing.T) {
	foreign := box("sb-1", reconcile.SandboxRunning)
	foreign.Owned = false
	claimed := box("sb-1", reconcile.SandboxRunning)
	claimed.Task = "t-1"
	broken := errors.New("no answer")
	for name, test := range map[string]struct {
		id       string
		expected reconcile.SandboxState
		now      reconcile.Sandbox
		err      error
		ends     int
		want     reconcile.Termination
		wantErr  error
	}{
		"what it was":                  {now: box("sb-1", reconcile.SandboxRunning), ends: 1, want: reconcile.TerminateDone},
		"in a state nobody knows":      {now: box("sb-1", reconcile.SandboxUnknown), ends: 1, want: reconcile.TerminateDone},
		"gone":                         {err: reconcile.ErrNotFound, want: reconcile.TerminateGone},
		"ended":                        {now: box("sb-1", reconcile.SandboxEnded), want: reconcile.TerminateGone},
		"another one of that name":     {err: wire.ErrAnother, want: reconcile.TerminateChanged},
		"another id":                   {now: box("sb-2", reconcile.SandboxRunning), want: reconcile.TerminateChanged},
		"somebody else's":              {now: foreign, want: reconcile.TerminateChanged},
		"claimed by a task":            {now: claimed, want: reconcile.TerminateChanged},
		"being deleted":                {now: box("sb-1", reconcile.SandboxDeleting), want: reconcile.TerminateAccepted},
		"nothing is known":             {err: broken, wantErr: broken},
		"nothing is allowed":           {err: reconcile.ErrUnauthorized, wantErr: reconcile.ErrUnauthorized},
		"no id":                        {id: "a\nb", now: box("sb-1", reconcile.SandboxRunning), wantErr: reconcile.ErrUnknownID},
		"being deleted, and known so":  {expected: reconcile.SandboxDeleting, now: box("sb-1", reconcile.SandboxDeleting), ends: 1, want: reconcile.TerminateDone},
		"running, but known otherwise": {expected: reconcile.SandboxDeleting, now: box("sb-1", reconcile.SandboxRunning), ends: 1, want: reconcile.TerminateDone},
	} {
		ends := 0
		expected := box("sb-1", test.expected)
		if test.id != "" {
			expected.ID = test.id
		}
		how, err := frame().Terminate(t.Context(), expected, showing(test.now, test.err),
			func(context.Context, reconcile.Sandbox) (reconcile.Termination, error) {
				ends++
				return reconcile.TerminateDone, nil
			})
		if how != test.want || !errors.Is(err, test.wantErr) || ends != test.ends {
			t.Errorf("%s: Terminate = %q, %v after %d deletes; want %q, %v after %d", name, how, err, ends, test.want,
				test.wantErr, test.ends)
		}
	}
}

func TestFrameTurns(t *testing.T) {
	const stops, starts = "stop", "start"
	for name, test := range map[string]struct {
		now     reconcile.SandboxState
		stop    string // what a suspend calls
		how     reconcile.Termination
		start   string // what a resume calls
		resumed error
	}{
		"running":    {reconcile.SandboxRunning, stops, reconcile.TerminateAccepted, "", nil},
		"coming up":  {reconcile.SandboxCreating, "", "", "", nil},
		"stopped":    {reconcile.SandboxStopped, "", reconcile.TerminateDone, starts, nil},
		"suspended":  {reconcile.SandboxSuspended, "", reconcile.TerminateDone, starts, nil},
		"failed":     {reconcile.SandboxFailed, "", reconcile.TerminateRefused, "", errAny},
		"no word":    {reconcile.SandboxUnknown, "", reconcile.TerminateRefused, "", errAny},
		"on its end": {reconcile.SandboxDeleting, "", reconcile.TerminateRefused, "", reconcile.ErrNotFound},
		"ended":      {reconcile.SandboxEnded, "", reconcile.TerminateGone, "", reconcile.ErrNotFound},
	} {
		var called string
		s := box("sb-1", test.now)
		turns := wire.Turns{Look: showing(s, nil),
			Stop: func(context.Context, reconcile.Sandbox) (reconcile.Termination, error) {
				called = stops
				return reconcile.TerminateAccepted, nil
			},
			Start:   func(context.Context, reconcile.Sandbox) error { called = starts; return nil },
			Resting: func(reconcile.Sandbox) reconcile.Termination { return reconcile.TerminateDone },
		}
		how, err := frame().Suspend(t.Context(), s, turns)
		if how != test.how || called != test.stop || (err == nil) != (how != "" && how != reconcile.TerminateRefused) {
			t.Errorf("%s: Suspend = %q, %v, called %q; want %q, %q", name, how, err, called, test.how, test.stop)
		}
		called = ""
		if err := frame().Resume(t.Context(), s, turns); !is(err, test.resumed) || called != test.start {
			t.Errorf("%s: Resume = %v, called %q; want %v, %q", name, err, called, test.resumed, test.start)
		}
	}
}

// pagesOf are pages of ids; a page that is "!" cannot be read.
func pagesOf(pages ...string) wire.ReadPage {
	return func(_ context.Context, cursor string) (wire.Page, error) {
		n := 0
		_, _ = fmt.Sscan(cursor, &n)
		if pages[n] == "!" {
			return wire.Page{}, errors.New("no page")
		}
		out := wire.Page{Date: time.Unix(int64(n+1), 0)}
		for _, id := range strings.Fields(pages[n]) {
			out.Sandboxes = append(out.Sandboxes, box(id, reconcile.SandboxRunning))
		}
		if n+1 < len(pages) {
			out.Next = fmt.Sprint(n + 1)
		}
		return out, nil
	}
}

func TestFrameLists(t *testing.T) {
	for name, test := range map[string]struct {
		scopes  [][]string
		want    string
		missing []string
		fails   bool
	}{
		"one scope":                         {[][]string{{"a b", "c"}}, "a b c", nil, false},
		"a page that overlaps":              {[][]string{{"a b", "b c"}}, "a b c", nil, false},
		"two scopes":                        {[][]string{{"a b"}, {"c"}}, "a b c", nil, false},
		"one that moved between two scopes": {[][]string{{"a b"}, {"b c"}}, "a b c", nil, false},
		"one scope that breaks":             {[][]string{{"a", "!"}}, "a", nil, true},
		"one of two scopes that breaks":     {[][]string{{"a", "!"}, {"b"}}, "a b", []string{"scope 0"}, false},
		"both scopes break":                 {[][]string{{"!"}, {"a", "!"}}, "a", nil, true},
	} {
		var scopes []wire.Scope
		for i, pages := range test.scopes {
			scopes = append(scopes, wire.Scope{Name: fmt.Sprint("scope ", i), Read: pagesOf(pages...)})
		}
		var ids []string
		l, err := frame().List(t.Context(), func(page []reconcile.Sandbox) error {
			for _, s := range page {
				ids = append(ids, s.ID)
			}
			return nil
		}, scopes...)
		if strings.Join(ids, " ") != test.want || (err != nil) != test.fails ||
			l.Complete != (!test.fails && test.missing == nil) || !test.fails && !slices.Equal(l.Missing, test.missing) {
			t.Errorf("%s: List = %v, %+v, %v; want %s, missing %v", name, ids, l, err, test.want, test.missing)
		}
	}
	stop := errors.New("enough")
	_, err := frame().List(t.Context(), func([]reconcile.Sandbox) error { return stop },
		wire.Scope{Read: pagesOf("a")}, wire.Scope{Read: pagesOf("b")})
	if !errors.Is(err, stop) {
		t.Errorf("List = %v, want yield's error although there are other scopes", err)
	}
}

func TestSaidIn(t *testing.T) {
	for body, want := range map[string]wire.APIError{
		`{"statusCode":404,"message":"no such","code":"x"}`:         {Status: 404, Code: "x", Text: "no such", Field: "message"},
		`{"message":["one","two"]}`:                                 {Text: "one, two", Field: "message"},
		`{"code":404,"message":"gone"}`:                             {Status: 404, Code: "404", Text: "gone", Field: "message"},
		`{"code":7003,"message":"gone"}`:                            {Code: "7003", Text: "gone", Field: "message"},
		`{"error":{"code":"sandbox_stopped","message":"stopped"}}`:  {Code: "sandbox_stopped", Text: "stopped", Field: "error.message"},
		`{"error":"not found"}`:                                     {Text: "not found", Field: "error"},
		`{"success":false,"errors":[{"code":1000,"message":"no"}]}`: {Code: "1000", Text: "no", Field: "errors"},
		`{"success":false,"errors":[],"messages":[]}`:               {},
		`{"detail":"no"}`:                                           {Text: "no", Field: "detail"},
		`{"message":{"odd":1},"error":["a","b"],"errors":"x"}`:      {Text: "a, b", Field: "error"},
		`{"message":5}`:                                             {},
		`[]`:                                                        {},
		`no JSON`:                                                   {},
	} {
		a := wire.Answer{Status: 404, Header: map[string][]string{"Content-Type": {"application/json"}}, Body: []byte(body)}
		if got := wire.SaidIn(a); got != want {
			t.Errorf("SaidIn(%s) = %+v, want %+v", body, got, want)
		}
		a.Header = map[string][]string{"Content-Type": {"text/html"}}
		if got := wire.SaidIn(a); got != (wire.APIError{}) {
			t.Errorf("SaidIn(%s) of a page = %+v, want nothing", body, got)
		}
	}
}

// Without a word of the dialect no 404 is certain.
func TestCertain(t *testing.T) {
	c, err := wire.New(entry.Entry{URL: "https://lab.test"}, entry.Options{}, wire.Dialect{})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		status     int
		kind, body string
		gone       bool
	}{
		"a 404 in JSON":   {404, "application/json", `{"message":"not found"}`, false},
		"a 410 in JSON":   {410, "application/json", `{"message":"gone"}`, true},
		"an empty 410":    {410, "", "", true},
		"a page of a 410": {410, "text/html", "<html>", false},
	} {
		a := wire.Answer{Status: test.status, Body: []byte(test.body), Header: map[string][]string{"Content-Type": {test.kind}}}
		if err := c.Refuse(a); errors.Is(err, reconcile.ErrNotFound) != test.gone {
			t.Errorf("%s: %v, want it gone %t", name, err, test.gone)
		}
	}
}

func TestMillis(t *testing.T) {
	for text, want := range map[string]time.Time{
		"1767225600500": time.Date(2026, 1, 1, 0, 0, 0, 5e8, time.UTC), "0": {}, "-5": {}, "null": {}, `"soon"`: {}, "1.5": {},
	} {
		m := wire.Millis{Time: time.Now()}
		if err := m.UnmarshalJSON([]byte(text)); err != nil || !m.Equal(want) {
			t.Errorf("%s: %s, %v; want %s", text, m, err, want)
		}
	}
}
