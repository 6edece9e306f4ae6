package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

func explainCommand(o *options) *cobra.Command {
	output, timeout := "text", 2*time.Minute
	c := &cobra.Command{
		Use:   "explain ID",
		Short: "Show everything known of a task or sandbox, and why it was kept or not",
		Long: `Explain looks at both worlds now, without changing anything, and shows the task's row,
its sandboxes as the provider and as the ledger have them, the verdict with its evidence
or why it was judged healthy, what holds it, and its timeline.

ID is a task's id, a sandbox's id or name, or provider/id. Exit code 1 when nobody knows it.`,
		Example: `  sandkeeper explain 8c02ffe6-26b9-4b1c-9d6e-0d2f9d6a1c11
  sandkeeper explain daytona/7d3a… -o json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f := &runFlags{output: output, timeout: timeout}
			return runExplain(cmd.Context(), o, f, args[0])
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "text", "form of the result: text or json")
	c.Flags().DurationVar(&timeout, "timeout", timeout, "give up after this time")
	return c
}

func runExplain(ctx context.Context, o *options, f *runFlags, id string) error {
	if err := f.check(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, f.timeout, fmt.Errorf("not finished within --timeout %s", f.timeout))
	defer cancel()
	w, err := o.open(ctx)
	if err != nil {
		return err
	}
	defer w.close()
	show := newProgress(o.err)
	e, err := w.explain(ctx, show.stage, id)
	show.end()
	if err != nil {
		return err
	}
	if f.output == "json" {
		return printJSON(o.out, e)
	}
	return e.text(o.out)
}

// explain puts together what the two worlds and the ledger say of one thing.
func (w *world) explain(ctx context.Context, stage func(string), id string) (*explanation, error) {
	history, err := w.history(ctx, id)
	if err != nil {
		return nil, err
	}
	r, err := w.keeper(stage).Look(ctx, reconcile.Full)
	if err != nil {
		return nil, err
	}
	e := &explanation{ID: id, At: r.At, Sources: reportOf(r, false).Sources, History: historyOf(history)}
	if d := r.Decision(id, history); d != nil {
		e.fill(r, d)
	} else if err := w.past(ctx, e, history); err != nil {
		return nil, err
	}
	if e.Subject == "" && history.Empty() {
		return nil, fmt.Errorf("explain %s: no task, no sandbox of ours and no history has this id", id)
	}
	return e, nil
}

// past is for what no pass judges any more: the row as it is, and the sandboxes as the
// ledger last saw them.
func (w *world) past(ctx context.Context, e *explanation, h reconcile.History) error {
	for _, b := range h.Sandboxes {
		e.Subject = "sandbox:" + b.Ref.String()
		e.Sandboxes = append(e.Sandboxes, sandboxOf(reconcile.Box{
			Sandbox: reconcile.Sandbox{
				Ref:       b.Ref,
				Name:      b.Name,
				State:     b.State,
				Raw:       b.Raw,
				Template:  b.Template,
				CreatedAt: b.CreatedAt,
			},
			Seen: b, Known: true, Gone: !b.GoneAt.IsZero()}))
		e.Kept = "the sandbox is gone since " + stampText(&b.GoneAt)
	}
	id := e.ID
	for _, t := range h.Tasks {
		id = t.ID
	}
	return w.rowOf(ctx, e, id)
}

// history reads the ledger; one that knows nothing, or was never migrated, has none.
func (w *world) history(ctx context.Context, id string) (reconcile.History, error) {
	if have, _, err := w.ledger.SchemaVersion(ctx); err != nil || have == 0 {
		return reconcile.History{}, err
	}
	h, err := w.ledger.Subject(ctx, id)
	if errors.Is(err, reconcile.ErrNotFound) {
		return reconcile.History{}, nil
	}
	return h, err
}

// rowOf is for a task that no pass judges: it is over and its sandboxes are gone, or it
// stands outside `where`.
func (w *world) rowOf(ctx context.Context, e *explanation, id string) error {
	if w.tasks == nil {
		return nil
	}
	rows, err := w.tasks.ByID(ctx, []string{id})
	if err != nil || len(rows.Tasks) == 0 {
		return err
	}
	t := rows.Tasks[0]
	e.Subject, e.Task = firstText(e.Subject, "task:"+t.ID), taskOf(&t, reconcile.TaskSeen{})
	if e.Kept != "" {
		return nil
	}
	e.Kept = "not judged: the row is outside `where`, or has a status that the config does not map"
	if t.State.Terminal() {
		e.Kept = "the task is over and no sandbox of it is left"
	}
	return nil
}
