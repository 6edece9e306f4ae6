package daytona

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// turned is what a client that asks for a change of state made of the answers.
type turned struct {
	how   reconcile.Termination
	err   error
	turns int // changes asked for
}

// turning lets a sandbox that is as told be stopped or started, and answers that with a
// status and a body.
func turning(t *testing.T, now string, status int, body string,
	do func(context.Context, *Provider, reconcile.Sandbox) (reconcile.Termination, error)) turned {
	t.Helper()
	var out turned
	d := &double{answer: func(_ int, w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			sendJSON(w, 200, now)
			return
		}
		if r.URL.Path != "/api/sandbox/sb-1/stop" && r.URL.Path != "/api/sandbox/sb-1/start" {
			t.Errorf("asked %s %s", r.Method, r.URL.Path)
		}
		out.turns++
		sendJSON(w, status, body)
	}}
	out.how, out.err = do(t.Context(), over(t, d), reconcile.Sandbox{Ref: reconcile.Ref{ID: "sb-1"}, Owned: true})
	return out
}

// byName is an answer that shows another sandbox, whose name is the id.
func byName(one string) string {
	return strings.Replace(one, `"id":"sb-1","name":"a"`, `"id":"sb-2","name":"sb-1"`, 1)
}

func being(state string) string { return strings.ReplaceAll(one, `"started"`, `"`+state+`"`) }

const failure = `{"statusCode":0,"message":"no"}`

func TestSuspend(t *testing.T) {
	ephemeral := strings.Replace(one, `"state"`, `"autoDeleteInterval":0,"state"`, 1)
	later := strings.Replace(one, `"state"`, `"autoDeleteInterval":30,"state"`, 1)
	for name, test := range map[string]struct {
		now    string
		status int
		body   string
		want   reconcile.Termination
		err    error
		turns  int
	}{
		"running, stops at once":          {one, 200, being("stopped"), reconcile.TerminateDone, nil, 1},
		"running, is on its way":          {one, 200, being("stopping"), reconcile.TerminateAccepted, nil, 1},
		"stopped":                         {being("stopped"), 200, one, reconcile.TerminateDone, nil, 0},
		"archived":                        {being("archived"), 200, one, reconcile.TerminateDone, nil, 0},
		"stopping":                        {being("stopping"), 200, one, reconcile.TerminateAccepted, nil, 0},
		"pausing":                         {being("pausing"), 200, one, reconcile.TerminateAccepted, nil, 0},
		"coming up":                       {being("starting"), 200, one, "", reconcile.ErrHeld, 0},
		"failed":                          {being("error"), 200, one, reconcile.TerminateRefused, errAny, 0},
		"in a state nobody knows":         {being("melting"), 200, one, reconcile.TerminateRefused, errAny, 0},
		"being deleted":                   {being("destroying"), 200, one, reconcile.TerminateRefused, errAny, 0},
		"destroyed":                       {being("destroyed"), 200, one, reconcile.TerminateGone, nil, 0},
		"not ours now":                    {strings.Replace(one, "mine", "theirs", 1), 200, one, reconcile.TerminateChanged, nil, 0},
		"another one by its name":         {byName(one), 200, one, reconcile.TerminateChanged, nil, 0},
		"another one altogether":          {strings.Replace(one, "sb-1", "sb-2", 1), 200, one, "", errAny, 0},
		"ephemeral: a stop deletes it":    {ephemeral, 200, being("stopping"), reconcile.TerminateRefused, errAny, 0},
		"deleted later when stopped":      {later, 200, being("stopping"), reconcile.TerminateAccepted, nil, 1},
		"gone meanwhile":                  {one, 404, failure, reconcile.TerminateGone, nil, 1},
		"refused":                         {one, 400, failure, reconcile.TerminateRefused, errAny, 1},
		"a key that may not":              {one, 403, failure, "", reconcile.ErrUnauthorized, 1},
		"an error of the API":             {one, 500, failure, "", errAny, 1},
		"an answer about another":         {one, 200, strings.Replace(one, "sb-1", "sb-2", 1), "", errAny, 1},
		"an answer that is no sandbox":    {one, 200, `{}`, "", errAny, 1},
		"nothing there in the first look": {`{}`, 200, one, "", errAny, 0},
	} {
		got := turning(t, test.now, test.status, test.body,
			func(ctx context.Context, p *Provider, s reconcile.Sandbox) (reconcile.Termination, error) {
				return p.Suspend(ctx, s)
			})
		if got.how != test.want || !is(got.err, test.err) || got.turns != test.turns {
			t.Errorf("%s: Suspend = %q, %v after %d stops, want %q, %v after %d", name, got.how, got.err, got.turns,
				test.want, test.err, test.turns)
		}
	}
}

func TestResume(t *testing.T) {
	for name, test := range map[string]struct {
		now    string
		status int
		body   string
		err    error
		turns  int
	}{
		"stopped":                 {being("stopped"), 200, being("starting"), nil, 1},
		"paused":                  {being("paused"), 200, being("resuming"), nil, 1},
		"archived":                {being("archived"), 200, being("restoring"), nil, 1},
		"running":                 {one, 200, one, nil, 0},
		"coming up":               {being("starting"), 200, one, nil, 0},
		"being deleted":           {being("destroying"), 200, one, reconcile.ErrNotFound, 0},
		"destroyed":               {being("destroyed"), 200, one, reconcile.ErrNotFound, 0},
		"failed":                  {being("error"), 200, one, errAny, 0},
		"in a state nobody knows": {being("melting"), 200, one, errAny, 0},
		"not ours now":            {strings.Replace(being("stopped"), "mine", "theirs", 1), 200, one, errAny, 0},
		"another one by its name": {byName(being("stopped")), 200, one, reconcile.ErrNotFound, 0},
		"gone meanwhile":          {being("stopped"), 404, failure, reconcile.ErrNotFound, 1},
		"no quota left":           {being("stopped"), 400, `{"message":"Total CPU limit exceeded"}`, errAny, 1},
		"an error of the API":     {being("stopped"), 500, failure, errAny, 1},
		"an answer about another": {being("stopped"), 200, strings.Replace(one, "sb-1", "sb-2", 1), errAny, 1},
	} {
		got := turning(t, test.now, test.status, test.body,
			func(ctx context.Context, p *Provider, s reconcile.Sandbox) (reconcile.Termination, error) {
				return "", p.Resume(ctx, s)
			})
		if !is(got.err, test.err) || got.turns != test.turns {
			t.Errorf("%s: Resume = %v after %d starts, want %v after %d", name, got.err, got.turns, test.err, test.turns)
		}
	}
}

// TestTurnsBusy: while a transition is under way nothing is done, and the caller hears that
// it may work later.
func TestTurnsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := turning(t, one, 409, failure, func(ctx context.Context, p *Provider, s reconcile.Sandbox) (
			reconcile.Termination, error) {
			return p.Suspend(ctx, s)
		})
		if stop.how != "" || !is(stop.err, reconcile.ErrHeld) || stop.turns < 2 {
			t.Errorf("Suspend = %q, %v after %d tries; want no answer and ErrHeld after some", stop.how, stop.err, stop.turns)
		}
		start := turning(t, being("stopped"), 409, failure, func(ctx context.Context, p *Provider, s reconcile.Sandbox) (
			reconcile.Termination, error) {
			return "", p.Resume(ctx, s)
		})
		if !is(start.err, reconcile.ErrHeld) || start.turns < 2 {
			t.Errorf("Resume = %v after %d tries; want ErrHeld after some", start.err, start.turns)
		}
	})
}
