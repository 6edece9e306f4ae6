package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/store"
	"github.com/sandkeeper/sandkeeper/store/ledger"
	"github.com/sandkeeper/sandkeeper/store/queue"
	"github.com/sandkeeper/sandkeeper/web"
)

func checkCommand(o *options) *cobra.Command {
	timeout := time.Minute
	c := &cobra.Command{
		Use:   "check",
		Short: "Test the config against the world: one line each, with the fix",
		Long: `Check reads the config, connects to the databases, compares every mapped column with the
catalog, looks at the clocks, the grants, the ledger, each provider's credential,
capabilities and templates. It changes nothing. Exit code 1 if any line fails.`,
		Example: "  sandkeeper check --config sandkeeper.yaml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeoutCause(
				cmd.Context(),
				timeout,
				fmt.Errorf("not finished within --timeout %s", timeout),
			)
			defer cancel()
			return runCheck(ctx, o)
		},
	}
	spanFlag(c, &timeout, "timeout", timeout, "give up after this time")
	return c
}

// A section is one group of lines of check.
type section struct {
	name  string
	lines []reconcile.CheckResult
}

func runCheck(ctx context.Context, o *options) error {
	c, err := config.Load(o.config, os.LookupEnv)
	if err != nil {
		fmt.Fprintln(
			o.out,
			checkLine(newPaint(o.out), "config", reconcile.CheckResult{What: "loads", Said: err.Error()}),
		)
		return &exitError{code: 1}
	}
	w := &world{config: c, log: newLog(o.err, c.Log.Format, c.Log.Level)}
	defer w.close()
	sections := []section{{"config", w.checkConfig()}, {"web", w.checkWeb()}, {"ledger", w.checkLedger(ctx)}}
	if !c.Tasks.None {
		sections = append(sections, section{"tasks", w.checkTasks(ctx)})
	}
	for _, e := range c.Entries() {
		sections = append(sections, section{"provider " + e.Name, w.checkProvider(ctx, e)})
	}
	return showChecks(o, sections)
}

func showChecks(o *options, sections []section) error {
	var b bytes.Buffer
	p := newPaint(o.out)
	failed := 0
	for _, s := range sections {
		for _, line := range s.lines {
			if !line.OK {
				failed++
			}
			fmt.Fprintln(&b, checkLine(p, s.name, line))
		}
	}
	if _, err := o.out.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	if failed > 0 {
		return &exitError{code: 1, err: fmt.Errorf("check: %s failed", plural(failed, "line"))}
	}
	return nil
}

// checkLine is one result in one line: what, what was seen, and the fix.
func checkLine(p paint, section string, r reconcile.CheckResult) string {
	mark := p.green("ok  ")
	switch {
	case !r.OK:
		mark = p.red("FAIL")
	case r.Fix != "":
		mark = p.yellow("warn")
	}
	line := mark + "  " + shownLines(fmt.Sprintf("%s: %s: %s", section, r.What, r.Said))
	if r.Fix != "" {
		line += "; fix: " + shownLines(r.Fix)
	}
	return line
}

func (w *world) checkConfig() []reconcile.CheckResult {
	out := []reconcile.CheckResult{{What: "loads", OK: true, Said: "installation " + w.config.Installation}}
	for _, warning := range w.config.Warnings {
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
	return out
}

// fails is a line for something that could not be tested at all.
func fails(what string, err error) []reconcile.CheckResult {
	return []reconcile.CheckResult{{What: what, Said: err.Error()}}
}

func (w *world) checkLedger(ctx context.Context) []reconcile.CheckResult {
	pool, err := store.Open(ctx, w.config.Database.Reveal(), store.OpenOptions{Name: "ledger"})
	if err != nil {
		return fails("connects", err)
	}
	w.pool, w.pools = pool, append(w.pools, pool)
	w.ledger = ledger.NewLedger(pool, ledger.Options{Installation: w.config.Installation})
	out := []reconcile.CheckResult{{What: "connects", OK: true, Said: "yes"}}
	have, need, err := w.ledger.SchemaVersion(ctx)
	switch {
	case err != nil:
		return append(out, fails("schema", err)...)
	case have < need:
		out = append(out, reconcile.CheckResult{What: "schema", Said: fmt.Sprintf("version %d of %d", have, need),
			Fix: "sandkeeper migrate"})
		return append(out, newlyDone(w.config.Policy(), have)...)
	case have > need:
		return append(
			out,
			reconcile.CheckResult{What: "schema", Said: fmt.Sprintf("version %d, this program knows %d", have, need),
				Fix: "use the newer program; a ledger is never taken back"},
		)
	}
	out = append(out, reconcile.CheckResult{What: "schema", OK: true, Said: fmt.Sprintf("version %d", have)})
	return append(append(out, w.checkQueue(ctx)...), w.checkPractice(ctx)...)
}

// checkWeb tells whether run and serve would serve the page there.
func (w *world) checkWeb() []reconcile.CheckResult {
	if err := web.CheckListen(w.config.Web.Listen, w.config.Web.ConfigFile); err != nil {
		return []reconcile.CheckResult{{What: "listen", Said: err.Error(), Fix: "see web.listen and web.config_file"}}
	}
	return []reconcile.CheckResult{{What: "listen", OK: true, Said: w.config.Web.Listen}}
}

// checkQueue looks at the tables that only run needs.
func (w *world) checkQueue(ctx context.Context) []reconcile.CheckResult {
	current, err := queue.Current(ctx, w.pool)
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
func (w *world) checkPractice(ctx context.Context) []reconcile.CheckResult {
	m, err := w.ledger.Recall(ctx)
	if err != nil {
		return fails("reads", err)
	}
	if m.Fresh {
		return []reconcile.CheckResult{{What: "passes", OK: true, Said: "none yet"}}
	}
	out := reconcile.CheckResult{What: "passes", OK: true,
		Said: "last complete pass " + text.Duration(m.Now.Sub(m.LastPass)) + " ago"}
	full := w.config.Policy().Full
	if gap := reconcile.UsualGap(&m); gap > 2*full {
		out.Said += fmt.Sprintf("; passes come every %s, schedule.full says %s", text.Duration(gap), text.Duration(full))
		out.Fix = "set schedule.full to what runs in practice, for example the CronJob's schedule"
	}
	return []reconcile.CheckResult{out}
}

func (w *world) checkTasks(ctx context.Context) []reconcile.CheckResult {
	if err := w.openTasks(ctx); err != nil {
		return fails("connects", err)
	}
	return w.tasks.Check(ctx)
}
