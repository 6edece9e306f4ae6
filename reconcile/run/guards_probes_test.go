package run

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// A hung provider answers no probe.
type hung struct{ circuit }

func (hung) Probe(context.Context, reconcile.Sandbox, reconcile.ProbePolicy) reconcile.ProbeResult {
	return reconcile.ProbeResult{Outcome: reconcile.Hung}
}

// A probe that our own end cut short says nothing of the sandbox.
func TestProbeCutShort(t *testing.T) {
	k := Reconciler{Providers: map[string]reconcile.Provider{"daytona": hung{}}}
	sb := reconcile.Sandbox{Ref: reconcile.Ref{Provider: "daytona", ID: "s1"}}
	if got := k.probe(t.Context(), ruledProbe(sb), sb, reconcile.ProbePolicy{}).Outcome; got != reconcile.Hung {
		t.Errorf("a probe is %s, want hung", got)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if got := k.probe(over, ruledProbe(sb), sb, reconcile.ProbePolicy{}).Outcome; got != reconcile.Infrastructure {
		t.Errorf("a probe that was cut short is %s, want it to say nothing", got)
	}
}

// ruledProbe allows the probe of a sandbox that runs and is ours.
func ruledProbe(sb reconcile.Sandbox) decide.Ruling {
	sb.State, sb.Owned = reconcile.SandboxRunning, true
	return decide.MayAct(view.Of(&reconcile.Policy{}), decide.ProbeOf(sb.Ref), &decide.Facts{Read: time.Now(),
		Lookup: reconcile.Lookup{Sandbox: sb}})
}

// probesDue are the sandboxes that a pass over the world would probe.
func probesDue(w *worldtest.World) (ids []string) {
	j := judgeWorld(w)
	r := &executor{}
	r.k, r.policy, r.view, r.result = &Reconciler{}, &w.P, j.View, &Result{Judged: j, Plan: &decide.Plan{}}
	for _, sb := range r.dueProbes("daytona", w.P.Providers["daytona"].Probe) {
		ids = append(ids, sb.ID)
	}
	return ids
}

// Only what runs and is ours is probed, however it came into the judgement.
func TestWhatIsProbed(t *testing.T) {
	w := worldtest.NewWorld(t, worldtest.Anchor, "task t{1..3} running started=1h ev.heartbeat=5s; box daytona/s1 running task=t1; "+
		"box daytona/s2 running task=t2 owned=no; box daytona/s3 suspended task=t3")
	if got, want := probesDue(w), []string{"s1", "z9"}; !slices.Equal(got, want) {
		t.Errorf("probed are %q, want %q", got, want)
	}
}

// What is on its way out is not probed, but for one whose end waits because it may be the sandbox of a task.
func TestWhoseEndWaitsIsProbed(t *testing.T) {
	for name, c := range map[string]struct {
		waits reconcile.HeldBy
		asked bool
		want  []string
	}{
		"it goes":                  {nil, false, []string{"z9"}},
		"it waits for an operator": {reconcile.HeldBy{{Kind: reconcile.HeldHold}}, false, []string{"z9"}},
		"it may be a task's":       {reconcile.HeldBy{{Kind: reconcile.HeldUnmatched}}, false, []string{"s1", "z9"}},
		"it may be a task's, and its end was asked for": {
			reconcile.HeldBy{{Kind: reconcile.HeldUnmatched}}, true, []string{"z9"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := worldtest.NewWorld(t, worldtest.Anchor, "box daytona/s1 running created=30m")
			w.S.Memory.Actions = append(w.S.Memory.Actions, reconcile.Action{ID: "a1", Rule: "orphan",
				Subject: "sandbox:daytona/s1", Step: reconcile.StepTerminate, Provider: "daytona", Sandbox: "s1", Attempts: 1,
				WaitsFor: c.waits})
			if c.asked {
				w.S.Memory.Actions[0].ActedAt = w.S.Memory.Now.Add(-time.Minute)
			}
			if got := probesDue(w); !slices.Equal(got, c.want) {
				t.Errorf("probed are %q, want %q", got, c.want)
			}
			left := workedAt(w.S.Memory.Actions, reconcile.Ref{Provider: "daytona", ID: "s1"})
			if want := len(c.want) == 1; left != want {
				t.Errorf("a worker leaves it alone: %t, want %t", left, want)
			}
		})
	}
}

// A worker that will soon be silent for as long as counts is probed before it is, where that keeps nothing awake.
func TestProbesComeBeforeTheLimit(t *testing.T) {
	const probed = "box daytona/s1 running task=t1; probe daytona/s1 answered=40s; "
	for world, want := range map[string][]string{
		probed + "task t1 running started=1h ev.heartbeat=61s":                                  {"s1"},
		probed + "task t1 running started=1h ev.heartbeat=60s":                                  nil,
		probed + "task t1 running started=1h ev.heartbeat=62s ev.activity=61s":                  nil,
		"provider daytona awake=yes; " + probed + "task t1 running started=1h ev.heartbeat=61s": nil,
		"provider daytona awake=yes; " + probed + "task t1 running started=1h ev.heartbeat=91s": {"s1"},
	} {
		if got := probesDue(worldtest.NewWorld(t, world)); !slices.Equal(got, want) {
			t.Errorf("probed are %q, want %q\nworld: %s", got, want, world)
		}
	}
}

// Where a probe counts as activity only suspects are probed, and those that work anyway.
func TestProbesKeepNothingAwake(t *testing.T) {
	const all = "task t1 running started=1h ev.heartbeat=5s; task t2 running started=1h ev.heartbeat=5m; " +
		"task t3 running started=1h ev.heartbeat=5s ev.waiting=1s; task t4 assigned updated=10s; " +
		"box daytona/s{1..4} running task=t{1..4}; box daytona/s5 running; "
	for world, want := range map[string][]string{
		all:                                  {"s1", "s2", "s3", "s4", "s5", "z9"},
		"provider daytona awake=yes; " + all: {"s1", "s2"},
		"provider daytona awake=yes; tasks none; " + all: {"s1", "s2", "s3", "s4", "s5", "z9"},
	} {
		got := probesDue(worldtest.NewWorld(t, worldtest.Anchor, world))
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("probed are %q, want %q\nworld: %s", got, want, world)
		}
	}
}
