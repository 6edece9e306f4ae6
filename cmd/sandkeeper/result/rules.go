package result

import (
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Rules are the result of report. Its JSON is a public contract.
type Rules struct {
	At    time.Time `json:"at"`
	Since time.Time `json:"since"`
	Rules []Rule    `json:"rules"`

	Costs string `json:"costs"` // how the money is counted, or why none is known

	Canaries []string `json:"canaries,omitempty"` // what became of the newest ones, newest first

	priced bool // some provider has a price: without one no money is known
}

// A Rule is what one rule came to, and what to do about it.
type Rule struct {
	Rule           string           `json:"rule"`
	Mode           reconcile.Mode   `json:"mode"`
	Rollout        int              `json:"rollout"`
	Lowered        string           `json:"lowered,omitempty"` // who lowered the mode in the ledger, and why
	Remedy         reconcile.Remedy `json:"remedy"`
	Verdicts       int              `json:"verdicts"`
	Subjects       int              `json:"subjects"`
	Acted          int              `json:"acted"`
	FalsePositives int              `json:"came_back"`
	Share          float64          `json:"came_back_percent"`
	Resolved       int              `json:"resolved_by_itself"`
	ByRule         int              `json:"resolved_by_another_rule"`
	ByOperator     int              `json:"resolved_by_an_operator"`
	Cost           *dollars         `json:"cost_usd"` // this and the two below: null where no provider has a price
	UntilFound     *dollars         `json:"cost_until_found_usd"`
	Saved          *dollars         `json:"saved_usd"`
	Money          []money          `json:"money_by_provider,omitempty"`
	FirstSeen      *time.Time       `json:"first_seen,omitempty"`
	Advice         string           `json:"advice"`
	Proof          string           `json:"proof,omitempty"`     // of a rule that acts: whether the history proves it
	ProvenBy       string           `json:"proven_by,omitempty"` // of a rule that acts: nothing, where it is held
	Groups         []string         `json:"came_back_by_label,omitempty"`
	Auto           []string         `json:"auto,omitempty"` // where a learned threshold is, and why, by class
	Examples       []FalsePositive  `json:"newest_false_positives"`
}

// A money is what a rule came to at one provider.
type money struct {
	Provider   string  `json:"provider"`
	UntilFound float64 `json:"cost_until_found_usd"`
	Cost       float64 `json:"cost_usd"`
	Saved      float64 `json:"saved_usd"`
}

func moneyOf(all []reconcile.RuleMoney) (out []money) {
	for _, m := range all {
		out = append(out, money{m.Provider, m.UntilFound, m.Cost, m.Saved})
	}
	return out
}

// RulesOf has a line for each rule that is on or has left something to tell, in the
// order of the rules.
func RulesOf(now time.Time, window time.Duration, found []reconcile.RuleReport, p *reconcile.Policy,
	c *reconcile.Controls) *Rules {
	out := &Rules{At: now.UTC(), Since: now.Add(-window).UTC(), Rules: []Rule{}}
	for _, provider := range p.Providers {
		out.priced = out.priced || provider.Priced()
	}
	byRule := map[string]reconcile.RuleReport{}
	for _, r := range found {
		byRule[r.Rule] = r
		out.priced = out.priced || len(r.Money) > 0
	}
	out.Costs = reconcile.CountedSo
	if !out.priced {
		out.Costs = "no price is configured, so what it costs is not known: give price_per_hour or prices of a provider"
	}
	for _, name := range reconcile.RuleNames {
		policy := p.Rules[name]
		r, told := byRule[name]
		if lowered, yes := c.Modes[name]; yes && policy.Mode != reconcile.Off {
			policy.Mode = lowered
		}
		if !told && (policy.Mode == reconcile.Off || policy.Mode == "") {
			continue
		}
		a := arming{RuleReport: r, policy: policy, watched: min(window, watchedFor(now, r.FirstSeen))}
		line := Rule{Rule: name, Mode: policy.Mode, Rollout: policy.Rollout, Remedy: policy.Remedy,
			Verdicts: r.Verdicts, Subjects: r.Subjects, Acted: r.Acted, FalsePositives: r.FalsePositives, Share: a.share(),
			Resolved: r.Resolved, ByRule: r.ByRule, ByOperator: r.ByOperator,
			Cost: out.known(r.Cost), UntilFound: out.known(r.UntilFound), Saved: out.known(r.Saved), Money: moneyOf(r.Money),
			FirstSeen: console.When(r.FirstSeen), Examples: falsePositivesOf(r.Examples)}
		if by, yes := c.Lowered[name]; yes {
			line.Lowered = by.Author + ": " + by.Reason
			a.self = by.Author == reconcile.AuthorSelf
		}
		line.Advice, line.Auto = a.advice(), p.LearnedLines(name)
		for _, g := range r.Groups {
			line.Groups = append(line.Groups, g.String())
		}
		out.Rules = append(out.Rules, line)
	}
	return out
}

// known is an amount; nil where no provider has a price.
func (r *Rules) known(amount float64) *dollars {
	if !r.priced {
		return nil
	}
	known := dollars(amount)
	return &known
}

func watchedFor(now, first time.Time) time.Duration {
	if first.IsZero() {
		return 0
	}
	return max(0, now.Sub(first))
}
