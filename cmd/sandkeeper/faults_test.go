package main

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

var faults = flag.Bool("faults", false, "strike the daemon with real faults; takes minutes")

// Secrets that no output may show.
const (
	plantedPassword = "planted-password-5e1f"
	plantedKey      = "planted-key-77c0b2"
)

// A fault is something real that goes wrong around three replicas at work, and what they
// have to say of it meanwhile.
type fault struct {
	stage  func(*siege)               // what stands where, before anything runs; nil: the usual
	strike func(*siege) (mend func()) // begins the fault; mend ends it
	lasts  time.Duration              // at least; default 8s, and longer until all is said

	ready  string // a line of /readyz that is not ready meanwhile; "": it may be ready
	page   string // what the page shows meanwhile, a regular expression; "": anything
	log    string // what the log says, a regular expression; "": anything
	passes int    // that it may take to recover, of both kinds; default 12
	after  func(*siege)
}

// TestFaults strikes a platform that lives, and three replicas that keep it, with one real
// fault after the other. Afterwards an auditor compares rows, provider and ledger.
func TestFaults(t *testing.T) {
	if !*faults {
		t.Skip("it takes minutes and nobody asked for it: make test-faults")
	}
	var told faultTable
	t.Cleanup(func() { t.Log(told.String()) })
	for _, group := range []struct {
		name   string
		faults map[string]fault
	}{
		{"postgres", postgresFaults()}, {"disk", diskFaults()}, {"network", networkFaults()},
		{"provider", providerFaults()}, {"answers", answerFaults()}, {"tls", tlsFaults()},
	} {
		for name, f := range group.faults {
			t.Run(group.name+"/"+name, func(t *testing.T) {
				s := besiege(t, f.stage)
				s.suffer(f)
				s.end()
				told.add(group.name+": "+name, s)
			})
		}
	}
	t.Run("processes", func(t *testing.T) { told.add("processes killed, stopped and frozen", processesAtRandom(t)) })
	t.Run("mix", func(t *testing.T) { told.add("everything at random", everythingAtRandom(t)) })
}

// suffer lets one fault strike, demands what has to be said of it meanwhile, and waits for
// the recovery, which nobody helps along.
func (s *siege) suffer(f fault) {
	s.Helper()
	began := time.Now()
	s.seen = sight{}
	mend := f.strike(s)
	lasts := f.lasts
	if lasts == 0 {
		lasts = 8 * time.Second
	}
	s.watchFor(lasts)
	for until := time.Now().Add(2 * time.Minute); len(s.unsaid(f)) > 0 && time.Now().Before(until); {
		s.watchFor(500 * time.Millisecond)
	}
	mend()
	s.recovers(began)
	s.demand(f)
	if f.after != nil {
		f.after(s)
	}
}

// recovers waits until a full pass is complete again, every replica makes passes and is
// ready, and counts what that took.
func (s *siege) recovers(began time.Time) {
	s.Helper()
	mended := time.Now()
	s.soon("databases that answer", s.answers)
	const healed = `(SELECT min(began_at) FROM sandkeeper.passes WHERE began_at > $1 AND complete AND kind = 'full')`
	s.soon("a complete full pass", func() bool {
		return s.count("SELECT count(*) FROM sandkeeper.passes WHERE began_at = "+healed, mended) > 0
	})
	s.recovery.passes = s.count("SELECT count(*) FROM sandkeeper.passes WHERE began_at > $1 AND began_at <= "+healed, mended)
	s.recovery.took = time.Since(mended)
	s.mu.Lock()
	s.spans = append(s.spans, span{began, time.Now()})
	s.mu.Unlock()
	s.failed += s.failedPasses(began)
	for i, d := range s.replicas {
		s.soon(fmt.Sprintf("a pass of replica %d", i), func() bool {
			return s.count("SELECT count(*) FROM sandkeeper.passes WHERE began_at > $1 AND complete AND holder LIKE $2",
				mended, "% pid "+pidText(d)+" %") > 0
		})
		s.soon(fmt.Sprintf("replica %d is ready", i), func() bool {
			status, _ := d.get("/readyz")
			return status == 200
		})
	}
}

// answers reports whether the databases take new connections again. The old ones are given
// up: who looks on is not part of the fault.
func (s *siege) answers() bool {
	for _, pool := range []*pgxpool.Pool{s.db, s.books} {
		if pool == nil {
			continue
		}
		pool.Reset()
		if pool.Ping(s.Context()) != nil {
			return false
		}
	}
	return true
}

// failedPasses are those that the log tells of: those of a ledger that is away never come on
// record.
func (s *siege) failedPasses(since time.Time) (n int) {
	for _, l := range s.logsSince(since) {
		if l.text("msg") == "pass not complete" || l.text("msg") == "job failed" && l.text("job") == "pass" {
			n++
		}
	}
	return n
}

// logsSince are the entries of all replicas from a moment on.
func (s *siege) logsSince(since time.Time) (out []line) {
	for _, d := range s.replicas {
		for _, l := range d.lines() {
			if at, err := time.Parse(time.RFC3339Nano, l.text("time")); err == nil && !at.Before(since) {
				out = append(out, l)
			}
		}
	}
	return out
}

// end lets everything settle, stops the replicas, and audits.
func (s *siege) end() {
	s.Helper()
	s.settled()
	for _, d := range s.replicas {
		s.noSecretsAt(d)
		s.stop(d)
	}
	s.audit()
}
