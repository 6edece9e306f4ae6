package store

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
INSERT INTO sandkeeper.counters VALUES ('actions', 'orphan', 'daytona', 'terminate:confirmed', 41)`

// The second version goes on where the first was killed.
func TestUpgradeFromTheFirstVersionGoesOn(t *testing.T) {
	pool := ledgerPool(t, pgtest.Database(t))
	g := NewLedger(pool, LedgerOptions{Installation: "test", Clock: atNoon})
	if err := g.migrate(t.Context(), migrations[:1]); err != nil {
		t.Fatal(err)
	}
	noon := "'" + ledgerNoon.Format(time.RFC3339) + "'"
	if _, err := pool.Exec(t.Context(), strings.ReplaceAll(versionOne, "@noon", noon)); err != nil {
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
	later := NewLedger(pool, LedgerOptions{Installation: "test", Clock: func() time.Time { return ledgerNoon.Add(time.Minute) }})
	if _, err := later.TakeLease(t.Context(), "new", time.Minute); err != nil {
		t.Fatal(err)
	}
	if _, err := later.Claim(t.Context(), worker, claim); err != nil {
		t.Errorf("claim after the take-over: %v", err)
	}
}
