package result

import (
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A Moment is one line of what happened to a subject: when, by whose word, and what. Its
// time is of the source's own clock. Where that differs from the ledger's, the same moment by the
// ledger's is told as well, and is what the moments are in order of.
type Moment struct {
	At       time.Time `json:"at"`
	Source   string    `json:"source"` // tasks, events, ledger, or a provider entry's name
	What     string    `json:"what"`
	ByLedger time.Time `json:"by_ledger,omitzero"`
}

// when is the moment by the ledger's clock.
func (m *Moment) when() time.Time {
	if m.ByLedger.IsZero() {
		return m.At
	}
	return m.ByLedger
}

// mostMoments bounds the timeline; the newest are kept.
const mostMoments = 500

// The sources of moments that are no provider's.
const (
	ByTasks  = "tasks"
	ByEvents = "events"
	ByLedger = "ledger"
)

// moments collect what happened, in any order.
type moments []Moment

func (m *moments) add(at time.Time, source, what string) {
	if !at.IsZero() {
		*m = append(*m, Moment{At: at.UTC(), Source: source, What: what})
	}
}

// momentsOf merges what row, provider and ledger know of the subject in the order of time.
func momentsOf(x *run.Explained, h reconcile.History) []Moment {
	m := moments{}
	if x.Decision != nil {
		if t := x.Decision.Subject.Task; t != nil {
			m.task(t)
		}
		for i := range x.Decision.Subject.Boxes {
			b := &x.Decision.Subject.Boxes[i]
			m.box(b.Sandbox)
			if d := deathOf(x, b.Ref); d != nil {
				m.add(d.At, b.Provider, "sandbox "+b.ID+" ended: "+reconcile.FirstOf(d.Reason, "no reason told")+", "+d.Record)
			}
		}
	} else if x.Row != nil {
		m.task(x.Row)
	}
	m.remembered(h)
	for _, e := range slices.Backward(h.Timeline) {
		what, _ := reconcile.CutLog(e.What) // shown once, by itself
		m.add(e.At, ByLedger, e.Kind+": "+what)
	}
	m.probes(h.Probes)
	for i := range x.Verdicts {
		m.verdict(&x.Verdicts[i])
	}
	for i := range slices.Backward(h.Actions) {
		m.action(&h.Actions[i])
	}
	m.align(behind(x))
	slices.SortStableFunc(m, func(a, b Moment) int { return a.when().Compare(b.when()) })
	return slices.Compact(m[max(0, len(m)-mostMoments):])
}

// behind is by how much the clock of each source is behind the ledger's: each told its own now when it was asked,
// which was a moment after the ledger's. Listing everything may take long: there what each said at its begin counts.
func behind(x *run.Explained) map[string]time.Duration {
	off := map[string]time.Duration{}
	note := func(source string, asOf time.Time) {
		if by := x.At.Sub(asOf); !asOf.IsZero() && by.Abs() > reconcile.ProviderSkew {
			off[source] = by
		}
	}
	row, began := x.Row, func(_ string, asOf time.Time) time.Time { return asOf }
	if x.Whole && x.Judged != nil {
		began = beganAt(x.Judged.View.S)
	}
	if d := x.Decision; d != nil {
		row = d.Subject.Task
		for i := range d.Subject.Boxes {
			b := &d.Subject.Boxes[i]
			note(b.Provider, began(b.Provider, b.AsOf))
			if d := deathOf(x, b.Ref); d != nil {
				note(b.Provider, d.AsOf)
			}
		}
	}
	if row != nil {
		note(ByTasks, began(ByTasks, row.AsOf))
		note(ByEvents, began(ByTasks, row.AsOf)) // by the same database
	}
	return off
}

// beganAt tells what a source's clock was when everything was begun to be listed.
func beganAt(s *reconcile.Snapshot) func(string, time.Time) time.Time {
	return func(source string, _ time.Time) time.Time {
		if source == ByTasks {
			return s.T0
		}
		return s.Listings[source].Date
	}
}

// deathOf is what the provider has on record of the end of a sandbox that was looked at.
func deathOf(x *run.Explained, ref reconcile.Ref) *reconcile.Death {
	if x.Judged == nil {
		return nil
	}
	return x.Judged.View.S.Lookups[ref].Death
}

// align tells the moments of a clock that is off by the ledger's clock as well.
func (m moments) align(off map[string]time.Duration) {
	for i := range m {
		if by, is := off[m[i].Source]; is {
			m[i].ByLedger = m[i].At.Add(by)
		}
	}
}

// task is what the row and its worker's events say.
func (m *moments) task(t *reconcile.Task) {
	m.add(t.CreatedAt, ByTasks, "task created")
	m.add(t.AssignedAt, ByTasks, "assigned")
	m.add(t.StartedAt, ByTasks, "started")
	m.add(t.UpdatedAt, ByTasks, "row last changed, status "+t.Status)
	m.add(t.HeartbeatAt, ByTasks, "last heartbeat of the row")
	m.add(t.ActivityAt, ByTasks, "last activity of the row")
	m.add(t.DeadlineAt, ByTasks, "deadline")
	m.add(t.Events.Started, ByEvents, "worker started")
	m.add(t.Events.Activity, ByEvents, "last activity")
	m.add(t.Events.Heartbeat, ByEvents, "last heartbeat")
	m.add(t.Events.Waiting, ByEvents, "last waited for its user")
	m.add(t.Events.Finished, ByEvents, "worker finished")
}

// box is what the provider says.
func (m *moments) box(s *reconcile.Sandbox) {
	m.add(s.CreatedAt, s.Provider, "sandbox "+s.ID+" created")
	m.add(s.LastActivityAt, s.Provider, "last activity of sandbox "+s.ID)
	m.add(s.ExpiresAt, s.Provider, "sandbox "+s.ID+" expires")
}

// remembered is what the ledger saw of tasks and sandboxes, but for what its timeline tells.
func (m *moments) remembered(h reconcile.History) {
	for _, t := range h.Tasks {
		m.add(t.FirstSeen, ByLedger, "task "+t.ID+" first seen")
	}
	for _, b := range h.Sandboxes {
		m.add(b.FirstSeen, ByLedger, "sandbox "+b.ID+" first seen")
		m.add(b.RanAt, ByLedger, "sandbox "+b.ID+" first seen running")
		m.add(b.ResumedAt, ByLedger, "sandbox "+b.ID+" seen to come back")
		if b.GoneByUs {
			m.add(b.GoneAt, ByLedger, "sandbox "+b.ID+" confirmed gone after our terminate")
		} else {
			m.add(b.GoneAt, ByLedger, "sandbox "+b.ID+" seen gone")
		}
	}
}

// probes tells runs of one outcome as one moment each. They come newest first.
func (m *moments) probes(all []reconcile.ProbeResult) {
	for i := len(all) - 1; i >= 0; {
		first, times := all[i], 0
		for i >= 0 && all[i].Ref == first.Ref && all[i].Outcome == first.Outcome && all[i].Detail == first.Detail {
			times++
			i--
		}
		last, what := all[i+1], "probe of "+first.ID+" "+probeWords(first)
		if times > 1 {
			what += fmt.Sprintf(", %d times until %s", times, text.Time(last.At))
		}
		m.add(first.At, ByLedger, what)
	}
}

// action tells what the timeline does not: who planned it and when the world was asked. What
// became of it stands in the timeline.
func (m *moments) action(a *reconcile.Action) {
	planned := fmt.Sprintf("%s planned by rule %s", a.Step, a.Rule)
	if a.Author != "" {
		planned = fmt.Sprintf("%s asked for by %s (%s)", a.Step, a.Author, a.Rule)
	}
	m.add(a.PlannedAt, ByLedger, planned+", action "+a.ID)
	first := a.FirstActed
	if first.IsZero() {
		first = a.ActedAt
	}
	m.add(first, ByLedger, fmt.Sprintf("%s requested, action %s", a.Step, a.ID))
	last := a.ActedAt
	if a.AskedAt.After(last) {
		last = a.AskedAt
	}
	if !last.Equal(first) {
		m.add(last, ByLedger, fmt.Sprintf("%s last requested, action %s", a.Step, a.ID))
	}
}

func (m *moments) verdict(v *reconcile.Verdict) {
	mode := "observed"
	if v.Enforced {
		mode = "to be repaired"
	}
	m.add(v.At, ByLedger, fmt.Sprintf("verdict of %s, %s: %s", v.Rule, mode, v.Reason))
	m.add(v.FalsePositiveAt, ByLedger, fmt.Sprintf("false positive of %s: %s", v.Rule, v.FalsePositive))
}

// logsOf are the excerpts of logs that were saved with actions, oldest first.
func logsOf(actions []reconcile.Action) []logExcerpt {
	out := []logExcerpt{}
	for _, a := range slices.Backward(actions) {
		texts := []string{a.Detail}
		for _, e := range a.Evidence {
			texts = append(texts, e.Fact)
		}
		for _, text := range texts {
			if _, log := reconcile.CutLog(text); log != "" {
				out = append(out, logExcerpt{a.ActedAt.UTC(), a.ID, log})
			}
		}
	}
	return out
}
