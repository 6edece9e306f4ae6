package main

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/result"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/backtest"
)

// omoiosPast is a history with a known truth, a task every half an hour, so that they are seldom beside each other:
// 400 completed, of which 40 were once silent for 2 minutes between two heartbeats, and 20 waited for 5 minutes
// for a start; 10 that died and were failed a quarter of an hour later; 6 that somebody cancelled and 4 that
// sandkeeper failed in just such a silence.
const omoiosPast = `
WITH made AS (
	SELECT n, 'past-' || lpad(n::text, 4, '0') AS id, now() - interval '20 days' + n * interval '30 minutes' AS at
	FROM generate_series(1, 420) AS n
), told AS (
	SELECT m.*, at + CASE WHEN n % 20 = 7 AND n <= 400 THEN interval '5 minutes' ELSE interval '1 minute' END AS began FROM made AS m
), rows AS (
	INSERT INTO program.tasks (id, status, sandbox_id, created_at, started_at, completed_at, updated_at, error_message, task_type)
	SELECT id, CASE WHEN n <= 400 THEN 'completed' ELSE 'failed' END, 'box-' || n, at, began,
		began + CASE WHEN n <= 400 THEN interval '10 minutes' ELSE interval '17 minutes' END, now(),
		CASE WHEN n > 416 THEN 'worker fell silent [sandkeeper a-1]' WHEN n > 410 THEN 'Task cancelled: by ana' END,
		CASE WHEN n % 2 = 0 THEN 'implement' ELSE 'review' END
	FROM told
)
INSERT INTO program.sandbox_events (sandbox_id, event_type, created_at)
SELECT 'box-' || n, CASE WHEN k = 0 THEN 'agent.started' ELSE 'agent.heartbeat' END, began + k * interval '30 seconds'
FROM told, generate_series(0, 20) AS k
WHERE CASE WHEN n > 400 THEN k <= 4 WHEN n % 10 = 3 THEN k NOT IN (8, 9, 10) ELSE true END`

func (a *arena) backtest(args ...string) map[string]result.BacktestRule {
	a.Helper()
	var got result.Backtest
	if err := json.Unmarshal([]byte(a.must(append([]string{"backtest", "-o", "json"}, args...)...)), &got); err != nil {
		a.Fatal(err)
	}
	out := map[string]result.BacktestRule{}
	for _, r := range got.Rules {
		if _, twice := out[r.Rule+" "+r.Class]; twice {
			a.Errorf("two lines of %s, %s", r.Rule, r.Class)
		}
		out[r.Rule+" "+r.Class] = r
	}
	return out
}

// TestBacktestOfOmoios: a history whose truth is known, on the platform's real tables, read by a login that may not
// write and before there is a ledger.
func TestBacktestOfOmoios(t *testing.T) {
	a := newArena(t, settings{})
	a.sql(omoiosPast)
	a.configure(settings{dsn: a.dsn + "&default_transaction_read_only=on"})
	got := a.backtest()
	for _, name := range reconcile.RuleNames {
		if r := got[name+" all"]; r.Rule == "" || r.Reason == "" {
			t.Errorf("%s: %+v, want a line with a reason", name, r)
		}
	}
	silent := got["heartbeat-lost all"]
	if silent.Samples != 400 || silent.FalsePositives != 40 || silent.Proven ||
		math.Abs(silent.Upper-backtest.Upper(40, 400)) > 1e-9 {
		t.Errorf("heartbeat-lost: %+v", silent)
	}
	if silent.After != 90 || silent.Suggested == nil || *silent.Suggested != 121 || silent.Measured.P50 != 30 || silent.Measured.Max != 120 {
		t.Errorf("heartbeat-lost at %v: suggested %v, measured %+v", silent.After, silent.Suggested, silent.Measured)
	}
	if silent.Delay.P50 < 90 || silent.Delay.P50 > 91 || silent.Delay.P99 > 91 {
		t.Errorf("the dead are found after %+v", silent.Delay)
	}
	for class, wrong := range map[string]int{"task.task_type=implement": 0, "task.task_type=review": 40} {
		if r := got["heartbeat-lost "+class]; r.Samples != 200 || r.FalsePositives != wrong {
			t.Errorf("%s: %+v", class, r)
		}
	}
	if r := got["assigned-stale all"]; r.Samples != 400 || r.FalsePositives != 20 || r.Measured.Max != 300 {
		t.Errorf("assigned-stale: %+v", r)
	}
	if r := got["finished-lingering all"]; r.Samples < 400 || r.FalsePositives != 0 || !r.Proven {
		t.Errorf("finished-lingering: %+v", r)
	}
	if r := got["orphan all"]; r.Samples != 0 || r.Proven || r.Suggested != nil {
		t.Errorf("orphan: %+v", r)
	}
	a.backtestWordsAndPicture()
}

// backtestWordsAndPicture asks for the other forms of the same history.
func (a *arena) backtestWordsAndPicture() {
	a.Helper()
	text := a.must("backtest", "--rule", "heartbeat-lost", "--share", "100")
	for _, want := range []string{"420 finished tasks and ", "40 of 400 completed tasks were silent for longer than 1m30s",
		"2m1s would do"} {
		if !strings.Contains(text, want) {
			a.Errorf("backtest does not say %q:\n%s", want, text)
		}
	}
	picture := a.must("backtest", "-o", "svg")
	var svg struct {
		Panels []struct {
			Texts []string   `xml:"text"`
			Lines []struct{} `xml:"polyline"`
		} `xml:"g"`
	}
	if err := xml.Unmarshal([]byte(picture), &svg); err != nil {
		a.Fatalf("the picture is no XML: %v\n%s", err, picture)
	}
	i := slices.IndexFunc(svg.Panels, func(p struct {
		Texts []string   `xml:"text"`
		Lines []struct{} `xml:"polyline"`
	}) bool {
		return p.Texts[0] == "heartbeat-lost"
	})
	if i < 0 || len(svg.Panels[i].Lines) != 3 || !slices.Contains(svg.Panels[i].Texts, "1m30s set") ||
		!slices.Contains(svg.Panels[i].Texts, "2m1s keeps the bound") {
		a.Errorf("the picture of heartbeat-lost has no curves or no marks:\n%s", picture)
	}
	if lines := a.must("tune", "--apply"); !strings.Contains(lines, "rules:\n") ||
		!strings.Contains(lines, "  heartbeat-lost: {after: 2m1s} # was 1m30s; 0.1 hours more of dead work\n") {
		a.Errorf("tune --apply:\n%s", lines)
	}
	var tuned result.Tune
	if err := json.Unmarshal([]byte(a.must("tune", "-o", "json", "--rule", "heartbeat-lost")), &tuned); err != nil || len(tuned.Rules) != 1 {
		a.Fatalf("tune: %+v, %v", tuned, err)
	}
	for i, p := range tuned.Rules[0].Frontier {
		if i > 0 && (p.FalsePositives > tuned.Rules[0].Frontier[i-1].FalsePositives || p.DeadHours < tuned.Rules[0].Frontier[i-1].DeadHours) {
			a.Errorf("a longer threshold must find fewer and later: %+v", tuned.Rules[0].Frontier)
		}
	}
	if text := a.must("tune"); !strings.Contains(text, "keeps the bound") || !strings.Contains(text, "set now") ||
		strings.Contains(text, "$") || tuned.Rules[0].Frontier[0].Cost != nil {
		a.Errorf("tune, where no provider has a price:\n%s", text)
	}
	a.refuses(`--rule hartbeat-lost: did you mean "heartbeat-lost"?`, "backtest", "--rule", "hartbeat-lost")
	a.refuses("--share 0: it is a percentage, from 1 to 100", "backtest", "--share", "0")
}

// TestProofIsShown: check and report say of the rules that act whether the history proves them.
func TestProofIsShown(t *testing.T) {
	a := newArena(t, settings{rules: "{pending-stuck: {mode: observe}}"})
	a.must("migrate")
	if out := a.must("check"); !strings.Contains(out, "ok    tasks: history: no finished task tells") {
		t.Errorf("check of a new platform:\n%s", out)
	}
	a.sql(omoiosPast)
	out := a.must("check")
	for _, want := range []string{
		"warn  tasks: proof of heartbeat-lost: not proven on your history: 40 of 400 completed tasks were silent for longer than 1m30s",
		"rules: {heartbeat-lost: {after: 2m1s}}", "ok    tasks: proof of finished-lingering: proven on your history"} {
		if !strings.Contains(out, want) {
			t.Errorf("check does not say %q:\n%s", want, out)
		}
	}
	report := a.must("report")
	for _, want := range []string{"held against the finished tasks", "  heartbeat-lost: not proven on your history: 40 of 400",
		"  orphan: cannot be replayed: a history keeps no sandboxes"} {
		if !strings.Contains(report, want) {
			t.Errorf("report does not say %q:\n%s", want, report)
		}
	}
	if strings.Contains(report, "pending-stuck: ") {
		t.Errorf("report holds a rule that does not act against the history:\n%s", report)
	}
}

// TestBacktestChanges: on a Tuesday the workers of a platform begin to be silent for longer. What was before proves
// nothing any more.
func TestBacktestChanges(t *testing.T) {
	a := newArena(t, settings{})
	a.sql(strings.Replace(omoiosPast, "n % 10 = 3", "n > 250", 1))
	r := a.backtest("--rule", "heartbeat-lost")["heartbeat-lost all"]
	if r.Samples > 160 || r.Samples < 140 || r.FalsePositives < r.Samples*9/10 || r.Proven || !strings.Contains(r.Reason, "changed about") {
		t.Errorf("%+v", r)
	}
}

// TestBacktestOfCodingAgent: a platform without events. Rows tell how long tasks ran; how long workers were silent the
// ledger has to tell.
func TestBacktestOfCodingAgent(t *testing.T) {
	a := newCodingArena(t, settings{rules: "{deadline-exceeded: {after: 5m}}"})
	a.sql(`INSERT INTO tasks (id, user_id, prompt, logs, status, selected_agent, max_duration, created_at, updated_at, completed_at)
		SELECT 'past-' || n, 'u', 'fix it', '[]', CASE WHEN n <= 300 THEN 'completed' ELSE 'stopped' END, 'claude', NULL, made,
			made + interval '1 day', made + CASE WHEN n % 50 = 0 THEN interval '9 minutes' ELSE interval '4 minutes' END
		FROM (SELECT n, ` + utcNow + ` - n * interval '1 hour' AS made FROM generate_series(1, 310) AS n) AS past`)
	a.must("migrate")
	got := a.backtest()
	if r := got["deadline-exceeded all"]; r.Samples != 300 || r.FalsePositives != 6 || r.Measured.P50 != 240 || r.Measured.Max != 540 || r.Proven {
		t.Errorf("deadline-exceeded: %+v", r)
	}
	for _, name := range []string{"heartbeat-lost", "inactive"} {
		if r := got[name+" all"]; r.Samples != 0 || r.Proven || !strings.Contains(r.Reason, "keeps no events") {
			t.Errorf("%s: %+v", name, r)
		}
	}
	a.sql(`INSERT INTO sandkeeper.verdicts (rule, subject, task, provider, sandbox, template, region, worker, error,
			signature, reason, at, late_us, attempt, enforced, cost, per_hour)
		SELECT 'sandbox-missing', 'task:' || n, n::text, '', '', '', '', '', '', '', 'gone', now(), 0, 0, false, 0, 0 FROM generate_series(1, 250) AS n`)
	if r := a.backtest("--rule", "sandbox-missing")["sandbox-missing all"]; r.Samples != 250 || !r.Proven {
		t.Errorf("sandbox-missing by the ledger: %+v", r)
	}
	if text := a.must("backtest"); !strings.Contains(text, fmt.Sprintf("%d finished tasks", 310)) {
		t.Errorf("backtest:\n%s", text)
	}
}
