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
	doubts    []doubt
	heard     bool // the samples were held against what all workers did
}

// A sample is what one task showed of one rule. A history has millions, so it is small.
type sample struct {
	ended   uint32 // seconds since 1970
	longest millis // the longest span that the rule would count, and after which the task lived
	end     millis // of a task that did not live: the span in which it ended
	late    millis // how late it would have been found, at most its end
	class   uint16
	outcome Outcome
	marks   marks
}

// Marks are what else there is to say of a sample.
type marks uint8

const (
	ownLimit marks = 1 << iota // the task has a limit of its own
	wronged                    // the rule would have acted on it, and it lived
	spared                     // it was longer than the threshold, and the rule saw what spoke for it
)

func (s *sample) is(m marks) bool { return s.marks&m != 0 }

func (s *sample) mark(m marks, is bool) {
	if s.marks &^= m; is {
		s.marks |= m
	}
}

// last is the span in which a task died by itself; 0: it did not.
func (s *sample) last() millis {
	if s.outcome == Died {
		return s.end
	}
	return 0
}

// cut is the span in which sandkeeper ended a task, and which nobody knows the end of; 0: it did not.
func (s *sample) cut() millis {
	if s.outcome == Ours {
		return s.end
	}
	return 0
}

// A doubt is when the longest span of a sample began, and which is its next: all workers may have been silent then.
type doubt struct {
	sample, from uint32 // its place, and seconds since 1970
	second       millis
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
	s.mark(ownLimit, t.least != nil && t.least(l) > 0)
	for _, one := range spans {
		switch {
		case one.lived:
		case s.outcome == Ours:
			s.end = millisOf(one.long())
		case s.outcome == Died:
			s.end, s.late = t.death(l, one, limit)
		}
	}
	lived := longestFirst(slices.DeleteFunc(slices.Clone(spans), func(s span) bool { return !s.lived }))
	s.mark(wronged, t.wrong(l, lived, limit))
	s.mark(spared, !s.is(wronged) && len(lived) > 0 && lived[0].long() > limit)
	d := doubt{sample: uint32(len(t.samples))}
	s.longest, d.from, d.second = t.measure(l, lived, limit)
	if t.kind != 0 && s.longest > 0 && s.longest.duration() >= t.crowdLimit()/2 {
		t.doubts = append(t.doubts, d)
	}
	t.samples = append(t.samples, s)
}

// threshold is what the rule waits for with this task.
func (t *tally) threshold(l *Life) time.Duration {
	if t.least != nil && t.least(l) > 0 {
		return t.least(l)
	}
	subject := reconcile.Subject{Task: &l.Task}
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

// measure is the longest span that counts, when it began, and the next one. What is far below the threshold is believed
// without asking: it can only be too long.
func (t *tally) measure(l *Life, lived []span, limit time.Duration) (longest millis, from uint32, second millis) {
	asked := 0
	for _, one := range lived {
		if one.long() >= limit/2 && asked < mostAsked {
			asked++
			if !t.counts(l, one) {
				continue
			}
		}
		if longest == 0 {
			longest, from = millisOf(one.long()), uint32(one.from.Unix())
			continue
		}
		return longest, from, millisOf(one.long())
	}
	return longest, from, 0
}

// death is the span in which a task ended without having lived on, and how late the rule would have found it.
func (t *tally) death(l *Life, s span, limit time.Duration) (last, late millis) {
	if s.long() < time.Second || !t.counts(l, s) {
		return 0, 0
	}
	last = millisOf(s.long())
	if at := t.found(l, s, limit); s.long() > limit && !at.IsZero() {
		return last, millisOf(at.Sub(s.from))
	}
	return last, last
}
