package ledger

import (
	"errors"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// TestLeaseFreedBySQL: an operator frees the lease by whatever time in the past he writes, also one that Go has none for.
func TestLeaseFreedBySQL(t *testing.T) {
	g := migrated(t, ledgerPool(t, pgtest.Database(t)), time.Now)
	for _, until := range []string{"-infinity", "0001-01-01 00:00:00+00", "0044-03-15 00:00:00+00 BC", "1970-01-01 00:00:00+00"} {
		if _, err := g.TakeLease(t.Context(), "one", time.Hour); err != nil {
			t.Fatal(err)
		}
		if _, err := g.pool.Exec(t.Context(), "UPDATE sandkeeper.leases SET expires_at = $1::text::timestamptz", until); err != nil {
			t.Fatal(err)
		}
		l, err := g.TakeLease(t.Context(), "two", time.Hour)
		if err != nil {
			t.Fatalf("freed by %s: %v", until, err)
		}
		if err := g.DropLease(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLeaseTriesEnd: a lease that is another one each time it is to be taken is somebody else's.
func TestLeaseTriesEnd(t *testing.T) {
	g := migrated(t, ledgerPool(t, pgtest.Database(t)), time.Now)
	if _, err := g.pool.Exec(t.Context(), `CREATE FUNCTION lost() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
		CREATE TRIGGER lost BEFORE UPDATE ON sandkeeper.leases FOR EACH ROW EXECUTE FUNCTION lost()`); err != nil {
		t.Fatal(err)
	}
	if _, err := g.TakeLease(t.Context(), "one", time.Hour); !errors.Is(err, reconcile.ErrHeld) {
		t.Errorf("error = %v, want one that says that it is held", err)
	}
}
