package providertest

import (
	"context"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

func (l *lab) probe(id string) reconcile.ProbeResult {
	l.t.Helper()
	return l.Provider.Probe(l.t.Context(), l.get(id), policy())
}

func (l *lab) probes() {
	for name, test := range map[string]struct {
		box  simulated.Sandbox
		want reconcile.ProbeOutcome
	}{
		"healthy":                 {simulated.Sandbox{}, reconcile.Answered},
		"its daemon is dead":      {simulated.Sandbox{Exec: simulated.Dead, Files: simulated.Dead}, reconcile.CannotStart},
		"only exec fails":         {simulated.Sandbox{Exec: simulated.Dead}, reconcile.CannotStart},
		"only files fail":         {simulated.Sandbox{Files: simulated.Dead}, reconcile.CannotStart},
		"its file system is gone": {simulated.Sandbox{Files: simulated.NoPath}, reconcile.CannotStart},
		"cannot fork":             {simulated.Sandbox{Exec: simulated.NoFork}, reconcile.CannotStart},
		"the container vanished":  {simulated.Sandbox{Exec: simulated.Lost, Files: simulated.Lost}, reconcile.CannotStart},
		"the command times out":   {simulated.Sandbox{Exec: simulated.TimedOut}, reconcile.Hung},
		"stopped":                 {simulated.Sandbox{State: reconcile.SandboxStopped}, reconcile.NotAllowed},
		"suspended":               {simulated.Sandbox{State: reconcile.SandboxSuspended}, reconcile.NotAllowed},
		"coming up":               {simulated.Sandbox{State: reconcile.SandboxCreating}, reconcile.NotAllowed},
		"failed":                  {simulated.Sandbox{State: reconcile.SandboxFailed}, reconcile.NotAllowed},
		"in a state nobody knows": {simulated.Sandbox{Raw: "hibernating"}, reconcile.NotAllowed},
		"running, its key was lost": {simulated.Sandbox{Exec: simulated.Unknown, Files: simulated.Unknown},
			reconcile.Infrastructure},
	} {
		l.t.Run(name, func(t *testing.T) {
			s := l.put("t1", test.box)
			if got := l.probe(s.ID); got.Outcome != test.want || got.ID != s.ID || got.Detail == "" &&
				test.want != reconcile.Answered {
				t.Errorf("Probe = %+v, want %s and why", got, test.want)
			}
		})
	}
	s := l.put("t1", simulated.Sandbox{})
	seen := l.get(s.ID)
	l.World.Change(s.ID, func(s *simulated.Sandbox) { s.State = reconcile.SandboxStopped })
	if got := l.Provider.Probe(l.t.Context(), seen, policy()); got.Outcome != reconcile.NotAllowed {
		l.t.Errorf("Probe of one that stopped meanwhile = %+v, want not-allowed", got)
	}
}

func (l *lab) probesHung() {
	s := l.put("t1", simulated.Sandbox{Exec: simulated.Hung, Files: simulated.Hung})
	if got := l.probe(s.ID); got.Outcome != reconcile.Hung {
		l.t.Errorf("Probe of one that does not answer = %+v, want hung", got)
	}
}

// probesInfrastructure: what stands before the sandbox is not the sandbox's fault.
func (l *lab) probesInfrastructure() {
	s := l.put("t1", simulated.Sandbox{})
	seen := l.get(s.ID)
	for name, f := range map[string]simulated.Fault{
		"a limit":            {Effect: simulated.Answer, Status: 429},
		"a refusal":          {Effect: simulated.Answer, Status: 403},
		"a cut connection":   {Effect: simulated.Drop},
		"a page of HTML":     {Effect: simulated.Answer, Status: 200, ContentType: "text/html", Body: "<html>"},
		"a 404 of a gateway": {Effect: simulated.Answer, Status: 404, ContentType: "text/html", Body: "<html>"},
	} {
		f.On = simulated.Toolbox
		lift := l.World.Inject(f)
		if got := l.Provider.Probe(l.t.Context(), seen, policy()); got.Outcome != reconcile.Infrastructure {
			l.t.Errorf("Probe through %s = %+v, want infrastructure", name, got)
		}
		lift()
	}
	ctx, cancel := context.WithCancel(l.t.Context())
	cancel()
	if got := l.Provider.Probe(ctx, seen, policy()); got.Outcome.Failed() || got.Outcome == reconcile.Answered {
		l.t.Errorf("Probe of a caller that left = %+v, want nothing known", got)
	}
	down := l.World.Inject(simulated.Fault{On: simulated.Toolbox, Effect: simulated.Answer, Status: 502})
	defer down()
	if got := l.Provider.Probe(l.t.Context(), seen, policy()); got.Outcome != reconcile.CannotStart {
		l.t.Errorf("Probe through a toolbox that is down = %+v, want cannot-start", got)
	}
}

func (l *lab) probeIsNoActivity() {
	s := l.put("t1", simulated.Sandbox{})
	l.Clock.Advance(time.Hour)
	if got := l.probe(s.ID); got.Outcome != reconcile.Answered {
		l.t.Fatalf("Probe = %+v, want answered", got)
	}
	if p, ok := l.Provider.(reconcile.Usage); ok {
		if _, err := p.Usage(l.t.Context(), l.get(s.ID)); err != nil {
			l.t.Error(err)
		}
	}
	if p, ok := l.Provider.(reconcile.Logs); ok {
		if _, err := p.Logs(l.t.Context(), l.get(s.ID), 10); err != nil {
			l.t.Error(err)
		}
	}
	if got := l.get(s.ID).LastActivityAt; !got.Equal(start) {
		l.t.Errorf("last activity moved to %s by looking", got)
	}
}

// contexts: a call that hangs ends with its caller's patience, and says that nothing is
// known.
func (l *lab) contexts() {
	s := l.put("t1", simulated.Sandbox{})
	seen := l.get(s.ID)
	l.World.Inject(simulated.Fault{Effect: simulated.Hang})
	for name, call := range map[string]func(context.Context) error{
		"List": func(ctx context.Context) error {
			_, err := l.Provider.List(ctx, func([]reconcile.Sandbox) error { return nil })
			return err
		},
		"Get":  func(ctx context.Context) error { _, err := l.Provider.Get(ctx, s.ID); return err },
		"Find": func(ctx context.Context) error { _, err := l.Provider.Find(ctx, "t1"); return err },
		"Terminate": func(ctx context.Context) error {
			how, err := l.Provider.Terminate(ctx, seen)
			if how != "" {
				l.t.Errorf("Terminate that hangs = %s, want no termination", how)
			}
			return err
		},
	} {
		ctx, cancel := context.WithTimeout(l.t.Context(), 50*time.Millisecond)
		l.unknown(name+" that hangs", call(ctx))
		if err := ended(ctx); err != nil {
			l.t.Errorf("%s %v", name, err)
		}
		cancel()
	}
}

func (l *lab) extras() {
	s := l.put("t1", simulated.Sandbox{Log: "first line\nlast line\n", Usage: reconcile.Resources{
		CPUPercent: 97.5, MemoryUsed: 1, MemoryTotal: 2, DiskUsed: 3, DiskTotal: 4}})
	seen := l.get(s.ID)
	if p, ok := l.Provider.(reconcile.Logs); ok {
		if got, err := p.Logs(l.t.Context(), seen, 10); err != nil || got != "last line\n" {
			l.t.Errorf("Logs = %q, %v; want the end", got, err)
		}
	}
	if p, ok := l.Provider.(reconcile.Usage); ok {
		if got, err := p.Usage(l.t.Context(), seen); err != nil || got != s.Usage {
			l.t.Errorf("Usage = %+v, %v; want %+v", got, err, s.Usage)
		}
	}
	l.executions()
	if p, ok := l.Provider.(reconcile.Quotas); ok {
		got, err := p.Quotas(l.t.Context())
		if err != nil || len(got) == 0 || got[0].Limit <= 0 {
			l.t.Errorf("Quotas = %+v, %v; want limits", got, err)
		}
	}
	if p, ok := l.Provider.(reconcile.Checker); ok {
		for _, line := range p.Check(l.t.Context()) {
			if !line.OK || line.Fix != "" {
				l.t.Errorf("Check = %+v, want all well", line)
			}
		}
		l.World.Inject(simulated.Fault{Effect: simulated.Answer, Status: 401})
		if lines := p.Check(l.t.Context()); len(lines) == 0 || lines[0].OK || lines[0].Fix == "" {
			l.t.Errorf("Check with a refused key = %+v, want a fix", lines)
		}
	}
}

func (l *lab) executions() {
	p, ok := l.Provider.(reconcile.Executions)
	if !ok {
		return // an optional part
	}
	none := l.put("t1", simulated.Sandbox{})
	if got, err := p.Executions(l.t.Context(), l.get(none.ID)); err != nil || got != (reconcile.ExecutionsSeen{}) {
		l.t.Errorf("Executions of an idle one = %+v, %v; want none", got, err)
	}
	s := l.put("t1", simulated.Sandbox{Queued: []time.Time{start.Add(-time.Minute), start.Add(-time.Hour)}, Running: 1})
	want := reconcile.ExecutionsSeen{Queued: 2, Running: 1, QueuedFor: time.Hour}
	seen := l.get(s.ID)
	if got, err := p.Executions(l.t.Context(), seen); err != nil || got != want {
		l.t.Errorf("Executions = %+v, %v; want %+v", got, err, want)
	}
	lift := l.World.Inject(simulated.Fault{On: simulated.Queue, Effect: simulated.Answer, Status: 503})
	defer lift()
	if got, err := p.Executions(l.t.Context(), seen); err == nil {
		l.t.Errorf("Executions with a 503 = %+v, nil; want an error: nothing is known", got)
	}
}
