// Package told reads after every pass of a history what the product says of itself, on the page, in metrics and in the
// report, and compares each fact with what is true: the property "told". It knows the truth from the platform and from
// the calls that had an effect.
package told

import (
	"context"
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/history"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/platform"
	"github.com/sandkeeper/sandkeeper/web"
)

// A Ledger is what the page, the metrics and the report are read from.
type Ledger interface {
	Overview(ctx context.Context, most int) (reconcile.Overview, error)
	Measures(ctx context.Context) (reconcile.Measures, error)
	Report(ctx context.Context, since time.Duration) ([]reconcile.RuleReport, error)
}

// Truth is what nobody who keeps sandboxes knows.
type Truth interface {
	// Lives reports whether the provider still has the sandbox.
	Lives(ref reconcile.Ref) bool
	// SetBack reports whether the clock of the ledger was set back.
	SetBack() bool
}

// A Reader reads one history.
type Reader struct {
	ledger Ledger
	truth  Truth

	step     int
	effects  []effect
	asked    int                             // calls of ours that a sandbox go
	ended    map[reconcile.Ref]bool          // by one that took effect
	heard    map[reconcile.Ref]bool          // of which an answer said that we were heard: more than that nobody can tell
	onRecord map[reconcile.Ref]actions       // by which we asked for their end, as the ledger has it
	open     map[reconcile.FindingKey]opened // findings on record
	alone    map[string]int                  // by rule: findings that were over without an effect of ours
	ours     map[string][]string             // by rule: what the others were about
}

// An effect is a call that changed something outside.
type effect struct {
	step int
	task string        // whose row was written
	box  reconcile.Ref // that was ended, stopped or brought back
}

// actions are such by their ids.
type actions map[string]bool

// opened is a finding on record, as the newest record has it.
type opened struct {
	reconcile.Finding
	step int // at which it was recorded first
}

// New makes a reader of a history that begins.
func New(l Ledger, t Truth) *Reader {
	return &Reader{ledger: l, truth: t, ended: map[reconcile.Ref]bool{}, heard: map[reconcile.Ref]bool{},
		onRecord: map[reconcile.Ref]actions{}, open: map[reconcile.FindingKey]opened{},
		alone: map[string]int{}, ours: map[string][]string{}}
}

// Step notes what had an effect, and reads what the ledger is told of it.
func (r *Reader) Step(s *platform.Step) []history.Violation {
	r.step = s.N
	if s.Call == "Terminate" {
		r.asked++
		said, _ := s.Answer.(reconcile.Termination)
		if said == reconcile.TerminateAccepted || said == reconcile.TerminateDone {
			r.heard[reconcile.Ref{Provider: s.Party, ID: s.ID}] = true
		}
	}
	if rec, is := s.Args.(reconcile.Record); is && s.Call == "Record" && s.Effect {
		r.follow(&rec) // whether or not its process was told
	}
	if a, is := s.Args.(reconcile.Action); is && s.Call == "Settle" && s.Effect {
		r.withdrawn(&a)
	}
	if !s.Effect || s.Err != nil { // of what its process was not told, nobody can say that we did it
		return nil
	}
	switch s.Call {
	case "Terminate", "Suspend", "Resume":
		ref := reconcile.Ref{Provider: s.Party, ID: s.ID}
		r.effects = append(r.effects, effect{step: s.N, box: ref})
		r.ended[ref] = r.ended[ref] || s.Call == "Terminate"
	case "Write", "Restore":
		r.effects = append(r.effects, effect{step: s.N, task: writtenTask(s)})
	case "Settle":
		if a, ok := s.Args.(reconcile.Action); ok {
			r.record(&a)
			return r.violations(s.At, r.settled(&a))
		}
	}
	return nil
}

// record notes that the ledger has it that we asked for an end, unless that was withdrawn.
func (r *Reader) record(a *reconcile.Action) {
	ref := reconcile.Ref{Provider: a.Provider, ID: a.Sandbox}
	asked := a.Step == reconcile.StepTerminate && !a.ActedAt.IsZero() && a.Claimable()
	if !asked || a.Outcome == reconcile.OutcomeWithdrawn {
		return
	}
	if r.onRecord[ref] == nil {
		r.onRecord[ref] = actions{}
	}
	r.onRecord[ref][a.ID] = true
}

// withdrawn notes that a request of ours for an end does not stand any more, whether or not its process was told.
func (r *Reader) withdrawn(a *reconcile.Action) {
	if a.Outcome == reconcile.OutcomeWithdrawn {
		delete(r.onRecord[reconcile.Ref{Provider: a.Provider, ID: a.Sandbox}], a.ID)
	}
}

func writtenTask(s *platform.Step) string {
	if w, ok := s.Args.(reconcile.Write); ok {
		return w.Task.ID
	}
	return s.ID
}

// settled is "confirmed", said of what the provider still has.
func (r *Reader) settled(a *reconcile.Action) string {
	ref := reconcile.Ref{Provider: a.Provider, ID: a.Sandbox}
	if a.Outcome == reconcile.OutcomeConfirmed && a.Step == reconcile.StepTerminate && r.truth.Lives(ref) {
		return fmt.Sprintf("the termination of %s is confirmed, and its provider still has it", ref)
	}
	return ""
}

// Pass reads what is said after a pass of a process, by the policy that it has.
func (r *Reader) Pass(at time.Duration, p *reconcile.Policy, of *run.Result) []history.Violation {
	if of == nil || of.Judged == nil || of.Plan == nil {
		return nil
	}
	said := []string{suspectsAreNotHealthy(of)}
	ctx := context.Background()
	o, err := r.ledger.Overview(ctx, everything)
	if err != nil {
		return r.violations(at, err.Error())
	}
	status := web.StatusOf(&web.Reading{Overview: o}, *p)
	said = append(said, agrees(&status, &o, p, of), r.confirmed(&o), causes(&o, p), r.unasked(&o))
	if of.Kind == reconcile.Full {
		said = append(said, r.report(ctx), r.saved(ctx))
	}
	return r.violations(at, said...)
}

// everything is longer than any list of a history.
const everything = 100_000

func (r *Reader) violations(at time.Duration, said ...string) (out []history.Violation) {
	for _, says := range said {
		if says != "" {
			out = append(out, history.Violation{Property: "told", Step: r.step, At: at, Says: says})
		}
	}
	return out
}
