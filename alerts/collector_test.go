package alerts

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// TestSeries: what the ledger says is what Prometheus gets.
func TestSeries(t *testing.T) {
	_, found := scrape(t, Handler(&desk{says: full()}, options()))
	want := map[string]float64{
		`ledger_up{installation="prod"}`:                            1,
		`config_reload_success{installation="prod"}`:                1,
		`config_last_reload_timestamp_seconds{installation="prod"}`: float64(at(-3600).Unix()),
		`pass_interval_seconds{kind="quick"}`:                       15,
		`pass_interval_seconds{kind="full"}`:                        120,
		`sandboxes_limit{level="critical"}`:                         200,
		`sandboxes_limit{level="escalate"}`:                         500,

		`last_complete_pass_timestamp_seconds{kind="quick"}`: float64(at(-10).Unix()),
		`last_complete_pass_timestamp_seconds{kind="full"}`:  float64(at(-60).Unix()),
		`last_complete_pass_duration_seconds{kind="quick"}`:  1,
		`last_complete_pass_duration_seconds{kind="full"}`:   2,
		`pass_age_seconds{kind="quick"}`:                     10,
		`pass_age_seconds{kind="full"}`:                      60,
		`passes_total{kind="full",outcome="complete"}`:       40,
		`passes_total{kind="full",outcome="incomplete"}`:     0,
		`passes_total{kind="quick",outcome="complete"}`:      0,
		`passes_total{kind="quick",outcome="incomplete"}`:    2,

		`tasks{state="running"}`:                              212,
		`tasks{state="unknown"}`:                              3,
		`tasks_ended_total{state="completed"}`:                1234,
		`tasks_ended_total{state="failed"}`:                   0,
		`tasks_ended_total{state="stopped"}`:                  0,
		`tasks_ended_total{state="deleted"}`:                  0,
		`sandboxes{provider="daytona",state="running"}`:       210,
		`sandboxes{provider="daytona",state="failed"}`:        0,
		`sandboxes{provider="eu:west",state="failed"}`:        1,
		`sandboxes_foreign{provider="daytona"}`:               7,
		`sandboxes_above_expected{installation="prod"}`:       3,
		`probes_total{outcome="answered",provider="daytona"}`: 99,

		`findings{provider="daytona",rule="orphan"}`:                4,
		`findings{provider="",rule="orphan"}`:                       1,
		`findings{provider="daytona",rule="duplicate"}`:             0,
		`findings_due{provider="daytona",rule="orphan"}`:            2,
		`findings_due{provider="",rule="orphan"}`:                   0,
		`finding_oldest_age_seconds{rule="orphan"}`:                 900,
		`findings_opened_total{provider="daytona",rule="orphan"}`:   9,
		`findings_opened_total{provider="daytona",rule="errored"}`:  0,
		`findings_opened_total{provider="",rule="assigned-stale"}`:  0,
		`findings_resolved_total{provider="daytona",rule="orphan"}`: 5,
		`held{by="observe",rule="orphan"}`:                          2,

		`actions_total{outcome="confirmed",provider="daytona",rule="orphan",step="terminate"}`: 4,
		`actions_total{outcome="failed",provider="daytona",rule="orphan",step="terminate"}`:    0,
		`actions_total{outcome="done",provider="",rule="assigned-stale",step="fail"}`:          0,
		`actions_open{outcome="accepted",provider="daytona",rule="orphan",step="terminate"}`:   3,
		`terminations_overdue{installation="prod"}`:                                            1,
		`terminate_confirmation_seconds_bucket{provider="daytona",rule="orphan",le="1"}`:       0,
		`terminate_confirmation_seconds_bucket{provider="daytona",rule="orphan",le="2"}`:       1,
		`terminate_confirmation_seconds_bucket{provider="daytona",rule="orphan",le="5"}`:       1,
		`terminate_confirmation_seconds_bucket{provider="daytona",rule="orphan",le="300"}`:     3,
		`terminate_confirmation_seconds_bucket{provider="daytona",rule="orphan",le="+Inf"}`:    4,
		`terminate_confirmation_seconds_count{provider="daytona",rule="orphan"}`:               4,
		`terminate_confirmation_seconds_sum{provider="daytona",rule="orphan"}`:                 412.5,

		`stop_confirmation_seconds_bucket{provider="daytona",rule="stop-ignored",le="5"}`:            0,
		`stop_confirmation_seconds_bucket{provider="daytona",rule="stop-ignored",le="10"}`:           2,
		`stop_confirmation_seconds_sum{provider="daytona",rule="stop-ignored"}`:                      14,
		`stop_confirmation_seconds_count{provider="daytona",rule="stop-ignored"}`:                    2,
		`deadline_confirmation_seconds_bucket{provider="daytona",rule="deadline-exceeded",le="300"}`: 0,
		`deadline_confirmation_seconds_sum{provider="daytona",rule="deadline-exceeded"}`:             0,
		`stop_request_seconds_bucket{provider="daytona",rule="stop-ignored",le="+Inf"}`:              2,
		`stop_request_seconds_sum{provider="daytona",rule="stop-ignored"}`:                           0,
		`deadline_confirmation_seconds_count{provider="daytona",rule="deadline-exceeded"}`:           1,
		`stop_request_seconds_count{provider="daytona",rule="stop-ignored"}`:                         2,
		`incidents{provider="",rule="heartbeat-lost"}`:                                               2,
		`incidents{provider="",rule="assigned-stale"}`:                                               0,
		`verdicts_total{rule="orphan"}`:                                                              8,
		`verdicts_total{rule="errored"}`:                                                             0,
		`false_positives_total{rule="assigned-stale"}`:                                               2,
		`rule_auto_disabled{rule="assigned-stale"}`:                                                  1,
		`notices_pending{installation="prod"}`:                                                       3,
		`work_after_stop_total{provider="daytona"}`:                                                  1,
		`work_after_stop_total{provider=""}`:                                                         0,
		`recreations_total{provider="daytona"}`:                                                      20,
		`recreations_succeeded_total{provider="daytona"}`:                                            19,
		`resumes_total{provider="daytona"}`:                                                          0,
		`resumes_total{provider=""}`:                                                                 10,
		`resumes_succeeded_total{provider=""}`:                                                       9,

		`canary_limit_seconds{installation="prod"}`:                                         1200,
		`canary_age_seconds{installation="prod"}`:                                           300,
		`canary_caught_timestamp_seconds{installation="prod"}`:                              float64(at(-3520).Unix()),
		`canary_stage_seconds{stage="detection"}`:                                           300,
		`canary_stage_seconds{stage="judgement"}`:                                           60,
		`canary_stage_seconds{stage="termination"}`:                                         10,
		`canary_stage_seconds{stage="confirmation"}`:                                        10,
		`canary_failed{installation="prod"}`:                                                0,
		`alert_threshold{alert="SandkeeperSystemicFailure",installation="prod"}`:            5,
		`hourly_budget_limit{installation="prod"}`:                                          200,
		`hourly_budget_left{installation="prod"}`:                                           183,
		`hourly_budget_used{installation="prod"}`:                                           17,
		`rule_mode{mode="enforce",rule="orphan"}`:                                           1,
		`rule_proven{by="off",rule="orphan"}`:                                               1,
		`rule_mode{mode="observe",rule="capacity"}`:                                         1,
		`ledger_bytes{installation="prod"}`:                                                 1 << 20,
		`ledger_created_timestamp_seconds{installation="prod"}`:                             float64(at(-86400).Unix()),
		`sandbox_age_seconds_bucket{provider="daytona",le="60"}`:                            4,
		`sandbox_age_seconds_bucket{provider="daytona",le="300"}`:                           4,
		`sandbox_age_seconds_bucket{provider="daytona",le="86400"}`:                         9,
		`sandbox_age_seconds_sum{provider="daytona"}`:                                       9000,
		`sandbox_age_seconds_count{provider="daytona"}`:                                     10,
		`provider_quota_used{provider="daytona",quota="cpu"}`:                               12,
		`provider_quota_limit{provider="daytona",quota="cpu"}`:                              100,
		`provider_quota_left{provider="daytona",quota="cpu"}`:                               88,
		`leaks_total{provider="daytona",rule="orphan"}`:                                     6,
		`leaks_total{provider="daytona",rule="duplicate"}`:                                  0,
		`leaked_sandbox_seconds_total{provider="daytona",rule="orphan"}`:                    7200,
		`leaked_usd_total{provider="daytona",rule="orphan"}`:                                0.16,
		`leaking_sandboxes{provider="free",rule="orphan"}`:                                  1,
		`leaking_usd_per_hour{provider="daytona",rule="orphan"}`:                            0.16,
		`saved_last_day_usd{provider="daytona",rule="orphan"}`:                              3.5,
		`operator_requests_total{outcome="confirmed",step="terminate"}`:                     2,
		`operator_requests_open{step="terminate"}`:                                          7,
		`notices_total{outcome="told"}`:                                                     5,
		`notifications_total{outcome="told",receiver="slack-1a2b3c4d"}`:                     3,
		`notices_total{outcome="given-up"}`:                                                 0,
		`holds_without_end{installation="prod"}`:                                            1,
		`hold_without_end_oldest_timestamp_seconds{installation="prod"}`:                    float64(at(-7200).Unix()),
		`hold_next_end_timestamp_seconds{installation="prod"}`:                              float64(at(600).Unix()),
		`detection_delay_seconds_bucket{provider="daytona",rule="heartbeat-lost",le="300"}`: 0,
		`detection_delay_seconds_bucket{provider="daytona",rule="heartbeat-lost",le="900"}`: 3,
		`detection_delay_seconds_sum{provider="daytona",rule="heartbeat-lost"}`:             0,
		`detection_delay_seconds_count{provider="daytona",rule="heartbeat-lost"}`:           3,
		`detection_to_repair_seconds_bucket{provider="daytona",rule="orphan",le="3600"}`:    0,
		`detection_to_repair_seconds_sum{provider="daytona",rule="orphan"}`:                 0,
		`detection_to_repair_seconds_count{provider="daytona",rule="orphan"}`:               4,

		`source_trusted{source="listing:daytona"}`:                                1,
		`source_trusted{source="events"}`:                                         0,
		`source_since_timestamp_seconds{source="events"}`:                         float64(at(-30).Unix()),
		`template_state{provider="daytona",state="active",template="light"}`:      1,
		`template_state{provider="daytona",state="inactive",template="heavy"}`:    1,
		`template_expires_timestamp_seconds{provider="daytona",template="light"}`: float64(at(3600).Unix()),
		`breaker_open{rule="duplicate"}`:                                          1,
		`breaker_open{rule="orphan"}`:                                             0,
		`paused{scope="rule:orphan"}`:                                             1,
		`holds{installation="prod"}`:                                              2,
		`rule_mode_lowered{mode="observe",rule="errored"}`:                        1,
	}
	for series, value := range want {
		if got, ok := found[series]; !ok || got != value {
			t.Errorf("%s = %v (there: %v), want %v", series, got, ok, value)
		}
	}
	for _, name := range names(found) {
		tried := func(series string) bool { return strings.HasPrefix(series, name+"{") }
		if name != "build_info" && !slices.ContainsFunc(slices.Collect(maps.Keys(want)), tried) {
			t.Errorf("%s is exported and not tried here", name)
		}
	}
}

// TestSeriesThatCannotBe are not exported as zeroes: of a rule that is off, only observes or only reports, of a fleet that
// gets no verdict, of money where nobody knows the price.
func TestSeriesThatCannotBe(t *testing.T) {
	m := full()
	m.Counters, m.Controls = nil, reconcile.Controls{}
	o := options()
	policy := o.Policy()
	policy.Rules["duplicate"] = reconcile.RulePolicy{Mode: reconcile.Observe, Remedy: reconcile.Terminate}
	policy.Rules["heartbeat-lost"] = reconcile.RulePolicy{Mode: reconcile.Observe, Remedy: reconcile.Fail}
	policy.Rules["stop-ignored"] = reconcile.RulePolicy{Mode: reconcile.Observe, Remedy: reconcile.Report}
	policy.Providers["free"] = reconcile.ProviderPolicy{}
	o.Policy = func() reconcile.Policy { return policy }
	_, found := scrape(t, Handler(&desk{says: m}, o))
	for series, there := range map[string]bool{
		`findings_opened_total{provider="daytona",rule="orphan"}`:                                     true,
		`findings_opened_total{provider="",rule="orphan"}`:                                            false, // it is at a provider
		`findings_opened_total{provider="",rule="assigned-stale"}`:                                    true,
		`findings_opened_total{provider="daytona",rule="over-age"}`:                                   false, // off
		`findings_opened_total{provider="daytona",rule="duplicate"}`:                                  true,
		`actions_total{outcome="done",provider="",rule="assigned-stale",step="fail"}`:                 true,
		`actions_total{outcome="done",provider="",rule="assigned-stale",step="requeue"}`:              false, // another remedy
		`actions_total{outcome="confirmed",provider="daytona",rule="duplicate",step="terminate"}`:     false, // it observes
		`actions_total{outcome="confirmed",provider="daytona",rule="pending-stuck",step="terminate"}`: false, // it reports
		`leaked_usd_total{provider="daytona",rule="orphan"}`:                                          true,
		`leaked_usd_total{provider="free",rule="orphan"}`:                                             false, // no price
		`leaking_usd_per_hour{provider="free",rule="orphan"}`:                                         false,
		`leaks_total{provider="daytona",rule="errored"}`:                                              false, // a failure, no leak
		`false_positives_total{rule="orphan"}`:                                                        false, // cannot come back
		`verdicts_total{rule="duplicate"}`:                                                            true,  // also where it observes
		`verdicts_total{rule="pending-stuck"}`:                                                        false, // it reports
		`verdicts_total{rule="systemic"}`:                                                             false, // of the fleet
		`breaker_open{rule="orphan"}`:                                                                 true,
		`breaker_open{rule="duplicate"}`:                                                              false,
		`breaker_open{rule="pending-stuck"}`:                                                          false,
		`breaker_open{rule="template-unusable"}`:                                                      false,
		`incidents{provider="",rule="assigned-stale"}`:                                                true,
		`incidents{provider="",rule="looping"}`:                                                       false,
		`rule_auto_disabled{rule="assigned-stale"}`:                                                   true,
		`rule_auto_disabled{rule="heartbeat-lost"}`:                                                   false, // it observes
		`false_positives_total{rule="heartbeat-lost"}`:                                                true,
		`resumes_total{provider=""}`:                                                                  false, // a sandbox is at one
		`recreations_total{provider=""}`:                                                              true,  // a task may be at any
		`leaks_total{provider="daytona",rule="stop-ignored"}`:                                         false, // it reports here
	} {
		if _, ok := found[series]; ok != there {
			t.Errorf("%s is there: %t, want %t", series, ok, there)
		}
	}
}

// TestSeriesOfNoTasks: an installation that knows no tasks has no series of them.
func TestSeriesOfNoTasks(t *testing.T) {
	o := options()
	policy := o.Policy()
	policy.Tasks = reconcile.TasksPolicy{None: true}
	o.Policy = func() reconcile.Policy { return policy }
	_, found := scrape(t, Handler(&desk{says: reconcile.Measures{Now: noon}}, o))
	for _, name := range []string{"tasks_ended_total", "work_after_stop_total", "recreations_total", "recreations_succeeded_total"} {
		if slices.Contains(names(found), name) {
			t.Errorf("%s is exported", name)
		}
	}
	if !slices.Contains(names(found), "resumes_total") {
		t.Error("the sandboxes have no series either")
	}
}

// TestBounded: what a platform or a provider makes up, ids and names without end, makes no series without end.
func TestBounded(t *testing.T) {
	m := full()
	for i := range 5000 {
		id := strconv.Itoa(i)
		m.Sources = append(m.Sources, reconcile.SourceSeen{Name: reconcile.OfTenant("events", id)})
		m.Templates = append(m.Templates, reconcile.TemplateSeen{Provider: "daytona", Name: id, LookedAt: noon})
		m.Shielded = append(m.Shielded, reconcile.Shielded{Tenant: id, By: "freeze", Count: 1})
		m.Controls.Holds = append(m.Controls.Holds, reconcile.Hold{Target: "task:" + id, At: noon})
	}
	o := options()
	o.Local = NewLocal()
	for i := range 5000 {
		o.Local.Request("daytona", "get "+strconv.Itoa(i), "200", time.Second)
		o.Local.Waited("daytona", time.Second)
	}
	o.Local.Phase("full", "listing", time.Second)
	text, found := scrape(t, Handler(&desk{says: m}, o))
	if len(found) > 2500 || len(text) > 200_000 {
		t.Errorf("%d series in %d bytes, want at most 2,500 and 200,000", len(found), len(text))
	}
	if got := found[`provider_requests_total{call="other",code="200",provider="daytona"}`]; got != 4960 {
		t.Errorf("%v calls are counted as other, want 4960", got)
	}
	if got := found[`pass_phase_seconds_count{kind="full",phase="listing"}`]; got != 1 {
		t.Errorf("the phase was seen %v times", got)
	}
}

// TestFile: what is written for the node exporter says when, and has no age that would never grow.
func TestFile(t *testing.T) {
	o := options()
	o.Written, o.Local = noon, NewLocal()
	o.Local.Request("daytona", "list", "429", time.Second)
	file := filepath.Join(t.TempDir(), "sandkeeper.prom")
	if err := Write(file, &desk{says: full()}, o); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var printed bytes.Buffer
	if err := Print(&printed, &desk{says: full()}, o); err != nil {
		t.Fatal(err)
	}
	for want, there := range map[string]bool{
		`sandkeeper_metrics_written_timestamp_seconds{installation="prod"} 1.7`: true,
		`sandkeeper_last_complete_pass_timestamp_seconds{`:                      true,
		`sandkeeper_pass_age_seconds`:                                           false,
		"go_goroutines":                                                         false,
		`sandkeeper_provider_requests_total{call="list",code="429",installation="prod",provider="daytona"} 1`: true,
	} {
		if strings.Contains(string(written), want) != there || strings.Contains(printed.String(), want) != there {
			t.Errorf("%s is there: file %t, print %t, want %t", want, strings.Contains(string(written), want),
				strings.Contains(printed.String(), want), there)
		}
	}
	promtool(t, string(written), "check", "metrics")
	if err := Write(filepath.Join(t.TempDir(), "none", "x.prom"), &desk{says: full()}, o); err == nil {
		t.Error("no error for a folder that is not there")
	}
}

// TestAbsent: what was not measured is absent, never 0, and what was measured is not absent.
func TestAbsent(t *testing.T) {
	counted := func(counts map[string]int, trusted bool) reconcile.Measures {
		return reconcile.Measures{Now: noon, Counts: counts,
			Sources: []reconcile.SourceSeen{{Name: "listing:daytona", Trusted: trusted}}}
	}
	looked := func(seconds int) reconcile.Measures {
		return reconcile.Measures{Now: noon, Templates: []reconcile.TemplateSeen{
			{Provider: "daytona", Name: "light", State: reconcile.TemplateInactive, ExpiresAt: noon, LookedAt: at(seconds)}}}
	}
	for name, c := range map[string]struct {
		says    reconcile.Measures
		there   []string
		missing []string // a name alone stands for all its series
	}{
		"an empty ledger": {
			says:  reconcile.Measures{Now: noon},
			there: []string{`terminations_overdue{installation="prod"}`, `passes_total{kind="full",outcome="complete"}`},
			missing: []string{"last_complete_pass_timestamp_seconds", "last_complete_pass_duration_seconds", "pass_age_seconds",
				"tasks", "sandboxes", "sandboxes_foreign", "finding_oldest_age_seconds", "source_trusted", "template_state",
				"template_expires_timestamp_seconds", "terminate_confirmation_seconds_count", "held", "paused", "actions_open"},
		},
		"only quick passes were complete": {
			says: reconcile.Measures{Now: noon, Passes: map[reconcile.PassKind]reconcile.PassSeen{
				reconcile.Quick: {BeganAt: at(-2), EndedAt: at(-1)}}},
			there:   []string{`pass_age_seconds{kind="quick"}`},
			missing: []string{`pass_age_seconds{kind="full"}`, `last_complete_pass_timestamp_seconds{kind="full"}`},
		},
		"a pass of the next minute": {
			says: reconcile.Measures{Now: noon, Passes: map[reconcile.PassKind]reconcile.PassSeen{
				reconcile.Full: {BeganAt: at(59), EndedAt: at(60)}}},
			there: []string{`pass_age_seconds{kind="full"}`, `last_complete_pass_timestamp_seconds{kind="full"}`},
		},
		"a pass of the future": {
			says: reconcile.Measures{Now: noon, Passes: map[reconcile.PassKind]reconcile.PassSeen{
				reconcile.Full: {BeganAt: at(59), EndedAt: at(61)}}},
			there:   []string{`last_complete_pass_timestamp_seconds{kind="full"}`},
			missing: []string{"pass_age_seconds"},
		},
		"a provider left the config": {
			says: reconcile.Measures{Now: noon,
				Sources: []reconcile.SourceSeen{{Name: "listing:old", Since: at(-60)}, {Name: "probes:daytona", Since: at(-60)}, {Name: "tasks"}},
				Templates: []reconcile.TemplateSeen{
					{Provider: "old", Name: "x", State: reconcile.TemplateInactive, ExpiresAt: noon, LookedAt: noon},
					{Provider: "daytona", Name: "x", State: reconcile.TemplateInactive, ExpiresAt: noon, LookedAt: noon}}},
			there: []string{`source_trusted{source="probes:daytona"}`, `source_since_timestamp_seconds{source="probes:daytona"}`,
				`source_trusted{source="tasks"}`, `template_state{provider="daytona",state="inactive",template="x"}`,
				`template_expires_timestamp_seconds{provider="daytona",template="x"}`},
			missing: []string{`source_trusted{source="listing:old"}`, `source_since_timestamp_seconds{source="listing:old"}`,
				`template_state{provider="old",state="inactive",template="x"}`, `findings{provider="old",rule="orphan"}`,
				`template_expires_timestamp_seconds{provider="old",template="x"}`},
		},
		"tasks were measured, the provider was not": {
			says:    counted(map[string]int{"tasks:running": 0}, true),
			there:   []string{`tasks{state="running"}`},
			missing: []string{"sandboxes", "sandboxes_foreign"},
		},
		"the listing is whole and empty": {
			says:  counted(map[string]int{"owned:daytona": 0, "foreign:daytona": 0}, true),
			there: []string{`sandboxes{provider="daytona",state="running"}`, `sandboxes_foreign{provider="daytona"}`},
		},
		"the listing is empty and nobody trusts it": {
			says:    counted(map[string]int{"owned:daytona": 0, "foreign:daytona": 0}, false),
			there:   []string{`sandboxes_foreign{provider="daytona"}`},
			missing: []string{"sandboxes", "tasks"},
		},
		"a template was looked at as long ago as a pass may be": {
			says:  looked(-480),
			there: []string{`template_state{provider="daytona",state="inactive",template="light"}`},
		},
		"a template was looked at longer ago": {
			says: looked(-481), missing: []string{"template_state", "template_expires_timestamp_seconds"},
		},
		"a template never expires": {
			says:    reconcile.Measures{Now: noon, Templates: []reconcile.TemplateSeen{{Provider: "daytona", Name: "x", LookedAt: noon}}},
			there:   []string{`template_state{provider="daytona",state="unknown",template="x"}`},
			missing: []string{"template_expires_timestamp_seconds"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, found := scrape(t, Handler(&desk{says: c.says}, options()))
			for _, series := range c.there {
				if _, ok := found[series]; !ok {
					t.Errorf("%s is absent", series)
				}
			}
			for _, series := range c.missing {
				if got, ok := found[series]; ok || slices.Contains(names(found), series) {
					t.Errorf("%s = %v, want it absent", series, got)
				}
			}
		})
	}
}

// TestLedgerDown: all that the ledger knows is absent, the rest is still served.
func TestLedgerDown(t *testing.T) {
	var log bytes.Buffer
	o := options()
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	text, found := scrape(t, Handler(&desk{says: full(), err: errors.New("connection refused")}, o))
	want := []string{"alert_threshold", "build_info", "canary_limit_seconds", "config_last_reload_timestamp_seconds", "config_reload_success", "hourly_budget_limit",
		"ledger_up", "pass_interval_seconds", "rule_mode", "sandboxes_limit"}
	if got := names(found); !slices.Equal(got, want) {
		t.Errorf("series = %v, want %v", got, want)
	}
	if up := found[`ledger_up{installation="prod"}`]; up != 0 {
		t.Errorf("ledger_up = %v, want 0", up)
	}
	if !strings.Contains(text, "\ngo_goroutines ") || !strings.Contains(text, "\nprocess_start_time_seconds ") {
		t.Error("the runtime and the process are not served")
	}
	if !strings.Contains(log.String(), "connection refused") {
		t.Errorf("the log does not say why: %q", log.String())
	}
}

// TestWithoutConfig: serve without a reload, and nobody who knows the policy.
func TestWithoutConfig(t *testing.T) {
	_, found := scrape(t, Handler(&desk{says: full()}, Options{}))
	for series, want := range map[string]float64{
		`pass_interval_seconds{kind="quick"}`: 15, `pass_interval_seconds{kind="full"}`: 120,
		`ledger_up`: 1,
	} {
		if got, ok := found[series]; !ok || got != want {
			t.Errorf("%s = %v (there: %v), want %v", series, got, ok, want)
		}
	}
	if slices.Contains(names(found), "config_reload_success") {
		t.Error("a reload is reported that there never was")
	}
}

// TestRefusedAtTheDoor: what the page refused is counted, where anybody counts.
func TestRefusedAtTheDoor(t *testing.T) {
	_, found := scrape(t, Handler(&desk{says: full()}, Options{Refused: func() (int64, int64) { return 3, 2 }}))
	if found[`web_refused_total{why="login"}`] != 3 || found[`web_refused_total{why="host"}`] != 2 {
		t.Errorf("refused = %v", found)
	}
}

// TestNoLimit: without a rule, or without its numbers, no number of sandboxes is too large. A
// limit of 0 would have the alerts fire at the first sandbox.
func TestNoLimit(t *testing.T) {
	for name, c := range map[string]struct {
		rule reconcile.RulePolicy
		want []string
	}{
		"the rule is off":    {reconcile.RulePolicy{Mode: reconcile.Off, Critical: 20, Escalate: 50}, nil},
		"nothing is set":     {reconcile.RulePolicy{Mode: reconcile.Observe, Quota: 80}, nil},
		"only critical":      {reconcile.RulePolicy{Mode: reconcile.Observe, Critical: 20}, []string{"critical"}},
		"only escalate":      {reconcile.RulePolicy{Mode: reconcile.Enforce, Escalate: 50}, []string{"escalate"}},
		"there is no config": {},
	} {
		o := options()
		p := o.Policy()
		p.Rules["capacity"] = c.rule
		o.Policy = func() reconcile.Policy { return p }
		if name == "there is no config" {
			o.Policy = nil
		}
		_, found := scrape(t, Handler(&desk{says: full()}, o))
		for _, level := range []string{"critical", "escalate"} {
			if _, there := found[`sandboxes_limit{level="`+level+`"}`]; there != slices.Contains(c.want, level) {
				t.Errorf("%s: the limit %s is there: %t", name, level, there)
			}
		}
	}
}

// TestHostileLabels: a name that a platform or a provider made up spoils nothing.
func TestHostileLabels(t *testing.T) {
	long := strings.Repeat("é", 5000)
	m := full()
	m.Templates = []reconcile.TemplateSeen{
		{Provider: "daytona", Name: "bad\xff\n\"}", State: reconcile.TemplateFailed, LookedAt: noon},
		{Provider: "daytona", Name: "bad\xfe\n\"}", State: reconcile.TemplateFailed, LookedAt: noon},
		{Provider: "daytona", Name: long, State: reconcile.TemplateMissing, LookedAt: noon},
	}
	m.Counters = append(m.Counters, reconcile.Counter{Name: "probes", Provider: "\xff", What: "x", Value: 3},
		reconcile.Counter{Name: "probes", Provider: "\xfe", What: "x", Value: 5})
	var log bytes.Buffer
	o := options()
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	_, found := scrape(t, Handler(&desk{says: m}, o))
	want := map[string]float64{
		`template_state{provider="daytona",state="failed",template="bad� \"}"}`:                           1,
		`template_state{provider="daytona",state="missing",template="` + strings.Repeat("é", 128) + `…"}`: 1,
		`probes_total{outcome="x",provider="�"}`:                                                          5,
	}
	for series, value := range want {
		if got, ok := found[series]; !ok || got != value {
			t.Errorf("%s = %v (there: %v), want %v", series, got, ok, value)
		}
	}
	if log.Len() > 0 {
		t.Errorf("the scrape complains: %s", log.String())
	}
}

// TestManyTemplates: at most 100, and those that matter most.
func TestManyTemplates(t *testing.T) {
	m := reconcile.Measures{Now: noon}
	for i := range 150 {
		name := string(rune('a'+i/26)) + string(rune('a'+i%26))
		m.Templates = append(m.Templates, reconcile.TemplateSeen{Provider: "daytona", Name: name, State: reconcile.TemplateActive, LookedAt: noon})
	}
	m.Templates = append(m.Templates,
		reconcile.TemplateSeen{Provider: "daytona", Name: "zz-soon", State: reconcile.TemplateActive, ExpiresAt: at(9), LookedAt: noon},
		reconcile.TemplateSeen{Provider: "daytona", Name: "zz-broken", State: reconcile.TemplateFailed, LookedAt: noon})
	_, found := scrape(t, Handler(&desk{says: m}, options()))
	n := 0
	for series := range found {
		if strings.HasPrefix(series, "template_state{") {
			n++
		}
	}
	if n != 100 {
		t.Errorf("%d templates, want 100", n)
	}
	for _, series := range []string{
		`template_state{provider="daytona",state="active",template="zz-soon"}`, `template_state{provider="daytona",state="failed",template="zz-broken"}`,
	} {
		if _, ok := found[series]; !ok {
			t.Errorf("%s is absent", series)
		}
	}
}

// A slow ledger answers when it is released, whatever its context says.
type slow struct {
	desk
	release chan struct{}
}

func (s *slow) Measures(ctx context.Context) (reconcile.Measures, error) {
	m, err := s.desk.Measures(ctx)
	<-s.release
	return m, err
}

// gather makes one scrape and reports whether the ledger was up.
func gather(t *testing.T, own *prometheus.Registry) bool {
	t.Helper()
	found, err := own.Gather()
	if err != nil {
		t.Error(err)
	}
	for _, family := range found {
		if family.GetName() == "sandkeeper_ledger_up" {
			return family.GetMetric()[0].GetGauge().GetValue() == 1
		}
	}
	t.Error("sandkeeper_ledger_up is absent")
	return false
}

// TestDeadline: a scrape does not wait for a ledger that does not answer, and the next one
// does not pile up another reading.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{desk: desk{says: full()}, release: make(chan struct{})}
		own := prometheus.NewRegistry()
		own.MustRegister(NewCollector(s, options()))
		for range 3 {
			began := time.Now()
			if gather(t, own) {
				t.Error("up without an answer")
			}
			if waited := time.Since(began); waited != 5*time.Second {
				t.Errorf("waited %s, want 5s", waited)
			}
		}
		if n := s.count(); n != 1 {
			t.Errorf("%d readings under way, want 1", n)
		}
		close(s.release)
		synctest.Wait()
		if !gather(t, own) {
			t.Error("not up although it answers again")
		}
	})
}

// TestShared: scrapes at the same time read the ledger once, later ones anew.
func TestShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{desk: desk{says: full()}, release: make(chan struct{})}
		own := prometheus.NewRegistry()
		own.MustRegister(NewCollector(s, options()))
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				if !gather(t, own) {
					t.Error("not up")
				}
			})
		}
		synctest.Wait()
		close(s.release)
		all.Wait()
		if n := s.count(); n != 1 {
			t.Errorf("five scrapes made %d readings, want 1", n)
		}
		gather(t, own)
		if n := s.count(); n != 2 {
			t.Errorf("one more scrape made it %d readings, want 2", n)
		}
	})
}
