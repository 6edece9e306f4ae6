package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile"
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
		Args: needs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runReport(cmd.Context(), o, form, since)
		},
	}
	spanFlag(c, &since, "since", 7*day, "how far back to look")
	formFlag(c, &form, form, "form of the result: text or json", "text", "json")
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
		return r.text(o.Out)
	})
}

// A rulesReport is the result of report. Its JSON is a public contract.
type rulesReport struct {
	At    time.Time    `json:"at"`
	Since time.Time    `json:"since"`
	Rules []ruleReport `json:"rules"`
}

type ruleReport struct {
	Rule           string                `json:"rule"`
	Mode           reconcile.Mode        `json:"mode"`
	Rollout        int                   `json:"rollout"`
	Lowered        string                `json:"lowered,omitempty"` // who lowered the mode in the ledger, and why
	Remedy         reconcile.Remedy      `json:"remedy"`
	Verdicts       int                   `json:"verdicts"`
	Subjects       int                   `json:"subjects"`
	Acted          int                   `json:"acted"`
	FalsePositives int                   `json:"came_back"`
	Share          float64               `json:"came_back_percent"`
	Resolved       int                   `json:"resolved_by_itself"`
	ByRule         int                   `json:"resolved_by_another_rule"`
	ByOperator     int                   `json:"resolved_by_an_operator"`
	Cost           float64               `json:"cost_usd"`
	UntilFound     float64               `json:"cost_until_found_usd"`
	Saved          float64               `json:"saved_usd"`
	Money          []moneyReport         `json:"money_by_provider,omitempty"`
	FirstSeen      *time.Time            `json:"first_seen,omitempty"`
	Advice         string                `json:"advice"`
	Proof          string                `json:"proof,omitempty"`     // of a rule that acts: whether the history proves it
	ProvenBy       string                `json:"proven_by,omitempty"` // of a rule that acts: nothing, where it is held
	Groups         []string              `json:"came_back_by_label,omitempty"`
	Auto           []string              `json:"auto,omitempty"` // where a learned threshold is, and why, by class
	Examples       []falsePositiveReport `json:"newest_false_positives"`
}

// A moneyReport is what a rule came to at one provider.
type moneyReport struct {
	Provider   string  `json:"provider"`
	UntilFound float64 `json:"cost_until_found_usd"`
	Cost       float64 `json:"cost_usd"`
	Saved      float64 `json:"saved_usd"`
}

func moneyOf(all []reconcile.RuleMoney) (out []moneyReport) {
	for _, m := range all {
		out = append(out, moneyReport{m.Provider, m.UntilFound, m.Cost, m.Saved})
	}
	return out
}

// reportRules reads what each rule came to, and what its mode is now.
func reportRules(ctx context.Context, a *app.App, window time.Duration) (*rulesReport, error) {
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
	out := rulesReportOf(now, window, found, policy, &controls)
	out.addProofs(ctx, a, found)
	return out, nil
}

// rulesReportOf has a line for each rule that is on or has left something to tell, in the
// order of the rules.
func rulesReportOf(now time.Time, window time.Duration, found []reconcile.RuleReport, p *reconcile.Policy,
	c *reconcile.Controls) *rulesReport {
	out := &rulesReport{At: now.UTC(), Since: now.Add(-window).UTC(), Rules: []ruleReport{}}
	byRule := map[string]reconcile.RuleReport{}
	for _, r := range found {
		byRule[r.Rule] = r
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
		line := ruleReport{Rule: name, Mode: policy.Mode, Rollout: policy.Rollout, Remedy: policy.Remedy,
			Verdicts: r.Verdicts, Subjects: r.Subjects, Acted: r.Acted, FalsePositives: r.FalsePositives, Share: a.share(),
			Resolved: r.Resolved, ByRule: r.ByRule, ByOperator: r.ByOperator, Cost: r.Cost,
			UntilFound: r.UntilFound, Saved: r.Saved, Money: moneyOf(r.Money),
			FirstSeen: when(r.FirstSeen), Examples: falsePositivesOf(r.Examples)}
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

func watchedFor(now, first time.Time) time.Duration {
	if first.IsZero() {
		return 0
	}
	return max(0, now.Sub(first))
}

// text writes the report for people: a table, the advice, then the newest false positives.
func (r *rulesReport) text(w io.Writer) error {
	var b bytes.Buffer
	p := console.NewPaint(w)
	fmt.Fprintf(&b, "since %s\n\n", text.Time(r.Since))
	t := console.Table(&b)
	fmt.Fprintln(t, "rule\tmode\tverdicts\tacted\tcame back\tby itself\tby others\t"+
		"until found\tcost since\tsaved\tfirst seen")
	var nothing []string
	for i := range r.Rules {
		l := &r.Rules[i]
		if l.FirstSeen == nil && l.Verdicts == 0 && l.Lowered == "" {
			nothing = append(nothing, l.Rule)
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%s\t%d\t%d\t$%.2f\t$%.2f\t$%.2f\t%s\n", l.Rule, l.modeText(), l.Verdicts,
			l.Acted, l.backText(),
			l.Resolved, l.ByRule+l.ByOperator, l.UntilFound, l.Cost, l.Saved, stampText(l.FirstSeen))
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	if len(nothing) > 0 {
		fmt.Fprintf(&b, "\nfound nothing: %s\n", strings.Join(nothing, ", "))
	}
	if err := r.moneyText(&b); err != nil {
		return err
	}
	r.adviceText(&b, p)
	r.proofText(&b, p)
	r.autoText(&b, p)
	r.groupsText(&b, p)
	r.regretsText(&b)
	return console.Print(w, &b)
}

// moneyText is the money by rule and provider, where any of it is at a provider with a price.
func (r *rulesReport) moneyText(b *bytes.Buffer) error {
	t := console.Table(b)
	head := "\nrule\tprovider\tuntil found\tcost since\tsaved"
	for i := range r.Rules {
		for _, m := range r.Rules[i].Money {
			if head != "" {
				fmt.Fprintln(t, head)
				head = ""
			}
			fmt.Fprintf(t, "%s\t%s\t$%.2f\t$%.2f\t$%.2f\n", r.Rules[i].Rule, text.Line(m.Provider), m.UntilFound,
				m.Cost, m.Saved)
		}
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	fmt.Fprintf(b, "\n%s\n", reconcile.CountedSo)
	return nil
}

// adviceText is a line for each rule that found something and has one.
func (r *rulesReport) adviceText(b *bytes.Buffer, p console.Paint) {
	first := "\n"
	for i := range r.Rules {
		if l := &r.Rules[i]; l.Advice != "" && (l.FirstSeen != nil || l.Verdicts > 0 || l.Lowered != "") {
			fmt.Fprintf(b, "%s%s: %s\n", first, p.Yellow(l.Rule), text.Line(l.Advice))
			first = ""
		}
	}
}

// proofText is a line for each rule that acts.
func (r *rulesReport) proofText(b *bytes.Buffer, p console.Paint) {
	first := "\nheld against the finished tasks of the last 30 days\n"
	for i := range r.Rules {
		if l := &r.Rules[i]; l.Proof != "" {
			held := ""
			if l.ProvenBy == "nothing" {
				held = "held: "
			}
			fmt.Fprintf(b, "%s  %s: %s%s\n", first, p.Yellow(l.Rule), held, text.Line(l.Proof))
			first = ""
		}
	}
}

// autoText are the thresholds that were learned.
func (r *rulesReport) autoText(b *bytes.Buffer, p console.Paint) {
	first := "\nthresholds that are learned\n"
	for i := range r.Rules {
		for _, line := range r.Rules[i].Auto {
			fmt.Fprintf(b, "%s  %s: %s\n", first, p.Yellow(r.Rules[i].Rule), text.Line(line))
			first = ""
		}
	}
}

// groupsText says what false positives have in common.
func (r *rulesReport) groupsText(b *bytes.Buffer, p console.Paint) {
	first := "\nfalse positives by label; owns.except leaves a kind of sandboxes alone\n"
	for i := range r.Rules {
		for _, line := range r.Rules[i].Groups {
			fmt.Fprintf(b, "%s  %s: %s\n", first, p.Yellow(r.Rules[i].Rule), text.Line(line))
			first = ""
		}
	}
}

func (l *ruleReport) modeText() string {
	switch {
	case l.Lowered != "":
		return string(l.Mode) + " (lowered)"
	case l.Mode == reconcile.Enforce && l.Rollout < 100:
		return fmt.Sprintf("%s %d%%", l.Mode, l.Rollout)
	}
	return string(l.Mode)
}

func (l *ruleReport) backText() string {
	if !reconcile.Watched(l.Rule) {
		return "-"
	}
	if l.FalsePositives == 0 {
		return "0"
	}
	return fmt.Sprintf("%d (%.1f%%)", l.FalsePositives, l.Share)
}

func (r *rulesReport) regretsText(b *bytes.Buffer) {
	var lines []string
	for i := range r.Rules {
		for _, e := range r.Rules[i].Examples {
			lines = append(lines, fmt.Sprintf("  %s %s %s: %s\n    the verdict of %s was: %s", stampText(e.At), e.Rule,
				text.Line(firstText(e.Task, e.Subject)), text.Line(e.What), text.Time(e.Verdict), text.Line(e.Reason)))
		}
	}
	if len(lines) > 0 {
		fmt.Fprintf(b, "\ncame back to life, the newest of each rule\n%s\n", strings.Join(lines, "\n"))
	}
}
