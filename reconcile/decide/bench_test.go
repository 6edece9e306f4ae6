package decide

import (
	"fmt"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// BenchmarkJudge judges 10,000 healthy tasks with one sandbox each, as most passes do.
func BenchmarkJudge(b *testing.B) {
	s, p := healthyFleet(10_000)
	for b.Loop() {
		j := Judge(s, p)
		if len(j.Decisions) != 10_000 {
			b.Fatalf("came to %d decisions", len(j.Decisions))
		}
		MakePlan(j, 1)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10_000, "ns/verdict")
}

func healthyFleet(n int) (*reconcile.Snapshot, *reconcile.Policy) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	s := &reconcile.Snapshot{Kind: reconcile.Full, T0: now, Rows: map[string]reconcile.Task{}, Absent: map[string]bool{}, Lookups: map[reconcile.Ref]reconcile.Lookup{},
		Listings: map[string]reconcile.ListingSeen{
			"daytona": {Listing: reconcile.Listing{Provider: "daytona", Complete: true}, Owned: n},
		},
		Memory: reconcile.Memory{
			Now:      now,
			Probes:   map[reconcile.Ref]reconcile.ProbeSeen{},
			LastPass: now.Add(-time.Minute),
		}}
	for i := range n {
		id, ref := fmt.Sprintf(
			"8c02ffe6-26b9-4b1c-9d6e-%012d",
			i,
		), reconcile.Ref{
			Provider: "daytona",
			ID:       fmt.Sprintf("0c5a0000-77f2-4a3b-9c1d-%012d", i),
		}
		s.Tasks = append(
			s.Tasks,
			reconcile.Task{ID: id, Status: "running", State: reconcile.TaskRunning, AsOf: now, StartedAt: now.Add(-time.Hour),
				UpdatedAt: now.Add(
					-time.Minute,
				), Events: reconcile.Events{Started: now.Add(-time.Hour), Heartbeat: now.Add(-20 * time.Second),
					Activity: now.Add(-40 * time.Second)}},
		)
		s.Sandboxes = append(
			s.Sandboxes,
			reconcile.Sandbox{Ref: ref, State: reconcile.SandboxRunning, Raw: "started", Owned: true, Task: id,
				CreatedAt: now.Add(-time.Hour), UpdatedAt: now.Add(-time.Hour), AsOf: now},
		)
		s.Memory.Tasks.Put(id, reconcile.TaskSeen{
			ID:        id,
			Status:    "running",
			State:     reconcile.TaskRunning,
			Since:     now.Add(-time.Hour),
			Live:      true,
			UpdatedAt: now.Add(-time.Minute),
			StartedAt: now.Add(-time.Hour),
		})
		s.Memory.Sandboxes.Put(ref, reconcile.SandboxSeen{
			Ref:        ref,
			Task:       id,
			State:      reconcile.SandboxRunning,
			Raw:        "started",
			StateSince: now.Add(-time.Hour),
		})
	}
	p := &reconcile.Policy{Full: 2 * time.Minute, Rules: map[string]reconcile.RulePolicy{},
		Providers: map[string]reconcile.ProviderPolicy{"daytona": {Name: "daytona", Kind: "daytona", LinkTask: true,
			Probe: reconcile.ProbePolicy{Every: 10 * time.Minute}}},
		Limits: reconcile.Limits{PerPass: 20, Share: 0.1, Breaker: 0.3, PerHour: 200},
		Tasks:  reconcile.TasksPolicy{Events: true, Heartbeats: true, HasUpdated: true}}
	for _, name := range reconcile.RuleNames {
		p.Rules[name] = reconcile.RulePolicy{
			Mode:      reconcile.Enforce,
			After:     3 * time.Minute,
			Rollout:   100,
			Remedy:    reconcile.Fail,
			Looks:     2,
			Sightings: 2,
			Failures:  3,
		}
	}
	for _, name := range []string{"deadline-exceeded", "over-age"} { // by the row alone; off
		rule := p.Rules[name]
		rule.After = 0
		p.Rules[name] = rule
	}
	return s, p
}
