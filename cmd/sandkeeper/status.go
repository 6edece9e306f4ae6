package main

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/result"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web"
)

// mostRead is how much of each list is read for the verdict: as much as for the page.
const mostRead = 300

func statusCommand(o *app.Options) *cobra.Command {
	f := &listFlags{}
	c := &cobra.Command{
		Use:   "status",
		Short: "Say whether tasks and sandboxes are in agreement, and what is wrong first",
		Long: `Status says in one sentence what the status page says first: are tasks and sandboxes in agreement,
can that be trusted, and what is to be done. It reads the ledger and asks nobody else.

Exit code 0: in agreement.
Exit code 3: not in agreement, or not known because no pass came.
Exit code 1: the ledger cannot be read.`,
		Example: "  sandkeeper status || sandkeeper findings\n  sandkeeper status -o json",
		Args:    verb.Needs(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runStatus(cmd.Context(), o, f.output) },
	}
	verb.Form(c, &f.output, "table", "form of the result: table, wide, json or yaml", listForms...)
	return c
}

// A statusReport is the verdict of the page. Its JSON is a public contract.
type statusReport struct {
	Installation string          `json:"installation,omitempty"`
	At           time.Time       `json:"at"`
	Agreement    bool            `json:"agreement"`
	Level        string          `json:"level"` // bad, warn, set, busy or well
	Word         string          `json:"word"`
	Sentence     string          `json:"sentence"`
	Next         string          `json:"next,omitempty"`
	Command      string          `json:"command,omitempty"`
	Notes        []string        `json:"notes,omitempty"`
	LastPass     *time.Time      `json:"last_pass,omitempty"`
	LastFullPass *time.Time      `json:"last_full_pass,omitempty"`
	Findings     int             `json:"findings"`
	Actions      int             `json:"open_actions"`
	Incidents    int             `json:"open_incidents"`
	Sources      []result.Source `json:"sources"`
	Counts       map[string]int  `json:"counts,omitempty"`
}

func runStatus(ctx context.Context, o *app.Options, output string) error {
	return onLedger(ctx, o, func(a *app.App) error {
		r := web.Reading{Unready: a.CheckSchema(ctx)}
		var err error
		if r.Overview, err = a.Ledger.Overview(ctx, mostRead); err != nil {
			return err
		}
		s := statusOf(&r, a.Config.Policy())
		if err := s.print(o, output); err != nil {
			return err
		}
		if !s.Agreement {
			return &verb.ExitError{Code: verb.NotTrusted}
		}
		return nil
	})
}

func statusOf(r *web.Reading, p reconcile.Policy) *statusReport {
	v, o := web.StatusOf(r, p), &r.Overview
	s := &statusReport{Installation: o.Installation, At: o.Now.UTC(), Agreement: v.Agrees, Level: v.Level, Word: v.Word,
		Sentence: v.Sentence, Next: v.Next, Command: v.Command, Notes: v.Notes, LastPass: console.When(o.LastPass),
		LastFullPass: console.When(o.LastFull), Actions: o.OpenTotal, Sources: result.SourcesOf(o.Sources),
		Counts: reconcile.WithoutMeasures(o.Counts)}
	for _, n := range o.FindingsOpen {
		s.Findings += n
	}
	for i := range o.Incidents {
		if o.Incidents[i].ClosedAt.IsZero() {
			s.Incidents++
		}
	}
	return s
}

func (s *statusReport) print(o *app.Options, output string) error {
	switch output {
	case "json":
		return console.PrintJSON(o.Out, s)
	case "yaml":
		return console.PrintYAML(o.Out, s)
	}
	var b bytes.Buffer
	s.text(&b, console.NewPaint(o.Out), output == "wide")
	return console.Print(o.Out, &b)
}

func (s *statusReport) text(b *bytes.Buffer, p console.Paint, wide bool) {
	fmt.Fprintf(b, "%s: %s\n", s.painted(p), text.Line(s.Sentence))
	for _, n := range s.Notes {
		fmt.Fprintf(b, "note: %s\n", text.Line(n))
	}
	if s.Next != "" {
		fmt.Fprintf(b, "next: %s\n", text.Line(s.Next))
	}
	if s.Command != "" {
		fmt.Fprintf(b, "  %s\n", text.Line(s.Command))
	}
	fmt.Fprintf(b, "%s, %s, %s; last pass %s, last full pass %s\n", console.Plural(s.Findings, "finding"),
		console.Plural(s.Actions, "open action"), console.Plural(s.Incidents, "open incident"), console.Stamp(s.LastPass),
		console.Stamp(s.LastFullPass))
	for _, source := range s.Sources {
		if !source.Trusted {
			fmt.Fprintf(b, "%s %s: %s\n", p.Red("NOT TRUSTED"), text.Line(source.Name), text.Line(source.Reason))
		}
	}
	if wide {
		for _, key := range reconcile.SortedKeys(s.Counts) {
			fmt.Fprintf(b, "%s %d\n", text.Line(key), s.Counts[key])
		}
	}
}

// painted is the word in the colour of its level.
func (s *statusReport) painted(p console.Paint) string {
	switch s.Level {
	case "well":
		return p.Green(s.Word)
	case "bad":
		return p.Red(s.Word)
	}
	return p.Yellow(s.Word)
}
