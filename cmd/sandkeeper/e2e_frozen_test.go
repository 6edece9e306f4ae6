package main

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// A freezer stops the process that makes a certain call, as a machine does that swaps or is
// moved: it thinks that no time has passed.
type freezer struct {
	au *auditor

	mu    sync.Mutex
	armed func(*http.Request) (holder string) // who makes the call, "" for another call
	pid   int
}

func (f *freezer) around(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		if f.pid == 0 && f.armed != nil {
			f.freeze(f.armed(r))
		}
		f.mu.Unlock()
		h.ServeHTTP(w, r)
	})
}

func (f *freezer) freeze(holder string) {
	m := pidOf.FindStringSubmatch(holder)
	if m == nil {
		return
	}
	f.pid, _ = strconv.Atoi(m[1]) // digits
	if err := syscall.Kill(f.pid, syscall.SIGSTOP); err != nil {
		f.au.Errorf("freeze process %d: %v", f.pid, err)
	}
	f.au.mu.Lock()
	f.au.killed[f.pid] = time.Now() // to the others it is as good as dead
	f.au.mu.Unlock()
}

func (f *freezer) arm(armed func(*http.Request) string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed = armed
}

func (f *freezer) frozen() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.pid
}

// claimant is who has claimed an open action of a task or a sandbox.
func (au *auditor) claimant(x *ill) (holder string) {
	rows, err := au.db.Query(au.Context(), `SELECT claimed_by FROM sandkeeper.actions
		WHERE (task = $1 OR sandbox = $2 AND sandbox <> '') AND closed_at IS NULL AND claim_ends > now()`, x.task, x.box)
	if err != nil {
		au.Error(err)
		return ""
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(names) == 0 {
		return ""
	}
	return names[0]
}

// TestAReplicaStandsStill: a process is frozen between its claim and its deed, or in its
// pass, for longer than leases and claims last. Others go on; when it wakes up, it does
// nothing twice.
func TestAReplicaStandsStill(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		ill string
		at  func(r *http.Request, x *ill) bool
		any bool // whoever holds the pass lease
	}{
		"before a delete": {ill: "orphan", at: func(r *http.Request, x *ill) bool {
			return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, x.box)
		}},
		"in a delete": {ill: "orphan", at: func(r *http.Request, x *ill) bool {
			return r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, x.box)
		}},
		"before a row is written": {ill: "never started", at: func(r *http.Request, x *ill) bool {
			return strings.Contains(r.URL.RawQuery, x.task)
		}},
		"in a listing": {ill: "orphan", any: true, at: func(r *http.Request, _ *ill) bool {
			return r.URL.Path == "/api/sandbox" && !strings.Contains(r.URL.RawQuery, "task_id")
		}},
	}
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			a := newArena(t, settings{})
			f := &freezer{}
			au := a.audited(1, f.around)
			f.au, au.p.tasks, au.blocks = au, 8, true
			s := livingSettings
			s.call = "40s"
			a.configure(s)
			a.must("migrate")
			defer au.p.start()()
			replicas := []*daemonChild{a.daemon("run"), a.daemon("run"), a.daemon("run")}
			au.soon("a full pass", func() bool { return a.passes("full") > 0 })
			x := au.p.infect(tt.ill)
			f.arm(func(r *http.Request) string {
				switch {
				case !tt.at(r, x):
					return ""
				case tt.any:
					return au.leaseholder()
				}
				return au.claimant(x)
			})
			au.soon("a process is frozen", func() bool { return f.frozen() > 0 })
			a.pass(20 * time.Second) // that is how long it stands still
			au.soon("another one has done it", au.well)
			if err := syscall.Kill(f.frozen(), syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			before := a.passes("quick")
			au.soon("some passes more", func() bool { return a.passes("quick") > before+3 })
			for _, d := range replicas {
				au.stop(d)
			}
			au.audit()
			if gap, _ := au.longestGap(); gap > 15*time.Second+busy {
				t.Errorf("no pass ended for %s", gap)
			}
			if n := len(au.deletes[x.box]); n > 1 {
				t.Errorf("the sandbox was deleted %d times", n)
			}
		})
	}
}

// leaseholder is who has the pass lease.
func (au *auditor) leaseholder() (holder string) {
	au.Helper()
	err := au.db.QueryRow(au.Context(), `SELECT holder FROM sandkeeper.leases
		WHERE name = 'pass' AND expires_at > now()`).Scan(&holder)
	if err != nil {
		return ""
	}
	return holder
}

// soon waits for as long as leases, claims and timers of silence may take.
func (au *auditor) soon(what string, is func() bool) {
	au.Helper()
	for until := time.Now().Add(5 * time.Minute); !is(); au.pass(50 * time.Millisecond) {
		if time.Now().After(until) {
			au.Fatalf("never reached: %s", what)
		}
	}
}
