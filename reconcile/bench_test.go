package reconcile

import (
	"fmt"
	"testing"
	"time"
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

func healthyFleet(n int) (*Snapshot, *Policy) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	s := &Snapshot{Kind: Full, T0: now, Rows: map[string]Task{}, Absent: map[string]bool{}, Looks: map[Ref]Look{},
		Listings: map[string]ListingSeen{
			"daytona": {Listing: Listing{Provider: "daytona", Complete: true}, Owned: n},
		},
		Memory: Memory{
			Now:       now,
			Tasks:     map[string]TaskSeen{},
			Sandboxes: map[Ref]SandboxSeen{},
			Probes:    map[Ref]ProbeSeen{},
			LastPass:  now.Add(-time.Minute),
		}}
	for i := range n {
		id, ref := fmt.Sprintf(
			"8c02ffe6-26b9-4b1c-9d6e-%012d",
			i,
		), Ref{
			"daytona",
			fmt.Sprintf("0c5a0000-77f2-4a3b-9c1d-%012d", i),
		}
		s.Tasks = append(
			s.Tasks,
			Task{ID: id, Status: "running", State: TaskRunning, AsOf: now, StartedAt: now.Add(-time.Hour),
				UpdatedAt: now.Add(
					-time.Minute,
				), Events: Events{Started: now.Add(-time.Hour), Heartbeat: now.Add(-20 * time.Second),
					Activity: now.Add(-40 * time.Second)}},
		)
		s.Sandboxes = append(
			s.Sandboxes,
			Sandbox{Ref: ref, State: SandboxRunning, Raw: "started", Owned: true, Task: id,
				CreatedAt: now.Add(-time.Hour), UpdatedAt: now.Add(-time.Hour), AsOf: now},
		)
		s.Memory.Tasks[id] = TaskSeen{
			ID:        id,
			Status:    "running",
			State:     TaskRunning,
			Since:     now.Add(-time.Hour),
			Live:      true,
			UpdatedAt: now.Add(-time.Minute),
			StartedAt: now.Add(-time.Hour),
		}
		s.Memory.Sandboxes[ref] = SandboxSeen{
			Ref:        ref,
			Task:       id,
			State:      SandboxRunning,
			Raw:        "started",
			StateSince: now.Add(-time.Hour),
		}
	}
	p := &Policy{Full: 2 * time.Minute, Rules: map[string]RulePolicy{},
		Providers: map[string]ProviderPolicy{"daytona": {Name: "daytona", Kind: "daytona", LinkTask: true,
			Probe: ProbePolicy{Every: 10 * time.Minute}}},
		Limits: Limits{PerPass: 20, Share: 0.1, Breaker: 0.3, PerHour: 200},
		Tasks:  TasksPolicy{Events: true, Heartbeats: true, HasUpdated: true}}
	for _, name := range RuleNames {
		p.Rules[name] = RulePolicy{
			Mode:      Enforce,
			After:     3 * time.Minute,
			Rollout:   100,
			Remedy:    Fail,
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
