package storetest

import (
	"sync/atomic"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// probed is a result of sb-1, a number of seconds after noon.
func probed(seconds int, o reconcile.ProbeOutcome) reconcile.ProbeResult {
	return reconcile.ProbeResult{
		Ref: ref("sb-1"), Outcome: o, Detail: "exec: " + string(o), At: noon.Add(time.Duration(seconds) * time.Second),
		Took: time.Duration(seconds) * time.Millisecond,
	}
}

// probing is a bench on which sb-1 is known.
func (b *bench) probing() {
	b.Helper()
	b.pass(reconcile.Record{Sandboxes: []reconcile.SandboxSeen{{Ref: ref("sb-1")}}})
}

func (b *bench) saved(results ...reconcile.ProbeResult) reconcile.ProbeSeen {
	b.Helper()
	b.must(b.SaveProbes(b.Context(), b.lease, results))
	return b.recall().Probes[ref("sb-1")]
}

// probes say what results come to, and how many may be made.
var probes = map[string]func(*bench){
	"a sandbox that was never probed has no probes": func(b *bench) {
		b.probing()
		if seen, found := b.recall().Probes[ref("sb-1")]; found {
			b.Errorf("probes = %+v, want none", seen)
		}
	},
	"failures run until an answer, oldest first": func(b *bench) {
		b.probing()
		one, two, three := probed(1, reconcile.Hung), probed(2, reconcile.CannotStart), probed(3, reconcile.Answered)
		b.equal("run", b.saved(one), reconcile.ProbeSeen{Ref: ref("sb-1"), Last: one, Failures: []reconcile.ProbeResult{one}})
		b.equal("run", b.saved(two), reconcile.ProbeSeen{
			Ref: ref("sb-1"), Last: two, Failures: []reconcile.ProbeResult{one, two},
		})
		b.equal("run", b.saved(three), reconcile.ProbeSeen{
			Ref: ref("sb-1"), Last: three, LastAnswered: three.At, RunEnded: two.At,
		})
		four := probed(4, reconcile.Hung)
		b.equal("run", b.saved(four), reconcile.ProbeSeen{
			Ref: ref("sb-1"), Last: four, LastAnswered: three.At, RunEnded: two.At, Failures: []reconcile.ProbeResult{four},
		})
	},
	"what says nothing of the sandbox neither ends nor lengthens a run": func(b *bench) {
		b.probing()
		one := probed(1, reconcile.Hung)
		last := probed(3, reconcile.NotAllowed)
		b.equal("run", b.saved(one, probed(2, reconcile.Infrastructure), last), reconcile.ProbeSeen{
			Ref: ref("sb-1"), Last: last, Failures: []reconcile.ProbeResult{one},
		})
	},
	"results may come in any order, in one batch and in several": func(b *bench) {
		b.probing()
		b.saved(probed(5, reconcile.Hung), probed(4, reconcile.Answered), probed(6, reconcile.Hung))
		seen := b.saved(probed(3, reconcile.Hung), probed(2, reconcile.Answered))
		b.equal("run", seen, reconcile.ProbeSeen{
			Ref: ref("sb-1"), Last: probed(6, reconcile.Hung), LastAnswered: noon.Add(4 * time.Second),
			Failures: []reconcile.ProbeResult{probed(5, reconcile.Hung), probed(6, reconcile.Hung)},
		})
	},
	"a long run keeps its first failure and the newest nine": func(b *bench) {
		b.probing()
		var seen reconcile.ProbeSeen
		for i := range 14 {
			seen = b.saved(probed(i+1, reconcile.Hung))
		}
		var at []time.Time
		for _, f := range seen.Failures {
			at = append(at, f.At)
		}
		want := []time.Time{noon.Add(time.Second)}
		for i := 6; i <= 14; i++ {
			want = append(want, noon.Add(time.Duration(i)*time.Second))
		}
		b.equal("failures", at, want)
	},
	"replicas that probe the same sandboxes lose nothing": func(b *bench) {
		b.probing()
		together(8, func(i int) {
			other := probed(i+1, reconcile.Hung)
			other.ID = "sb-2"
			results := []reconcile.ProbeResult{probed(i+1, reconcile.Answered), other}
			if i%2 == 0 {
				results[0], results[1] = results[1], results[0]
			}
			if err := b.SaveProbes(b.Context(), b.lease, results); err != nil {
				b.Error(err)
			}
		})
		seen := b.recall().Probes[ref("sb-1")]
		if !seen.LastAnswered.Equal(noon.Add(8 * time.Second)) {
			b.Errorf("last answered %s, want 8s after noon", seen.LastAnswered)
		}
		b.equal("counted", b.counted("probes", "", "answered"), int64(8))
	},
	"probes of a sandbox that is not known are history, and no part of a run": func(b *bench) {
		b.saved(probed(1, reconcile.Hung))
		b.probing()
		if seen := b.recall().Probes; len(seen) != 0 {
			b.Errorf("probes = %v, want none", seen)
		}
		h, err := b.Subject(b.Context(), "daytona/sb-1")
		b.must(err)
		b.equal("history", h.Probes, []reconcile.ProbeResult{probed(1, reconcile.Hung)})
	},
	"what probes come to outlives what a pass sees of the sandbox": func(b *bench) {
		b.probing()
		before := b.saved(probed(1, reconcile.Answered), probed(2, reconcile.Hung))
		b.pass(reconcile.Record{Sandboxes: []reconcile.SandboxSeen{{Ref: ref("sb-1"), State: reconcile.SandboxStopped}}})
		b.equal("probes", b.recall().Probes[ref("sb-1")], before)
	},
	"what the newest probe learnt of the worker is kept, and of each in the history": func(b *bench) {
		b.probing()
		one, two, three := probed(1, reconcile.Answered), probed(2, reconcile.Answered), probed(3, reconcile.Answered)
		dead := 1
		two.Worker, two.Exit, three.Worker = reconcile.WorkerDead, &dead, reconcile.WorkerAlive
		b.saved(two)
		two.Exit = nil // of it is kept what it says of the worker
		b.equal("a dead worker", b.saved(one).Last, two)
		b.equal("one that is alive", b.saved(three).Last, three)
		b.equal("one of which nothing is known", b.saved(probed(4, reconcile.Infrastructure)).Last.Worker,
			reconcile.WorkerUnknown)
		h, err := b.Subject(b.Context(), "daytona/sb-1")
		b.must(err)
		told := map[reconcile.WorkerState]int{}
		for _, p := range h.Probes {
			told[p.Worker]++
		}
		b.equal("history", told, map[reconcile.WorkerState]int{
			reconcile.WorkerUnknown: 2, reconcile.WorkerAlive: 1, reconcile.WorkerDead: 1,
		})
	},
	"a word that is no state of a worker is refused": func(b *bench) {
		b.probing()
		odd := probed(1, reconcile.Answered)
		odd.Worker = "asleep"
		if err := b.SaveProbes(b.Context(), b.lease, []reconcile.ProbeResult{odd}); err == nil {
			b.Error("no error, want one")
		}
	},
	"a word that is no outcome is refused, with all that came with it": func(b *bench) {
		b.probing()
		err := b.SaveProbes(b.Context(), b.lease, []reconcile.ProbeResult{probed(1, reconcile.Hung), probed(2, "sulked")})
		if seen := b.recall().Probes; err == nil || len(seen) != 0 {
			b.Errorf("error = %v, probes = %v, want an error and none", err, seen)
		}
	},
	"a minute's budget is given once, to each provider": func(b *bench) {
		for _, step := range []struct {
			provider  string
			want, got int
		}{{"daytona", 3, 3}, {"daytona", 3, 2}, {"daytona", 3, 0}, {"e2b", 3, 3}, {"e2b", -1, 0}, {"e2b", 0, 0}} {
			got, err := b.ReserveProbes(b.Context(), b.lease, step.provider, step.want, 5)
			b.must(err)
			if got != step.got {
				b.Errorf("%d probes of %s: got %d, want %d", step.want, step.provider, got, step.got)
			}
		}
	},
	"the next minute brings the budget back, and not sooner": func(b *bench) {
		take := func() int {
			got, err := b.ReserveProbes(b.Context(), b.lease, "daytona", 9, 5)
			b.must(err)
			return got
		}
		first := take()
		b.clock.move(time.Minute - time.Microsecond)
		second := take()
		b.clock.move(time.Microsecond)
		b.equal("granted", []int{first, second, take()}, []int{5, 0, 5})
		b.clock.move(-time.Minute) // a replica whose clock is behind must not open the minute again
		b.equal("granted to a clock that is behind", take(), 0)
	},
	"a budget that shrinks below what is used gives nothing": func(b *bench) {
		_, err := b.ReserveProbes(b.Context(), b.lease, "daytona", 5, 5)
		b.must(err)
		got, err := b.ReserveProbes(b.Context(), b.lease, "daytona", 5, 2)
		b.must(err)
		b.equal("granted", got, 0)
	},
	"many replicas get exactly the budget": func(b *bench) {
		var got atomic.Int64
		together(20, func(int) {
			n, err := b.ReserveProbes(b.Context(), b.lease, "daytona", 3, 25)
			if err != nil {
				b.Error(err)
			}
			got.Add(int64(n))
		})
		b.equal("granted", got.Load(), int64(25))
	},
}
