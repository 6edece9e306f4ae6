package reconcile_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A narrow provider has no sandbox, and takes only ids of its own form.
type narrow struct{ reconcile.Provider }

func (narrow) List(context.Context, func([]reconcile.Sandbox) error) (reconcile.Listing, error) {
	return reconcile.Listing{Provider: "other", Complete: true, Date: time.Now()}, nil
}

func (narrow) Get(context.Context, string) (reconcile.Sandbox, error) {
	return reconcile.Sandbox{}, errors.New("400 Bad Request: the id is no number")
}

// What one provider shows as a task's own is nobody else's: another one that refuses its id, or is
// down, keeps nothing there from being done.
func TestAnotherProviderRefusesTheID(t *testing.T) {
	for name, test := range map[string]struct {
		prepare func(*stage)
		failed  bool // the row
	}{
		"a finished task's sandbox": {func(s *stage) { s.over("x", reconcile.TaskCompleted) }, false},
		"a silent worker": {func(s *stage) {
			s.put(row{}, "x")
			s.table.change("x", func(r *row) { r.Events.Heartbeat = ago(time.Hour) })
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := opened(t)
				s.policy.Providers["other"] = reconcile.ProviderPolicy{Name: "other", Kind: "other", LinkSandbox: true,
					SandboxIsID: true, Probe: reconcile.ProbePolicy{Off: true}}
				test.prepare(s)
				k := s.keeper("once", &life{})
				k.Providers["other"] = narrow{}
				if err := s.work(k); err != nil {
					t.Error(err)
				}
				if got := s.state("sb-x"); got != reconcile.SandboxEnded {
					t.Errorf("the sandbox is %q, want it ended", got)
				}
				if r := s.table.row("x"); test.failed && r.State != reconcile.TaskFailed {
					t.Errorf("the row is %q, want it failed", r.State)
				}
			})
		})
	}
}
