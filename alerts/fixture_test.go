package alerts

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// noon is the ledger's now in these tests.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// at is a time some seconds from noon.
func at(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

// A desk is a ledger that says what it was told to say.
type desk struct {
	mu    sync.Mutex
	says  reconcile.Measures
	err   error
	calls int
}

func (d *desk) Measures(context.Context) (reconcile.Measures, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls++
	return d.says, d.err
}

func (d *desk) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls
}

func (d *desk) set(m reconcile.Measures) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.says = m
}

// armed are all rules, allowed to act.
func armed() map[string]reconcile.RulePolicy {
	rules := map[string]reconcile.RulePolicy{}
	for _, r := range reconcile.Rules {
		rules[r.Name] = reconcile.RulePolicy{Mode: reconcile.Enforce, Remedy: r.Remedies[0]}
	}
	rules["capacity"] = reconcile.RulePolicy{Mode: reconcile.Observe, Critical: 200, Escalate: 500}
	rules["systemic"] = reconcile.RulePolicy{Mode: reconcile.Observe, Count: 5}
	rules["over-age"] = reconcile.RulePolicy{Mode: reconcile.Off}
	return rules
}

// options are those of a house with one provider.
func options() Options {
	return Options{
		Version: "v1.2.3",
		Config:  func() (bool, time.Time) { return true, at(-3600) },
		Policy: func() reconcile.Policy {
			return reconcile.Policy{
				Installation: "prod", Quick: 15 * time.Second, Full: 2 * time.Minute,
				Providers: map[string]reconcile.ProviderPolicy{"daytona": {PricePerHour: 0.08}},
				Tasks:     reconcile.TasksPolicy{Events: true},
				Rules:     armed(),
				Limits:    reconcile.Limits{PerHour: 200},
				Canary: reconcile.CanaryPolicy{Provider: "daytona", Template: "light", Every: time.Hour, Within: 20 * time.Minute,
					PerDay: 24},
			}
		},
	}
}

// full are measures in which every series has a value.
func full() reconcile.Measures {
	return reconcile.Measures{
		Now: noon,
		Passes: map[reconcile.PassKind]reconcile.PassSeen{
			reconcile.Quick: {BeganAt: at(-11), EndedAt: at(-10)},
			reconcile.Full:  {BeganAt: at(-62), EndedAt: at(-60)},
		},
		Counts: map[string]int{
			"tasks:running": 212, "tasks:unknown": 3, "sandboxes:daytona:running": 210, "sandboxes:eu:west:failed": 1,
			"owned:daytona": 210, "foreign:daytona": 7, "beyond_usual": 3,
			"age:daytona:60": 4, "age:daytona:3600": 9, "age:daytona:+Inf": 10, "ages:daytona": 9000,
			"quota_used:daytona:cpu": 12, "quota_limit:daytona:cpu": 100,
		},
		Findings: []reconcile.FindingCount{
			{Rule: "orphan", Provider: "daytona", Open: 4, Due: 2, Oldest: at(-900)},
			{Rule: "orphan", Provider: "", Open: 1, Oldest: at(-90)},
		},
		Held: []reconcile.HeldCount{{Rule: "orphan", By: "observe", Count: 2}},
		Actions: []reconcile.ActionCount{{Rule: "orphan", Provider: "daytona", Step: "terminate", Outcome: "accepted", Count: 3},
			{Rule: "emergency", Provider: "daytona", Step: "terminate", Outcome: "pending", Count: 7}},
		Canaries: []reconcile.Canary{{ID: "2", Sandbox: "sb-2", PlantedAt: at(-300)},
			{ID: "1", Sandbox: "sb-1", PlantedAt: at(-3900), FoundAt: at(-3600), JudgedAt: at(-3540), ActedAt: at(-3530),
				GoneAt: at(-3520), GoneByUs: true}},
		Overdue: 1, Notices: 3, Spent: 17, Bytes: 1 << 20, Stamped: at(-86400),
		Leaking: []reconcile.Money{{Rule: "orphan", Provider: "daytona", Count: 2, USD: 0.16}, {Rule: "orphan", Provider: "free", Count: 1}},
		Saved:   []reconcile.Money{{Rule: "orphan", Provider: "daytona", Count: 4, USD: 3.5}, {Rule: "orphan", Provider: "free", Count: 1}},
		Counters: []reconcile.Counter{
			{Name: "passes", What: "full:complete", Value: 40}, {Name: "passes", What: "quick:incomplete", Value: 2},
			{Name: "findings_opened", Rule: "orphan", Provider: "daytona", Value: 9},
			{Name: "findings_resolved", Rule: "orphan", Provider: "daytona", Value: 5},
			{Name: "actions", Rule: "orphan", Provider: "daytona", What: "terminate:confirmed", Value: 4},
			{Name: "probes", Provider: "daytona", What: "answered", Value: 99},
			{Name: "stop_gone_seconds_bucket", Rule: "stop-ignored", Provider: "daytona", What: "10", Value: 2},
			{Name: "stop_gone_seconds_count", Rule: "stop-ignored", Provider: "daytona", Value: 2},
			{Name: "stop_gone_seconds_milli_sum", Rule: "stop-ignored", Provider: "daytona", Value: 14000},
			{Name: "deadline_gone_seconds_count", Rule: "deadline-exceeded", Provider: "daytona", Value: 1},
			{Name: "stop_asked_seconds_count", Rule: "stop-ignored", Provider: "daytona", Value: 2},
			{Name: "verdicts", Rule: "orphan", Value: 8}, {Name: "regrets", Rule: "assigned-stale", Value: 2},
			{Name: "work_after_stop", Provider: "daytona", Value: 1}, {Name: "recreations", Provider: "daytona", Value: 20},
			{Name: "recreations_back", Provider: "daytona", Value: 19}, {Name: "resumes", Value: 10},
			{Name: "resumes_worked", Value: 9},
			{Name: "tasks_ended", What: "completed", Value: 1234}, {Name: "notices", What: "told", Value: 5},
			{Name: "notifications", What: "slack-1a2b3c4d:told", Value: 3},
			{Name: "actions", Rule: "operator", Provider: "daytona", What: "terminate:confirmed", Value: 2},
			{Name: "leaks", Rule: "orphan", Provider: "daytona", Value: 6},
			{Name: "leaked_millis", Rule: "orphan", Provider: "daytona", Value: 7_200_000},
			{Name: "leaked_micros", Rule: "orphan", Provider: "daytona", Value: 160_000},
			{Name: "detection_seconds_bucket", Rule: "heartbeat-lost", Provider: "daytona", What: "900", Value: 3},
			{Name: "detection_seconds_count", Rule: "heartbeat-lost", Provider: "daytona", Value: 3},
			{Name: "repair_seconds_count", Rule: "orphan", Provider: "daytona", Value: 4},
			{Name: "gone_seconds_bucket", Rule: "orphan", Provider: "daytona", What: "2", Value: 1},
			{Name: "gone_seconds_bucket", Rule: "orphan", Provider: "daytona", What: "10", Value: 3},
			{Name: "gone_seconds_bucket", Rule: "orphan", Provider: "daytona", What: "+Inf", Value: 4},
			{Name: "gone_seconds_count", Rule: "orphan", Provider: "daytona", Value: 4},
			{Name: "gone_seconds_milli_sum", Rule: "orphan", Provider: "daytona", Value: 412500},
		},
		Sources: []reconcile.SourceSeen{
			{Name: "listing:daytona", Trusted: true, Since: at(-7200)}, {Name: "events", Since: at(-30)},
		},
		Templates: []reconcile.TemplateSeen{
			{Provider: "daytona", Name: "light", State: reconcile.TemplateActive, ExpiresAt: at(3600), LookedAt: at(-60)},
			{Provider: "daytona", Name: "heavy", State: reconcile.TemplateInactive, LookedAt: at(-60)},
		},
		Controls: reconcile.Controls{
			Modes: map[string]reconcile.Mode{"errored": reconcile.Observe, "assigned-stale": reconcile.Observe},
			Lowered: map[string]reconcile.Lowering{
				"errored":        {Attribution: reconcile.Attribution{Author: "ana"}},
				"assigned-stale": {Attribution: reconcile.Attribution{Author: reconcile.AuthorSelf}},
				"orphan":         {Attribution: reconcile.Attribution{Author: reconcile.AuthorSelf}}, // cleared since
			},
			Incidents: []reconcile.Incident{
				{ID: "i-1", Rule: "heartbeat-lost"}, {ID: "i-2", Rule: "heartbeat-lost", ReleasedAt: at(-60)},
				{ID: "i-3", Rule: "heartbeat-lost", ClosedAt: at(-60)},
			},
			Pauses:   []reconcile.Pause{{Scope: "rule:orphan"}, {Scope: "rule:orphan"}},
			Holds:    []reconcile.Hold{{Target: "task:1", At: at(-7200)}, {Target: "task:2", At: at(-60), Until: at(600)}},
			Breakers: map[string]reconcile.Breaker{"duplicate": {}},
		},
	}
}

// scrape is what a Prometheus gets: the text, and the value of each series that is ours.
func scrape(t *testing.T, h http.Handler) (string, map[string]float64) {
	t.Helper()
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	text := answer.Body.String()
	if answer.Code != http.StatusOK {
		t.Fatalf("GET /metrics = %d: %s", answer.Code, text)
	}
	found := map[string]float64{}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "sandkeeper_") {
			continue
		}
		line = strings.TrimSpace(line)
		space := strings.LastIndexByte(line, ' ')
		value, err := strconv.ParseFloat(line[space+1:], 64)
		if err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		found[strings.ReplaceAll(line[len("sandkeeper_"):space], `installation="prod",`, "")] = value
	}
	return text, found
}

// names are the metrics that the series are of.
func names(found map[string]float64) []string {
	all := map[string]bool{}
	for series := range found {
		name, _, _ := strings.Cut(series, "{")
		all[name] = true
	}
	return slices.Sorted(maps.Keys(all))
}
