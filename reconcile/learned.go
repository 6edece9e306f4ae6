package reconcile

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Learned is the threshold of a rule whose config says `after: auto`, for all that it judges or for a class.
type Learned struct {
	Rule, Class string
	After       time.Duration // in force
	Target      time.Duration // what the history asks for; 0: too few tasks tell, and After is what it was before
	From        time.Duration // what After was before it moved; 0: it did not move
	Samples     int
	Dead        float64 // the part of the tasks that dies while no threshold cuts them off
	Frozen      bool    // the history changed its nature, so After stays
	Sum         string
	At          time.Time // when it was computed, by the ledger's clock
	Line        string    // for people: where it is, and why
}

// LearnEvery is how often a learned threshold is computed again.
const LearnEvery = 24 * time.Hour

// learnedVersion changes when thresholds come to be learned in another way.
const learnedVersion = 1

// LearnedSum tells what a threshold was learned for: what rows mean, what is asked of rules, and what the config says
// of this one. One that was learned for something else counts for nothing. It is asked of a config's own policy.
func (p *Policy) LearnedSum(rule string) string {
	r := p.Rules[rule]
	h := fnv.New64a()
	fmt.Fprintf(h, "%d\x00%s\x00%s\x00%v\x00%d\x00%d\x00%d\x00%v", learnedVersion, rule, p.Proof.Mapping,
		p.Proof.FalsePositives, p.Proof.Samples, r.After, r.Conclusive, r.Overrides)
	return strconv.FormatUint(h.Sum64(), 36)
}

// WithLearned is the policy with the thresholds that were learned. What the config says of a class counts before what
// was learned of it; where several learned classes match, the longest threshold does.
func (p *Policy) WithLearned(c *Controls) *Policy {
	if len(p.Auto) == 0 || len(p.Learned) > 0 {
		return p
	}
	out := *p
	out.Rules = maps.Clone(p.Rules)
	for _, rule := range SortedKeys(p.Auto) {
		learned := p.LearnedOf(c, rule)
		out.Rules[rule] = out.Rules[rule].learned(learned, RuleNamed(rule).Floor)
		out.Learned = append(out.Learned, learned...)
	}
	return &out
}

// learned lays the thresholds over the rule's own. None is below the rule's floor, whoever wrote it.
func (r RulePolicy) learned(all []Learned, floor time.Duration) RulePolicy {
	var classes []Override
	for _, l := range all {
		if l.After <= 0 {
			continue // too few tasks tell, and the rule has no default
		}
		after := max(l.After, floor, time.Second)
		if l.Class == ProofAll {
			r.After = after
		} else if key, value, is := strings.Cut(l.Class, "="); is {
			classes = append(classes, Override{When: map[string]string{key: value}, After: after})
		}
	}
	slices.SortStableFunc(classes, func(a, b Override) int { return cmp.Compare(b.After, a.After) })
	r.Overrides = slices.Concat(r.Overrides, classes)
	return r
}

// LearnedOf is what is known of the threshold of an `after: auto` rule, that of all first; none where it counts for
// nothing. It is asked of a config's own policy.
func (p *Policy) LearnedOf(c *Controls, rule string) (out []Learned) {
	for _, l := range c.Learned {
		if l.Rule == rule && p.Auto[rule] && l.Sum == p.LearnedSum(rule) {
			out = append(out, l)
		}
	}
	slices.SortStableFunc(out, func(a, b Learned) int { return cmp.Compare(a.Class, b.Class) }) // "all" is the first
	return out
}

// LearnedLines say where the threshold of an `after: auto` rule is and why, class by class; none for other rules. It is
// asked of the policy in force.
func (p *Policy) LearnedLines(rule string) (lines []string) {
	if !p.Auto[rule] {
		return nil
	}
	for i := range p.Learned {
		if p.Learned[i].Rule == rule {
			lines = append(lines, p.Learned[i].Line)
		}
	}
	if len(lines) == 0 {
		lines = append(lines, "auto: the default until the history was read, which `run` and `once` do by themselves")
	}
	return lines
}

// ClassHour is the key of the classes by the part of the day in which a task was made.
const ClassHour = "hour"

// hoursTogether is how many hours of the day make a class.
const hoursTogether = 6

// HourPart is the part of the day, in UTC, in which something was: "00-06" or "18-24"; "" when that is not known.
func HourPart(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	from := at.UTC().Hour() / hoursTogether * hoursTogether
	return fmt.Sprintf("%02d-%02d", from, from+hoursTogether)
}

// ReplayedRules are those whose verdicts follow from rows and events alone, so that a history of tasks tells of them.
var ReplayedRules = []string{"assigned-stale", "heartbeat-lost", "inactive", "deadline-exceeded", "finished-lingering",
	"pending-stuck"}

// Tells reports whether a platform of this kind keeps what a history must have to tell of the rule.
func (p *TasksPolicy) Tells(rule string) bool {
	switch rule {
	case "heartbeat-lost":
		return !p.None && p.Events && p.Heartbeats
	case "inactive", "finished-lingering":
		return !p.None && p.Events
	}
	return !p.None && slices.Contains(ReplayedRules, rule)
}
