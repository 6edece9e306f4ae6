package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store"
	"github.com/sandkeeper/sandkeeper/store/tasks"
)

// Statuses shows the statuses of the table where the config maps none of them: it cannot be read without, and
// nobody knows them better than the table.
func Statuses(ctx context.Context, o *app.Options, err error) []reconcile.CheckResult {
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
	policy, none := c.Policy(), c.Mapping().WithPreset().Fail.None
	onRows := strings.Join(reconcile.NonEmpty(enforced(policy, reconcile.Fail), enforced(policy, reconcile.Requeue)), ", ")
	switch {
	case none && policy.Tasks.Requeues:
		out = append(out, reconcile.CheckResult{What: "fail", OK: true,
			Said: "none: rows are only handed out again, by requeue; rules that would fail a task report"})
	case none:
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
