package result

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

const day = 24 * time.Hour

// reported is a report of one rule: verdicts, regrets, and since when it found anything.
func reported(rule string, verdicts, regrets int) reconcile.RuleReport {
	r := reconcile.RuleReport{Rule: rule, Verdicts: verdicts, Subjects: verdicts, FalsePositives: regrets}
	for range min(regrets, 3) {
		r.Examples = append(r.Examples, reconcile.Verdict{Rule: rule, Task: "t-1", FalsePositiveAt: time.Now(), FalsePositive: "a heartbeat"})
	}
	return r
}

func TestAdvice(t *testing.T) {
	policy := func(mode reconcile.Mode, rollout int) reconcile.RulePolicy {
		return reconcile.RulePolicy{Mode: mode, Rollout: rollout, Remedy: reconcile.Fail}
	}
	const lost = "heartbeat-lost"
	for name, test := range map[string]struct {
		of   arming
		want string
	}{
		"nothing came back, often and long enough": {
			arming{RuleReport: reported(lost, 20, 0), policy: policy(reconcile.Observe, 100), watched: 2 * day},
			"0 of 20 in 2d came back to life: ready for enforce with rollout 10"},
		"one verdict too few": {
			arming{RuleReport: reported(lost, 19, 0), policy: policy(reconcile.Observe, 100), watched: 2 * day},
			"0 of 19 in 2d came back to life: too little to say, watch on"},
		"an hour too short": {
			arming{RuleReport: reported(lost, 20, 0), policy: policy(reconcile.Observe, 100), watched: 2*day - time.Hour},
			"0 of 20 in 1d23h came back to life: too little to say, watch on"},
		"some came back": {
			arming{RuleReport: reported(lost, 212, 3), policy: policy(reconcile.Observe, 100), watched: 6 * day},
			"3 of 212 in 6d came back to life: look at explain t-1 before you arm it"},
		"one that is armed was wrong": {
			arming{RuleReport: reported(lost, 212, 1), policy: policy(reconcile.Enforce, 100), watched: 6 * day},
			"1 of 212 in 6d came back to life: look at explain t-1; a longer `after` spares such tasks"},
		"one that is armed in part was right": {
			arming{RuleReport: reported(lost, 80, 0), policy: policy(reconcile.Enforce, 10), watched: 6 * day},
			"0 of 80 in 6d came back to life with rollout 10: ready for rollout 50"},
		"one that is armed was right": {
			arming{RuleReport: reported(lost, 80, 0), policy: policy(reconcile.Enforce, 100), watched: 6 * day}, ""},
		"nothing came due": {
			arming{RuleReport: reported(lost, 0, 0), policy: policy(reconcile.Observe, 100)},
			"nothing came due: there is nothing to judge it by yet"},
		"it lowered itself": {
			arming{RuleReport: reported(lost, 100, 4), policy: policy(reconcile.Observe, 100), watched: 3 * day, self: true},
			"lowered itself: 4 of 100 in 3d came back to life; correct its threshold, " +
				"then arm it again with: sandkeeper mode heartbeat-lost clear"},
		"what it ends cannot come back": {
			arming{RuleReport: reported("orphan", 80, 0), policy: policy(reconcile.Observe, 100), watched: 6 * day},
			"80 in 6d; what it ends cannot come back, so look at some with explain, then enforce with rollout 10"},
		"it is off": {
			arming{RuleReport: reported(lost, 3, 0), policy: policy(reconcile.Off, 100), watched: day},
			"is off; what it says here is of the time before"},
		"it only reports": {
			arming{RuleReport: reported("capacity", 3, 0), policy: reconcile.RulePolicy{Mode: reconcile.Observe, Remedy: reconcile.Report}}, ""},
	} {
		if got := test.of.advice(); got != test.want {
			t.Errorf("%s: advice = %q, want %q", name, got, test.want)
		}
	}
}

// TestRulesReport: every rule that is on has its line, in the order of the rules; what the
// ledger lowered is shown lowered, and the newest regrets stand below with their ids.
func TestRulesReport(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	on := reconcile.RulePolicy{Mode: reconcile.Enforce, Rollout: 100, Remedy: reconcile.Fail}
	off := reconcile.RulePolicy{Mode: reconcile.Off}
	p := &reconcile.Policy{Rules: map[string]reconcile.RulePolicy{
		"orphan": on, "heartbeat-lost": on, "over-age": off, "runaway": off}}
	c := &reconcile.Controls{Modes: map[string]reconcile.Mode{"heartbeat-lost": reconcile.Observe},
		Lowered: map[string]reconcile.Lowering{"heartbeat-lost": {Attribution: reconcile.Attribution{
			Author: reconcile.AuthorSelf, Reason: "4 of 100 came back"}}}}
	lost := reported("heartbeat-lost", 100, 4)
	lost.FirstSeen = now.Add(-3 * day)
	lost.Count(reconcile.RuleMoney{Provider: "vercel", Cost: 12, UntilFound: 1})
	lost.Count(reconcile.RuleMoney{Provider: "daytona", Cost: 0.5, UntilFound: 0.25})
	lost.Count(reconcile.RuleMoney{Provider: "vercel", Saved: 7})
	lost.Resolved, lost.ByRule, lost.ByOperator = 1, 2, 3
	aged := reported("over-age", 2, 0)
	aged.FirstSeen = now.Add(-6 * day)
	r := RulesOf(now, 7*day, []reconcile.RuleReport{aged, lost}, p, c)
	var rules []string
	for _, l := range r.Rules {
		rules = append(rules, l.Rule)
	}
	if want := []string{"heartbeat-lost", "orphan", "over-age"}; !slices.Equal(rules, want) {
		t.Errorf("rules = %v, want %v", rules, want)
	}
	var b bytes.Buffer
	if err := r.Print(&b); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{
		"since 2026-02-22 12:00:00", "heartbeat-lost observe (lowered) 100 0 4 (4.0%) 1 5 $1.25 $12.50 $7.00 2026-02-26 12:00:00",
		"over-age off 2 0 - 0 0 $0.00 $0.00 $0.00 2026-02-23 12:00:00", "found nothing: orphan", "saved, what it would have cost from its end by us until now.", "heartbeat-lost daytona $0.25 $0.50 $0.00 heartbeat-lost vercel $1.00 $12.00 $7.00", "lowered itself: 4 of 100 in 3d", "heartbeat-lost t-1: a heartbeat",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in:\n%s", want, b.String())
		}
	}
}

// TestRulesReportWithoutPrice: what nobody gave a price for does not cost nothing.
func TestRulesReportWithoutPrice(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	found := reported("orphan", 3, 0)
	found.FirstSeen = now.Add(-time.Hour)
	for name, tt := range map[string]struct {
		provider reconcile.ProviderPolicy
		says     string
		not      string
		json     string
	}{
		"no price": {reconcile.ProviderPolicy{}, "no price is configured", "$",
			`"cost_usd":null,"cost_until_found_usd":null,"saved_usd":null`},
		"a price": {reconcile.ProviderPolicy{PricePerHour: 0.08}, "$0.00 $0.00 $0.00", "is not known",
			`"cost_usd":0,"cost_until_found_usd":0,"saved_usd":0`},
	} {
		t.Run(name, func(t *testing.T) {
			p := &reconcile.Policy{Rules: map[string]reconcile.RulePolicy{"orphan": {Mode: reconcile.Enforce}},
				Providers: map[string]reconcile.ProviderPolicy{"daytona": tt.provider}}
			var b bytes.Buffer
			r := RulesOf(now, day, []reconcile.RuleReport{found}, p, &reconcile.Controls{})
			if err := r.Print(&b); err != nil {
				t.Fatal(err)
			}
			if got, err := json.Marshal(r); err != nil || !bytes.Contains(got, []byte(tt.json)) ||
				bytes.Contains(got, []byte("no price is configured")) != (tt.not == "$") {
				t.Errorf("as JSON %s, %v; want %s in it", got, err, tt.json)
			}
			if got := strings.Join(strings.Fields(b.String()), " "); !strings.Contains(got, tt.says) || strings.Contains(got, tt.not) {
				t.Errorf("it says\n%s\nwant %q and not %q in it", got, tt.says, tt.not)
			}
		})
	}
}
