package protocol

import (
	"math"
	"strconv"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// LearnedOf is all of a learned threshold that changes what its rule does.
func LearnedOf(l *reconcile.Learned) []string {
	span := func(d time.Duration) string { return strconv.FormatInt(d.Microseconds(), 10) }
	return []string{"learned", l.Rule, l.Class, instant(l.At), span(l.After), span(l.Target), strconv.Itoa(l.Samples),
		strconv.FormatUint(math.Float64bits(l.Dead), 36),
		strconv.FormatBool(l.Frozen), l.Sum}
}

// AddLearned takes a learned threshold into account, if a process with the key computed it.
func (s Seals) AddLearned(c *reconcile.Controls, l reconcile.Learned, seal string) {
	if s.Holds(seal, LearnedOf(&l)) {
		c.Learned = append(c.Learned, l)
	}
}

// LearnedEvents tell of the thresholds that moved, and of those that came to a stop.
func LearnedEvents(all []reconcile.Learned, now time.Time) (events []reconcile.TimelineEvent) {
	for i := range all {
		l := &all[i]
		if l.From == 0 && !l.Frozen {
			continue
		}
		by := reconcile.Attribution{Author: reconcile.AuthorSelf, Reason: l.Line}
		events = append(events, reconcile.TimelineEvent{At: now, Subject: reconcile.SubjectOf(reconcile.SubjectRule, l.Rule),
			Kind: "operator", What: Asked(by, "threshold of "+l.Class)})
	}
	return events
}
