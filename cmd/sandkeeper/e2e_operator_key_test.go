package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

const withOperatorKey = "operator_key_file: operator.key\n"

// operatorKey gives the arena a key, and returns the config of somebody who does not have it.
func (a *arena) operatorKey(s settings) (stranger string) {
	a.Helper()
	dir := filepath.Dir(a.config)
	if err := os.WriteFile(filepath.Join(dir, "operator.key"), []byte(strings.Repeat("k", 44)), 0o600); err != nil {
		a.Fatal(err)
	}
	a.configure(s)
	stranger = filepath.Join(dir, "stranger.yaml")
	if err := os.WriteFile(stranger, []byte(a.configText()), 0o600); err != nil {
		a.Fatal(err)
	}
	s.more += "\n" + withOperatorKey
	a.configure(s)
	return stranger
}

// as runs a verb with another config.
func (a *arena) as(config string, args ...string) {
	a.Helper()
	own := a.config
	a.config = config
	defer func() { a.config = own }()
	a.must(args...)
}

// forge is the request that an attacker writes who may write to the ledger: end the sandbox, whoever works in it.
func (a *arena) forge(id string, b simulated.Sandbox, changes string) {
	a.Helper()
	a.sql(`INSERT INTO sandkeeper.actions (id, remedy, seq, pass, rule, subject, provider, sandbox, task, step, reason,
		evidence, row_only, planned_at, author, running, anyway)
		VALUES ($1, $1, 0, 0, 'operator', 'sandbox:daytona/' || $2, 'daytona', $2, '', 'terminate', 'ticket 4711', '[]', false,
			now(), 'mallory', true, true)`, id, b.ID)
	if changes != "" {
		a.sql("UPDATE sandkeeper.actions SET "+changes+" WHERE id = $1", id)
	}
}

// TestAPlantedRowOfARuleWritesNothing: who may write to the ledger and has no key plants rows of a rule, of which passes
// plan none: behind a step that never was they would fail or requeue healthy tasks. Each is withdrawn, `once` ends well.
func TestAPlantedRowOfARuleWritesNothing(t *testing.T) {
	a := newArena(t, settings{})
	a.operatorKey(settings{more: quickly})
	ws := a.working(4)
	a.beat(ws)
	a.once(0)
	for i, step := range []string{"fail", "requeue"} {
		for seq, id := range []string{"first" + step, "later" + step} {
			a.sql(`INSERT INTO sandkeeper.actions (id, remedy, seq, pass, rule, subject, provider, sandbox, task, step, reason,
					evidence, row_only, outcome, planned_at, closed_at)
				VALUES ($1, $2, $3, 1, 'heartbeat-lost', 'task:' || $4::text, 'daytona', '', $4, $5, 'x', '[]', false, $6, now(),
					CASE WHEN $6 = 'done' THEN now() END)`,
				id, "first"+step, seq, ws[i].task, step, []string{"done", "pending"}[seq])
		}
	}
	a.once(0)
	a.keeps(ws)
	if n := a.count("SELECT count(*) FROM sandkeeper.actions WHERE seq = 1 AND outcome = 'withdrawn' AND detail LIKE '%behind another step%'"); n != 2 {
		t.Errorf("%d planted steps are withdrawn for what they are, want 2", n)
	}
}

// TestALedgerRowIsNoCommand: with an operator key, who can write to the ledger ends nothing, in no
// operator's name, and everybody sees that it was tried.
func TestALedgerRowIsNoCommand(t *testing.T) {
	a := newArena(t, settings{})
	stranger := a.operatorKey(settings{mode: "observe", more: quickly})
	ws := a.working(4)
	a.beat(ws)
	var boxes []simulated.Sandbox
	for range 4 {
		boxes = append(boxes, a.box(nobody, time.Second))
	}
	a.once(0)
	a.forge("plain", boxes[0], "")
	a.forge("underway", boxes[1], `outcome = 'accepted', attempts = 1, acted_at = now() - interval '1 hour',
		first_acted_at = now() - interval '1 hour', begun_at = now() - interval '1 hour'`)
	a.forge("back", boxes[2], "step = 'resume', rule = 'orphan'")
	a.as(stranger, "terminate", boxes[3].ID, "--author", "mallory", "--reason", "ticket 4711")
	a.as(stranger, "terminate", ws[0].task, "--include-running", "--author", "mallory", "--reason", "ticket 4711")
	_, _, errs := a.run("once", "--wait", patience, "-o", "json")
	if n := strings.Count(errs, "operator request refused"); n < 4 {
		t.Errorf("the log tells of %d refused requests, want those that were never begun:\n%s", n, errs)
	}
	for _, b := range boxes {
		if a.ended(b.ID) {
			t.Errorf("sandbox %s was ended by a row of the ledger", b.ID)
		}
	}
	a.keeps(ws)
	if n := a.count("SELECT count(*) FROM sandkeeper.actions WHERE outcome <> 'withdrawn' OR detail NOT LIKE '%not signed%'"); n != 0 {
		t.Errorf("%d forged actions are not withdrawn as unsigned", n)
	}
	for _, id := range []string{boxes[0].ID, boxes[3].ID} {
		text := a.must("explain", id)
		for _, words := range []string{"not signed with the operator key", "mallory", "ticket 4711"} {
			if !strings.Contains(text, words) {
				t.Errorf("explain %s does not say %q:\n%s", id, words, text)
			}
		}
	}
	d := a.daemon("serve")
	if status, page := d.read("/"); status != http.StatusOK || !strings.Contains(page, "not signed with the operator key") {
		t.Errorf("the page answers %d and does not say that a request was not signed", status)
	}
	d.stop()

	a.must("terminate", boxes[0].ID, "--reason", "ticket 4711")
	a.once(0)
	if !a.ended(boxes[0].ID) {
		t.Error("what was asked for with the key is not done")
	}
	again := a.cloud.Put(simulated.Sandbox{Template: "ai-agent-dev-light", CreatedAt: time.Now(),
		Labels: map[string]string{"project": "omoios"}})
	a.sql(`INSERT INTO sandkeeper.actions (id, remedy, seq, pass, rule, subject, provider, sandbox, task, step, reason,
		evidence, row_only, planned_at, author, running, anyway, seal)
		SELECT 'replay', 'replay', 0, 0, rule, subject, provider, $1, task, step, reason, evidence, row_only, planned_at, author,
			running, anyway, seal FROM sandkeeper.actions WHERE outcome = 'confirmed'`, again.ID)
	a.once(0)
	if a.ended(again.ID) {
		t.Error("the signature of a request that was done ended another sandbox")
	}
}

// TestForgedLooseningIsIgnored: who can write to the ledger, with a verb or by SQL, lifts no hold and
// resumes nothing; whoever wrote a hold, it holds.
func TestForgedLooseningIsIgnored(t *testing.T) {
	a := newArena(t, settings{})
	stranger := a.operatorKey(settings{mode: "observe", more: "log: {level: warn}"})
	a.beat(a.working(4))
	b := a.box(nobody, time.Second)
	a.once(0)
	a.as(stranger, "hold", "sandbox:"+b.ID, "--reason", "evidence", "--author", "ana")
	a.as(stranger, "unhold", "sandbox:"+b.ID, "--reason", "trust me", "--author", "mallory")
	a.refuses("evidence", "terminate", b.ID, "--reason", "x")
	_, _, errs := a.run("once", "--wait", patience)
	if !strings.Contains(errs, "operator request ignored") || !strings.Contains(errs, "mallory") {
		t.Errorf("the log does not tell that lifting the hold was ignored:\n%s", errs)
	}
	a.once(0)
	if n := a.count("SELECT count(*) FROM sandkeeper.timeline WHERE what LIKE '%lifting hold%not signed%mallory%trust me'"); n != 1 {
		t.Errorf("%d lines of the timeline tell of it, want one", n)
	}
	a.sql("UPDATE sandkeeper.holds SET lifted_at = now(), lifted_by = 'ana', lift_seal = 'c2VhbA'")
	a.refuses("evidence", "terminate", b.ID, "--reason", "x")
	a.must("unhold", "sandbox:"+b.ID, "--reason", "looked at")
	a.must("terminate", b.ID, "--reason", "x")
	a.once(0)
	if !a.ended(b.ID) {
		t.Error("what was lifted and asked for with the key is not done")
	}
}

// TestCheckNamesTheOperatorKey: check says what is so without one, and how to make it.
func TestCheckNamesTheOperatorKey(t *testing.T) {
	a := newArena(t, settings{})
	a.must("migrate")
	if out := a.must("check"); !strings.Contains(out, "warn  config: operator_key_file") || !strings.Contains(out, "/dev/urandom") {
		t.Errorf("check without a key says:\n%s", out)
	}
	a.operatorKey(settings{})
	if out := a.must("check"); !strings.Contains(out, "ok    config: operator_key_file: 1 key; what operators ask for is signed") {
		t.Errorf("check with a key says:\n%s", out)
	}
	if err := os.Chmod(filepath.Join(filepath.Dir(a.config), "operator.key"), 0o644); err != nil {
		t.Fatal(err)
	}
	a.refuses("let everybody at it", "terminate", "x", "--reason", "x")
}
