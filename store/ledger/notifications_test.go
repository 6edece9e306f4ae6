package ledger

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// TestAlarmsAreToldOnce over all replicas: what is new, what changed, what is over, and what is wrong
// still after a time.
func TestAlarmsAreToldOnce(t *testing.T) {
	now := atNoon()
	g := migrated(t, ledgerPool(t, pgtest.Database(t)), func() time.Time { return now })
	say := func(alarms ...string) {
		t.Helper()
		var list []reconcile.Alarm
		for _, a := range alarms {
			key, version, _ := strings.Cut(a, "=")
			list = append(list, reconcile.Alarm{Key: key, Kind: "test", Severity: reconcile.SeverityWarning, Title: key, Version: version})
		}
		if err := g.Alarm(t.Context(), "chat", list); err != nil {
			t.Fatal(err)
		}
	}
	take := func() []reconcile.Alarm {
		t.Helper()
		due, err := g.TakeAlarms(t.Context(), "chat", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return due
	}
	told := func(want ...string) {
		t.Helper()
		due := take()
		var got []string
		for _, a := range due {
			got = append(got, a.Key+"="+a.Version)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("told at %s (-want +got):\n%s", now.Format(time.TimeOnly), diff)
		}
		if err := g.AlarmsTold(t.Context(), "chat", due); err != nil {
			t.Fatal(err)
		}
		if err := g.KeepReceivers(t.Context(), []string{"chat"}); err != nil {
			t.Fatal(err)
		}
	}
	say("a=1", "b=1")
	told("a=1", "b=1")
	say("a=1", "b=1")
	told()
	say("a=2", "b=1") // it changed
	told("a=2")
	now = now.Add(59 * time.Minute)
	say("a=2")
	told("b=") // it is over
	say("a=2")
	told()
	now = now.Add(time.Minute)
	told("a=2") // it is wrong still
	say("c=1")
	say() // and is over before anybody was told
	told("a=")
	told()
	if n := count(t, g, "SELECT count(*) FROM sandkeeper.notifications"); n != 0 {
		t.Errorf("%d rows are left of what is over and told", n)
	}
}

// TestAlarmsAreTriedAgain: what could not be told is put off and tried again, by whichever replica comes first; a
// process that died in the middle loses nothing.
func TestAlarmsAreTriedAgain(t *testing.T) {
	now := atNoon()
	g := migrated(t, ledgerPool(t, pgtest.Database(t)), func() time.Time { return now })
	alarm := []reconcile.Alarm{{Key: "a", Kind: "test", Title: "a", Version: "1"}}
	var mu sync.Mutex
	var all sync.WaitGroup
	taken := 0
	for range 8 { // replicas at the same time
		all.Go(func() {
			if err := g.Alarm(t.Context(), "chat", alarm); err != nil {
				t.Error(err)
			}
			due, err := g.TakeAlarms(t.Context(), "chat", time.Hour)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			taken += len(due)
		})
	}
	all.Wait()
	if taken != 1 {
		t.Fatalf("%d replicas took it, want 1", taken)
	}
	if err := g.AlarmsFailed(t.Context(), "chat", "503", alarm); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{protocol.FirstTold - time.Second, 0}, {time.Second, 1}, {2*protocol.FirstTold - time.Second, 0}, {time.Second, 1}} {
		now = now.Add(c.after)
		due, err := g.TakeAlarms(t.Context(), "chat", time.Hour)
		if err != nil || len(due) != c.want {
			t.Errorf("%s later %d are due, want %d (%v)", c.after, len(due), c.want, err)
		}
	}
	if err := g.KeepReceivers(t.Context(), []string{"mail"}); err != nil {
		t.Fatal(err)
	}
	if n := count(t, g, "SELECT count(*) FROM sandkeeper.notifications"); n != 0 {
		t.Errorf("%d rows are left of a receiver that the config has no more", n)
	}
	if n := count(t, g, "SELECT value::int FROM sandkeeper.counters WHERE name = 'notifications' AND what = 'chat:failed'"); n != 1 {
		t.Errorf("%d failures are counted, want 1", n)
	}
}

func count(t *testing.T, g *Ledger, query string) int {
	t.Helper()
	n := 0
	if err := g.pool.QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
