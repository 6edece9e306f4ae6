package backtest

import (
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/rules"
)

// A Proof is what a rule has to show: so few false positives, with [Confidence], over at least so many tasks.
type Proof struct {
	FalsePositives float64
	Samples        int
}

// DefaultProof is what is asked where a config says nothing.
var DefaultProof = Proof{FalsePositives: 0.02, Samples: 200}

// A Replay plays the finished tasks of a history to the rules, one after the other. It keeps some bytes of each.
type Replay struct {
	policy  *reconcile.Policy
	proof   Proof
	tallies []*tally
	fleet   *fleet
	classes *classes

	Tasks  int // that were over
	Events int
}

// New replays a history between two moments. Rules are the names of those that are wanted; none means all.
func New(p *reconcile.Policy, from, to time.Time, rules ...string) *Replay {
	r := &Replay{policy: p, proof: DefaultProof, fleet: newFleet(from, to), classes: newClasses()}
	if !p.Proof.Off() {
		r.proof = Proof{FalsePositives: p.Proof.FalsePositives, Samples: p.Proof.Samples}
	}
	for i := range replays {
		rule := &replays[i]
		wanted := len(rules) == 0 || slices.Contains(rules, rule.rule)
		if !wanted || p.Tasks.None || rule.lacks != nil && rule.lacks(&p.Tasks) != "" {
			continue
		}
		r.tallies = append(r.tallies, &tally{replayed: rule, asIs: Policy(p, rule.rule, asIs),
			low: Policy(p, rule.rule, lowered(rule.rule)), after: map[uint16]time.Duration{}})
	}
	return r
}

// Add plays one task.
func (r *Replay) Add(past *reconcile.PastTask) {
	l := (*Life)(past)
	r.fleet.watch(l)
	r.Events += len(l.Signs)
	if l.Ended.IsZero() {
		return
	}
	r.Tasks++
	class := r.classes.of(l)
	for _, t := range r.tallies {
		t.add(l, class)
	}
}

// A tally is what one rule came to.
type tally struct {
	*replayed
	asIs, low *reconcile.Policy
	after     map[uint16]time.Duration // thresholds by class
	samples   []sample
	heard     bool // the samples were held against what all workers did
}

// A sample is what one task showed of one rule.
type sample struct {
	ended, from uint32 // seconds since 1970: the end, and when the longest span began
	longest     millis // the longest span that the rule would count, and after which the task lived
	second      millis
	last        millis // of a task that did not live: the span in which it ended
	cut         millis // of one that sandkeeper ended: the span in which it did, and which nobody knows the end of
	late        millis // how late it would have been found, at most its end
	class       uint16
	outcome     Outcome
	own         bool // the task has a limit of its own
	wrong       bool // the rule would have acted on it, and it lived
	spared      bool // it was longer than the threshold, and the rule saw what spoke for it
}

func (t *tally) add(l *Life, class uint16) {
	spans, judged := t.spans(l)
	limit := t.threshold(l)
	if !judged || limit <= 0 {
		return
	}
	if _, known := t.after[class]; !known {
		t.after[class] = limit
	}
	s := sample{ended: uint32(l.Ended.Unix()), class: class, outcome: l.Outcome()}
	s.own = t.least != nil && t.least(l) > 0
	for _, one := range spans {
		if !one.lived {
			s.last, s.late = t.death(l, one, limit)
		}
		if !one.lived && s.outcome == Ours {
			s.cut = millisOf(one.long())
		}
	}
	lived := longestFirst(slices.DeleteFunc(slices.Clone(spans), func(s span) bool { return !s.lived }))
	s.wrong = t.wrong(l, lived, limit)
	s.spared = !s.wrong && len(lived) > 0 && lived[0].long() > limit
	t.measure(&s, l, lived, limit)
	t.samples = append(t.samples, s)
}

// threshold is what the rule waits for with this task.
func (t *tally) threshold(l *Life) time.Duration {
	if t.least != nil && t.least(l) > 0 {
		return t.least(l)
	}
	subject := reconcile.Subject{Task: &l.Task, Seen: reconcile.NothingSeen}
	if l.Task.Provider == "" && len(t.asIs.Providers) == 2 { // one, and that of the past
		at := reconcile.Ref{Provider: t.asIs.ProviderNames()[0]}
		subject.Boxes = []reconcile.SeenSandbox{reconcile.Box(&reconcile.Sandbox{Ref: at})}
	}
	return rules.Threshold(t.asIs, t.rule, &subject)
}

// mostAsked is how many spans of a task are asked about, the longest first.
const mostAsked = 50

// wrong reports whether the rule would have acted in a span after which the task lived.
func (t *tally) wrong(l *Life, lived []span, limit time.Duration) bool {
	for i, s := range lived {
		if i == mostAsked || s.long() <= limit {
			return false
		}
		if !t.found(l, s, limit).IsZero() {
			return true
		}
	}
	return false
}

// found is the first moment in the span at which the rule would have acted, of those at which it can: just after
// the threshold, a pass later, and at the end of the span. Zero when it never would.
func (t *tally) found(l *Life, s span, limit time.Duration) time.Time {
	crossed := s.from.Add(limit + time.Millisecond)
	for _, at := range [...]time.Time{crossed, crossed.Add(t.asIs.Quick + time.Millisecond), s.to.Add(-time.Millisecond)} {
		if at.Before(crossed) || !at.Before(s.to) {
			continue
		}
		if (Moment{Life: l, At: at, asked: t.asked}).Finds(t.asIs, t.rule) {
			return at
		}
	}
	return time.Time{}
}

// counts reports whether the rule would count the span at all, at its lowest threshold.
func (t *tally) counts(l *Life, s span) bool {
	if t.least != nil { // a limit of its own is no threshold that could be lower
		own := *l
		own.Task.Timeout, own.Task.DeadlineAt = 0, time.Time{}
		l = &own
	}
	return (Moment{Life: l, At: s.to.Add(-time.Millisecond), asked: t.asked}).Finds(t.low, t.rule)
}

// measure notes the two longest spans that count. What is far below the threshold is believed without asking:
// it can only be too long.
func (t *tally) measure(s *sample, l *Life, lived []span, limit time.Duration) {
	asked := 0
	for _, one := range lived {
		if one.long() >= limit/2 && asked < mostAsked {
			asked++
			if !t.counts(l, one) {
				continue
			}
		}
		if s.longest == 0 {
			s.longest, s.from = millisOf(one.long()), uint32(one.from.Unix())
			continue
		}
		s.second = millisOf(one.long())
		return
	}
}

// death is the span in which a task ended without having lived on, and how late the rule would have found it.
func (t *tally) death(l *Life, s span, limit time.Duration) (last, late millis) {
	if l.Outcome() != Died || s.long() < time.Second || !t.counts(l, s) {
		return 0, 0
	}
	last = millisOf(s.long())
	if at := t.found(l, s, limit); s.long() > limit && !at.IsZero() {
		return last, millisOf(at.Sub(s.from))
	}
	return last, last
}
