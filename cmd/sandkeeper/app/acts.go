package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web/api"
)

// Acts are what operators may ask for on the page and by the API. They go the way of the verbs: recorded, signed where
// there is a key, and ruled on by the keeper.
type Acts struct {
	app func() *App // by the config in force
}

// usual is for how long what is let go, or comes back, counts where nobody says so.
var usual = map[string]time.Duration{"release": time.Hour, "restore": 24 * time.Hour}

// Preview says what a request would do. It changes nothing.
func (c Acts) Preview(ctx context.Context, verb string, act api.Act) (api.Preview, error) {
	a := c.app()
	p, err := a.Operator().preview(ctx, verb, act)
	return p, refusal(err)
}

// Do records a request.
func (c Acts) Do(ctx context.Context, verb string, act api.Act, author string) (api.Done, error) {
	a := c.app()
	by := &Request{Author: author, Reason: act.Reason, Last: time.Duration(act.For) * time.Second}
	if by.Last == 0 {
		by.Last = usual[verb]
	}
	done, err := a.Operator().do(ctx, verb, act, by)
	return done, refusal(err)
}

// refusal is an error as who asks may read it.
func refusal(err error) error {
	var wrong *MisuseError
	var refused *api.Refusal
	switch {
	case err == nil, errors.As(err, &refused):
		return err
	case errors.As(err, &wrong):
		return &api.Refusal{Status: http.StatusBadRequest, Why: wrong.Error()}
	case errors.Is(err, reconcile.ErrNotFound):
		return &api.Refusal{Status: http.StatusNotFound, Why: err.Error()}
	}
	return err
}

// conflict is what the state of things does not allow now.
func conflict(format string, args ...any) error {
	return &api.Refusal{Status: http.StatusConflict, Why: fmt.Sprintf(format, args...)}
}

func (a Operator) preview(ctx context.Context, verb string, act api.Act) (api.Preview, error) {
	switch verb {
	case "terminate", "emergency":
		e, err := a.wanted(ctx, verb, act)
		if err != nil {
			return api.Preview{}, err
		}
		return e.preview(), nil
	case "release":
		return a.previewRelease(ctx, act.Target)
	case "retry":
		r, err := a.retryingOf(ctx, act.Target)
		if err != nil {
			return api.Preview{}, err
		}
		return r.preview(), nil
	}
	v, _ := api.VerbNamed(verb)
	p := api.Preview{Will: []string{fmt.Sprintf(v.Will, text.Line(reconcile.FirstOf(act.Target, v.Else)))}}
	w, frees, err := a.freedBy(ctx, verb, act)
	if frees && err == nil {
		if verb == "mode" {
			p.Will = append(p.Will, "With observe or off it acts no more. What follows is for clear, after which it acts again.")
		}
		w.into(&p)
	}
	switch {
	case err != nil:
	case verb == "pause":
		err = a.waitingFor(ctx, act.Target, &p)
	case verb == "hold", verb == "unhold":
		err = a.heldThen(ctx, verb, act.Target, &p)
	}
	return p, err
}

// wanted is what a termination is about.
func (a Operator) wanted(ctx context.Context, verb string, act api.Act) (*ending, error) {
	if verb == "terminate" {
		e, err := a.endingOf(ctx, reconcile.RuleOperator, act.IncludeRunning)
		if err == nil {
			err = e.one(act.Target)
		}
		return e, err
	}
	if act.Target != "" && !a.Config.HasProvider(act.Target) {
		return nil, a.UnknownProvider(act.Target)
	}
	e, err := a.endingOf(ctx, reconcile.RuleEmergency, act.IncludeRunning)
	if err == nil {
		e.all(act.Target)
	}
	return e, err
}

func (a Operator) previewRelease(ctx context.Context, name string) (api.Preview, error) {
	what, subjects, err := a.released(ctx, name)
	if err != nil {
		return api.Preview{}, err
	}
	p := api.Preview{Subjects: subjects, Count: len(subjects), Hash: reconcile.SubjectsHash(subjects), Will: []string{
		fmt.Sprintf("%s may pass %s, within their budgets.", console.Plural(len(subjects), "listed subject"), what)}}
	if _, incident := reconcile.OfType(reconcile.SubjectIncident, name); incident {
		p.Will = append(p.Will, "So may those of it that come later, until the incident closes.")
	}
	w, err := a.freedByRelease(ctx, name, subjects)
	if err == nil {
		w.into(&p)
	}
	return p, err
}

// released is what a release of a name would let go.
func (a Operator) released(ctx context.Context, name string) (what string, subjects []string, err error) {
	id, is := reconcile.OfType(reconcile.SubjectIncident, name)
	if !is {
		what, subjects, err = a.HeldBy(ctx, name)
		if err == nil && len(subjects) == 0 {
			err = holdsNothing(name, what)
			if !errors.As(err, new(*MisuseError)) {
				err = conflict("%s", err)
			}
		}
		return what, subjects, err
	}
	incident, err := a.Ledger.Incident(ctx, id)
	if err == nil && !incident.Holds() {
		err = conflict("incident %s holds nothing: it is closed, or was released", id)
	}
	if err != nil {
		return "", nil, err
	}
	subjects, err = a.HeldByIncident(ctx, &incident)
	return "incident " + id, subjects, err
}

func (a Operator) do(ctx context.Context, verb string, act api.Act, by *Request) (api.Done, error) {
	simple := map[string]func() (string, error){
		"pass":    func() (string, error) { return a.passOf(ctx, act.Target, by) },
		"pause":   func() (string, error) { return a.PauseOf(ctx, reconcile.NonEmpty(act.Target), by) },
		"resume":  func() (string, error) { return a.Resume(ctx, reconcile.NonEmpty(act.Target), by) },
		"mode":    func() (string, error) { return a.modeOf(ctx, act, by) },
		"hold":    func() (string, error) { return a.Hold(ctx, act.Target, by) },
		"unhold":  func() (string, error) { return a.Unhold(ctx, act.Target, by) },
		"restore": func() (string, error) { return a.restored(ctx, act.Target, by) },
		"release": func() (string, error) { return a.releaseListed(ctx, act, by) },

		"acknowledge": func() (string, error) { return a.Acknowledge(ctx, act.Target, by) },
	}
	if do, is := simple[verb]; is {
		said, err := do()
		if err != nil {
			return api.Done{}, err
		}
		return api.Done{Said: said}, nil
	}
	if verb == "retry" {
		return a.retryListed(ctx, act, by)
	}
	e, err := a.wanted(ctx, verb, act)
	if err != nil {
		return api.Done{}, err
	}
	if p := e.preview(); len(e.end) > 0 && !shown(&p, act, verb == "emergency") {
		return api.Done{}, notShown(&p)
	}
	return e.ask(ctx, a, by)
}

func (a Operator) passOf(ctx context.Context, kind string, by *Request) (string, error) {
	switch kind {
	case "", string(reconcile.Full):
		return a.AskPass(ctx, reconcile.Full, by)
	case string(reconcile.Quick):
		return a.AskPass(ctx, reconcile.Quick, by)
	}
	return "", Misusef("a pass is full or quick, not %s", text.Clip(kind, 60))
}

func (a Operator) modeOf(ctx context.Context, act api.Act, by *Request) (string, error) {
	if _, known := a.Config.Policy().Rules[act.Target]; !known {
		return "", UnknownRule(act.Target)
	}
	return a.LowerMode(ctx, act.Target, act.Mode, by)
}

func (a Operator) restored(ctx context.Context, id string, by *Request) (string, error) {
	if err := a.CheckSchema(ctx); err != nil {
		return "", err
	}
	return a.Restore(ctx, id, by)
}

// releaseListed lets go what was shown, and nothing else.
func (a Operator) releaseListed(ctx context.Context, act api.Act, by *Request) (string, error) {
	p, err := a.previewRelease(ctx, act.Target)
	if err != nil {
		return "", err
	}
	if !shown(&p, act, true) {
		return "", notShown(&p)
	}
	id, is := reconcile.OfType(reconcile.SubjectIncident, act.Target)
	if !is {
		return a.Release(ctx, act.Target, act.Hash, nil, by)
	}
	if err := a.Ledger.ReleaseIncident(ctx, id, by.Signed()); err != nil {
		return "", err
	}
	return fmt.Sprintf("released incident %s: %s may go on, within their budgets", id,
		console.Plural(p.Count, "subject")), nil
}

// retryListed has those run again that were shown, and no other.
func (a Operator) retryListed(ctx context.Context, act api.Act, by *Request) (api.Done, error) {
	r, err := a.retryingOf(ctx, act.Target)
	if err != nil {
		return api.Done{}, err
	}
	if p := r.preview(); len(r.again) > 0 && !shown(&p, act, true) {
		return api.Done{}, notShown(&p)
	}
	return r.ask(ctx, a, by)
}

// shown reports whether the request repeats the list that was shown: its count and its hash. Where it must, one that
// repeats nothing does not count.
func shown(p *api.Preview, act api.Act, must bool) bool {
	if act.Hash == "" && act.Count == 0 {
		return !must
	}
	return act.Hash == p.Hash && act.Count == p.Count
}

func notShown(p *api.Preview) error {
	return &api.Refusal{Status: http.StatusConflict, Preview: p, Why: fmt.Sprintf("nothing was recorded: the request "+
		"does not "+
		"repeat the list as it is now; look at it, and repeat its count (%d) and its hash (%s)", p.Count, p.Hash)}
}

// Intend keeps what an orchestrator speaks of from being acted on, for a time.
func (c Acts) Intend(ctx context.Context, target string, act api.Act, author string) (api.Done, error) {
	by := &Request{Author: author, Reason: "intent: " + act.Reason, Last: time.Duration(act.For) * time.Second}
	said, err := c.app().Operator().Hold(ctx, target, by)
	return api.Done{Said: said}, refusal(err)
}

// An Operator is the part of an [App] by which people ask for something: the same for verbs, page and API.
type Operator struct{ *App }

// Operator is what people ask for by this app.
func (a *App) Operator() Operator { return Operator{a} }
