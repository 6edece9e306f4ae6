package main

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/result"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/backtest"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

func reportCommand(o *app.Options) *cobra.Command {
	since, form := time.Duration(0), "text"
	c := &cobra.Command{
		Use:   "report",
		Short: "Show rule by rule what enforce would have done, and how often it would have been wrong",
		Long: `Report sums up the verdicts of each rule in the last days: how many came due, how many were
acted on, how many of these tasks came back to life afterwards (each a false positive), how
many findings went away by themselves, how many another rule or an operator repaired, and what
the sandboxes cost. It ends each rule with advice: whether it is ready to be armed, and what to
look at before.

False positives are measured for rules that call a worker dead or stuck. What a clean-up rule ends
cannot come back, so look at some of its findings with explain before you arm it.`,
		Example: `  sandkeeper report
  sandkeeper report --since 30d -o json`,
		Args: verb.Needs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runReport(cmd.Context(), o, form, since)
		},
	}
	verb.Span(c, &since, "since", 7*verb.Day, "how far back to look")
	verb.Form(c, &form, form, "form of the result: text or json", "text", "json")
	return c
}

func runReport(ctx context.Context, o *app.Options, form string, window time.Duration) error {
	return onLedger(ctx, o, func(a *app.App) error {
		r, err := reportRules(ctx, a, window)
		if err != nil {
			return err
		}
		if form == "json" {
			return console.PrintJSON(o.Out, r)
		}
		return r.Print(o.Out)
	})
}

// reportRules reads what each rule came to, and what its mode is now.
func reportRules(ctx context.Context, a *app.App, window time.Duration) (*result.Rules, error) {
	now, err := a.Ledger.Now(ctx)
	if err != nil {
		return nil, err
	}
	found, err := a.Ledger.Report(ctx, window)
	if err != nil {
		return nil, err
	}
	controls, err := a.Ledger.Controls(ctx)
	if err != nil {
		return nil, err
	}
	config := a.Config.Policy()
	policy := config.WithLearned(&controls)
	out := result.RulesOf(now, window, found, policy, &controls)
	addProofs(ctx, a, out, found)
	return out, addCanaries(ctx, a, out)
}

// mostCanaries is how many canaries a report shows.
const mostCanaries = 8

// addCanaries says what became of the newest faults that were planted.
func addCanaries(ctx context.Context, a *app.App, r *result.Rules) error {
	p := a.Config.Policy().Canary
	if !p.On() {
		return nil
	}
	m, err := a.Ledger.Measures(ctx)
	if err != nil {
		return err
	}
	for i := range m.Canaries[:min(len(m.Canaries), mostCanaries)] {
		c := &m.Canaries[i]
		r.Canaries = append(r.Canaries, text.Time(c.PlantedAt)+" "+c.Line(m.Now, p.Within))
	}
	return nil
}

// addProofs says in the report of each rule that acts whether the platform's history proves it.
func addProofs(ctx context.Context, a *app.App, r *result.Rules, seen []reconcile.RuleReport) {
	policy := a.Config.Policy()
	rules := app.Armed(&policy)
	if len(rules) == 0 || a.Config.Tasks.None {
		return
	}
	found, err := map[string]backtest.Result(nil), a.OpenTasks(ctx)
	if err == nil {
		found, err = a.Proofs(ctx, rules, seen)
	}
	now := a.Standings(ctx, &policy)
	for i := range r.Rules {
		line := &r.Rules[i]
		if s, is := now[line.Rule]; is {
			line.ProvenBy = reconcile.FirstOf(string(s.Kind), "nothing")
		}
		if policy.Proof.Off() && slices.Contains(rules, line.Rule) {
			line.ProvenBy = string(reconcile.ProofOff)
		}
		switch proof, asked := found[line.Rule]; {
		case asked:
			line.Proof = reconcile.Joined(proof.Reason, now.Aside(line.Rule, proof.Proven))
			if s, is := now[line.Rule]; is && proof.Line == "" { // the history tells nothing of it
				line.Proof = s.Line
			}
		case err != nil && line.Mode == reconcile.Enforce && line.Remedy != reconcile.Report:
			line.Proof = "not held against the history: " + err.Error()
		}
	}
}
