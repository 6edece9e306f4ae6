package main

import (
	"strings"
	"testing"
	"time"
)

// TestAutoThreshold: a rule whose config says `after: auto` takes the threshold that the platform's own history allows,
// is proven by it, acts, and says so everywhere; the next day it moves by at most a quarter.
func TestAutoThreshold(t *testing.T) {
	a := newArena(t, settings{proof: "{samples: 200}", limits: "{}", more: quickly, rules: "{assigned-stale: {after: auto}}"})
	// Each twentieth waited for 5 minutes for its start: the default of 3m ends too many.
	a.sql(omoiosPast)
	a.beat(a.working(4))
	young := a.task(row{status: "assigned", key: "omoios-young", created: 5 * time.Hour, updated: 190 * time.Second})
	stale := a.task(row{status: "assigned", key: "omoios-stale", created: 5 * time.Hour, updated: 7 * time.Minute})
	r := a.once(0, "--timeout", "20m") // a quarter of that is for the history
	a.becomes(young, "assigned")
	a.becomes(stale, "failed")
	const line = "auto: 5m1s, before 3m: 5m1s keeps 2 % on 400 finished tasks"
	if len(r.Learned) == 0 || r.Learned[0].Rule != "assigned-stale" || r.Learned[0].After != 301 || r.Learned[0].Why != line {
		t.Errorf("once says of learned thresholds: %+v", r.Learned)
	}
	for verb, want := range map[string]string{
		"plan": "threshold of assigned-stale  " + line, "report": "assigned-stale: " + line,
		"check": "threshold of assigned-stale: " + line, "backtest": "took longer to start than 5m1s",
	} {
		if out := a.must(verb); !strings.Contains(out, want) {
			t.Errorf("%s does not say %q:\n%s", verb, want, out)
		}
	}
	var told int
	if err := a.db.QueryRow(t.Context(), `SELECT count(*) FROM sandkeeper.timeline WHERE subject = 'rule:assigned-stale'
		AND what LIKE '%' || $1`, line).Scan(&told); err != nil || told != 1 {
		t.Errorf("the timeline tells of it %d times, %v", told, err)
	}
	if out := a.must("config", "show"); !strings.Contains(out, "auto") {
		t.Errorf("config show:\n%s", out)
	}
	// A day later, as the ledger has it, and from a threshold that was far longer.
	a.sql(`UPDATE sandkeeper.learned SET at = at - interval '1 day', after_us = 4 * after_us, target_us = 4 * target_us`)
	a.once(0, "--timeout", "20m")
	if out := a.must("check"); !strings.Contains(out, "auto: 15m3s, before 20m4s: 5m1s keeps 2 % on 400 finished tasks, and it moves by at most a quarter a day") {
		t.Errorf("a day later:\n%s", out)
	}
}

// TestAutoWithoutHistory: without a history the default counts, and all that shows the threshold says so.
func TestAutoWithoutHistory(t *testing.T) {
	a := newArena(t, settings{limits: "{}", more: quickly, rules: "{assigned-stale: {after: auto}}"})
	stale := a.task(row{status: "assigned", key: "omoios-stale", created: 5 * time.Hour, updated: 4 * time.Minute})
	a.once(0)
	a.becomes(stale, "failed")
	const line = "auto: 3m, the default, until 200 finished tasks tell: 0 do"
	if out := a.must("plan"); !strings.Contains(out, "threshold of assigned-stale  "+line) {
		t.Errorf("plan:\n%s", out)
	}
	a.configure(settings{rules: "{orphan: {after: auto}}"})
	if code, out, _ := a.run("check"); code == 0 || !strings.Contains(out, "no history of tasks tells what orphan would have seen") {
		t.Errorf("check of orphan with auto: %d\n%s", code, out)
	}
}
