package main

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/result"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

func holdsCommand(o *app.Options) *cobra.Command {
	f := &listFlags{}
	c := &cobra.Command{
		Use:   "holds",
		Short: "List what keeps repairs from being made, how many it holds, and how it is released",
		Long: `Holds lists the holds and pauses of operators, and whatever else holds a finding that is due: a rule's
mode, a source that is not trusted, a budget, a breaker, an incident. Each has the number of
findings that it holds now, and the command that releases it, where there is one.`,
		Example: "  sandkeeper holds\n  sandkeeper holds --held-by hold -o json",
		Args:    verb.Needs(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return list(cmd.Context(), o, f, listHolds) },
	}
	f.add(c)
	f.addRule(c)
	f.addProvider(c)
	f.addHeldBy(c)
	f.addText(c, "only with this part of what holds, of its reason or of who asked for it")
	return c
}

// A holdReport is one thing that holds. Its JSON is a public contract.
type holdReport struct {
	reconcile.Held
	Findings int      `json:"findings"` // that are due, and that it holds
	Rules    []string `json:"rules,omitempty"`
	Release  string   `json:"release,omitempty"` // the command that lets them go
}

func listHolds(ctx context.Context, a *app.App, f *listFlags) (*listing, error) {
	now, controls, err := controlsNow(ctx, a)
	if err != nil {
		return nil, err
	}
	c, every := f.chosen(), &listFlags{}
	c.State, c.Text = reconcile.ChosenHeld, ""
	due, _, err := chosenParts(every, c, func(*reconcile.FindingSeen) bool { return true },
		func(c reconcile.Chosen) ([]reconcile.FindingSeen, reconcile.Cursor, error) {
			return a.Ledger.Findings(ctx, c)
		})
	if err != nil {
		return nil, err
	}
	all := slices.DeleteFunc(holdsOf(due, &controls), func(h holdReport) bool { return !f.choosesHold(&h) })
	l := &listing{name: "holds", narrow: 6, none: "nothing is held",
		head: []string{"kind", "what", "findings", "since", "until", "release", "by", "reason", "rules"}}
	all, l.more = cutList(f, all)
	l.items = all
	for i := range all {
		h := &all[i]
		l.rows = append(l.rows, []string{string(h.Kind), h.What, strconv.Itoa(h.Findings), sinceText(now, h.Since),
			untilText(h.Until), h.Release, h.By, h.Reason, strings.Join(h.Rules, ", ")})
	}
	return l, nil
}

// holdsOf are the things that hold, those of operators also where they hold nothing now; the most holding first.
func holdsOf(due []reconcile.FindingSeen, c *reconcile.Controls) []holdReport {
	at, all := map[string]int{}, []holdReport{}
	of := func(h reconcile.Held) *holdReport {
		said := h.String()
		i, known := at[said]
		if !known {
			i, at[said] = len(all), len(all)
			all = append(all, holdReport{Held: h})
		}
		return &all[i]
	}
	for _, p := range c.Pauses {
		of(p.Held())
	}
	for _, h := range c.Holds {
		of(h.Held())
	}
	for i := range due {
		for _, h := range due[i].HeldBy {
			r := of(h)
			r.Findings++
			r.Rules = reconcile.AppendNew(r.Rules, due[i].Rule)
		}
	}
	for i := range all {
		one := reconcile.HeldBy{all[i].Held}
		result.Date(one, c)
		all[i].Held, all[i].Release = one[0], releaseOf(&all[i])
		slices.Sort(all[i].Rules)
	}
	slices.SortStableFunc(all, func(a, b holdReport) int {
		return cmp.Or(cmp.Compare(b.Findings, a.Findings), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.What, b.What))
	})
	return all
}

func (f *listFlags) choosesHold(h *holdReport) bool {
	of := (f.rule == "" || slices.Contains(h.Rules, f.rule)) && (f.provider == "" || h.Findings > 0)
	said := strings.Join([]string{h.What, h.Reason, h.By}, "\n")
	return of && (f.heldBy == "" || h.Held.Meant(f.heldBy)) && strings.Contains(said, f.text)
}

// releaseOf is the command that lets go what it holds; "" where that goes by itself, or is a matter of the config.
func releaseOf(h *holdReport) string {
	switch {
	case h.Kind == reconcile.HeldHold:
		return "sandkeeper unhold " + shellWord(h.What)
	case h.Kind == reconcile.HeldPause:
		return "sandkeeper resume " + shellWord(h.What)
	case h.Kind == reconcile.HeldIncident:
		return "sandkeeper release " + shellWord(reconcile.SubjectOf(reconcile.SubjectIncident, h.What))
	case h.Kind == reconcile.HeldBreaker && len(h.Rules) == 1:
		return "sandkeeper release " + h.Rules[0]
	case h.Kind == reconcile.HeldFreeze && h.What != "":
		return "sandkeeper release " + shellWord(h.What)
	}
	return ""
}

// shellWord is a word as a shell takes it.
func shellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@%+,", r)
	}
	if word = text.Line(word); word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
