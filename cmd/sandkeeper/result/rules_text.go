package result

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// Print writes the report for people: a table, the advice, then the newest false positives.
func (r *Rules) Print(w io.Writer) error {
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
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%s\t%d\t%d\t%s\t%s\t%s\t%s\n", l.Rule, l.modeText(), l.Verdicts,
			l.Acted, l.backText(), l.Resolved, l.ByRule+l.ByOperator,
			l.UntilFound.String(), l.Cost.String(), l.Saved.String(), console.Stamp(l.FirstSeen))
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
	against := "held against the finished tasks of the last 30 days"
	if slices.ContainsFunc(r.Rules, func(l Rule) bool { return l.ProvenBy == string(reconcile.ProofOff) }) {
		against += "; all act unproven, for the config says proof: off"
	}
	r.under(&b, p, against, (*Rule).proofs)
	r.under(&b, p, "thresholds that are learned", func(l *Rule) []string { return l.Auto })
	r.under(&b, p, "false positives by label; owns.except leaves a kind of sandboxes alone",
		func(l *Rule) []string { return l.Groups })
	r.canariesText(&b)
	r.regretsText(&b)
	return console.Print(w, &b)
}

// canariesText is what became of the faults that were planted.
func (r *Rules) canariesText(b *bytes.Buffer) {
	for i, line := range r.Canaries {
		if i == 0 {
			fmt.Fprint(b, "\ncanaries:\n")
		}
		fmt.Fprintf(b, "  %s\n", text.Line(line))
	}
}

// moneyText is the money by rule and provider, where any of it is at a provider with a price.
func (r *Rules) moneyText(b *bytes.Buffer) error {
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
	fmt.Fprintf(b, "\n%s\n", r.Costs)
	return nil
}

// adviceText is a line for each rule that found something and has one.
func (r *Rules) adviceText(b *bytes.Buffer, p console.Paint) {
	first := "\n"
	for i := range r.Rules {
		if l := &r.Rules[i]; l.Advice != "" && (l.FirstSeen != nil || l.Verdicts > 0 || l.Lowered != "") {
			fmt.Fprintf(b, "%s%s: %s\n", first, p.Yellow(l.Rule), text.Line(l.Advice))
			first = ""
		}
	}
}

// proofs is a line for a rule that acts.
func (l *Rule) proofs() []string {
	if l.Proof != "" && l.ProvenBy == "nothing" {
		return []string{"held: " + l.Proof}
	}
	return reconcile.NonEmpty(l.Proof)
}

// under prints the rules that have lines of a kind below a heading; nothing where none has.
func (r *Rules) under(b *bytes.Buffer, p console.Paint, heading string, lines func(*Rule) []string) {
	heading = "\n" + heading + "\n"
	for i := range r.Rules {
		for _, line := range lines(&r.Rules[i]) {
			fmt.Fprintf(b, "%s  %s: %s\n", heading, p.Yellow(r.Rules[i].Rule), text.Line(line))
			heading = ""
		}
	}
}

func (l *Rule) modeText() string {
	switch {
	case l.Lowered != "":
		return string(l.Mode) + " (lowered)"
	case l.Mode == reconcile.Enforce && l.Rollout < 100:
		return fmt.Sprintf("%s %d%%", l.Mode, l.Rollout)
	}
	return string(l.Mode)
}

func (l *Rule) backText() string {
	if !reconcile.Watched(l.Rule) {
		return "-"
	}
	if l.FalsePositives == 0 {
		return "0"
	}
	return fmt.Sprintf("%d (%.1f%%)", l.FalsePositives, l.Share)
}

func (r *Rules) regretsText(b *bytes.Buffer) {
	var lines []string
	for i := range r.Rules {
		for _, e := range r.Rules[i].Examples {
			lines = append(lines, fmt.Sprintf("  %s %s %s: %s\n    the verdict of %s was: %s", console.Stamp(e.At), e.Rule,
				text.Line(reconcile.FirstOf(e.Task, e.Subject)), text.Line(e.What), text.Time(e.Verdict), text.Line(e.Reason)))
		}
	}
	if len(lines) > 0 {
		fmt.Fprintf(b, "\ncame back to life, the newest of each rule\n%s\n", strings.Join(lines, "\n"))
	}
}
