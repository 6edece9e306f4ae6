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

// runFlags are the flags of the verbs that make a pass.
type runFlags struct {
	quick   bool
	output  string
	timeout time.Duration
	wait    time.Duration
	migrate bool
	metrics string // file that the metrics are written to; "": none
	outages bool   // a pass in a provider's outage is as good as another
}

func (f *runFlags) kind() reconcile.PassKind {
	if f.quick {
		return reconcile.Quick
	}
	return reconcile.Full
}

func (f *runFlags) add(c *cobra.Command) {
	c.Flags().
		BoolVar(&f.quick, "quick", false, "read live tasks and look up suspects only, without listing the providers")
	verb.Form(c, &f.output, "text", "form of the result: text or json", "text", "json")
	verb.Span(c, &f.timeout, "timeout", 5*time.Minute, "give up after this time in all")
}

func onceCommand(o *app.Options) *cobra.Command {
	f := &runFlags{}
	c := &cobra.Command{
		Use:   "once",
		Short: "Run one pass with its actions, probes and confirmations, then exit",
		Long: `Once runs one full pass, as a CronJob does: it lists every provider, reads the live
tasks, judges, records what it will do, looks again at each thing, acts within the
budgets, probes, and confirms. What it cannot finish within --wait goes on in the next run.

Exit code 0: the pass is complete, also with open confirmations and held steps.
Exit code 1: not complete, as where a listing failed, or another pass holds the lease.
Exit code 2: wrong usage; nothing was done.
Exit code 3: complete, but a source is not trusted; what rests on it is held.

With --tolerate-outage it is 0 where the pass was made and only a provider or a source failed it: a
Job does not fail for somebody else's outage, which page, metrics and alerts tell.`,
		Example: `  sandkeeper once
  sandkeeper once -o json | jq '.steps[] | select(.verdict == "held")'
  sandkeeper once --quick --wait 5s`,
		Args: verb.Needs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return runOnce(cmd.Context(), o, f) },
	}
	f.add(c)
	verb.SpanOrNone(c, &f.wait, "wait", 10*time.Second,
		"longest wait for another pass, and for probes and confirmations; 0: none")
	c.Flags().BoolVar(&f.migrate, "migrate", false, "bring the ledger's schema up to date first")
	c.Flags().BoolVar(&f.outages, "tolerate-outage", false,
		"exit with 0 where the pass was made, but a provider could not be listed or a source is not trusted")
	c.Flags().StringVar(&f.metrics, "metrics-file", "",
		"write the metrics there afterwards, for the textfile collector of the node exporter: …/sandkeeper.prom")
	return c
}

func runOnce(ctx context.Context, o *app.Options, f *runFlags) error {
	ctx, cancel := context.WithTimeoutCause(ctx, f.timeout, fmt.Errorf("not finished within --timeout %s", f.timeout))
	defer cancel()
	a, err := o.OpenToAct(ctx, f.migrate)
	if err != nil {
		return err
	}
	defer a.Close()
	defer a.Telemetry.Close()
	show := console.NewProgress(o.Err)
	if !a.Config.Proof.Off || a.Config.Learns() {
		show.Stage("holding the rules against the history")
		a.Prove(ctx, min(app.ProveOnce, f.timeout/4))
	}
	subjects := 0 // a quick pass holds less
	if f.kind() == reconcile.Full {
		subjects = a.LastSubjects(ctx)
	}
	endWith(subjects)
	r, err := a.Keeper(show.Stage).Once(ctx, f.kind(), f.wait)
	show.End()
	if failed := a.Announce(ctx); failed != nil {
		a.Log.WarnContext(ctx, "not all are notified, the next run goes on", "err", failed)
	}
	if f.metrics != "" { // also of a run that failed: then they say so
		err = errors.Join(err, a.WriteMetrics(f.metrics))
	}
	if r == nil {
		return explainHeld(err)
	}
	if err == nil && ctx.Err() != nil {
		err = fmt.Errorf("stopped before the end: %w", context.Cause(ctx))
	}
	if err == nil && a.Config.Retention > 0 {
		a.Purge(ctx, r.At)
	}
	if err == nil && f.kind() == reconcile.Full {
		a.Plant(ctx) // the next runs must find it
	}
	verdict := verdictOf(r, err)
	if f.outages && err == nil && verdict != nil { // a pass that was made, and what it lacks
		complain(o.Err, verdict)
		verdict = nil
	}
	return errors.Join(result.PrintPass(o.Out, f.output, result.PassOf(r, true)), verdict)
}

// explainHeld says who has the lease, in words for the operator.
func explainHeld(err error) error {
	var held *reconcile.HeldError
	if errors.As(err, &held) {
		return fmt.Errorf("another pass is under way: %w; wait for it, or raise --wait", err)
	}
	return err
}

// verdictOf is the exit code of a pass.
func verdictOf(r *run.Result, err error) error {
	if err != nil {
		return &verb.ExitError{Code: 1, Err: err}
	}
	if !r.Complete {
		return &verb.ExitError{Code: 1, Err: fmt.Errorf("the pass is not complete: %s", r.Error)}
	}
	if frozen := r.Frozen(); len(frozen) > 0 {
		return &verb.ExitError{Code: verb.NotTrusted,
			Err: fmt.Errorf("not trusted: %s: %s", frozen[0].Name, frozen[0].Reason)}
	}
	return nil
}
