package backtest

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// How a learned threshold moves.
const (
	learnStep  = 4                  // by at most a quarter of itself a day
	learnWorth = 10                 // a fall of less than a tenth is not worth a new proof
	learnWeek  = 7 * 24 * time.Hour // the newest tasks are held against those before
	unlimited  = 24 * time.Hour     // what is played where a rule has no threshold yet
)

// LearnDue are the rules whose thresholds are to be computed now: those that are on and say `after: auto`, once a day,
// and sooner while too few tasks tell.
func LearnDue(p *reconcile.Policy, c *reconcile.Controls, now time.Time) (rules []string) {
	for _, rule := range reconcile.RuleNames {
		if !p.Auto[rule] || !p.Judges(rule) || !Tells(p, rule) {
			continue
		}
		known := p.LearnedOf(c, rule)
		pause := reconcile.LearnEvery
		if len(known) > 0 && known[0].Target == 0 {
			pause = againLeast
		}
		if len(known) == 0 || now.Sub(known[0].At) >= pause {
			rules = append(rules, rule)
		}
	}
	return rules
}

// ToLearn is the policy by which a history is played to learn from: as it is, and where a rule has no threshold, with
// one that asks for nothing.
func ToLearn(p *reconcile.Policy) *reconcile.Policy {
	out := *p
	out.Rules = map[string]reconcile.RulePolicy{}
	for rule, r := range p.Rules {
		if p.Auto[rule] && r.After <= 0 {
			r.After = unlimited
		}
		out.Rules[rule] = r
	}
	return &out
}

// A learning is the computing of the thresholds of one rule.
type learning struct {
	*tally
	proof Proof
	now   time.Time // by the clock of the tasks
	usual time.Duration
	known map[string]reconcile.Learned
	never bool // what it ended shows in no row, so it may not fall
	floor time.Duration
}

// Learn are the thresholds that the history asks for, for all and by class: each the smallest that keeps the bound. One
// that was learned before moves by at most a quarter, and not while the history changes its nature. Now is of the
// tasks' clock; who keeps them says when they were computed, and for what.
func (r *Replay) Learn(
	rule string, usual time.Duration, before []reconcile.Learned, now time.Time,
) []reconcile.Learned {
	i := slices.IndexFunc(r.tallies, func(t *tally) bool { return t.rule == rule })
	if i < 0 {
		return nil
	}
	spec := reconcile.RuleNamed(rule)
	g := &learning{tally: r.tallies[i], proof: r.proof, now: now, usual: usual, known: map[string]reconcile.Learned{},
		never: spec.Family == reconcile.CleanUp, floor: spec.Floor}
	for _, l := range before {
		g.known[l.Class] = l
	}
	samples := slices.DeleteFunc(slices.Clone(r.inOrder(g.tally)), func(s sample) bool { return s.is(ownLimit) })
	all := g.learn(All, samples, g.known[All])
	return append([]reconcile.Learned{all}, g.classes(r.classes.groups(), samples, &all)...)
}

// classes are the thresholds of those classes that need one of their own: a longer one, or one of a class that is of
// another nature than all others. A class that had one and needs it no more moves to that of all, and is dropped then.
func (g *learning) classes(groups []group, samples []sample, all *reconcile.Learned) (out []reconcile.Learned) {
	if all.Target == 0 {
		return nil
	}
	for i := range groups {
		own, others := groups[i].of(samples)
		before, had := g.known[groups[i].name]
		if !had { // it was judged by the threshold of all
			before = g.known[All]
			before.Samples = 0
		}
		one := g.learn(groups[i].name, own, before)
		needs := one.Target > 0 && g.needs(&groups[i], &one, all, matters(own, others))
		if had && !needs && !one.Frozen {
			one = g.back(one, before, all)
		}
		if needs || had && one.After != all.After {
			out = append(out, one)
		}
	}
	return out
}

// needs reports whether the class must have a threshold of its own. Heartbeat-lost knows none below that of all: a
// sign of life counts for as long as that.
func (g *learning) needs(of *group, one, all *reconcile.Learned, differs bool) bool {
	switch {
	case one.Target > all.Target:
		return differs || !of.byHour() && one.Target-all.Target > all.Target/learnWorth
	case one.Target < all.Target:
		return differs && g.rule != "heartbeat-lost"
	}
	return false
}

// back moves the threshold of a class that needs none any more towards that of all.
func (g *learning) back(one, before reconcile.Learned, all *reconcile.Learned) reconcile.Learned {
	one.Target, one.After = all.After, stepped(before.After, all.After, g.floor)
	one.From = moved(before.After, one.After)
	one.Line = g.line(&one, "it is as all others by now")
	return one
}

// learn is the threshold that samples in the order of time ask for.
func (g *learning) learn(class string, samples []sample, before reconcile.Learned) reconcile.Learned {
	h := natureOf(samples, g.now)
	out := reconcile.Learned{Rule: g.rule, Class: class, After: before.After, Samples: len(h.values)}
	if out.After == 0 {
		out.After = g.usual
	}
	sorted := slices.Clone(h.values)
	slices.Sort(sorted)
	if len(sorted) >= g.proof.Samples {
		grows := driftOf(seenOf(samples[h.from:])).from(driftLikely).atMost()
		if grows.perDay > 0 {
			h.grows = fmt.Sprintf("what it measures grows by up to %s a day", percent(math.Expm1(grows.perDay)))
		}
		now := survivedOf(grows.grown(samples[h.from:]))
		whole := survivedOf(samples) // what was before may come back, see [tally.result]
		out.Target = max(now.suggested(g.proof.FalsePositives, g.floor), whole.suggested(g.proof.FalsePositives, g.floor))
	}
	learned := before.Target > 0
	out.Dead = deadShare(samples, &before)
	switch {
	case out.Target == 0 && learned: // the tasks became few, or its history is too short since it changed
		out.Target, out.Frozen = before.Target, h.changed != ""
	case out.Target == 0:
	case !learned:
		//guard:learn-unused harm
		if g.never { // that nobody was seen to use them says less than somebody's choice
			out.Target = max(out.Target, out.After)
		}
		out.After, out.From = out.Target, moved(out.After, out.Target)
	case h.changed != "":
		out.Frozen = true
	default:
		if out.Target < out.After {
			out.Target = g.fall(out.Target, out.After, sorted, h.cut)
		}
		out.Target = max(out.Target, g.rise(before, sorted, h.cut))
		out.After = stepped(before.After, out.Target, g.floor)
		out.From = moved(before.After, out.After)
	}
	out.Line = reconcile.Joined(g.line(&out, h.changed), h.grows)
	return out
}

// fall is how far a threshold may fall: so far that it kept the bound even if all had lived that sandkeeper ended
// after such a silence. What it takes out of the history would make the rest look ever quicker.
func (g *learning) fall(target, from time.Duration, sorted, cut []millis) time.Duration {
	taken := 0
	for _, c := range cut {
		taken += count(c.duration() >= target)
	}
	spare := Allowed(len(sorted)+taken, g.proof.FalsePositives) - taken
	if g.never || spare < 0 {
		return from
	}
	at := sorted[max(len(sorted)-1-spare, 0)].duration() + time.Millisecond
	target = max(target, roundUp(at))
	if from-target < from/learnWorth {
		return from
	}
	return target
}

// rise is how far a threshold must rise so that it kept the bound even if all had lived that sandkeeper ended beyond
// those who died before it acted: whoever becomes slower is cut off by the threshold, and shows it nowhere else. It is
// not put above twice what was seen of any task, for nothing is learned of tasks there.
func (g *learning) rise(before reconcile.Learned, sorted, cut []millis) time.Duration {
	taken := 0
	for _, c := range cut {
		taken += count(c.duration() >= before.After*3/4)
	}
	more := taken - int(math.Round(before.Dead*float64(len(sorted)+len(cut))))
	if more <= 0 {
		return 0
	}
	most := 2 * sorted[len(sorted)-1].duration()
	spare := Allowed(len(sorted)+more, g.proof.FalsePositives) - more
	if spare < 0 {
		return roundUp(most)
	}
	return roundUp(min(most, sorted[max(len(sorted)-1-spare, 0)].duration()+time.Millisecond))
}

// deadShare is the part of the tasks that die while no threshold cuts them off. Where sandkeeper ends tasks it is at
// most what it was before.
func deadShare(samples []sample, before *reconcile.Learned) float64 {
	dead, cut, told := 0, 0, 0
	for i := range samples {
		s := &samples[i]
		dead += count(s.last() > 0 && !s.is(wronged))
		cut += count(s.cut() > 0)
		told += count(s.tells() && s.outcome != Ours)
	}
	share := float64(dead+cut) / float64(max(dead+cut+told, 1))
	if before.Target > 0 && cut > 0 {
		return min(share, before.Dead)
	}
	return share
}

// stepped is the way to a threshold that is made in one day.
func stepped(from, to, floor time.Duration) time.Duration {
	step := from / learnStep
	return max(min(max(to, from-step), from+step).Round(100*time.Millisecond), floor)
}

func moved(from, to time.Duration) time.Duration {
	if from == to {
		return 0
	}
	return from
}

// A nature is what a history says since it is as it is now.
type nature struct {
	from    int      // place of the first sample
	values  []millis // that tell, in the order of time; none of what sandkeeper ended
	cut     []millis // in what sandkeeper ended tasks
	changed string   // why nothing is learned from it now; "" when it is steady
	grows   string   // by how much the threshold allows for a growth; "" for none
}

// natureOf is the present nature of a history. It is steady when it did not change, or when the tasks since then that
// are older than a week are as those of the last week.
func natureOf(samples []sample, now time.Time) (h nature) {
	since := presentOf(samples)
	samples, h.from = samples[since.from:], since.from
	week := sort.Search(len(samples), func(i int) bool {
		return int64(samples[i].ended) >= now.Add(-learnWeek).Unix()
	})
	before, newest := seenOf(samples[:week]), seenOf(samples[week:])
	enough := len(before) >= changeLeast && len(newest) >= changeLeast
	switch {
	case since.from > 0 && len(before) < changeLeast || since.hidden > 0:
		h.changed = changedAbout(since.ended)
	case enough && (differ(before, newest, clearly) > 0 && !drifts(seenOf(samples), len(before)) ||
		countSeen(samples[week:]).more(countSeen(samples[:week]))):
		h.changed = changedAbout(samples[week].ended)
	}
	for i := range samples {
		switch s := &samples[i]; {
		case s.cut() > 0:
			h.cut = append(h.cut, s.cut())
		case s.tells() && s.outcome != Ours:
			h.values = append(h.values, s.longest)
		}
	}
	return h
}

// seenOf are what samples show of the nature of a history.
func seenOf(samples []sample) (out []measured) {
	for i := range samples {
		if value, counts := samples[i].seen(); counts {
			out = append(out, measured{samples[i].ended, value})
		}
	}
	return out
}
