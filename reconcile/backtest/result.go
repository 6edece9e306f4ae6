package backtest

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// All is the class of all tasks.
const All = "all"

// classLeast is how many tasks make a class worth a line of its own.
const classLeast = 30

// A Result is what the history says of one rule, for all tasks or for a class of them.
type Result struct {
	Rule, Class    string
	After          time.Duration
	Samples        int // tasks that completed, and others that showed life after the rule would have acted
	LivedOn        int // of the samples, those others
	FalsePositives int
	Hidden         int     // tasks that the rule ended since it began to end clearly more: they count as if they had lived
	Upper          float64 // of the rate of false positives, with [Confidence]
	Proven         bool
	Suggested      time.Duration // the threshold that would keep the bound; 0: none can be said
	Measured       Spread        // the longest that the rule would count, by task
	Delay          Spread        // how late the dead of the history would have been found
	Spared         int           // of the samples, those for whom something spoke that the rule saw
	Dead           int           // tasks that failed in a span that the rule counts
	Censored       int           // tasks that somebody stopped, or sandkeeper failed: they tell nothing of life
	Hours          float64       // of dead work before it would have been found
	Cost           float64       // hours more with Suggested; below 0: less
	Reason         string
	Line           string  // the same in short, for what is held by it
	Frontier       []Point // false positives and dead work by threshold, for All
	Growth         float64 // of what it measures, by day, where it clearly grows
	Longer         int     // tasks that would be beyond the threshold tomorrow, as it grows
}

// Results are what the history says, rule by rule in the order of the table, first of all tasks and then by class.
// Of rules that cannot be replayed the ledger's own verdicts tell, where it has some.
func (r *Replay) Results(ledger map[string]reconcile.RuleReport, rules ...string) []Result {
	var out []Result
	for _, name := range reconcile.RuleNames {
		if len(rules) > 0 && !slices.Contains(rules, name) {
			continue
		}
		i := slices.IndexFunc(r.tallies, func(t *tally) bool { return t.rule == name })
		if i < 0 || len(r.tallies[i].samples) == 0 {
			out = append(out, r.fromLedger(name, ledger[name]))
			continue
		}
		out = append(out, r.ofTally(r.tallies[i])...)
	}
	return out
}

// ofTally are the results of a rule that was replayed.
func (r *Replay) ofTally(t *tally) []Result {
	all := r.inOrder(t)
	since := presentOf(all)
	out := []Result{r.ofAll(t, all, since)}
	for _, g := range r.classes.groups() {
		own, others := g.of(all)
		from := g.count(all[:since.from])
		one, _ := t.result(own, present{from: from}, r.proof, g.name, t.after[g.first])
		if one.Samples < classLeast || g.byHour() && !matters(own[from:], others[since.from-from:]) {
			continue
		}
		one.Reason, one.Line = r.reason(t, &one), g.name+": "+r.line(t, &one)
		out = append(out, one)
	}
	return out
}

// ofAll is the result of all tasks.
func (r *Replay) ofAll(t *tally, samples []sample, since present) Result {
	all, told := t.result(samples, since, r.proof, All, r.policy.Rules[t.rule].After)
	held := "" // what was before, and until when
	if len(told) == len(samples) && since.from > 0 {
		day := time.Unix(int64(since.ended), 0).UTC().Add(reconcile.ProofFresh)
		since.words = changedAbout(since.ended) + ", and what was before speaks more against the rule: all tasks count " +
			"until it is 30 days old, on " + day.Format(time.DateOnly)
		held = since.words
	}
	all.Line = reconcile.Joined(r.line(t, &all), held, since.hides(), all.growing())
	all.Reason = reconcile.Joined(r.reason(t, &all), since.words, since.hides(), all.growing(), r.unsure(t))
	all.Frontier = frontier(t, told, &all)
	return all
}

// inOrder are the samples of a rule in the order in which the tasks ended, beside what all workers did.
func (r *Replay) inOrder(t *tally) []sample {
	if !t.heard {
		t.heard = true
		t.hearOthers(r.fleet)
		slices.SortStableFunc(t.samples, func(a, b sample) int { return cmp.Compare(a.ended, b.ended) })
	}
	return t.samples
}

// tells reports whether the sample counts: the task completed, or lived on after the rule would have acted.
func (s *sample) tells() bool { return s.outcome == Completed || s.is(wronged) }

// result is what samples in the order of time say of the rule. What was before the history changed its nature does not
// speak for the rule; it may speak against it, for what changed can come back: a batch each week, the end of a month.
// It also tells which samples the numbers are of.
func (t *tally) result(
	all []sample, since present, proof Proof, class string, after time.Duration,
) (out Result, told []sample) {
	told = all[since.from:]
	grows := driftOf(seenOf(told)).from(driftClear)
	out = t.resultOf(told, grows, since.hidden, proof, class, after)
	if since.from == 0 {
		return out, told
	}
	suggested, whole := out.Suggested, t.resultOf(all, drift{}, since.hidden, proof, class, after)
	//guard:proof-before harm
	if out.Samples >= proof.Samples && whole.Upper > out.Upper || whole.lower() > max(out.lower(), proof.FalsePositives) {
		out, told = whole, all
	}
	if out.Suggested = 0; suggested > 0 {
		out.Suggested = max(suggested, whole.Suggested)
	}
	out.Cost = cost(told, &out)
	return out, told
}

// lower is the lower end of the interval of the rate.
func (r *Result) lower() float64 { return Lower(r.FalsePositives+r.Hidden, r.Samples+r.Hidden) }

// resultOf is what samples say, of which so many more are hidden: who was ended by sandkeeper may have lived. What
// grows counts as long as it will be tomorrow.
func (t *tally) resultOf(
	samples []sample, grows drift, hidden int, proof Proof, class string, after time.Duration,
) Result {
	out := Result{Rule: t.rule, Class: class, After: after, Hidden: hidden, Growth: math.Expm1(grows.perDay),
		Longer: grows.beyond(t, samples, after)}
	var values, delays []millis
	for i := range samples {
		s := &samples[i]
		if s.tells() {
			out.Samples++
			out.LivedOn += count(s.outcome != Completed)
			values = append(values, s.longest)
			out.Spared += count(s.is(spared))
		}
		if s.is(wronged) {
			out.FalsePositives++
		}
		if s.last() > 0 {
			out.Dead++
			out.Hours += s.late.duration().Hours()
			delays = append(delays, s.late)
		}
		if s.outcome == Stopped || s.outcome == Ours {
			out.Censored++
		}
	}
	out.Measured, out.Delay = spreadOf(values), spreadOf(delays)
	out.Upper = Upper(out.FalsePositives+hidden+out.Longer, out.Samples+hidden)
	out.Proven = out.Samples >= proof.Samples && out.Upper <= proof.FalsePositives
	out.Suggested = survivedOf(grows.grown(samples)).suggested(proof.FalsePositives, reconcile.RuleNamed(t.rule).Floor)
	out.Cost = cost(samples, &out)
	return out
}

// cost is how many hours more of dead work the suggested threshold lets pass.
func cost(samples []sample, of *Result) float64 {
	if of.Suggested == 0 {
		return 0
	}
	return deadHours(samples, of.Suggested) - deadHours(samples, of.After)
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// deadHours is how much work of the dead a threshold lets pass before they are found.
func deadHours(samples []sample, after time.Duration) (hours float64) {
	for i := range samples {
		hours += min(samples[i].last().duration(), after).Hours()
	}
	return hours
}

// crowdLimit is the silence of a worker from which on what all others did is asked.
func (t *tally) crowdLimit() time.Duration {
	rule := "heartbeat-lost"
	if t.kind == active {
		rule = t.rule
	}
	return max(t.asIs.Rules[rule].After, time.Second)
}

// hearOthers takes back what was all workers' silence and not this one's: it asks the rule again, beside the others.
func (t *tally) hearOthers(f *fleet) {
	if len(t.doubts) == 0 {
		return
	}
	g := f.guide(t.kind, t.crowdLimit())
	for _, d := range t.doubts {
		s := &t.samples[d.sample]
		from := time.Unix(int64(d.from), 0)
		to := from.Add(s.longest.duration())
		if !g.doubtful(from, to) || t.foundBeside(g, span{from, to, true}) {
			continue
		}
		s.longest = d.second
		still := s.is(wronged) && s.longest.duration() > t.after[s.class]
		s.mark(spared, s.is(spared) || s.is(wronged) && !still)
		s.mark(wronged, still)
	}
	t.doubts = nil
}

// foundBeside reports whether the rule would have acted in the span beside the others.
func (t *tally) foundBeside(g *guide, s span) bool {
	began := s.from.Add(-24 * time.Hour)
	stand := &Life{Task: reconcile.Task{ID: "one", State: reconcile.TaskCompleted, CreatedAt: began, StartedAt: began},
		Ended: s.to, Signs: []Sign{{At: began, Kind: Started}, {At: s.from, Kind: Heartbeat}}}
	for _, at := range [...]time.Time{s.from.Add(t.asIs.Rules[t.rule].After + time.Second), s.to.Add(-time.Millisecond)} {
		if !at.Before(s.to) {
			continue
		}
		if t.kind == active {
			stand.Signs = []Sign{{At: began, Kind: Started}, {At: s.from}, {At: at, Kind: Heartbeat}}
		}
		if (Moment{Life: stand, At: at, crowd: g.at(at)}).Finds(t.asIs, t.rule) {
			return true
		}
	}
	return false
}
