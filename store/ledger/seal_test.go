package ledger

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

var operatorKey = [][]byte{[]byte(strings.Repeat("k", 32))}

// attacked is a ledger with the operator key, and one without it, as who writes into the database has.
type attacked struct {
	*testing.T
	pool         *pgxpool.Pool
	keyed, plain *Ledger
}

func newAttacked(t *testing.T) *attacked {
	t.Helper()
	pool := ledgerPool(t, pgtest.Database(t))
	o := Options{Installation: "test", Clock: atNoon}
	a := &attacked{T: t, pool: pool, plain: migrated(t, pool, atNoon)}
	o.Keys = operatorKey
	a.keyed = NewLedger(pool, o)
	return a
}

func (a *attacked) exec(sql string, args ...any) {
	a.Helper()
	if _, err := a.pool.Exec(a.Context(), sql, args...); err != nil {
		a.Fatal(err)
	}
}

func (a *attacked) must(err error) {
	a.Helper()
	if err != nil {
		a.Fatal(err)
	}
}

func (a *attacked) controls() reconcile.Controls {
	a.Helper()
	c, err := a.keyed.Controls(a.Context())
	a.must(err)
	return c
}

// told wants one unsigned request to be told of, with these words.
func (a *attacked) told(words string) {
	a.Helper()
	u := a.controls().Unsigned
	if words == "" && len(u) == 0 || len(u) == 1 && words != "" && strings.Contains(u[0].What, words) {
		return
	}
	a.Errorf("told of %q, want one that says %q", u, words)
}

var (
	ana     = reconcile.Attribution{Author: "ana", Reason: "drill"}
	mallory = reconcile.Attribution{Author: "mallory", Reason: "trust me"}
)

// TestForgedRequests: whoever can write rows asks for nothing: the row is open, and known as unsigned to
// all that read it in order to act.
func TestForgedRequests(t *testing.T) {
	for name, tt := range map[string]struct {
		forge  string // what the attacker does to the ledger
		signed bool
	}{
		"nothing":             {"SELECT", true},
		"another sandbox":     {"UPDATE sandkeeper.actions SET sandbox = 'sb-2'", false},
		"running tasks too":   {"UPDATE sandkeeper.actions SET running = true", false},
		"an old one again":    {"UPDATE sandkeeper.actions SET planned_at = planned_at + interval '1 second'", false},
		"without a signature": {"UPDATE sandkeeper.actions SET seal = ''", false},
		"a copy": {`UPDATE sandkeeper.actions SET outcome = 'withdrawn', closed_at = planned_at, id = 'old', remedy = 'old';
			INSERT INTO sandkeeper.actions (id, remedy, seq, pass, rule, subject, provider, sandbox, task, step, reason, evidence,
				row_only, planned_at, author, running, anyway, seal)
			SELECT 'copy', 'copy', seq, pass, rule, subject, provider, sandbox, task, step, reason, evidence,
				row_only, planned_at, author, running, anyway, seal FROM sandkeeper.actions`, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAttacked(t)
			end := reconcile.AskTerminate(reconcile.RuleOperator, reconcile.Ref{Provider: "daytona", ID: "sb-1"}, "",
				reconcile.AskOptions{})
			_, err := a.keyed.Ask(t.Context(), ana, []reconcile.Action{end}, nil)
			a.must(err)
			a.exec(tt.forge)
			open, err := a.keyed.OpenActions(t.Context())
			a.must(err)
			lease := reconcile.Lease{Holder: "worker"}
			claimed, err := a.keyed.Claim(t.Context(), lease, reconcile.Claim{Action: open[0].ID, TTL: time.Minute, Hour: 9})
			a.must(err)
			memory := recalled(t, a.keyed)
			for who, found := range map[string]reconcile.Action{
				"open": open[0], "claimed": claimed, "recalled": memory.Actions[0],
			} {
				if (found.Unsigned == "") != tt.signed {
					t.Errorf("%s: unsigned = %q, want signed = %t", who, found.Unsigned, tt.signed)
				}
			}
		})
	}
}

// TestForgedLoosening: pause, hold and a lower mode count whoever wrote them; what takes them back counts
// only from somebody with the key, also when it is done to the row itself.
func TestForgedLoosening(t *testing.T) {
	a := newAttacked(t)
	ctx := t.Context()
	a.must(a.plain.Pause(ctx, reconcile.Pause{Scope: "all", Author: "ana", Reason: "drill"}))
	_, err := a.plain.Hold(ctx, reconcile.Hold{Target: "task:t", Author: "ana", Reason: "drill"})
	a.must(err)
	a.must(a.plain.SetMode(ctx, "orphan", reconcile.Observe, ana))
	for what, loosen := range map[string]func(g *Ledger) error{
		"resuming it": func(g *Ledger) error { return g.Resume(ctx, "all", mallory) },
		"lifting hold 1": func(g *Ledger) error {
			_, err := g.Unhold(ctx, "task:t", mallory)
			return err
		},
		"its mode to config": func(g *Ledger) error { return g.ClearMode(ctx, "orphan", mallory) },
	} {
		a.must(loosen(a.plain))
		c := a.controls()
		if len(c.Pauses) != 1 || len(c.Holds) != 1 || c.Modes["orphan"] != reconcile.Observe {
			t.Errorf("%s without the key: controls = %+v, want all three in force", what, c)
		}
		a.told(what)
		a.must(loosen(a.keyed))
		a.told("")
		c = a.controls()
		if n := len(c.Pauses) + len(c.Holds) + len(c.Modes); n != 2 {
			t.Errorf("%s with the key: controls = %+v, want the two others in force", what, c)
		}
		// and back to where it was
		a.exec("UPDATE sandkeeper.pauses SET lifted_at = NULL; UPDATE sandkeeper.holds SET lifted_at = NULL")
		a.must(a.plain.SetMode(ctx, "orphan", reconcile.Observe, ana))
	}
}

// TestForgedReleases: a breaker, a freeze and an incident are released by somebody with the key.
func TestForgedReleases(t *testing.T) {
	a := newAttacked(t)
	ctx := t.Context()
	r := reconcile.Release{What: "breaker:orphan", Subjects: []string{"sandbox:daytona/x"}, Hash: "h", Author: "mallory",
		Reason: "trust me", Until: ledgerNoon.Add(time.Hour)}
	_, err := a.plain.Release(ctx, r)
	a.must(err)
	if c := a.controls(); len(c.Releases) != 0 {
		t.Errorf("releases = %+v, want none", c.Releases)
	}
	a.told("releasing 1 subjects")
	a.exec("DELETE FROM sandkeeper.releases")
	_, err = a.keyed.Release(ctx, r)
	a.must(err)
	if c := a.controls(); len(c.Releases) != 1 {
		t.Errorf("releases = %+v, want the signed one", c.Releases)
	}
	a.exec("UPDATE sandkeeper.releases SET subjects = array_append(subjects, 'sandbox:daytona/y')")
	if c := a.controls(); len(c.Releases) != 0 {
		t.Errorf("releases = %+v, want none: it was widened", c.Releases)
	}
	a.exec("DELETE FROM sandkeeper.releases")

	a.exec(`INSERT INTO sandkeeper.incidents (id, signature, rule, provider, template, error, cause, evidence, opened_at,
		count, cost) VALUES ('i-1', 's', 'orphan', 'daytona', '', '', '', '[]', $1, 5, 0)`, ledgerNoon)
	a.must(a.plain.ReleaseIncident(ctx, "i-1", mallory))
	if c := a.controls(); !c.Incidents[0].Holds() {
		t.Error("the incident holds nothing any more")
	}
	a.told("releasing it")
	a.must(a.keyed.ReleaseIncident(ctx, "i-1", ana))
	a.told("")
	if c := a.controls(); c.Incidents[0].Holds() {
		t.Error("the incident holds on after a signed release")
	}
}

// TestUnsignedRequestsAreToldOnce: the history of the subject says it, however many passes meet it.
func TestUnsignedRequestsAreToldOnce(t *testing.T) {
	a := newAttacked(t)
	lease, err := a.keyed.TakeLease(t.Context(), "one", time.Hour)
	a.must(err)
	for range 3 {
		id, err := a.keyed.BeginPass(t.Context(), lease, reconcile.Full, ledgerNoon)
		a.must(err)
		a.must(a.keyed.Record(t.Context(), lease, reconcile.Record{Pass: id, Kind: reconcile.Full, At: ledgerNoon,
			Unsigned: []reconcile.UnsignedRequest{{Subject: "task:t", What: "lifting hold 1 is not signed"}}}))
	}
	history, err := a.keyed.Subject(t.Context(), "t")
	a.must(err)
	if len(history.Timeline) != 1 || !strings.Contains(history.Timeline[0].What, "not signed") {
		t.Errorf("timeline = %+v, want one line", history.Timeline)
	}
}

// What was lifted before there were signatures does not come back when there is a key.
func TestLiftedBeforeTheUpgradeStaysLifted(t *testing.T) {
	pool := ledgerPool(t, pgtest.Database(t))
	old := NewLedger(pool, Options{Installation: "test", Clock: atNoon})
	if err := old.migrate(t.Context(), migrations[:6]); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), `
		INSERT INTO sandkeeper.holds (target, author, reason, at, lifted_at) VALUES ('task:t', 'ana', 'drill', $1, $1);
		`, ledgerNoon); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), `
		INSERT INTO sandkeeper.pauses (scope, author, reason, at, until, lifted_at)
		VALUES ('all', 'ana', 'drill', $1, $1::timestamptz + interval '1 year', $1)`, ledgerNoon); err != nil {
		t.Fatal(err)
	}
	g := NewLedger(pool, Options{Installation: "test", Clock: atNoon, Keys: operatorKey})
	if err := g.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	c, err := g.Controls(t.Context())
	if err != nil || len(c.Holds)+len(c.Pauses)+len(c.Unsigned) != 0 {
		t.Errorf("controls = %+v, %v; want none", c, err)
	}
}

// TestRotation: what the old key has lifted stays lifted when that key is removed; what nobody signed does not.
func TestRotation(t *testing.T) {
	a := newAttacked(t)
	ctx := t.Context()
	for _, target := range []string{"task:t", "task:u"} {
		_, err := a.keyed.Hold(ctx, reconcile.Hold{Target: target, Author: "ana", Reason: "drill"})
		a.must(err)
	}
	a.must(a.keyed.Pause(ctx, reconcile.Pause{Scope: "all", Author: "ana", Reason: "drill"}))
	a.must(a.keyed.SetMode(ctx, "orphan", reconcile.Off, ana))
	a.must(a.keyed.Resume(ctx, "all", ana))
	a.must(a.keyed.ClearMode(ctx, "orphan", ana))
	_, err := a.keyed.Unhold(ctx, "task:t", ana)
	a.must(err)
	_, err = a.plain.Unhold(ctx, "task:u", mallory)
	a.must(err)
	newKey := []byte(strings.Repeat("n", 32))
	for _, keys := range [][][]byte{operatorKey, {newKey, operatorKey[0]}, {newKey}} {
		a.keyed.Seal(keys)
		_, err = a.keyed.Purge(ctx, ledgerNoon.Add(-time.Hour), 100)
		a.must(err)
		if c := a.controls(); len(c.Pauses)+len(c.Modes) != 0 || len(c.Holds) != 1 || c.Holds[0].Target != "task:u" {
			t.Errorf("with %d keys: controls = %+v, want only the hold that nobody signed off", len(keys), c)
		}
	}
}
