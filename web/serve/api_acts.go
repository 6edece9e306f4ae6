package serve

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web/api"
)

// Acts are what operators may ask for. Each request is recorded, and ruled on by the keeper; nothing is done here. What
// is refused is an [api.Refusal].
type Acts interface {
	Preview(ctx context.Context, verb string, act api.Act) (api.Preview, error)
	Do(ctx context.Context, verb string, act api.Act, author string) (api.Done, error)
	Intend(ctx context.Context, target string, act api.Act, author string) (api.Done, error)
}

// An asker has recorded what programs and forms ask for.
type asker struct {
	answers
	Acts    Acts
	Records Records
	nudged  atomic.Int64 // when a look was asked for last, in nanoseconds
}

// errActs is what an act comes to where nobody records it.
var errActs = &wrongRequest{http.StatusServiceUnavailable, "nothing can be asked for here"}

// recorded answers 202 with what was recorded.
func (s *asker) recorded(do func(context.Context, *http.Request) (api.Done, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), readWithin)
		defer cancel()
		err := checkQuery(r)
		if err == nil && s.Acts == nil {
			err = errActs
		}
		var done api.Done
		if err == nil {
			done, err = do(ctx, r)
		}
		if err != nil {
			s.actFailed(w, r, err)
			return
		}
		body, err := json.Marshal(done)
		if err != nil {
			s.failed(w, r, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusAccepted)
		_, _ = w.Write(escaped(body)) // whoever asked has left
	}
}

// actFailed answers with why nothing was recorded.
func (s *answers) actFailed(w http.ResponseWriter, r *http.Request, err error) {
	var refused *api.Refusal
	if errors.As(err, &refused) {
		problem(w, api.Problem{Status: refused.Status, Detail: text.Clip(refused.Why, 2000), Preview: refused.Preview})
		return
	}
	s.failed(w, r, err)
}

// decoded reads a body, strictly: a field that is misspelt would ask for something else. optional bodies may be absent.
func decoded[T any](r *http.Request, optional bool) (T, error) {
	var out T
	body, err := io.ReadAll(r.Body)
	switch kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); {
	case err != nil:
		return out, &wrongRequest{http.StatusRequestEntityTooLarge, "the body is longer than 16 KiB, or did not arrive"}
	case len(body) == 0 && optional:
		return out, nil
	case kind != "application/json":
		return out, &wrongRequest{http.StatusUnsupportedMediaType, "send JSON, with Content-Type: application/json"}
	}
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.DisallowUnknownFields()
	if err := d.Decode(&out); err != nil {
		return out, wrong("the body is not what is asked for here: %s", text.Clip(err.Error(), 200))
	}
	if d.More() {
		return out, wrong("the body goes on after its end")
	}
	return out, nil
}

// checkAct refuses what the verb does not take, or lacks.
func checkAct(v api.Verb, a api.Act) error {
	given := map[string]bool{
		"target": a.Target != "" && v.Target == "", "for": a.For != 0 && v.Lasts == "", "mode": a.Mode != "" && !v.Modes,
		"hash": (a.Hash != "" || a.Count != 0) && !v.Lists, "include_running": a.IncludeRunning && !v.Running,
	}
	for _, name := range reconcile.SortedKeys(given) {
		if given[name] {
			return wrong("%s takes no %s", v.Name, name)
		}
	}
	const longest = 366 * 24 * 60 * 60
	switch {
	case strings.TrimSpace(a.Reason) == "":
		return wrong("reason is required; it is recorded and shown on the page")
	case !text.Storable(a.Reason) || !text.Storable(a.Target):
		return wrong("reason and target have a letter that no record holds: a NUL, or half of one")
	case len(a.Reason) > 1000 || len(a.Target) > 1000:
		return wrong("reason and target have at most 1000 bytes")
	case a.Target == "" && v.Target != "" && !v.Optional:
		return wrong("%s needs a target: %s", v.Name, v.Target)
	case a.Mode == "" && v.Modes:
		return wrong("mode needs a mode: observe, off or clear")
	case a.For < 0 || a.For > longest:
		return wrong("for is a number of seconds, of a year at most")
	}
	return nil
}

// ask has one verb recorded in the name of who asks.
func (s *asker) ask(ctx context.Context, r *http.Request, verb string, a api.Act) (api.Done, error) {
	v, known := api.VerbNamed(verb)
	if !known {
		return api.Done{}, &wrongRequest{http.StatusNotFound, "no such act: " + text.Clip(verb, 60)}
	}
	if err := checkAct(v, a); err != nil {
		return api.Done{}, err
	}
	author := callerOf(r).author()
	done, err := s.Acts.Do(ctx, verb, a, author)
	s.Log.InfoContext(ctx, "asked for on the page", "act", verb, "target", text.Clip(a.Target, 200), "user", author,
		"from", r.RemoteAddr, "recorded", err == nil)
	return done, err
}

func (s *asker) act(ctx context.Context, r *http.Request) (api.Done, error) {
	a, err := decoded[api.Act](r, false)
	if err != nil {
		return api.Done{}, err
	}
	return s.ask(ctx, r, r.PathValue("verb"), a)
}

// apiPreview says what an act would do, for who decides whether to ask for it.
func (s *asker) preview(ctx context.Context, r *http.Request) (api.Preview, error) {
	v, known := api.VerbNamed(r.PathValue("verb"))
	if !known {
		return api.Preview{}, reconcile.ErrNotFound
	}
	if s.Acts == nil {
		return api.Preview{}, errActs
	}
	q := r.URL.Query()
	running := q.Get("include_running") == "true"
	target := q.Get("target")
	if !text.Storable(target) {
		return api.Preview{}, reconcile.ErrNotFound
	}
	p, err := s.Acts.Preview(ctx, v.Name, api.Act{Target: target, IncludeRunning: running})
	var refused *api.Refusal
	if errors.As(err, &refused) {
		err = &wrongRequest{refused.Status, refused.Why}
	}
	return p, err
}

// bookDelete is the runbook's way to terminate. Its scripts give no reason.
func (s *asker) bookDelete(ctx context.Context, r *http.Request) (api.Done, error) {
	reason := reconcile.FirstOf(r.URL.Query().Get("reason"), "asked for by DELETE /api/sandbox, no reason given")
	return s.ask(ctx, r, "terminate", api.Act{Target: r.PathValue("id"), Reason: reason})
}

// bookCleanup asks for a full pass, which ends what the rules find, and answers with the terminations that are open.
func (s *asker) bookCleanup(ctx context.Context, r *http.Request) (api.Done, error) {
	a, err := decoded[api.Act](r, true)
	if err != nil {
		return api.Done{}, err
	}
	a.Reason = reconcile.FirstOf(a.Reason, "asked for by POST /api/sandbox/cleanup, no reason given")
	done, err := s.ask(ctx, r, "pass", a)
	if err != nil || s.Records == nil {
		return done, err
	}
	open, _, err := s.Records.Actions(ctx, reconcile.Chosen{State: reconcile.ChosenOpen, Step: reconcile.StepTerminate,
		Most: mostPart})
	done.Actions = api.ListOf(open, api.ActionOf).Items
	return done, err
}

// bookEmergency needs the count and the hash of its own preview, as the verb needs its phrase.
func (s *asker) bookEmergency(ctx context.Context, r *http.Request) (api.Done, error) {
	a, err := decoded[api.Act](r, true)
	if err != nil {
		return api.Done{}, err
	}
	a.Reason = reconcile.FirstOf(a.Reason, "asked for by POST /api/sandbox/cleanup/emergency, no reason given")
	return s.ask(ctx, r, "emergency", a)
}

// nudge is a reason to look at once.
func (s *asker) nudge(ctx context.Context, r *http.Request) (api.Done, error) {
	n, err := decoded[api.Nudge](r, false)
	if err != nil {
		return api.Done{}, err
	}
	// A program that nudges with each of its changes fills no record: one look serves all of a second.
	last, now := s.nudged.Load(), time.Now()
	if now.Sub(time.Unix(0, last)) < time.Second || !s.nudged.CompareAndSwap(last, now.UnixNano()) {
		return api.Done{Said: "a look was asked for a moment ago"}, nil
	}
	return s.ask(ctx, r, "pass", api.Act{Target: reconcile.FirstOf(n.Kind, string(reconcile.Quick)), Reason: n.Reason})
}

// intent keeps what an orchestrator speaks of, for a time.
func (s *asker) intent(ctx context.Context, r *http.Request) (api.Done, error) {
	i, err := decoded[api.Intent](r, false)
	if err != nil {
		return api.Done{}, err
	}
	target := reconcile.TaskSubject(i.Task)
	if i.Sandbox != "" {
		target = reconcile.SubjectOf(reconcile.SubjectSandbox, i.Sandbox)
	}
	switch {
	case (i.Task == "") == (i.Sandbox == ""):
		return api.Done{}, wrong("an intent is about a task or about a sandbox")
	case i.For < 1 || i.For > api.MostIntent:
		return api.Done{}, wrong("an intent protects for 1 to %d seconds", api.MostIntent)
	}
	a := api.Act{Target: target, Reason: i.Reason, For: i.For}
	hold, _ := api.VerbNamed("hold")
	if err := checkAct(hold, a); err != nil {
		return api.Done{}, err
	}
	return s.Acts.Intend(ctx, target, a, callerOf(r).author())
}
