package ledger

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
	"github.com/sandkeeper/sandkeeper/store/storetest"
)

func TestRecallBeforeTheFirstMigrate(t *testing.T) {
	admin := ledgerPool(t, pgtest.Database(t))
	for name, pool := range map[string]*pgxpool.Pool{
		"as owner": admin, "as a role without any grant": pgtest.AsRole(t, admin, ""),
	} {
		t.Run(name, func(t *testing.T) {
			g := NewLedger(pool, Options{Installation: "test", Clock: atNoon})
			want := reconcile.Memory{Now: ledgerNoon, Fresh: true}
			if diff := cmp.Diff(want, recalled(t, g), cmpopts.EquateEmpty(), storetest.Remembers); diff != "" {
				t.Errorf("memories differ (-want +got):\n%s", diff)
			}
			_, err := g.TakeLease(t.Context(), "one", time.Minute)
			_, controls := g.Controls(t.Context())
			_, open := g.OpenActions(t.Context())
			for verb, err := range map[string]error{"take lease": err, "controls": controls, "open actions": open} {
				if err == nil || !strings.Contains(err.Error(), "run `sandkeeper migrate`") {
					t.Errorf("%s: error = %v, want one that asks for migrate", verb, err)
				}
			}
		})
	}
}

func TestRecallNeedsNoMoreThanReading(t *testing.T) {
	admin := ledgerPool(t, pgtest.Database(t))
	owner := migrated(t, admin, atNoon)
	lease, err := owner.TakeLease(t.Context(), "one", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	planOrphans(t, owner, lease, 3)
	reader := NewLedger(pgtest.AsRole(t, admin, `GRANT USAGE ON SCHEMA sandkeeper TO %[1]s;
		GRANT SELECT ON ALL TABLES IN SCHEMA sandkeeper TO %[1]s`), Options{Installation: "test", Clock: atNoon})
	if diff := cmp.Diff(recalled(t, owner), recalled(t, reader), cmpopts.EquateEmpty(), storetest.Remembers); diff != "" {
		t.Errorf("memories of owner and reader differ (-owner +reader):\n%s", diff)
	}
	if _, err := reader.Subject(t.Context(), "daytona/o-1"); err != nil {
		t.Errorf("a reader's history: %v", err)
	}
	if _, err := reader.Controls(t.Context()); err != nil {
		t.Errorf("a reader's controls: %v", err)
	}
	if err := owner.DropLease(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	_, err = reader.TakeLease(t.Context(), "two", time.Minute)
	if err == nil || !strings.Contains(err.Error(), "grant") {
		t.Errorf("a reader takes the lease: error = %v, want one that asks for a grant", err)
	}
}
