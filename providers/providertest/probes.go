package providertest

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A trouble is a sandbox and what a probe of it comes to.
type trouble struct {
	when bool
	box  simulated.Sandbox
	want reconcile.ProbeOutcome
}

func (l *lab) troubles() map[string]trouble {
	exec, files := l.Can.Exec, l.Can.Files
	return map[string]trouble{
		"healthy": {true, simulated.Sandbox{}, reconcile.Answered},
		"its daemon is dead": {true, simulated.Sandbox{Exec: simulated.Dead, Files: simulated.Dead},
			reconcile.CannotStart},
		"only exec fails":         {exec, simulated.Sandbox{Exec: simulated.Dead}, reconcile.CannotStart},
		"only files fail":         {files, simulated.Sandbox{Files: simulated.Dead}, reconcile.CannotStart},
		"its file system is gone": {files, simulated.Sandbox{Files: simulated.NoPath}, reconcile.CannotStart},
		"cannot fork":             {exec, simulated.Sandbox{Exec: simulated.NoFork}, reconcile.CannotStart},
		"the container vanished": {l.Can.DataPlane, simulated.Sandbox{Exec: simulated.Lost, Files: simulated.Lost},
			reconcile.CannotStart},
		"the command times out": {exec, simulated.Sandbox{Exec: simulated.TimedOut}, reconcile.Hung},
		"stopped": {l.has(reconcile.SandboxStopped), simulated.Sandbox{State: reconcile.SandboxStopped},
			reconcile.NotAllowed},
		"suspended": {l.has(reconcile.SandboxSuspended), simulated.Sandbox{State: reconcile.SandboxSuspended},
			reconcile.NotAllowed},
		"coming up": {l.has(reconcile.SandboxCreating), simulated.Sandbox{State: reconcile.SandboxCreating},
			reconcile.NotAllowed},
		"failed": {l.has(reconcile.SandboxFailed), simulated.Sandbox{State: reconcile.SandboxFailed},
			reconcile.NotAllowed},
		"in a state nobody knows": {true, simulated.Sandbox{Raw: nobodyKnows}, reconcile.NotAllowed},
		"running, its key was lost": {l.Can.DataPlane, simulated.Sandbox{Exec: simulated.Unknown,
			Files: simulated.Unknown}, reconcile.Infrastructure},
	}
}

func probes(l *lab) {
	for name, test := range l.troubles() {
		if !test.when {
			continue
		}
		l.t.Run(name, func(t *testing.T) {
			s, p := l.put("t1", test.box), policy()
			if test.want == reconcile.Hung {
				p = hasty()
			}
			got := l.Provider.Probe(t.Context(), l.get(s.ID), p)
			if l.Can.ProbeTwice && got.Outcome != test.want {
				if got.Outcome.Failed() {
					t.Errorf("first Probe = %+v, want nothing known yet", got)
				}
				got = l.Provider.Probe(t.Context(), l.get(s.ID), p)
			}
			if got.Outcome != test.want || got.ID != s.ID || got.Detail == "" && test.want != reconcile.Answered {
				t.Errorf("Probe = %+v, want %s and why", got, test.want)
			}
		})
	}
	if !l.has(reconcile.SandboxStopped) {
		return
	}
	s := l.put("t1", simulated.Sandbox{})
	seen := l.get(s.ID)
	l.World.Change(s.ID, func(s *simulated.Sandbox) { s.State = reconcile.SandboxStopped })
	if got := l.Provider.Probe(l.t.Context(), seen, policy()); got.Outcome != reconcile.NotAllowed {
		l.t.Errorf("Probe of one that stopped meanwhile = %+v, want not-allowed", got)
	}
}

// probesWorker: a probe tells the exit code of its command, and none where there was none.
func probesWorker(l *lab) {
	const worker = "pgrep -f '[w]orker.py'"
	code := func(n int) *int { return &n }
	for name, test := range map[string]struct {
		box  simulated.Sandbox
		exec string
		want *int
	}{
		"its worker is there":      {simulated.Sandbox{}, worker, code(0)},
		"its worker is gone":       {simulated.Sandbox{WorkerGone: true}, worker, code(1)},
		"another code":             {simulated.Sandbox{}, "exit 3", code(3)},
		"no command":               {simulated.Sandbox{WorkerGone: true}, "", nil},
		"its daemon is dead":       {simulated.Sandbox{Exec: simulated.Dead, WorkerGone: true}, worker, nil},
		"it cannot fork":           {simulated.Sandbox{Exec: simulated.NoFork, WorkerGone: true}, worker, nil},
		"the command does not end": {simulated.Sandbox{Exec: simulated.TimedOut, WorkerGone: true}, worker, nil},
	} {
		l.t.Run(name, func(t *testing.T) {
			p := policy()
			if test.box.Exec == simulated.TimedOut {
				p = hasty()
			}
			if p.Exec = test.exec; test.exec != "" {
				p.Path = "" // as the keeper asks for the worker
			}
			got := l.Provider.Probe(t.Context(), l.get(l.put("t1", test.box).ID), p)
			if !reflect.DeepEqual(got.Exit, test.want) || test.want != nil && got.Outcome != reconcile.Answered {
				t.Errorf("Probe = %+v, want exit code %v", got, shown(test.want))
			}
		})
	}
}

func shown(exit *int) any {
	if exit == nil {
		return "none"
	}
	return *exit
}

func probesHung(l *lab) {
	s := l.put("t1", simulated.Sandbox{Exec: simulated.Hung, Files: simulated.Hung})
	got := l.Provider.Probe(l.t.Context(), l.get(s.ID), hasty())
	if l.Can.ProbeTwice && !got.Outcome.Failed() {
		got = l.Provider.Probe(l.t.Context(), l.get(s.ID), hasty())
	}
	if got.Outcome != reconcile.Hung {
		l.t.Errorf("Probe of one that does not answer = %+v, want hung", got)
	}
}

// probesInfrastructure: what stands before the sandbox is not the sandbox's fault.
func probesInfrastructure(l *lab) {
	const page = "text/html"
	for name, f := range map[string]simulated.Fault{
		"a limit":            {Effect: simulated.Answer, Status: 429},
		"a refusal":          {Effect: simulated.Answer, Status: 403},
		"a cut connection":   {Effect: simulated.Drop},
		"a page of HTML":     {Effect: simulated.Answer, Status: 200, ContentType: page, Body: "<html>"},
		"a 404 of a gateway": {Effect: simulated.Answer, Status: 404, ContentType: page, Body: "<html>"},
	} {
		fresh := l.lab(l.t)
		seen := fresh.get(fresh.put("t1", simulated.Sandbox{}).ID)
		f.On = simulated.Toolbox
		fresh.World.Inject(f)
		if got := fresh.Provider.Probe(l.t.Context(), seen, policy()); got.Outcome != reconcile.Infrastructure {
			l.t.Errorf("Probe through %s = %+v, want infrastructure", name, got)
		}
	}
	seen := l.get(l.put("t1", simulated.Sandbox{}).ID)
	ctx, cancel := context.WithCancel(l.t.Context())
	cancel()
	if got := l.Provider.Probe(ctx, seen, policy()); got.Outcome.Failed() || got.Outcome == reconcile.Answered {
		l.t.Errorf("Probe of a caller that left = %+v, want nothing known", got)
	}
	down := l.World.Inject(simulated.Fault{On: simulated.Toolbox, Effect: simulated.Answer, Status: 502})
	defer down()
	got := l.Provider.Probe(l.t.Context(), seen, policy())
	if l.Can.DataPlane && got.Outcome != reconcile.CannotStart || got.Outcome == reconcile.Answered {
		l.t.Errorf("Probe through a toolbox that is down = %+v, want cannot-start", got)
	}
}

// probeLeavesNoTrace: the world is the same after looking, save for activity where the
// provider counts every call as that.
func probeLeavesNoTrace(l *lab) {
	s := l.put("t1", simulated.Sandbox{Disk: map[string]string{"/home/notes": "kept"}, Running: 1})
	l.Clock.Advance(time.Hour)
	seen := l.get(s.ID)
	before := l.World.Sandboxes()
	l.World.ResetCalls()
	got := l.Provider.Probe(l.t.Context(), seen, policy())
	if (l.Can.Exec || l.Can.Files) != (got.Outcome == reconcile.Answered) {
		l.t.Fatalf("Probe = %+v, want answered where it can", got)
	}
	can := reconcile.CapabilitiesOf(l.Provider)
	if p := can.Usage; p != nil {
		if _, err := p.Usage(l.t.Context(), seen); err != nil {
			l.t.Error(err)
		}
	}
	if p := can.Logs; p != nil {
		if _, err := p.Logs(l.t.Context(), seen, 10); err != nil {
			l.t.Error(err)
		}
	}
	after := l.World.Sandboxes()
	if moved := !after[0].LastActivityAt.Equal(before[0].LastActivityAt); moved != l.Can.ProbeIsActivity {
		l.t.Errorf("last activity moved %t by looking, want %t", moved, l.Can.ProbeIsActivity)
	}
	after[0].LastActivityAt = before[0].LastActivityAt
	if !reflect.DeepEqual(before, after) {
		l.t.Errorf("looking made %+v of %+v", after, before)
	}
	l.looksOnly()
}

// looksOnly fails the test if any call was made that changes something, or may.
func (l *lab) looksOnly() {
	l.t.Helper()
	for _, c := range l.World.Calls() {
		switch c.Kind {
		case simulated.Create, simulated.Delete, simulated.Stop, simulated.Start, simulated.Label, simulated.Activate:
			l.t.Errorf("looking made the call %+v", c)
		}
	}
}

// wakesNothing: at some providers any call into a resting sandbox resumes it.
func wakesNothing(l *lab) {
	for _, state := range l.Can.States {
		if state == reconcile.SandboxRunning {
			continue
		}
		seen := l.get(l.put("t1", simulated.Sandbox{State: state}).ID)
		before := l.World.Sandboxes()
		l.World.ResetCalls()
		if got := l.Provider.Probe(l.t.Context(), seen, policy()); got.Outcome != reconcile.NotAllowed {
			l.t.Errorf("Probe of one that is %s = %+v, want not-allowed", state, got)
		}
		l.get(seen.ID)
		for _, c := range l.World.Calls() {
			if c.Kind == simulated.Exec || c.Kind == simulated.Files {
				l.t.Errorf("Probe of one that is %s made the call %+v", state, c)
			}
		}
		l.looksOnly()
		if !reflect.DeepEqual(before, l.World.Sandboxes()) {
			l.t.Errorf("Probe of one that is %s changed the world", state)
		}
	}
}

// probeLitter: where a probe that fails leaves an execution behind, its number is bounded.
func probeLitter(l *lab) {
	s := l.put("t1", simulated.Sandbox{Exec: simulated.Dead, Files: simulated.Dead})
	seen := l.get(s.ID)
	for range 3*l.Can.LeftoverExecs + 5 {
		l.Provider.Probe(l.t.Context(), seen, policy())
	}
	if got, _ := l.World.Sandbox(s.ID); len(got.Queued)+got.Running > l.Can.LeftoverExecs {
		l.t.Errorf("failing probes left %d executions behind, want at most %d", len(got.Queued)+got.Running,
			l.Can.LeftoverExecs)
	}
}

// probesNothing: an adapter that cannot probe does not pretend, and does not call.
func probesNothing(l *lab) {
	seen := l.get(l.put("t1", simulated.Sandbox{}).ID)
	l.World.ResetCalls()
	got := l.Provider.Probe(l.t.Context(), seen, policy())
	if calls := l.World.Calls(); got.Outcome != reconcile.NotAllowed || got.Detail == "" || len(calls) != 0 {
		l.t.Errorf("Probe = %+v after %v, want not-allowed, why, and no call", got, calls)
	}
}

// contexts: a call that hangs ends with its caller's patience, and says that nothing is
// known.
func contexts(l *lab) {
	seen := l.get(l.put("t1", simulated.Sandbox{}).ID)
	l.World.Inject(simulated.Fault{Effect: simulated.Hang})
	calls := l.calls(seen)
	for _, name := range inOrder(calls) {
		ctx, cancel := context.WithTimeout(l.t.Context(), 50*time.Millisecond)
		l.means(name+" that hangs", calls[name](ctx), nil)
		if err := ended(ctx); err != nil {
			l.t.Errorf("%s %v", name, err)
		}
		cancel()
	}
}

// cancelled: a caller that left is not worked for.
func cancelled(l *lab) {
	seen := l.get(l.put("t1", simulated.Sandbox{}).ID)
	l.World.ResetCalls()
	ctx, cancel := context.WithCancel(l.t.Context())
	cancel()
	calls := l.calls(seen)
	for _, name := range inOrder(calls) {
		if err := calls[name](ctx); err == nil {
			l.t.Errorf("%s of a caller that left = nil, want an error", name)
		}
	}
	l.untouched("a caller that left")
	if got := l.get(seen.ID); got.State != reconcile.SandboxRunning {
		l.t.Errorf("Get after it = %s, want it running", got.State)
	}
}
