package alerts

import (
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/memory"
)

// TestLedgerAgrees: the names that a ledger counts under are those that are exported. What
// a ledger does is promised by its own tests; this one notices when the two drift apart.
func TestLedgerAgrees(t *testing.T) {
	now := noon
	l := memory.New(func() time.Time { return now })
	h := Handler(l, options())
	_, found := scrape(t, h)
	for series, want := range map[string]float64{
		`ledger_up{installation="prod"}`: 1, `tasks_ended_total{state="failed"}`: 0,
		`findings_opened_total{provider="daytona",rule="orphan"}`: 0,
	} {
		if got, ok := found[series]; !ok || got != want {
			t.Errorf("at first %s = %v (there: %v), want %v", series, got, ok, want)
		}
	}
	if _, ok := found[`pass_age_seconds{kind="full"}`]; ok {
		t.Error("a pass has an age before the first one")
	}

	live := reconcile.TaskSeen{ID: "1", State: reconcile.TaskRunning, Live: true}
	over := reconcile.TaskSeen{ID: "1", State: reconcile.TaskFailed}
	orphan := reconcile.Action{ID: "a", Remedy: "a", Rule: "orphan", Subject: "sandbox:daytona/sb", Provider: "daytona", Sandbox: "sb",
		Step: reconcile.StepTerminate, Outcome: reconcile.OutcomePending, PlannedAt: now}
	lease, err := l.TakeLease(t.Context(), "a test", time.Hour)
	must(t, err)
	pass := record(t, l, lease, reconcile.Record{Complete: true, Tasks: []reconcile.TaskSeen{live}, Actions: []reconcile.Action{orphan},
		Counts:   map[string]int{"tasks:running": 1, "sandboxes:daytona:running": 1, "owned:daytona": 1, "foreign:daytona": 2},
		Findings: []reconcile.Finding{{Rule: "orphan", Subject: "sandbox:daytona/sb", Provider: "daytona", Due: true, HeldBy: reconcile.HeldByOf("observe")}},
		Sources:  []reconcile.SourceSeen{{Name: "listing:daytona", Trusted: true, Since: now}},
	})
	a, err := l.Claim(t.Context(), lease, reconcile.Claim{Action: "a", Pass: pass, TTL: time.Minute, Total: 9, Shared: 9, Hour: 9})
	must(t, err)
	a.ActedAt, a.Outcome = now, reconcile.OutcomeConfirmed
	now = now.Add(7 * time.Second)
	must(t, l.Settle(t.Context(), lease, a))
	record(t, l, lease, reconcile.Record{Tasks: []reconcile.TaskSeen{over}, Counts: map[string]int{"foreign:daytona": 2}})
	must(t, l.SaveProbes(t.Context(), lease, []reconcile.ProbeResult{
		{Ref: reconcile.Ref{Provider: "daytona", ID: "sb"}, Outcome: reconcile.Answered, At: now}}))

	_, found = scrape(t, h)
	for series, want := range map[string]float64{
		`pass_age_seconds{kind="full"}`: 7, `passes_total{kind="full",outcome="complete"}`: 1,
		`passes_total{kind="full",outcome="incomplete"}`: 1, `tasks_ended_total{state="failed"}`: 1,
		`findings_opened_total{provider="daytona",rule="orphan"}`: 1, `findings_due{provider="daytona",rule="orphan"}`: 1,
		`finding_oldest_age_seconds{rule="orphan"}`: 7, `held{by="observe",rule="orphan"}`: 1,
		`actions_total{outcome="confirmed",provider="daytona",rule="orphan",step="terminate"}`: 1,
		`terminate_confirmation_seconds_count{provider="daytona",rule="orphan"}`:               1,
		`terminate_confirmation_seconds_bucket{provider="daytona",rule="orphan",le="5"}`:       0,
		`terminate_confirmation_seconds_bucket{provider="daytona",rule="orphan",le="10"}`:      1,
		`terminate_confirmation_seconds_sum{provider="daytona",rule="orphan"}`:                 7,
		`source_trusted{source="listing:daytona"}`:                                             1,
		`sandboxes_foreign{provider="daytona"}`:                                                2,
		`probes_total{outcome="answered",provider="daytona"}`:                                  1,
	} {
		if got, ok := found[series]; !ok || got != want {
			t.Errorf("then %s = %v (there: %v), want %v", series, got, ok, want)
		}
	}
	for _, series := range []string{`tasks{state="running"}`, `sandboxes{provider="daytona",state="running"}`} {
		if got, ok := found[series]; ok {
			t.Errorf("%s = %v although the newest pass did not measure it", series, got)
		}
	}
}

// TestLedgerAgreesOnVerdicts: what incidents, regrets and tallies are counted under.
func TestLedgerAgreesOnVerdicts(t *testing.T) {
	now := noon
	l := memory.New(func() time.Time { return now })
	lease, err := l.TakeLease(t.Context(), "a test", time.Hour)
	must(t, err)
	stop := reconcile.Action{ID: "a", Remedy: "a", Rule: "stop-ignored", Subject: "task:2", Task: "2", Provider: "daytona", Sandbox: "sb",
		Step: reconcile.StepTerminate, Outcome: reconcile.OutcomePending, PlannedAt: now, Began: at(-4)}
	pass := record(t, l, lease, reconcile.Record{
		Verdicts: []reconcile.Verdict{{Rule: "heartbeat-lost", Subject: "task:1", Task: "1", Signature: "s", At: now, Enforced: true}},
		Incidents: []reconcile.Incident{
			{ID: "i-1", Signature: "s", Rule: "heartbeat-lost", Provider: "daytona", OpenedAt: now, FirstSeen: now, LastSeen: now, Count: 5}},
		Demoted: []reconcile.Demotion{{Rule: "inactive", Reason: "3 of 40 came back"}},
		Tallies: []reconcile.Counter{
			{Name: "work_after_stop", Provider: "daytona", Value: 2}, {Name: "recreations", Provider: "daytona", Value: 4},
			{Name: "recreations_back", Provider: "daytona", Value: 3}, {Name: "resumes", Provider: "daytona", Value: 9},
			{Name: "resumes_worked", Provider: "daytona", Value: 8}},
		Actions: []reconcile.Action{stop},
	})
	a, err := l.Claim(t.Context(), lease, reconcile.Claim{Action: "a", Pass: pass, TTL: time.Minute, Total: 9, Shared: 9, Hour: 9})
	must(t, err)
	a.ActedAt, a.Outcome, a.Announce = now, reconcile.OutcomeConfirmed, true
	now = now.Add(3 * time.Second)
	must(t, l.Settle(t.Context(), lease, a))
	m, err := l.Recall(t.Context())
	must(t, err)
	record(t, l, lease, reconcile.Record{FalsePositives: []reconcile.FalsePositive{{Verdict: m.Verdicts[0].Number, Rule: "heartbeat-lost", At: now, What: "alive"}}})

	_, found := scrape(t, Handler(l, options()))
	for series, want := range map[string]float64{
		`verdicts_total{rule="heartbeat-lost"}`: 1, `false_positives_total{rule="heartbeat-lost"}`: 1, `false_positives_total{rule="inactive"}`: 0,
		`incidents{provider="daytona",rule="heartbeat-lost"}`: 1, `rule_auto_disabled{rule="inactive"}`: 1, `rule_auto_disabled{rule="heartbeat-lost"}`: 0,
		`work_after_stop_total{provider="daytona"}`: 2, `recreations_total{provider="daytona"}`: 4,
		`recreations_succeeded_total{provider="daytona"}`: 3, `resumes_total{provider="daytona"}`: 9,
		`resumes_succeeded_total{provider="daytona"}`: 8, `notices_pending{installation="prod"}`: 1,
		`stop_request_seconds_bucket{provider="daytona",rule="stop-ignored",le="5"}`: 1,
		`stop_request_seconds_bucket{provider="daytona",rule="stop-ignored",le="2"}`: 0,
		`stop_confirmation_seconds_sum{provider="daytona",rule="stop-ignored"}`:      7,
	} {
		if got, ok := found[series]; !ok || got != want {
			t.Errorf("%s = %v (there: %v), want %v", series, got, ok, want)
		}
	}
}

// TestMetricsOfALargeFleet: the metrics of 100,000 sandboxes are the series of a thousand, and few. How long a scrape of
// them takes: BenchmarkMetrics in cmd/sandkeeper.
func TestMetricsOfALargeFleet(t *testing.T) {
	_, few := scrape(t, Handler(fleetOf(t, 1_000), options()))
	text, many := scrape(t, Handler(fleetOf(t, 100_000), options()))
	if len(text) > 200_000 {
		t.Errorf("%d bytes, want at most 200,000", len(text))
	}
	if got := many[`findings_due{provider="daytona",rule="orphan"}`]; got != 1000 {
		t.Errorf("%v sandboxes leak, want 1000", got)
	}
	if a, b := slices.Sorted(maps.Keys(few)), slices.Sorted(maps.Keys(many)); !slices.Equal(a, b) {
		t.Errorf("%d series for a few sandboxes, %d for many: something has a series for each", len(a), len(b))
	}
}

// fleetOf is a ledger of so many sandboxes, each of a task and a template of its own, of which each hundredth leaks.
func fleetOf(t *testing.T, n int) *memory.Ledger {
	t.Helper()
	l := memory.New(func() time.Time { return noon })
	r := reconcile.Record{Complete: true, Counts: map[string]int{"sandboxes:daytona:running": n, "owned:daytona": n}}
	for i := range n {
		id := strconv.Itoa(i)
		seen := reconcile.SandboxSeen{Ref: reconcile.Ref{Provider: "daytona", ID: id}, Task: id, Template: id,
			State: reconcile.SandboxRunning, FirstSeen: noon}
		r.Sandboxes = append(r.Sandboxes, seen)
		if i%100 > 0 {
			continue
		}
		subject := reconcile.SubjectOf(reconcile.SubjectSandbox, seen.Ref.String())
		r.Findings = append(r.Findings, reconcile.Finding{Rule: "orphan", Subject: subject, Provider: "daytona", Sandbox: id,
			Task: id, Due: true, HeldBy: reconcile.HeldByOf("observe")})
	}
	lease, err := l.TakeLease(t.Context(), "a test", time.Hour)
	must(t, err)
	record(t, l, lease, r)
	return l
}

// record makes a full pass of what it came to and returns its number.
func record(t *testing.T, l *memory.Ledger, lease reconcile.Lease, r reconcile.Record) int64 {
	t.Helper()
	now, err := l.Now(t.Context())
	must(t, err)
	r.Pass, err = l.BeginPass(t.Context(), lease, reconcile.Full, now)
	must(t, err)
	r.Kind, r.At = reconcile.Full, now
	must(t, l.Record(t.Context(), lease, r))
	return r.Pass
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
