package result

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// TestMomentsOfThreeClocks: rows, providers and the ledger have clocks of their own, and what happened is told in the
// order in which it did, whatever they show.
func TestMomentsOfThreeClocks(t *testing.T) {
	now := time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)
	ref := reconcile.Ref{Provider: "yard", ID: "b1"}
	for name, c := range map[string]struct{ tasks, provider time.Duration }{
		"all the same":                          {0, 0},
		"each a little later, as they are read": {2 * time.Second, time.Second},
		"the database an hour ahead":            {time.Hour, 0},
		"the provider an hour behind":           {0, -time.Hour},
		"both off":                              {-3 * time.Hour, 2 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			inTasks, there := now.Add(c.tasks), now.Add(c.provider)
			row := &reconcile.Task{ID: "t1", AsOf: inTasks, CreatedAt: inTasks.Add(-10 * time.Minute),
				StartedAt: inTasks.Add(-6 * time.Minute), Events: reconcile.Events{Heartbeat: inTasks.Add(-2 * time.Minute)}}
			box := reconcile.Box(&reconcile.Sandbox{Ref: ref, AsOf: there,
				CreatedAt: there.Add(-8 * time.Minute), LastActivityAt: there.Add(-3 * time.Minute)})
			box.Here = true
			s := &reconcile.Snapshot{Kind: reconcile.Full, Lookups: map[reconcile.Ref]reconcile.Lookup{ref: {Gone: true,
				Death: &reconcile.Death{At: there.Add(-90 * time.Second), AsOf: there, Reason: "oom", Record: "audit log"}}}}
			x := &run.Explained{At: now, Judged: &decide.Judgement{View: view.New(s, &reconcile.Policy{})}, Decision: &decide.Decision{Subject: &reconcile.Subject{Task: row,
				Boxes: []reconcile.SeenSandbox{box}}}}
			got := momentsOf(x, reconcile.History{Sandboxes: []reconcile.SandboxSeen{{Ref: ref, FirstSeen: now.Add(-7 * time.Minute),
				GoneAt: now.Add(-time.Minute)}}})
			var order []string
			for i, m := range got {
				order = append(order, m.Source+" "+m.What)
				if i > 0 && got[i].when().Before(got[i-1].when()) {
					t.Errorf("%s comes after %s", m.What, got[i-1].What)
				}
			}
			want := "tasks task created; yard sandbox b1 created; ledger sandbox b1 first seen; tasks started; " +
				"yard last activity of sandbox b1; events last heartbeat; yard sandbox b1 ended: oom, audit log; ledger sandbox b1 seen gone"
			if said := strings.Join(order, "; "); said != want {
				t.Errorf("told are %s; want %s", said, want)
			}
			var out bytes.Buffer
			(&Explanation{Moments: got}).momentsText(&out, console.NewPaint(&out))
			off := c.tasks.Abs() > time.Minute || c.provider.Abs() > time.Minute
			if strings.Contains(out.String(), "by its own clock") != off {
				t.Errorf("the text is\n%s", out.String())
			}
		})
	}
}
