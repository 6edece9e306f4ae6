package run_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
	"github.com/sandkeeper/sandkeeper/store/memory"
)

const lab = "lab"

// A stage is one world with its ledger, in which processes come and go. It belongs into a
// bubble of testing/synctest: its clocks are the bubble's.
type stage struct {
	testing.TB
	cloud    *simulated.World
	provider *simulated.Provider
	table    *table
	ledger   *memory.Ledger
	policy   reconcile.Policy
	platform *platform
}

// opened is a stage with four healthy tasks and what is named, which the ledger has watched
// for three minutes without acting.
func opened(t testing.TB, named ...string) *stage {
	t.Helper()
	return openedIn(t, simulated.Options{DeleteAfter: 20 * time.Second}, named...)
}

// openedIn is such a stage in a cloud of one's own.
func openedIn(t testing.TB, cloud simulated.Options, named ...string) *stage {
	t.Helper()
	return openedAfter(t, 4, cloud, named...)
}

// openedAfter is such a stage that the ledger has watched for so many passes.
func openedAfter(t testing.TB, passes int, cloud simulated.Options, named ...string) *stage {
	t.Helper()
	s := &stage{TB: t, table: newTable(), ledger: memory.New(time.Now), policy: policy(), platform: &platform{}}
	s.cloud = simulated.New(cloud)
	s.provider = plug(t, s.cloud.Provider)
	for _, id := range []string{"h1", "h2", "h3", "h4"} {
		s.put(row{beats: true}, id)
	}
	s.cloud.Put(simulated.Sandbox{ID: "sb-foreign", CreatedAt: ago(time.Hour)})
	for _, name := range named {
		troubles[name](s)
	}
	s.watch(passes)
	return s
}

// byLabelAlone links sandboxes with tasks by nothing but their labels from now on.
func (s *stage) byLabelAlone() {
	s.provider = plugged(s, s.cloud.Provider, `{"TaskLabel": "task"}`)
	entry := s.policy.Providers[lab]
	entry.LinkSandbox, entry.SandboxIsID = false, false
	s.policy.Providers[lab], s.policy.Tasks.SandboxKnown = entry, false
}

// plug makes the provider of an entry, written as its config is.
func plug[E any](t testing.TB, provider func(E) *simulated.Provider) *simulated.Provider {
	t.Helper()
	return plugged(t, provider, `{"TaskLabel": "task", "Sandbox": "id"}`)
}

// plugged is one with a link of its own.
func plugged[E any](t testing.TB, provider func(E) *simulated.Provider, link string) *simulated.Provider {
	t.Helper()
	var e E
	err := json.Unmarshal([]byte(`{"Name": "lab", "Timeout": 5000000000, "Owns": {"Labels": {"app": "ours"}},
		"Link": `+link+`}`), &e)
	if err != nil {
		t.Fatal(err)
	}
	return provider(e)
}

func ago(d time.Duration) time.Time { return time.Now().Add(-d).UTC().Round(0) }

// troubles are what may be wrong, each in its own task or sandbox.
var troubles = map[string]func(*stage){
	"stale": func(s *stage) {
		s.put(row{Task: reconcile.Task{State: reconcile.TaskAssigned, AssignedAt: ago(time.Hour)}}, "stale")
	},
	"stopped": func(s *stage) { s.put(row{Task: reconcile.Task{State: reconcile.TaskStopped}}, "stopped") },
	"broken": func(s *stage) {
		s.put(row{beats: true}, "broken")
		s.cloud.Change("sb-broken", func(b *simulated.Sandbox) { b.Exec = simulated.Dead })
	},
	"orphan":  func(s *stage) { s.lonely("sb-orphan") },
	"orphan2": func(s *stage) { s.lonely("sb-orphan2") },
	"orphan3": func(s *stage) { s.lonely("sb-orphan3") },
}

// put adds a task, running since an hour when r does not say otherwise, with its sandbox.
func (s *stage) put(r row, id string) {
	r.ID, r.Sandbox, r.UpdatedAt, r.CreatedAt = id, "sb-"+id, ago(time.Hour), ago(time.Hour)
	if r.State == reconcile.TaskUnknown {
		r.State, r.StartedAt, r.Events.Started = reconcile.TaskRunning, ago(time.Hour), ago(time.Hour)
	}
	s.table.put(r)
	s.cloud.Put(simulated.Sandbox{ID: r.Sandbox, CreatedAt: ago(time.Hour), Log: "the last words of " + id,
		Labels: map[string]string{"app": "ours", "task": id}})
}

// lonely adds a sandbox that nothing explains.
func (s *stage) lonely(id string) {
	s.cloud.Put(simulated.Sandbox{ID: id, CreatedAt: ago(time.Hour), Labels: map[string]string{"app": "ours"}})
}

// policy enforces all rules, with a share that lets two remedies begin in a pass.
func policy() reconcile.Policy {
	rules := map[string]reconcile.RulePolicy{
		"assigned-stale":     {After: 3 * time.Minute, Conclusive: 20 * time.Second, Remedy: reconcile.Fail},
		"sandbox-missing":    {After: 30 * time.Second, Looks: 2, Remedy: reconcile.Fail},
		"heartbeat-lost":     {After: 90 * time.Second, Remedy: reconcile.Fail},
		"stop-ignored":       {After: 5 * time.Second, Remedy: reconcile.Terminate},
		"finished-lingering": {After: 10 * time.Minute, Remedy: reconcile.Terminate},
		"orphan":             {After: 5 * time.Minute, Sightings: 2, Apart: time.Minute, Remedy: reconcile.Terminate},
		"idle-broken":        {After: time.Minute, Failures: 3, Remedy: reconcile.Fail},
	}
	for name, r := range rules {
		r.Mode, r.Rollout, r.Named = reconcile.Enforce, 100, true
		rules[name] = r
	}
	return reconcile.Policy{
		Installation: "test", Quick: 15 * time.Second, Full: 2 * time.Minute, Rules: rules,
		Limits: reconcile.Limits{PerPass: 2, Share: 0.34, Breaker: 1, PerHour: 20},
		Providers: map[string]reconcile.ProviderPolicy{lab: {
			Name: lab, Kind: "simulated", Exclusive: true, LinkTask: true, LinkSandbox: true, SandboxIsID: true,
			LinkRequired: true, EndsAtRest: true,
			Probe: reconcile.ProbePolicy{Exec: "true", Path: "/", Every: 10 * time.Minute, Timeout: 5 * time.Second, Budget: 50},
		}},
		Tasks: reconcile.TasksPolicy{Events: true, Heartbeats: true, HasAssigned: true, HasUpdated: true,
			ErrorMapped: true, SandboxKnown: true, FailsRows: true, DeadlineFails: true},
	}
}

// watch makes passes that act on nothing, a minute apart.
func (s *stage) watch(passes int) {
	s.Helper()
	k := s.keeper("watcher", &life{})
	k.Policy = policy()
	for name, r := range k.Policy.Rules {
		r.Mode = reconcile.Observe
		k.Policy.Rules[name] = r
	}
	for range passes {
		if _, err := k.Once(s.Context(), reconcile.Full, time.Second); err != nil {
			s.Fatal("watch:", err)
		}
		time.Sleep(time.Minute)
	}
}

// keeper is a process of this name.
func (s *stage) keeper(holder string, l *life) *run.Reconciler {
	if l.begun == nil {
		l.begun = map[int64]int{}
	}
	told := noticeCalls{l, s.ledger, s.platform}
	return &run.Reconciler{
		Notices: told, Notifier: told, Policy: s.policy, Tasks: taskCalls{l, s.table}, Ledger: ledgerCalls{l, s.ledger}, Holder: holder,
		Providers: map[string]reconcile.Provider{lab: providerCalls{l, s.provider}},
		Log:       slog.New(slog.DiscardHandler), Parallel: 1,
	}
}

// once makes one full pass that must not fail.
func (s *stage) once() *run.Result {
	s.Helper()
	r, err := s.keeper("once", &life{}).Once(s.Context(), reconcile.Full, time.Second)
	if err != nil {
		s.Fatal(err)
	}
	return r
}

var errRestless = errors.New("it does not come to rest")

// work makes a pass a minute until nothing is found and nothing is open.
func (s *stage) work(k *run.Reconciler) error {
	for range 15 {
		r, err := k.Once(s.Context(), reconcile.Full, time.Second)
		if err != nil {
			return err
		}
		if len(r.Plan.Findings) == 0 && len(s.open()) == 0 {
			return nil
		}
		time.Sleep(time.Minute)
	}
	return errRestless
}

// open are the actions that are not closed.
func (s *stage) open() []reconcile.Action {
	s.Helper()
	open, err := s.ledger.OpenActions(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	return open
}

// deletes are the sandboxes whose delete reached the provider, in order of time.
func (s *stage) deletes() []string {
	var ids []string
	for _, c := range s.cloud.Destructive() {
		ids = append(ids, c.ID)
	}
	return ids
}
