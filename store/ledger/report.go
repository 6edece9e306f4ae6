package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// Report reads what each rule came to since so long ago, by rule. It is for a person who
// waits for it: it may read all that retention keeps.
func (g *Reader) Report(ctx context.Context, since time.Duration) ([]reconcile.RuleReport, error) {
	now, err := g.setClock(ctx)
	if err != nil {
		return nil, err
	}
	rules, groups := protocol.Reports{}, map[string][]reconcile.LabelGroup{}
	err = g.inSnapshot(ctx, func(tx pgx.Tx) error {
		return read(ctx, tx, append(reportReadings(rules, now, since), provenReadings(rules, groups, now.Add(-since))...))
	})
	if err != nil {
		return nil, fmt.Errorf("read report of the last %s: %w", text.Duration(since), err)
	}
	for rule, all := range groups {
		rules.Of(rule).Groups = reconcile.Telling(all)
	}
	return rules.Sorted(), nil
}

func reportReadings(rules protocol.Reports, now time.Time, since time.Duration) []reading {
	from := now.Add(-since)
	return []reading{
		each("report_verdicts", pgx.StrictNamedArgs{"from": from}, scanRuleReport,
			func(r reconcile.RuleReport) { *rules.Of(r.Rule) = r }),
		each("report_findings", pgx.StrictNamedArgs{"from": from, "asked": reconcile.AskedRules, "going": protocol.RuleGoing,
			"nobodys": protocol.RuleNobodys, "adopted": string(reconcile.HowAdopted),
			"tried": []string{string(reconcile.HowAnew), string(reconcile.HowVanished)},
			"taken": string(reconcile.HowTakenBack)},
			scanRuleFindings,
			func(f reconcile.RuleReport) {
				r := rules.Of(f.Rule)
				r.FirstSeen, r.Resolved, r.ByRule, r.ByOperator = f.FirstSeen, f.Resolved, f.ByRule, f.ByOperator
			}),
		each("measures_saved", pgx.StrictNamedArgs{"from": from, "now": now}, scanMoney,
			func(m reconcile.Money) {
				rules.Of(m.Rule).Count(reconcile.RuleMoney{Provider: m.Provider, Saved: m.USD})
			}),
		each("report_money", pgx.StrictNamedArgs{"from": from, "now": now}, scanRuleMoney,
			func(m ruleMoney) { rules.Of(m.rule).Count(m.RuleMoney) }),
		each("report_regrets", pgx.StrictNamedArgs{"from": from, "most": protocol.MostExamples}, scanVerdict,
			func(v reconcile.Verdict) {
				r := rules.Of(v.Rule)
				r.Examples = append(r.Examples, v)
			}),
	}
}

func scanRuleReport(r pgx.Rows) (reconcile.RuleReport, error) {
	var t reconcile.RuleReport
	err := r.Scan(&t.Rule, &t.Verdicts, &t.Acted, &t.Subjects, &t.FalsePositives)
	return t, err
}

type ruleMoney struct {
	rule string
	reconcile.RuleMoney
}

func scanRuleMoney(r pgx.Rows) (ruleMoney, error) {
	var m ruleMoney
	err := r.Scan(&m.rule, &m.Provider, &m.Cost, &m.UntilFound)
	return m, err
}

func scanRuleFindings(r pgx.Rows) (reconcile.RuleReport, error) {
	var t reconcile.RuleReport
	err := r.Scan(&t.Rule, at(&t.FirstSeen), &t.Resolved, &t.ByRule, &t.ByOperator)
	return t, err
}
