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
