package alerts

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
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
		`sandboxes_beyond_usual{installation="prod"}`:         3,
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
		`gone_seconds_bucket{provider="daytona",rule="orphan",le="1"}`:                         0,
		`gone_seconds_bucket{provider="daytona",rule="orphan",le="2"}`:                         1,
		`gone_seconds_bucket{provider="daytona",rule="orphan",le="5"}`:                         1,
		`gone_seconds_bucket{provider="daytona",rule="orphan",le="300"}`:                       3,
		`gone_seconds_bucket{provider="daytona",rule="orphan",le="+Inf"}`:                      4,
		`gone_seconds_count{provider="daytona",rule="orphan"}`:                                 4,
		`gone_seconds_sum{provider="daytona",rule="orphan"}`:                                   412.5,

		`stop_gone_seconds_bucket{provider="daytona",rule="stop-ignored",le="5"}`:            0,
		`stop_gone_seconds_bucket{provider="daytona",rule="stop-ignored",le="10"}`:           2,
		`stop_gone_seconds_sum{provider="daytona",rule="stop-ignored"}`:                      14,
		`stop_gone_seconds_count{provider="daytona",rule="stop-ignored"}`:                    2,
		`deadline_gone_seconds_bucket{provider="daytona",rule="deadline-exceeded",le="300"}`: 0,
		`deadline_gone_seconds_sum{provider="daytona",rule="deadline-exceeded"}`:             0,
		`stop_asked_seconds_bucket{provider="daytona",rule="stop-ignored",le="+Inf"}`:        2,
		`stop_asked_seconds_sum{provider="daytona",rule="stop-ignored"}`:                     0,
		`deadline_gone_seconds_count{provider="daytona",rule="deadline-exceeded"}`:           1,
		`stop_asked_seconds_count{provider="daytona",rule="stop-ignored"}`:                   2,
		`incidents{rule="heartbeat-lost"}`:                                                   2,
		`incidents{rule="assigned-stale"}`:                                                   0,
		`verdicts_total{rule="orphan"}`:                                                      8,
		`verdicts_total{rule="errored"}`:                                                     0,
		`false_positives_total{rule="assigned-stale"}`:                                       2,
		`false_positives_total{rule="orphan"}`:                                               0,
		`rule_demoted{rule="assigned-stale"}`:                                                1,
		`rule_demoted{rule="errored"}`:                                                       0,
		`rule_demoted{rule="orphan"}`:                                                        0,
		`notices_pending{installation="prod"}`:                                               3,
		`work_after_stop_total{provider="daytona"}`:                                          1,
		`work_after_stop_total{provider=""}`:                                                 0,
		`recreations_total{provider="daytona"}`:                                              20,
		`recreations_back_total{provider="daytona"}`:                                         19,
		`resumes_total{provider="daytona"}`:                                                  0,
		`resumes_total{provider=""}`:                                                         10,
		`resumes_worked_total{provider=""}`:                                                  9,

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
		`mode_lowered{mode="observe",rule="errored"}`:                             1,
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
				"template_expires_timestamp_seconds", "gone_seconds_count", "held", "paused", "actions_open"},
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
	want := []string{"build_info", "config_last_reload_timestamp_seconds", "config_reload_success", "ledger_up",
		"pass_interval_seconds", "sandboxes_limit"}
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
