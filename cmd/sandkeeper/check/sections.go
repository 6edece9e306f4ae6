package check

import (
	"context"
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/store/queue"
)

// A Section is one group of lines of check.
type Section struct {
	Name  string
	Lines []reconcile.CheckResult
}

// Sections are the lines of all that a config names.
func Sections(ctx context.Context, a *app.App, watch time.Duration) []Section {
	c := a.Config
	out := []Section{{"config", checkConfig(a)}, {"files", checkFiles(c)}, {"web", checkWeb(ctx, a)},
		{"ledger", checkLedger(ctx, a)}}
	if len(c.Alerts.Notify) > 0 {
		out = append(out, Section{"notify", checkReceivers(a)})
	}
	if !c.Tasks.None {
		out = append(out, Section{"tasks", checkTasks(ctx, a, watch)})
	}
	for _, e := range c.Entries() {
		out = append(out, Section{"provider " + e.Name, checkProvider(ctx, a, e)})
	}
	return out
}

// checkReceivers tells whether each address of alerts.notify can be told. Nobody is told anything.
func checkReceivers(a *app.App) (out []reconcile.CheckResult) {
	for _, r := range a.Receivers() {
		if err := r.CheckAddress(); err != nil {
			out = append(out, reconcile.CheckResult{What: r.Called(), Said: err.Error(), Fix: "mend its url in alerts.notify"})
			continue
		}
		out = append(out, reconcile.CheckResult{What: r.Called(), OK: true,
			Said: "can be told; try it with sandkeeper notify test " + r.Called()})
	}
	return out
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
				Fix:  reconcile.FirstOf(warning.Fix, "see the documentation"),
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
