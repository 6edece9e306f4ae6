package main

import (
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/result"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// steadyPast is a history of 300 completed tasks, each of which began a minute after it was handed out.
var steadyPast = strings.NewReplacer("n % 20 = 7 AND n <= 400", "false", "n % 10 = 3", "false", "(1, 420)", "(1, 300)").
	Replace(omoiosPast)

// gated is an arena in which a rule has to be proven, with a task whose worker never started and others at work.
func gated(t *testing.T, past string) (a *arena, stale string) {
	t.Helper()
	a = newArena(t, settings{proof: "{samples: 200}", limits: "{}", more: quickly})
	if past != "" {
		a.sql(past)
	}
	a.beat(a.working(4)) // a slow machine takes long for all that is asked of it
	return a, a.task(row{status: "assigned", key: "omoios-stale", created: 5 * time.Hour, updated: 4 * time.Minute})
}

// TestProofBeforeActing: on a platform whose history shows that a rule is right it acts at once, and nobody has to know
// of it. Without a history, or with one that shows that it is wrong, it is held and says why, until an operator
// overrules that by name.
func TestProofBeforeActing(t *testing.T) {
	for name, c := range map[string]struct{ past, line string }{
		"a history that shows it": {steadyPast, ""},
		"no history":              {"", "not proven on your history: no finished task tells"},
		"a threshold that is wrong": {omoiosPast,
			"not proven on your history: 5 % of 400 completed tasks took longer to start than 3m; 5m1s would do"},
	} {
		t.Run(name, func(t *testing.T) {
			a, stale := gated(t, c.past)
			r := a.once(0)
			if c.line == "" {
				a.becomes(stale, "failed")
				a.tellsProofs()
				return
			}
			a.becomes(stale, "assigned")
			a.holdsUnproven(r, c.line)
			if out := a.must("plan"); !strings.Contains(out, "not proven, so held: assigned-stale, ") {
				t.Errorf("plan does not say what is held for want of a proof:\n%s", out)
			}
			for verb, want := range map[string]string{"plan": c.line, "report": "assigned-stale: held: not proven on your history: "} {
				if out := a.must(verb); !strings.Contains(out, want) {
					t.Errorf("%s does not say %q:\n%s", verb, want, out)
				}
			}
			if _, out, _ := a.run("status"); !strings.Contains(out, "not proven on your history") || !strings.Contains(out, "sandkeeper arm assigned-stale --unproven") {
				t.Errorf("status does not say what holds:\n%s", out)
			}
			if out := a.must("check"); !strings.Contains(out, "proof of orphan: held: not proven yet: 200 cases are needed, and none was observed and followed") {
				t.Errorf("check does not say what orphan lacks:\n%s", out)
			}
			a.refuses("--reason is required", "arm", "assigned-stale", "--unproven")
			a.refuses("say --unproven", "arm", "assigned-stale", "--reason", "drill")
			a.refuses("not armed by an operator", "arm", "assigned-stale", "--revoke", "--reason", "drill")
			a.refuses("ends nothing", "arm", "pending-stuck", "--unproven", "--reason", "drill")
			a.must("arm", "assigned-stale", "--unproven", "--reason", "looked at it", "--author", "ana")
			a.must("arm", "assigned-stale", "--revoke", "--reason", "look again")
			a.once(0)
			a.becomes(stale, "assigned")
			a.must("arm", "assigned-stale", "--unproven", "--reason", "looked at it", "--author", "ana")
			a.once(0)
			a.becomes(stale, "failed")
		})
	}
}

// tellsProofs wants plan and report to say by what rules act, with a proof and where the config asks for none.
func (a *arena) tellsProofs() {
	a.Helper()
	const stale = "assigned-stale: proven on your history: 0 of 300 completed tasks took longer to start than 3m"
	a.says("plan", "proven by backtest: assigned-stale, ", "not proven, so held: sandbox-missing, ")
	a.says("report", "held against the finished tasks of the last 30 days\n  "+stale)
	a.sql("DELETE FROM sandkeeper.proofs")
	a.says("report", "held until `run` or `once` has made its proof: not proven on your history: it was not held against it yet")
	a.configure(settings{proof: "off", limits: "{}", more: quickly})
	a.says("plan", "unproven, for the config says proof: off: assigned-stale, ")
	a.says("report", "; all act unproven, for the config says proof: off", "  "+stale)
}

// says wants a verb to print each of these.
func (a *arena) says(verb string, wants ...string) {
	a.Helper()
	out := a.must(verb)
	for _, want := range wants {
		if !strings.Contains(out, want) {
			a.Errorf("%s does not say %q:\n%s", verb, want, out)
		}
	}
}

func (a *arena) becomes(task, want string) {
	a.Helper()
	if status, why := a.state(task); status != want {
		a.Errorf("task %s is %s: %s, want it %s", task, status, why, want)
	}
}

// holdsUnproven wants a step of assigned-stale to be held for want of a proof, in these words.
func (a *arena) holdsUnproven(r result.Pass, line string) {
	a.Helper()
	for i := range r.Steps {
		for _, by := range r.Steps[i].HeldBy {
			if r.Steps[i].Rule == "assigned-stale" && by.Kind == reconcile.HeldUnproven && by.Reason == line {
				return
			}
		}
	}
	a.Errorf("no step is held by %q: %+v", line, r.Steps)
}

// TestProofIsHeldAgain: what was proven and became untrue is held the day after, and not a month later.
func TestProofIsHeldAgain(t *testing.T) {
	a, stale := gated(t, steadyPast)
	a.once(0)
	a.becomes(stale, "failed")
	// Since then each task waits for 5 minutes for its start.
	a.sql(strings.NewReplacer("past-", "later-", "'box-'", "'later-'", "(1, 420)", "(1, 40)", "interval '20 days'", "interval '21 hours'",
		"n % 20 = 7 AND n <= 400", "true").Replace(omoiosPast))
	late := a.task(row{status: "assigned", key: "omoios-late", created: 5 * time.Hour, updated: 4 * time.Minute})
	a.sql(`UPDATE sandkeeper.proof_curves SET made_at = made_at - interval '1 day'`)
	r := a.once(0)
	a.becomes(late, "assigned")
	if len(r.Proofs) == 0 || r.Proofs[0].Rule != "assigned-stale" || r.Proofs[0].ProvenBy != "nothing" {
		t.Errorf("%+v", r.Proofs)
	}
}

// TestDaemonProves: the daemon holds the rules against the history by itself, and acts within its passes.
func TestDaemonProves(t *testing.T) {
	a, stale := gated(t, steadyPast)
	a.daemon("run", "--migrate")
	a.reaches("the stale task failed", func() bool { status, _ := a.state(stale); return status == "failed" })
}

// TestGraceGoesOn: a rule that acted before there was a gate goes on for its time of grace, says so, and is held after
// that.
func TestGraceGoesOn(t *testing.T) {
	a, stale := gated(t, "")
	a.must("migrate")
	a.sql(`INSERT INTO sandkeeper.proof_grace VALUES ('assigned-stale', now() + interval '14 days')`)
	a.once(0)
	a.becomes(stale, "failed")
	if out := a.must("report"); !strings.Contains(out, "it enforced before proofs were asked for, and goes on until ") {
		t.Errorf("report does not tell of the grace:\n%s", out)
	}
	a.sql(`UPDATE sandkeeper.proof_grace SET until = now() - interval '1 second'`)
	late := a.task(row{status: "assigned", key: "omoios-late", created: 5 * time.Hour, updated: 4 * time.Minute})
	r := a.once(0)
	a.becomes(late, "assigned")
	a.holdsUnproven(r, "not proven on your history: no finished task tells")
}
