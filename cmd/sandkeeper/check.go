package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/store"
	"github.com/sandkeeper/sandkeeper/store/queue"
	"github.com/sandkeeper/sandkeeper/store/tasks"
)

func checkCommand(o *app.Options) *cobra.Command {
	timeout := time.Minute
	var watch time.Duration
	c := &cobra.Command{
		Use:   "check",
		Short: "Test the config against the world: one line each, with the fix",
		Long: `Check reads the config, connects to the databases, compares every mapped column with the
catalog, looks at the clocks, the grants, the ledger, each provider's credential,
capabilities and templates. Rules that act are held against the platform's history, as backtest does,
for 15 seconds at most. It changes nothing. Exit code 1 if any line fails.`,
		Example: `  sandkeeper check --config sandkeeper.yaml
  sandkeeper check --watch 2m    see how the workers' clocks move, and how far apart heartbeats come`,
		Args: needs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeoutCause(
				cmd.Context(),
				timeout+watch,
				fmt.Errorf("not finished within --timeout %s", timeout),
			)
			defer cancel()
			return runCheck(ctx, o, watch)
		},
	}
	spanFlag(c, &timeout, "timeout", timeout, "give up after this time, besides that of --watch")
	spanFlag(c, &watch, "watch", 0, "look at the live rows again and again for this long")
	return c
}

// A section is one group of lines of check.
type section struct {
	name  string
	lines []reconcile.CheckResult
}

func runCheck(ctx context.Context, o *app.Options, watch time.Duration) error {
	c, err := config.Load(o.ConfigFile, o.Lookup)
	if err != nil {
		p := console.NewPaint(o.Out)
		fmt.Fprintln(o.Out, checkLine(p, "config", reconcile.CheckResult{What: "loads", Said: err.Error()}))
		for _, line := range statusesToMap(ctx, o, err) {
			fmt.Fprintln(o.Out, checkLine(p, "tasks", line))
		}
		return &exitError{code: 1}
	}
	a := o.With(c)
	defer a.Close()
	sections := []section{{"config", checkConfig(a)}, {"files", checkFiles(c)}, {"web", checkWeb(ctx, a)},
		{"ledger", checkLedger(ctx, a)}}
	if !c.Tasks.None {
		sections = append(sections, section{"tasks", checkTasks(ctx, a, watch)})
	}
	for _, e := range c.Entries() {
		sections = append(sections, section{"provider " + e.Name, checkProvider(ctx, a, e)})
	}
	return showChecks(o, sections)
}

func showChecks(o *app.Options, sections []section) error {
	var b bytes.Buffer
	p := console.NewPaint(o.Out)
	failed := 0
	for _, s := range sections {
		for _, line := range s.lines {
			if !line.OK {
				failed++
			}
			fmt.Fprintln(&b, checkLine(p, s.name, line))
		}
	}
	if err := console.Print(o.Out, &b); err != nil {
		return err
	}
	if failed > 0 {
		return &exitError{code: 1, err: fmt.Errorf("check: %s failed", console.Plural(failed, "line"))}
	}
	return nil
}

// checkLine is one result in one line: what, what was seen, and the fix.
func checkLine(p console.Paint, section string, r reconcile.CheckResult) string {
	mark := p.Green("ok  ")
	switch {
	case !r.OK:
		mark = p.Red("FAIL")
	case r.Fix != "":
		mark = p.Yellow("warn")
	}
	line := mark + "  " + console.Lines(fmt.Sprintf("%s: %s: %s", section, r.What, r.Said))
	if r.Fix != "" {
		line += "; fix: " + console.Lines(r.Fix)
	}
	return line
}

func checkConfig(a *app.App) []reconcile.CheckResult {
	out := []reconcile.CheckResult{{What: "loads", OK: true, Said: "installation " + a.Config.Installation}}
	for _, warning := range a.Config.Warnings {
		out = append(
			out,
			reconcile.CheckResult{
				What: warning.Key,
				OK:   true,
				Said: warning.Problem,
				Fix:  firstText(warning.Fix, "see the documentation"),
			},
		)
	}
	return append(out, checkOperatorKey(a.Config))
}

// checkOperatorKey says who can ask for something in the name of an operator.
func checkOperatorKey(c *config.Config) reconcile.CheckResult {
	n := len(c.OperatorKeys())
	if n == 0 {
		return reconcile.CheckResult{What: "operator_key_file", OK: true,
			Said: "not given: who can write to the ledger can ask for terminations in any operator's name",
			Fix:  config.OperatorKeyFix}
	}
	return reconcile.CheckResult{What: "operator_key_file", OK: true,
		Said: console.Plural(n, "key") + "; what operators ask for is signed, and nothing else is done for them"}
}

// fails is a line for something that could not be tested at all.
func fails(what string, err error) []reconcile.CheckResult {
	return []reconcile.CheckResult{{What: what, Said: err.Error()}}
}

func checkLedger(ctx context.Context, a *app.App) []reconcile.CheckResult {
	if err := a.OpenLedger(ctx); err != nil {
		return fails("connects", err)
	}
	out := []reconcile.CheckResult{{What: "connects", OK: true, Said: "yes"}}
	have, need, err := a.Ledger.SchemaVersion(ctx)
	switch {
	case err != nil:
		return append(out, fails("schema", err)...)
	case have < need:
		out = append(out, reconcile.CheckResult{What: "schema", Said: fmt.Sprintf("version %d of %d", have, need),
			Fix: "sandkeeper migrate"})
		return append(out, newlyDone(a.Config.Policy(), have)...)
	case have > need:
		return append(
			out,
			reconcile.CheckResult{What: "schema", Said: fmt.Sprintf("version %d, this program knows %d", have, need),
				Fix: "use the newer program; a ledger is never taken back"},
		)
	}
	out = append(out, reconcile.CheckResult{What: "schema", OK: true, Said: fmt.Sprintf("version %d", have)})
	out = append(append(out, a.Ledger.Check(ctx)...), checkConnection(a.Pool, "database")...)
	return append(append(out, checkQueue(ctx, a)...), checkPractice(ctx, a)...)
}

// statusesToMap shows the statuses of the table where the config maps none of them: it cannot be read without, and
// nobody knows them better than the table.
func statusesToMap(ctx context.Context, o *app.Options, err error) []reconcile.CheckResult {
	var mistakes config.Errors
	if !errors.As(err, &mistakes) || !slices.ContainsFunc(mistakes,
		func(e config.Error) bool { return e.Key == "tasks.statuses" }) {
		return nil
	}
	draft, err := config.Draft(o.ConfigFile, o.Lookup)
	if err != nil || draft.Tasks.Database.Empty() {
		return nil
	}
	pool, err := store.Open(ctx, draft.Tasks.Database.Reveal(), store.OpenOptions{Name: "tasks"})
	if err != nil {
		return fails("connects", err)
	}
	defer pool.Close()
	found, err := tasks.StatusesOf(ctx, pool, draft.Tasks.Table, draft.Tasks.Columns["status"])
	if err != nil {
		return fails("statuses", err)
	}
	return []reconcile.CheckResult{{What: "statuses", Said: fmt.Sprintf("the table has %q, and none is mapped", found),
		Fix: "name each under the state that it means, like statuses: {pending: [queued], running: [running], " +
			"completed: [done]}"}}
}

// checkQueue looks at the tables that only run needs.
func checkQueue(ctx context.Context, a *app.App) []reconcile.CheckResult {
	current, err := queue.Current(ctx, a.Pool)
	switch {
	case err != nil:
		return fails("job queue", err)
	case !current:
		return []reconcile.CheckResult{{What: "job queue", Said: "its tables are not this program's",
			Fix: "sandkeeper migrate"}}
	}
	return []reconcile.CheckResult{{What: "job queue", OK: true, Said: "its tables are current"}}
}

// checkPractice compares the schedule with the passes that were really made, and stamps.
func checkPractice(ctx context.Context, a *app.App) []reconcile.CheckResult {
	m, err := a.Ledger.Recall(ctx)
	if err != nil {
		return fails("reads", err)
	}
	if m.Fresh {
		return []reconcile.CheckResult{{What: "passes", OK: true, Said: "none yet"}}
	}
	out := reconcile.CheckResult{What: "passes", OK: true,
		Said: "last complete pass " + text.Duration(m.Now.Sub(m.LastPass)) + " ago"}
	full := a.Config.Policy().Full
	if gap := reconcile.UsualGap(&m); gap > 2*full {
		out.Said += fmt.Sprintf("; passes come every %s, schedule.full says %s", text.Duration(gap), text.Duration(full))
		out.Fix = "set schedule.full to what runs in practice, for example the CronJob's schedule"
	}
	return []reconcile.CheckResult{out}
}

func checkTasks(ctx context.Context, a *app.App, watch time.Duration) []reconcile.CheckResult {
	if err := a.OpenTasks(ctx); err != nil {
		return fails("connects", err)
	}
	out := append(a.Tasks.Check(ctx), checkConnection(a.TasksPool, "tasks.database")...)
	if watch > 0 {
		out = append(out, a.Tasks.Watch(ctx, watch)...)
	}
	out = append(out, checkRepairs(a.Config)...)
	return append(out, checkProofs(ctx, a)...)
}

// checkRepairs says which rules only report because rows, or the sandboxes that they explain, are left as they are.
func checkRepairs(c *config.Config) (out []reconcile.CheckResult) {
	policy := c.Policy()
	onRows := strings.Join(reconcile.NonEmpty(enforced(policy, reconcile.Fail), enforced(policy, reconcile.Requeue)), ", ")
	switch {
	case c.Tasks.Fail.None && policy.Tasks.Requeues:
		out = append(out, reconcile.CheckResult{What: "fail", OK: true,
			Said: "none: rows are only handed out again, by requeue; rules that would fail a task report"})
	case c.Tasks.Fail.None:
		out = append(out, reconcile.CheckResult{What: "fail", OK: true,
			Said: "none: rows are only read, and rules that would fail a task report"})
	case !policy.Tasks.FailsRows && onRows != "":
		out = append(out, reconcile.CheckResult{What: "fail", OK: true,
			Said: "not given, so these rules only report: " + onRows,
			Fix:  "say what a failed row looks like in tasks.fail, or write `fail: none`"})
	}
	if policy.Tasks.KeepSandboxes {
		out = append(out, reconcile.CheckResult{What: "sandboxes", OK: true,
			Said: "keep: what a task explains is only told, never ended"})
	}
	return out
}
