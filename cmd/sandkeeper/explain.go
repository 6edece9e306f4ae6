package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/result"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
)

func explainCommand(o *app.Options) *cobra.Command {
	output, timeout := "text", 2*time.Minute
	c := &cobra.Command{
		Use:   "explain ID",
		Short: "Show everything known of a task or sandbox, and why it was acted on or not",
		Long: `Explain looks at one task or sandbox now, without changing anything, and shows its row, its
sandboxes as the provider and as the ledger have them, the verdict with its evidence or why
it was judged healthy, what holds it, what each rule says of it with the numbers that decided,
what the last pass came to, and everything that happened to it in the order of time.

It reads the row and the sandboxes of this one subject; the ledger's picture stands for the
rest of the fleet while it is fresh, else every provider is listed, as plan does.

ID is a task's id, a sandbox's id or name, or provider/id. Exit code 1 when it is unknown.`,
		Example: `  sandkeeper explain 8c02ffe6-26b9-4b1c-9d6e-0d2f9d6a1c11
  sandkeeper explain daytona/7d3a… -o json`,
		Args: verb.Needs("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f := &runFlags{output: output, timeout: timeout}
			return runExplain(cmd.Context(), o, f, args[0])
		},
	}
	verb.Form(c, &output, output, "form of the result: text or json", "text", "json")
	verb.Span(c, &timeout, "timeout", timeout, "give up after this time")
	return c
}

func runExplain(ctx context.Context, o *app.Options, f *runFlags, id string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, f.timeout, fmt.Errorf("not finished within --timeout %s", f.timeout))
	defer cancel()
	a, err := o.Open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	show := console.NewProgress(o.Err)
	e, err := explain(ctx, a, show.Stage, id)
	show.End()
	if err != nil {
		return err
	}
	if f.output == "json" {
		return console.PrintJSON(o.Out, e)
	}
	return e.Print(o.Out)
}

// explain puts together what the two worlds and the ledger say of one thing.
func explain(ctx context.Context, a *app.App, stage func(string), id string) (*result.Explanation, error) {
	history, err := readHistory(ctx, a, id)
	if err != nil {
		return nil, err
	}
	x, err := a.Keeper(stage).Explain(ctx, id, history)
	if err != nil {
		return nil, err
	}
	e := result.ExplanationOf(id, x, history)
	if e.Subject == "" && history.Empty() {
		return nil, unknown(id, x)
	}
	if e.LastPass, err = findLastPass(ctx, a, history); err != nil {
		return nil, err
	}
	return e, nil
}

// unknown says that nobody here knows the id, or that it is somebody else's.
func unknown(id string, x *run.Explained) error {
	if len(x.Foreign) > 0 {
		return fmt.Errorf("explain %s: sandbox %s exists and is not ours (its provider entry says what is, under owns): "+
			"sandkeeper never touches it", id, x.Foreign[0])
	}
	return fmt.Errorf("explain %s: no task, no sandbox of ours and no history has this id", id)
}

// readHistory reads the ledger; one that knows nothing, or was never migrated, has none.
func readHistory(ctx context.Context, a *app.App, id string) (reconcile.History, error) {
	if have, _, err := a.Ledger.SchemaVersion(ctx); err != nil || have == 0 {
		return reconcile.History{}, err
	}
	h, err := a.Ledger.Subject(ctx, id)
	if errors.Is(err, reconcile.ErrNotFound) {
		return reconcile.History{}, nil
	}
	return h, err
}

// findLastPass is what the newest pass that ended came to for this one, nil when none has.
func findLastPass(ctx context.Context, a *app.App, h reconcile.History) (*result.LastPass, error) {
	if have, _, err := a.Ledger.SchemaVersion(ctx); err != nil || have == 0 {
		return nil, err
	}
	passes, err := a.Ledger.LastPasses(ctx, 10)
	if err != nil {
		return nil, err
	}
	for _, p := range passes {
		if !p.EndedAt.IsZero() {
			return result.LastPassOf(p, h), nil
		}
	}
	return nil, nil
}
