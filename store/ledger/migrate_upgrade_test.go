package ledger

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// versionOne is a ledger as the first release left it in the midst of its work at noon,
// killed: a lease that still runs, one terminate claimed, one accepted three minutes ago.
const versionOne = `
UPDATE sandkeeper.leases SET holder = 'old', epoch = 7, taken_at = @noon, expires_at = @noon::timestamptz + interval '15 seconds';
UPDATE sandkeeper.installation SET known_rules = '{orphan}';
INSERT INTO sandkeeper.passes (kind, holder, epoch, began_at, ended_at, complete, counts) VALUES
	('full', 'old', 6, @noon::timestamptz - interval '4 minutes', @noon::timestamptz - interval '4 minutes', true, '{"tasks:running": 3, "owned:daytona": 2}'),
	('full', 'old', 7, @noon, NULL, false, '{}');
INSERT INTO sandkeeper.findings (rule, subject, provider, sandbox, task, reason, evidence, opened_at, sightings, due, held_by, resolved_at) VALUES
	('orphan', 'sandbox:daytona/sb-1', 'daytona', 'sb-1', '', 'no task', '[]', @noon, 2, true, '{observe}', NULL),
	('orphan', 'sandbox:daytona/sb-0', 'daytona', 'sb-0', '', 'no task', '[]', @noon, 2, true, '{}', @noon);
INSERT INTO sandkeeper.actions (id, remedy, seq, pass, rule, subject, provider, sandbox, task, step, reason, evidence,
	row_only, outcome, attempts, planned_at, claimed_by, claim_ends, claim_epoch, acted_at, closed_at) VALUES
	('claimed', 'claimed', 0, 1, 'orphan', 'sandbox:daytona/sb-1', 'daytona', 'sb-1', '', 'terminate', '', '[]',
		false, 'pending', 1, @noon, 'old', @noon::timestamptz + interval '15 seconds', 7, NULL, NULL),
	('accepted', 'accepted', 0, 1, 'orphan', 'sandbox:daytona/sb-2', 'daytona', 'sb-2', '', 'terminate', '', '[]',
		false, 'accepted', 1, @noon::timestamptz - interval '3 minutes', '', NULL, 6, @noon::timestamptz - interval '3 minutes', NULL),
	('closed', 'closed', 0, 1, 'orphan', 'sandbox:daytona/sb-0', 'daytona', 'sb-0', '', 'terminate', '', '[]',
		false, 'confirmed', 1, @noon::timestamptz - interval '9 minutes', '', NULL, 6, @noon::timestamptz - interval '9 minutes', @noon);
INSERT INTO sandkeeper.task_states (id, status, state, sandbox, started_at, entry_sum, error_sum, error_changed, live, changed_at)
	VALUES ('t', 'running', 'running', 'sb-1', @noon, 3, 4, true, true, @noon);
INSERT INTO sandkeeper.sandboxes (provider, id, name, task, template, state, raw, gone_by_us, probe, probed_at)
	VALUES ('daytona', 'sb-1', 'box', 't', 'dev', 'running', 'started', false, 'hung', @noon);
INSERT INTO sandkeeper.timeline (at, subject, kind, what) VALUES (@noon, 'task:t', 'state', 'assigned to running');
INSERT INTO sandkeeper.modes VALUES ('orphan', 'observe', 'ana', 'drill', @noon);
INSERT INTO sandkeeper.counters VALUES ('actions', 'orphan', 'daytona', 'terminate:confirmed', 41)`

// versionTwo is what the second release had besides.
const versionTwo = `; UPDATE sandkeeper.actions SET first_acted_at = acted_at WHERE acted_at IS NOT NULL;
INSERT INTO sandkeeper.rates VALUES ('daytona', @noon)`

// This version goes on where an earlier one was killed.
func TestUpgradeFromEachReleaseGoesOn(t *testing.T) {
	for name, from := range map[string]struct {
		version int
		rows    string
	}{"the first": {1, versionOne}, "the second": {2, versionOne + versionTwo},
		"the third": {3, versionOne + versionTwo}} {
		t.Run(name, func(t *testing.T) { upgrade(t, from.version, from.rows) })
	}
}

func upgrade(t *testing.T, version int, rows string) {
	pool := ledgerPool(t, pgtest.Database(t))
	g := NewLedger(pool, Options{Installation: "test", Clock: atNoon})
	if err := g.migrate(t.Context(), migrations[:version]); err != nil {
		t.Fatal(err)
	}
	noon := "'" + ledgerNoon.Format(time.RFC3339) + "'"
	if _, err := pool.Exec(t.Context(), strings.ReplaceAll(rows, "@noon", noon)); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Overview(t.Context(), 10); err == nil {
		t.Error("a ledger of the version before was read, want it to ask for migrate")
	}
	if err := g.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	o, err := g.Overview(t.Context(), 10)
	if err != nil || len(o.Passes) != 2 || len(o.Findings) != 1 || len(o.Resolved) != 1 || len(o.Open) != 2 ||
		len(o.Recent) != 1 || o.Lease.Holder != "old" || !o.LastFull.Equal(ledgerNoon.Add(-4*time.Minute)) {
		t.Errorf("overview = %+v, error = %v, want all that was there", o, err)
	}
	m, err := g.Measures(t.Context())
	if err != nil || m.Overdue != 1 || len(m.Counters) != 1 || m.Counters[0].Value != 41 {
		t.Errorf("measures = %+v, error = %v, want one overdue and the total", m, err)
	}
	if diff := cmp.Diff(map[string]int{"tasks:running": 3, "owned:daytona": 2}, m.Counts); diff != "" {
		t.Errorf("counts differ (-want +got):\n%s", diff)
	}
	worker := reconcile.WorkerLease("new")
	claim := reconcile.Claim{Action: "claimed", TTL: time.Minute, Total: 9, Shared: 9, Hour: 9}
	if _, err := g.Claim(t.Context(), worker, claim); err == nil {
		t.Error("a worker claimed what the lease before still holds")
	}
	world := recalled(t, g)
	task, box := world.Tasks.Of("t"), world.Sandboxes.Of(reconcile.Ref{Provider: "daytona", ID: "sb-1"})
	if !task.Live || task.EntrySum != 3 || task.Attempts != nil || box.Name != "box" || len(world.Probes) != 1 ||
		world.Controls.Lowered["orphan"].Author != "ana" || len(world.Verdicts) != 0 {
		t.Errorf("memory = %+v, want the task, its sandbox, its probe and the mode", world)
	}
	goesOnWithNew(t, g)
	later := NewLedger(pool, Options{Installation: "test", Clock: func() time.Time { return ledgerNoon.Add(time.Minute) }})
	if _, err := later.TakeLease(t.Context(), "new", time.Minute); err != nil {
		t.Fatal(err)
	}
	if _, err := later.Claim(t.Context(), worker, claim); err != nil {
		t.Errorf("claim after the take-over: %v", err)
	}
}

// goesOnWithNew does in an upgraded ledger what only this version can.
func goesOnWithNew(t *testing.T, g *Ledger) {
	t.Helper()
	by := reconcile.Attribution{Author: "ana", Reason: "drill"}
	asked, err := g.Ask(t.Context(), by, []reconcile.Action{
		{ID: "stop", Remedy: "stop", Rule: reconcile.RuleOperator, Subject: "sandbox:daytona/sb-1", Provider: "daytona",
			Sandbox: "sb-1", Step: reconcile.StepQuarantine},
		{ID: "end", Remedy: "end", Rule: reconcile.RuleOperator, Subject: "sandbox:daytona/sb-1", Provider: "daytona",
			Sandbox: "sb-1", Step: reconcile.StepTerminate},
	}, nil)
	if err != nil || len(asked) != 1 || asked[0].ID != "stop" {
		t.Errorf("asked = %v, error = %v, want the quarantine: a terminate is open already", asked, err)
	}
}

// TestUpgradeReadsHowFromTheWords: what the details of earlier versions said in words of their own is a fact after the upgrade,
// and what a provider or an operator wrote is not taken for it.
func TestUpgradeReadsHowFromTheWords(t *testing.T) {
	pool := ledgerPool(t, pgtest.Database(t))
	g := NewLedger(pool, Options{Installation: "test", Clock: atNoon})
	if err := g.migrate(t.Context(), migrations[:21]); err != nil {
		t.Fatal(err)
	}
	const adopted = "is being deleted already, and sandkeeper had not asked for it"
	for id, a := range map[string][3]string{ // step, outcome, detail
		"refused":    {"terminate", "pending", "refused by the provider: it has forks; tried again from 12:00"},
		"adopted":    {"terminate", "accepted", adopted + ", not asked again: pause: all by ana"},
		"unsure":     {"terminate", "confirmed", "is being deleted already, and whether an earlier attempt asked for it is not known"},
		"anew":       {"fail", "withdrawn", "the task has begun anew since it was planned and tried"},
		"taken-back": {"terminate", "withdrawn", "by ana: it is mine"},
		"a":          {"fail", "done", adopted},
		"b":          {"terminate", "failed", "by design"},
		"c":          {"terminate", "confirmed", "accepted; " + adopted},
	} {
		_, err := pool.Exec(t.Context(), `INSERT INTO sandkeeper.actions (id, remedy, seq, pass, rule, subject, provider, sandbox,
			task, step, reason, evidence, row_only, outcome, detail, planned_at, closed_at)
			VALUES ($1, $1, 0, 1, 'orphan', $1, 'lab', $1, $1, $2, '', '[]', false, $3, $4, now(),
			CASE WHEN $3 NOT IN ('pending', 'accepted') THEN now() END)`, id, a[0], a[1], a[2])
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := g.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows, _ := pool.Query(t.Context(), "SELECT id, how FROM sandkeeper.actions")
	var id, how string
	_, err := pgx.ForEachRow(rows, []any{&id, &how}, func() error {
		if len(id) > 1 && how != id || len(id) == 1 && how != "" {
			t.Errorf("%s: how = %q", id, how)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// oldSources is how the version before writes one source.
const oldSources = `INSERT INTO sandkeeper.sources (name, trusted, reason, since) VALUES ($1, false, $2, now())
ON CONFLICT (name) DO UPDATE SET trusted = excluded.trusted, reason = excluded.reason, since = excluded.since`

// TestUpgradeReadsSentencesOfSources: what the version before kept as a sentence counts as before, also where it writes
// one after the upgrade, as the pass that it was in the midst of does. Who comes after finds it as a fact.
func TestUpgradeReadsSentencesOfSources(t *testing.T) {
	pool := ledgerPool(t, pgtest.Database(t))
	g := NewLedger(pool, Options{Installation: "test", Clock: atNoon})
	if err := g.migrate(t.Context(), migrations[:23]); err != nil {
		t.Fatal(err)
	}
	wrote := map[string]reconcile.Distrust{}
	writes := func(name string, why reconcile.Distrust) {
		t.Helper()
		if _, err := pool.Exec(t.Context(), oldSources, name, why.String()); err != nil {
			t.Fatal(err)
		}
		wrote[name] = why
	}
	reads := func() {
		t.Helper()
		sources, err := g.Sources(t.Context())
		if err != nil || len(sources) != len(wrote) {
			t.Fatalf("sources = %+v, error = %v, want %d", sources, err, len(wrote))
		}
		for name, want := range wrote {
			if got := sources[name]; got.Reason.Kind != want.Kind || got.Reason.ShowedNone != want.ShowedNone ||
				got.Reason.String() != want.String() {
				t.Errorf("%s: %+v, want %+v", name, got.Reason, want)
			}
		}
	}
	writes("listing:daytona", reconcile.AfterShowingNone(reconcile.ListingFailed("503")))
	writes(reconcile.SourceTasks, reconcile.TasksRestored(1, 2, 4))
	writes(reconcile.ClockOf("updated_at"), reconcile.ClockStuck("t-1", "running", "failed"))
	if err := g.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	reads()
	writes(reconcile.SourceTasks, reconcile.TasksEmpty())
	writes("listing:vercel", reconcile.ListingEmpty("while task t-1 is running"))
	reads()

	sources, err := g.Sources(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := reconcile.Record{WatchSince: ledgerNoon}
	for name, s := range sources {
		if name == reconcile.SourceTasks {
			s.Reason = reconcile.TasksLost(3, 4)
			wrote[name] = s.Reason
		}
		r.Sources = append(r.Sources, s)
	}
	lease, err := g.TakeLease(t.Context(), "new", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if r.Pass, err = g.BeginPass(t.Context(), lease, reconcile.Full, ledgerNoon); err != nil {
		t.Fatal(err)
	}
	if err := g.Record(t.Context(), lease, r); err != nil {
		t.Fatal(err)
	}
	reads()
	var facts int
	var sentence string
	err = pool.QueryRow(t.Context(), `SELECT count(*) FILTER (WHERE distrust->>'kind' <> ''),
		max(reason) FILTER (WHERE name = 'tasks') FROM sandkeeper.sources`).Scan(&facts, &sentence)
	if want := reconcile.TasksLost(3, 4).String(); err != nil || facts != len(wrote) || sentence != want {
		t.Errorf("%d facts, the tasks %q, error %v; want %d and %q", facts, sentence, err, len(wrote), want)
	}
}
