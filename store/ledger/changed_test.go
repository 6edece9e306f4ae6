package ledger

import (
	"context"
	"errors"
	"testing"

	"github.com/sandkeeper/sandkeeper/store"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// TestChanged: what a pass, an operator or an action writes is told, and nothing else is.
func TestChanged(t *testing.T) {
	g := browsed(t)
	last := ""
	for _, step := range []struct {
		does string
		sql  string
		new  bool
	}{
		{"at first", "SELECT", true}, {"nothing", "SELECT", false},
		{"a pass begins", "INSERT INTO sandkeeper.passes (kind, holder, epoch, began_at, complete) VALUES ('quick', 'one', 1, now(), false)", true},
		{"it ends", "UPDATE sandkeeper.passes SET ended_at = now() WHERE ended_at IS NULL", true},
		{"an operator asks", "INSERT INTO sandkeeper.timeline (at, subject, kind, what) VALUES (now(), 'task:1', 'operator', 'hold')", true},
		{"nothing again", "SELECT", false},
	} {
		if _, err := g.pool.Exec(t.Context(), step.sql); err != nil {
			t.Fatal(err)
		}
		got, err := g.Changed(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if (got != last) != step.new {
			t.Errorf("%s: %q after %q", step.does, got, last)
		}
		last = got
	}
}

// TestListen: each change that may be asked for is told, and that a pass began is told as no more than that.
func TestListen(t *testing.T) {
	g := browsed(t)
	ctx, stop := context.WithCancel(t.Context())
	told, ended := make(chan bool), make(chan error, 1)
	go func() {
		ended <- g.Listen(ctx, func(begun bool) { told <- begun })
	}()
	if <-told {
		t.Error("that it listens is told as a pass that began")
	}
	for _, step := range []struct {
		does  string
		sql   string
		begun bool
	}{
		{"a pass begins", "INSERT INTO sandkeeper.passes (kind, holder, epoch, began_at, complete) VALUES ('quick', 'one', 1, now(), false)", true},
		{"it ends", "UPDATE sandkeeper.passes SET ended_at = now() WHERE ended_at IS NULL", false},
		{"an operator asks", "INSERT INTO sandkeeper.timeline (at, subject, kind, what) VALUES (now(), 'task:1', 'operator', 'hold')", false},
	} {
		if _, err := g.pool.Exec(ctx, step.sql); err != nil {
			t.Fatal(err)
		}
		if begun := <-told; begun != step.begun {
			t.Errorf("%s: told as a beginning: %v", step.does, begun)
		}
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
}

// TestToldFailsNothing: a pass begins where news may not be told, and where the server's queue of them fills up.
func TestToldFailsNothing(t *testing.T) {
	const begin = "INSERT INTO sandkeeper.passes (kind, holder, epoch, began_at, complete) VALUES ('quick', 'one', 1, now(), false)"
	admin := browsed(t)
	worker := pgtest.AsRole(t, admin.pool, `GRANT USAGE ON SCHEMA sandkeeper TO %[1]s;
		GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA sandkeeper TO %[1]s;
		GRANT USAGE ON ALL SEQUENCES IN SCHEMA sandkeeper TO %[1]s`)
	listener, err := admin.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Release()
	if _, err := listener.Exec(t.Context(), `LISTEN "sandkeeper.changed"`); err != nil {
		t.Fatal(err)
	}
	const usage = "CREATE OR REPLACE FUNCTION mocked.pg_notification_queue_usage() RETURNS float8 LANGUAGE sql AS "
	for _, step := range []struct {
		where, sql string
		tells      bool
	}{
		{"pg_notify is taken from PUBLIC", "REVOKE EXECUTE ON FUNCTION pg_catalog.pg_notify(text, text) FROM PUBLIC", true},
		{"the queue is half full", "CREATE SCHEMA mocked; GRANT USAGE ON SCHEMA mocked TO PUBLIC;" + usage + `'SELECT 0.5::float8';
			ALTER FUNCTION sandkeeper.told() SET search_path = mocked, pg_catalog, pg_temp`, false},
		{"the queue is less full", usage + "'SELECT 0.4::float8'", true},
		{"the look is taken from PUBLIC too", `ALTER FUNCTION sandkeeper.told() SET search_path = pg_catalog, pg_temp;
			REVOKE EXECUTE ON FUNCTION pg_catalog.pg_notification_queue_usage() FROM PUBLIC`, false},
	} {
		if _, err := admin.pool.Exec(t.Context(), step.sql); err != nil {
			t.Fatal(err)
		}
		if _, err := worker.Exec(t.Context(), begin); err != nil {
			t.Errorf("where %s no pass begins: %v", step.where, err)
		}
		if _, err := admin.pool.Exec(t.Context(), `NOTIFY "sandkeeper.changed", 'last'`); err != nil {
			t.Fatal(err)
		}
		told := false
		for last := false; !last; { // news of one server come in the order of the commits
			said, err := listener.Conn().WaitForNotification(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			last = said.Payload == "last"
			told = told || said.Payload == passBegun
		}
		if told != step.tells {
			t.Errorf("where %s it is told: %v", step.where, told)
		}
	}
}

// TestListenPooled: behind a pooler nobody is told anything, and that is said at once.
func TestListenPooled(t *testing.T) {
	pool, err := store.Open(t.Context(), pgtest.Pooled(t, pgtest.Database(t)), store.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	err = NewLedger(pool, Options{Installation: "test"}).Listen(t.Context(), func(bool) { t.Error("told") })
	if !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("it listens: %v", err)
	}
}
