package run_test

import (
	"log/slog"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
)

// measuring makes the rules that rest on measurements part of the stage's policy.
func (s *stage) measuring(rules ...string) {
	for _, name := range rules {
		s.policy.Rules[name] = reconcile.RulePolicy{Mode: reconcile.Enforce, Rollout: 100, Named: true, After: 2 * time.Minute,
			Remedy: map[bool]reconcile.Remedy{true: reconcile.Report, false: reconcile.Fail}[name == "runaway"]}
	}
}

// alone is a keeper over the simulated provider as it is, without a crash harness before it.
func (s *stage) alone() *run.Reconciler {
	return &run.Reconciler{Policy: s.policy, Tasks: s.table, Ledger: s.ledger, Holder: "alone",
		Providers: map[string]reconcile.Provider{lab: s.provider}, Log: slog.New(slog.DiscardHandler), Parallel: 1}
}

// vitals are the measurements of a sandbox that the ledger keeps.
func (s *stage) vitals(id string) []reconcile.Measurements {
	s.Helper()
	m, err := s.ledger.Recall(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	return m.Probes[reconcile.Ref{Provider: lab, ID: id}].Measurements
}

func TestMeasuredBesideAProbe(t *testing.T) {
	usage := reconcile.Resources{CPUPercent: 99, MemoryUsed: 900, MemoryTotal: 1000}
	for name, test := range map[string]struct {
		rules []string
		box   simulated.Sandbox
		fault simulated.Fault
		want  func(reconcile.Measurements) bool
		calls []simulated.Kind // beside the probe
	}{
		"neither rule is on": {want: nil},
		"executions alone": {rules: []string{"executions-stuck"}, box: simulated.Sandbox{Running: 2},
			want: func(v reconcile.Measurements) bool {
				return *v.Executions == reconcile.ExecutionsSeen{Running: 2} && v.CPU == nil && v.Memory == nil
			}, calls: []simulated.Kind{simulated.Queue}},
		"usage alone": {rules: []string{"runaway"}, box: simulated.Sandbox{Usage: usage, Log: "read timed out"},
			want: func(v reconcile.Measurements) bool {
				return *v.CPU == 99 && *v.Memory == reconcile.MemoryUse{Used: 900, Total: 1000} && v.Executions == nil &&
					slices.Equal(v.Signs, []string{"time-out"})
			}, calls: []simulated.Kind{simulated.UsageOf, simulated.LogsOf}},
		"the log of one that is well is left alone": {rules: []string{"runaway"}, box: simulated.Sandbox{Log: "read timed out"},
			want:  func(v reconcile.Measurements) bool { return *v.CPU == 3 && len(v.Signs) == 0 },
			calls: []simulated.Kind{simulated.UsageOf}},
		"executions that cannot be read are not none": {rules: []string{"executions-stuck", "runaway"},
			fault: simulated.Fault{On: simulated.Queue, Effect: simulated.Answer, Status: 503},
			want:  func(v reconcile.Measurements) bool { return v.Executions == nil && *v.CPU == 3 },
			calls: []simulated.Kind{simulated.Queue, simulated.UsageOf}},
		"a call that hangs costs its own time": {rules: []string{"executions-stuck", "runaway"},
			fault: simulated.Fault{On: simulated.UsageOf, Effect: simulated.Hang},
			want:  func(v reconcile.Measurements) bool { return v.Executions != nil && v.CPU == nil && v.Memory == nil },
			calls: []simulated.Kind{simulated.Queue, simulated.UsageOf}},
		"nothing can be measured": {rules: []string{"executions-stuck", "runaway"},
			fault: simulated.Fault{Match: func(c simulated.Call) bool { return c.Kind == simulated.Queue || c.Kind == simulated.UsageOf },
				Effect: simulated.Answer, Status: 500},
			calls: []simulated.Kind{simulated.Queue, simulated.UsageOf}},
		"a use that is no number": {rules: []string{"runaway"},
			box:   simulated.Sandbox{Usage: reconcile.Resources{CPUPercent: math.NaN(), MemoryUsed: 5}},
			calls: []simulated.Kind{simulated.UsageOf}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := opened(t)
				s.measuring(test.rules...)
				test.box.ID, test.box.Labels = "sb-new", map[string]string{"app": "ours", "task": "h1"}
				s.cloud.Put(test.box)
				s.cloud.Inject(test.fault)
				s.cloud.ResetCalls()
				if _, err := s.alone().Once(t.Context(), reconcile.Full, 30*time.Second); err != nil {
					t.Fatal(err)
				}
				s.measured("sb-new", test.want)
				s.asked("sb-new", test.calls)
			})
		})
	}
}

// measured checks what the ledger keeps of a sandbox: one measurement as wanted, or none.
func (s *stage) measured(id string, want func(reconcile.Measurements) bool) {
	s.Helper()
	got := s.vitals(id)
	switch {
	case want == nil && len(got) > 0:
		s.Errorf("measured %+v, want nothing", got)
	case want != nil && (len(got) != 1 || got[0].At.IsZero() || !want(got[0])):
		s.Errorf("measured %+v, want something else", got)
	}
}

// asked checks which calls were made of a sandbox beside those of its probe.
func (s *stage) asked(id string, want []simulated.Kind) {
	s.Helper()
	var got []simulated.Kind
	for _, c := range s.cloud.Calls() {
		probe := []simulated.Kind{simulated.Exec, simulated.Files, simulated.Get, simulated.List}
		if c.ID == id && !slices.Contains(probe, c.Kind) {
			got = append(got, c.Kind)
		}
	}
	if !slices.Equal(got, want) {
		s.Errorf("asked %v beside the probe, want %v", got, want)
	}
}

// TestWorkerMeasures: a probe by a worker measures as well.
func TestWorkerMeasures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t)
		s.measuring("executions-stuck", "runaway")
		w := run.NewWorker(t.Context(), s.alone())
		if err := w.Probe(t.Context(), reconcile.Ref{Provider: lab, ID: "sb-h1"}); err != nil {
			t.Fatal(err)
		}
		s.measured("sb-h1", func(v reconcile.Measurements) bool { return !v.At.IsZero() && v.Executions != nil && *v.CPU == 3 })
	})
}

// TestStuckExecutionsAreRepaired: from the first look to the end of the sandbox, with the
// others untouched; one whose executions move right before the deed is left alone.
func TestStuckExecutionsAreRepaired(t *testing.T) {
	for name, test := range map[string]struct {
		moves bool
		rows  []string
		boxes []string
	}{
		"they stay queued":                {false, []string{"stuck"}, []string{"sb-stuck"}},
		"they move right before the deed": {true, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := opened(t)
				s.measuring("executions-stuck")
				s.policy.Rules["finished-lingering"] = reconcile.RulePolicy{Mode: reconcile.Off}
				s.put(row{beats: true}, "stuck")
				s.cloud.Change("sb-stuck", func(b *simulated.Sandbox) { b.Queued = []time.Time{time.Now()} })
				k := s.alone()
				for range 8 {
					if _, err := k.Once(t.Context(), reconcile.Full, time.Second); err != nil {
						t.Fatal(err)
					}
					if test.moves && len(s.vitals("sb-stuck")) >= 3 {
						s.cloud.Change("sb-stuck", func(b *simulated.Sandbox) { b.Queued = nil })
					}
					time.Sleep(time.Minute)
				}
				s.each(test.rows, test.boxes)
			})
		})
	}
}

// TestQuotasAreRead: in full passes, and what cannot be measured is absent.
func TestQuotasAreRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t)
		s.policy.Rules["capacity"] = reconcile.RulePolicy{Mode: reconcile.Enforce, Rollout: 100, Named: true, Critical: 100, Quota: 80,
			Remedy: reconcile.Report}
		for cpu, want := range map[float64]int{6.25: 0, 6.2: 1} { // 5 of the 6.25 that are 80 %
			s.cloud.SetLimits(simulated.Limits{CPU: cpu})
			r, err := s.alone().Plan(t.Context(), reconcile.Full)
			if err != nil || len(r.Judged.Reports) != want || want == 1 && r.Judged.Reports[0].Subject != "capacity:lab/cpu" {
				t.Errorf("with a limit of %g: %+v, %v; want %d findings of the quota cpu", cpu, r.Judged.Reports, err, want)
			}
		}
		lift := s.cloud.Inject(simulated.Fault{On: simulated.AccountOf, Effect: simulated.Hang})
		r, err := s.alone().Plan(t.Context(), reconcile.Full)
		if err != nil || !r.Complete {
			t.Errorf("a pass whose quotas hang: %+v, %v; want it complete", r, err)
		}
		lift()
		s.cloud.ResetCalls()
		if _, err := s.alone().Plan(t.Context(), reconcile.Quick); err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(s.cloud.Calls(), func(c simulated.Call) bool { return c.Kind == simulated.AccountOf }) {
			t.Error("a quick pass asked for quotas")
		}
	})
}
