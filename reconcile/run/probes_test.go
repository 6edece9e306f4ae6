package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// A teller answers probes by their command.
type teller struct {
	reconcile.Provider
	by    map[string]reconcile.ProbeResult
	asked []reconcile.ProbePolicy
}

func (p *teller) Probe(_ context.Context, _ reconcile.Sandbox, policy reconcile.ProbePolicy) reconcile.ProbeResult {
	p.asked = append(p.asked, policy)
	return p.by[policy.Exec]
}

// saved is a ledger that takes probes.
type saved struct {
	reconcile.Probes
	results []reconcile.ProbeResult
}

func (g *saved) SaveProbes(_ context.Context, _ reconcile.Lease, results []reconcile.ProbeResult) error {
	g.results = append(g.results, results...)
	return nil
}

func (*saved) Now(context.Context) (time.Time, error) { return time.Unix(1e9, 0), nil }

func exited(code int) reconcile.ProbeResult {
	return reconcile.ProbeResult{Outcome: reconcile.Answered, Exit: &code}
}

// A sandbox that answers is asked for its worker, by a second command of the same probe.
func TestWorkerIsAskedFor(t *testing.T) {
	const command = "pgrep -f '[w]orker'"
	for name, test := range map[string]struct {
		worker string
		first  reconcile.ProbeResult
		told   reconcile.ProbeResult
		want   reconcile.WorkerState
		asked  int
	}{
		"no command":                   {"", exited(0), exited(1), reconcile.WorkerUnknown, 1},
		"it is there":                  {command, exited(0), exited(0), reconcile.WorkerAlive, 2},
		"it is gone":                   {command, exited(0), exited(1), reconcile.WorkerDead, 2},
		"the command is not there":     {command, exited(0), exited(127), reconcile.WorkerUnknown, 2},
		"the command was killed":       {command, exited(0), exited(137), reconcile.WorkerUnknown, 2},
		"the first one's code":         {command, exited(1), exited(0), reconcile.WorkerAlive, 2},
		"an answer without a code":     {command, exited(0), reconcile.ProbeResult{Outcome: reconcile.Answered}, reconcile.WorkerUnknown, 2},
		"the second does not come":     {command, exited(0), reconcile.ProbeResult{Outcome: reconcile.Hung}, reconcile.WorkerUnknown, 2},
		"another probe is under way":   {command, exited(0), reconcile.ProbeResult{Outcome: reconcile.NotAllowed}, reconcile.WorkerUnknown, 2},
		"the sandbox does not answer":  {command, reconcile.ProbeResult{Outcome: reconcile.Hung}, exited(1), reconcile.WorkerUnknown, 1},
		"nothing is known of the rest": {command, reconcile.ProbeResult{Outcome: reconcile.Infrastructure}, exited(1), reconcile.WorkerUnknown, 1},
	} {
		p := &teller{by: map[string]reconcile.ProbeResult{"true": test.first, command: test.told}}
		k := &Reconciler{Providers: map[string]reconcile.Provider{"lab": p}, Log: slog.New(slog.DiscardHandler)}
		policy := reconcile.ProbePolicy{Exec: "true", Path: "/", Worker: test.worker, Timeout: time.Second, Every: time.Hour, Budget: 50}
		sb := reconcile.Sandbox{Ref: reconcile.Ref{Provider: "lab", ID: "s1"}}
		got := k.observer().examine(t.Context(), ruledProbe(sb), sb, policy)
		if got.Worker != test.want || got.Outcome != test.first.Outcome || len(p.asked) != test.asked {
			t.Errorf("%s: %+v after %d probes, want worker %q, outcome %s, %d probes", name, got, len(p.asked), test.want,
				test.first.Outcome, test.asked)
		}
		if test.asked == 2 && (p.asked[1] != reconcile.ProbePolicy{Exec: command, Timeout: time.Second, Every: time.Hour} ||
			!strings.Contains(got.Detail, "worker ")) {
			t.Errorf("%s: asked %+v, said %q; want the worker's command alone, and told", name, p.asked[1], got.Detail)
		}
	}
}

// A late one is a provider whose executions are not told in time, or not at all.
type late struct {
	teller
	err error
}

func (p *late) Capabilities() reconcile.Capabilities { return reconcile.Capabilities{Executions: p} }

func (p *late) Executions(context.Context, reconcile.Sandbox) (reconcile.ExecutionsSeen, error) {
	return reconcile.ExecutionsSeen{}, p.err
}

// A probe that failed while the provider itself was late says nothing of the sandbox.
func TestLateBeside(t *testing.T) {
	hangs, answers := reconcile.ProbeResult{Outcome: reconcile.Hung}, reconcile.ProbeResult{Outcome: reconcile.Answered}
	for name, test := range map[string]struct {
		err  error
		told reconcile.ProbeResult
		want reconcile.ProbeOutcome
	}{
		"both are late":                    {context.DeadlineExceeded, hangs, reconcile.Infrastructure},
		"only the sandbox is":              {nil, hangs, reconcile.Hung},
		"executions are refused":           {errors.New("403"), hangs, reconcile.Hung},
		"only the executions are late":     {context.DeadlineExceeded, answers, reconcile.Answered},
		"both, told of by another's error": {fmt.Errorf("read: %w", context.DeadlineExceeded), hangs, reconcile.Infrastructure},
	} {
		p := &late{teller{by: map[string]reconcile.ProbeResult{"true": test.told}}, test.err}
		k := &Reconciler{Providers: map[string]reconcile.Provider{"lab": p}, Log: slog.New(slog.DiscardHandler), Policy: reconcile.Policy{
			Rules: map[string]reconcile.RulePolicy{"executions-stuck": {Mode: reconcile.Enforce, Rollout: 100}}}}
		sb := reconcile.Sandbox{Ref: reconcile.Ref{Provider: "lab", ID: "s1"}}
		if got := k.observer().examine(t.Context(), ruledProbe(sb), sb, reconcile.ProbePolicy{Exec: "true"}); got.Outcome != test.want {
			t.Errorf("%s: %s (%s), want %s", name, got.Outcome, got.Detail, test.want)
		}
	}
}

// An answer to the final probe refutes a verdict on the sandbox, and one on its worker unless
// that is dead.
func TestFinalProbeAsksForTheWorker(t *testing.T) {
	const command = "pgrep -f '[w]orker'"
	for name, test := range map[string]struct {
		rule string
		told reconcile.ProbeResult
		seen bool              // the command has found some worker alive
		want reconcile.Outcome // "" when the verdict stands
	}{
		"silent, its worker is dead":         {"heartbeat-lost", exited(1), true, ""},
		"silent, as the command always says": {"heartbeat-lost", exited(1), false, reconcile.OutcomeWithdrawn},
		"silent, its worker is there":        {"heartbeat-lost", exited(0), true, reconcile.OutcomeWithdrawn},
		"silent, of its worker nobody knows": {"heartbeat-lost", exited(2), true, reconcile.OutcomeWithdrawn},
		"broken, and it is not":              {"idle-broken", exited(1), true, reconcile.OutcomeWithdrawn},
	} {
		p := &teller{by: map[string]reconcile.ProbeResult{"true": exited(0), command: test.told}}
		ledger := &saved{}
		k := &Reconciler{Providers: map[string]reconcile.Provider{"lab": p}, Log: slog.New(slog.DiscardHandler)}
		r := &executor{}
		r.k, r.clock, r.probes, r.policy = k, ledger, ledger, &reconcile.Policy{Providers: map[string]reconcile.ProviderPolicy{"lab": {Probe: reconcile.ProbePolicy{Exec: "true", Worker: command}}}}
		r.view = view.New(&reconcile.Snapshot{}, r.policy)
		if test.seen {
			r.view.S.Memory.Probes = map[reconcile.Ref]reconcile.ProbeSeen{{Provider: "lab", ID: "s2"}: {WorkerAt: time.Unix(1, 0)}}
		}
		f := &gathered{}
		on := r.finalProbe(t.Context(), &reconcile.Action{Rule: test.rule}, f, reconcile.Sandbox{
			Ref: reconcile.Ref{Provider: "lab", ID: "s1"}, State: reconcile.SandboxRunning, Owned: true})
		if want := map[reconcile.Outcome]decide.ProbeFact{"": decide.ProbeAgrees, reconcile.OutcomeWithdrawn: decide.ProbeRefutes}[test.want]; on != (test.want == "") || f.Probe != want {
			t.Errorf("%s: it says %d (%s), more is asked: %t; want %d", name, f.Probe, f.ProbeSaid, on, want)
		}
		if len(ledger.results) != 1 || ledger.results[0].Worker != workerBy(*test.told.Exit) {
			t.Errorf("%s: saved %+v, want what was told of the worker", name, ledger.results)
		}
	}
}
