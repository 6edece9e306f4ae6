package run_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A narrow provider has no sandbox, and takes only ids of its own form.
type narrow struct {
	reconcile.Provider
	refuses error
}

func (narrow) List(context.Context, func([]reconcile.Sandbox) error) (reconcile.Listing, error) {
	return reconcile.Listing{Provider: "other", Complete: true, Date: time.Now()}, nil
}

func (n narrow) Get(context.Context, string) (reconcile.Sandbox, error) {
	return reconcile.Sandbox{}, n.refuses
}

func (narrow) Find(context.Context, string) ([]reconcile.Sandbox, error) { return nil, nil }

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
			s.cloud.Change("sb-x", func(b *simulated.Sandbox) { b.Exec = simulated.Dead })
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := opened(t)
				s.policy.Providers["other"] = reconcile.ProviderPolicy{Name: "other", Kind: "other", LinkSandbox: true,
					SandboxIsID: true, Probe: reconcile.ProbePolicy{Off: true}}
				test.prepare(s)
				k := s.keeper("once", &life{})
				k.Providers["other"] = narrow{refuses: errors.New("400 Bad Request: the id is no number")}
				if _, err := k.Once(t.Context(), reconcile.Full, time.Second); err != nil {
					t.Error(err) // it probes who is silent
				}
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

// What can be no id of a provider is no sandbox there, where a label tells which are the task's.
// Without one the row may hold a name, and nothing is known.
func TestWhatCanBeNoID(t *testing.T) {
	for name, test := range map[string]struct {
		refuses error
		label   bool
		want    reconcile.TaskState
	}{
		"no id, and labels tell": {reconcile.ErrUnknownID, true, reconcile.TaskFailed},
		"no id, and none tells":  {reconcile.ErrUnknownID, false, reconcile.TaskRunning},
		"it is out of order":     {errors.New("500"), true, reconcile.TaskRunning},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := opened(t)
				s.policy.Providers["other"] = reconcile.ProviderPolicy{Name: "other", Kind: "other", LinkTask: test.label,
					LinkSandbox: true, SandboxIsID: true, Probe: reconcile.ProbePolicy{Off: true}}
				s.table.put(row{Task: reconcile.Task{ID: "x", State: reconcile.TaskRunning, Sandbox: "sb-never",
					StartedAt: ago(time.Hour), UpdatedAt: ago(time.Hour), CreatedAt: ago(time.Hour)}})
				k := s.keeper("once", &life{})
				k.Providers["other"] = narrow{refuses: test.refuses}
				for range 5 {
					if _, err := k.Once(t.Context(), reconcile.Full, time.Second); err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Minute)
				}
				if got := s.table.row("x").State; got != test.want {
					t.Errorf("the row is %q, want %q", got, test.want)
				}
			})
		})
	}
}

// At a provider that takes names for ids, a look by a name is told whose it is.
type either struct{ reconcile.Provider }

func (e either) List(ctx context.Context, yield func([]reconcile.Sandbox) error) (reconcile.Listing, error) {
	return e.Provider.List(ctx, func(page []reconcile.Sandbox) error {
		for i := range page {
			page[i].AltKey = "n-" + page[i].ID
		}
		return yield(page)
	})
}

func (e either) Get(ctx context.Context, id string) (reconcile.Sandbox, error) {
	if strings.HasPrefix(id, "n-") {
		return reconcile.Sandbox{}, errors.New("it is the name of a sandbox")
	}
	sb, err := e.Provider.Get(ctx, id)
	sb.AltKey = "n-" + sb.ID
	return sb, err
}

// Find is of an index that does not show yet what is called so.
func (e either) Find(ctx context.Context, task string) ([]reconcile.Sandbox, error) {
	found, err := e.Provider.Find(ctx, task)
	return slices.DeleteFunc(found, func(sb reconcile.Sandbox) bool { return strings.HasPrefix(sb.ID, "n-") }), err
}

// A row that holds the name of its sandbox for the id keeps nothing of it from being done. Where the
// name is the id of another one, nothing is known of that.
func TestRowHoldsTheName(t *testing.T) {
	for name, test := range map[string]struct {
		another bool
		want    reconcile.SandboxState
	}{
		"the name of its own":          {false, reconcile.SandboxEnded},
		"which is the id of another's": {true, reconcile.SandboxRunning},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := opened(t)
				s.over("x", reconcile.TaskCompleted)
				s.table.change("x", func(r *row) { r.Sandbox = "n-sb-x" })
				if test.another {
					s.cloud.Put(simulated.Sandbox{ID: "n-sb-x", CreatedAt: ago(time.Hour),
						Labels: map[string]string{"app": "ours", "task": "x"}})
				}
				k := s.keeper("once", &life{})
				k.Providers[lab] = either{k.Providers[lab]}
				for range 15 { // the row was changed a moment ago
					if _, err := k.Once(t.Context(), reconcile.Full, time.Second); err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Minute)
				}
				if got := s.state("sb-x"); got != test.want {
					t.Errorf("the sandbox is %q, want %q", got, test.want)
				}
			})
		})
	}
}
