package alerts

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// Bounds are from when on people are told, by the config.
type Bounds struct {
	LeakUSD float64       // what leaks may cost an hour; 0: any
	Frozen  time.Duration // how long a source may be not trusted

	ManyOnOneTask int           // how many sandboxes too many one task may have
	LedgerGiB     float64       // how large the ledger is before its growth is told
	Detected      time.Duration // by when nine of ten findings are to be made
}

// When people are told without an Alertmanager.
const (
	refusedFor = 5 * time.Minute  // how long a key is refused
	endsWithin = time.Hour        // before a hold ends
	failedFor  = 90 * time.Minute // how long no canary can be made
)

// needOperator are the rules whose findings nobody repairs but an operator.
var needOperator = []string{"pending-stuck", "looping", "terminating-stuck", "runaway", "awake"}

// Alarms are what is wrong by what the ledger measured, for people who have no Alertmanager. It is
// pure: the same measures give the same alarms.
func Alarms(m *reconcile.Measures, p *reconcile.Policy, b Bounds) []reconcile.Alarm {
	r := &reading{Measures: *m, policy: *p, bounds: b}
	r.forget()
	var out []reconcile.Alarm
	for _, find := range []func() []reconcile.Alarm{
		r.staleAlarms, r.incidentAlarms, r.breakerAlarms, r.disabledAlarms, r.sourceAlarms, r.falsePositiveAlarms,
		r.holdAlarms, r.operatorAlarms, r.canaryAlarms,
	} {
		out = append(out, find()...)
	}
	return append(out, r.leakAlarms()...)
}

func alarm(kind, what string, severity reconcile.Severity, since time.Time) reconcile.Alarm {
	key := strings.TrimSuffix(kind+":"+text.Plain(what, 100), ":")
	return reconcile.Alarm{Key: key, Kind: kind, Severity: severity, Since: since, Version: "1"}
}

func (a alarmed) says(title, words string) reconcile.Alarm {
	a.Title, a.Text = text.Plain(title, 200), text.Plain(words, 800)
	return reconcile.Alarm(a)
}

// alarmed is an alarm that gets its words.
type alarmed reconcile.Alarm

func (r *reading) staleAlarms() []reconcile.Alarm {
	p, ever := r.Passes[reconcile.Full]
	if !ever || r.Now.Sub(p.EndedAt) <= 3*r.policy.Full+2*time.Minute {
		return nil
	}
	a := alarmed(alarm("pass-stale", "", reconcile.SeverityCritical, p.EndedAt))
	return []reconcile.Alarm{a.says("No full pass was complete since "+text.Time(p.EndedAt),
		"What the passes do not see is not repaired: leaks, and tasks that are dead. First run: sandkeeper once")}
}

func (r *reading) incidentAlarms() (out []reconcile.Alarm) {
	for i := range r.Controls.Incidents {
		in := &r.Controls.Incidents[i]
		if !in.ClosedAt.IsZero() {
			continue
		}
		a := alarmed(alarm("incident", in.ID, reconcile.SeverityCritical, in.OpenedAt))
		// It is told again when it has doubled, was released, or its cause became known.
		doubled := bits.Len(uint(max(in.Count, 0)))
		a.Version = text.Plain(fmt.Sprint(doubled, in.ReleasedAt.IsZero(), in.Cause), 200)
		out = append(out, a.says("Incident "+in.ID+" of "+in.Rule,
			in.Said(r.Now, r.Templates)+". Its tasks are listed by: sandkeeper affected "+in.ID))
	}
	return out
}

func (r *reading) breakerAlarms() (out []reconcile.Alarm) {
	for _, rule := range reconcile.SortedKeys(r.Controls.Breakers) {
		a := alarmed(alarm("breaker", rule, reconcile.SeverityCritical, time.Time{}))
		out = append(out, a.says("The breaker of "+rule+" is open",
			"It wants to act on too many at once; all of it is held. See the list: sandkeeper release "+rule))
	}
	return out
}

func (r *reading) disabledAlarms() (out []reconcile.Alarm) {
	for _, rule := range reconcile.SortedKeys(r.Controls.Modes) {
		by := r.Controls.Lowered[rule]
		if by.Author != reconcile.AuthorSelf {
			continue
		}
		a := alarmed(alarm("rule-auto-disabled", rule, reconcile.SeverityCritical, time.Time{}))
		out = append(out, a.says("The rule "+rule+" was wrong too often and only observes now", by.Reason))
	}
	return out
}

func (r *reading) sourceAlarms() (out []reconcile.Alarm) {
	for _, s := range exported(r.Sources) {
		kind, after := "freeze", r.bounds.Frozen
		if of, provider := reconcile.SourceParts(s.Name); of == reconcile.SourceCredential {
			kind, after, s.Since = "credential", refusedFor, r.refusedSince(s, provider)
		}
		if s.Trusted || s.Since.IsZero() || r.Now.Sub(s.Since) < after || reconcile.IsClock(s.Name) {
			continue
		}
		a := alarmed(alarm(kind, s.Name, reconcile.SeverityWarning, s.Since))
		out = append(out, a.says(s.Name+" is not trusted since "+text.Time(s.Since),
			s.Reason.String()+". What rests on it is held. First run: sandkeeper check"))
	}
	return out
}

// refusedSince is since when nothing is listed for want of a credential. The credential's own moment is that of the
// last call that was refused, and one is made each few minutes.
func (r *reading) refusedSince(credential reconcile.SourceSeen, provider string) time.Time {
	for i := range r.Sources {
		s := &r.Sources[i]
		if s.Name == reconcile.ListingOf(provider) && !s.Trusted && !s.Since.IsZero() && s.Since.Before(credential.Since) {
			return s.Since
		}
	}
	return credential.Since
}

func (r *reading) falsePositiveAlarms() (out []reconcile.Alarm) {
	for _, rule := range reconcile.SortedKeys(r.Tallies) {
		if n := r.Tallies[rule].FalsePositives; n > 0 {
			a := alarmed(alarm("false-positives", rule, reconcile.SeverityWarning, time.Time{}))
			a.Version = strconv.Itoa(n)
			out = append(out, a.says(fmt.Sprintf("%d false positives of %s", n, rule),
				"Tasks that it marked failed showed life afterwards. First run: sandkeeper report"))
		}
	}
	return out
}

func (r *reading) holdAlarms() (out []reconcile.Alarm) {
	for _, h := range r.Controls.Holds {
		if left := h.Until.Sub(r.Now); h.Until.IsZero() || left > endsWithin {
			continue
		}
		a := alarmed(alarm("hold-ends", strconv.FormatInt(h.ID, 10), reconcile.SeverityWarning, h.At))
		out = append(out, a.says("The hold on "+h.Target+" ends at "+text.Time(h.Until),
			"It was placed by "+h.Author+": "+h.Reason))
	}
	return out
}

func (r *reading) operatorAlarms() (out []reconcile.Alarm) {
	due := map[string]int{}
	for _, f := range r.Findings {
		due[f.Rule] += f.Due
	}
	for _, rule := range needOperator {
		if due[rule] == 0 {
			continue
		}
		a := alarmed(alarm("attention", rule, reconcile.SeverityWarning, time.Time{}))
		a.Version = strconv.Itoa(bits.Len(uint(due[rule])))
		out = append(out, a.says(fmt.Sprintf("%d findings of %s need attention", due[rule], rule),
			"Only an operator can settle them. First run: sandkeeper alerts runbook "+rule))
	}
	return out
}

// canaryAlarms are that the last canary was late, also when it is gone since: a pass that comes late ends it before
// anybody is told. They are over when a later one was caught in time.
func (r *reading) canaryAlarms() (out []reconcile.Alarm) {
	within := r.policy.Canary.Within
	tell := func(what, title string, c *reconcile.Canary, since time.Time, do string) {
		a := alarmed(alarm("canary", what, reconcile.SeverityWarning, since))
		a.Version = c.ID
		out = append(out, a.says(title, c.Line(r.Now, within)+". First run: "+do))
	}
	known := r.canary(func(c *reconcile.Canary) bool { return c.Caught() || c.Late(r.Now, within) })
	if known != nil && known.Late(r.Now, within) {
		tell("late", "A planted leak was not ended in its time", known, known.PlantedAt.Add(within),
			"sandkeeper findings --rule orphan")
	}
	if c := r.failedSince(); c != nil && r.Now.Sub(c.PlantedAt) >= failedFor {
		tell("failed", "No canary proves that leaks are found", c, c.PlantedAt, "sandkeeper status")
	}
	return out
}

func (r *reading) leakAlarms() []reconcile.Alarm {
	cost, limit := 0.0, r.bounds.LeakUSD
	for _, m := range r.Leaking {
		if _, held := r.Controls.Breakers[m.Rule]; !held { // that is an alarm of its own
			cost += m.USD
		}
	}
	if limit <= 0 || cost <= limit {
		return nil
	}
	a := alarmed(alarm("leak-rate", "", reconcile.SeverityCritical, time.Time{}))
	a.Version = strconv.Itoa(bits.Len(uint(cost / limit))) // told again when it has doubled
	return []reconcile.Alarm{a.says(fmt.Sprintf("Leaks cost $%.2f an hour", cost),
		fmt.Sprintf("alerts.leaking_usd_per_hour allows $%.2f. First run: sandkeeper plan", limit))}
}
