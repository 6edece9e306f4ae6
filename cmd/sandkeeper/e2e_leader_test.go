package main

import (
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// TestLeaderIsKilled: whoever leads the job queue and whoever is in the middle of a pass
// die at the same moment. The one that is left goes on as soon as the lease is over.
func TestLeaderIsKilled(t *testing.T) {
	a := newArena(t, settings{})
	au := a.audited(2, nil)
	a.configure(livingSettings)
	a.must("migrate")
	au.p.every = 800 * time.Millisecond
	defer au.p.start()()
	replicas := []*daemonChild{a.daemon("run"), a.daemon("run"), a.daemon("run")}
	for range 2 {
		leader := au.among(replicas, "a leader", au.leader)
		lift := a.cloud.Inject(simulated.Fault{On: simulated.List, Effect: simulated.Hang})
		inPass := au.among(replicas, "a process in its pass", au.leaseholder)
		lift()
		for _, i := range []int{inPass, leader} {
			if !replicas[i].over() {
				au.kill(replicas[i].child)
			}
		}
		killed := time.Now()
		survivor := 3 - inPass - leader
		if inPass == leader {
			survivor = (leader + 1) % 3
		}
		au.soon("a pass after the kill", func() bool {
			return a.count("SELECT count(*) FROM sandkeeper.passes WHERE ended_at > $1", killed) > 0
		})
		t.Logf("passes go on %s after the kill", time.Since(killed).Round(100*time.Millisecond))
		for i := range replicas {
			if replicas[i].over() {
				replicas[i] = a.daemon("run")
			} else if i == survivor {
				au.soon("a leader", func() bool { return au.leader() != "" })
			}
		}
	}
	au.settled()
	for _, d := range replicas {
		au.stop(d)
	}
	au.audit()
	if gap, cut := au.longestGap(); gap > time.Duration(max(cut, 1))*15*time.Second+busy {
		t.Errorf("no pass ended for %s, and %d were cut short", gap, cut)
	}
}

// leader is the name of the process that starts the passes.
func (au *auditor) leader() (name string) {
	au.Helper()
	err := au.db.QueryRow(au.Context(), "SELECT leader_id FROM sandkeeper.river_leader WHERE expires_at > now()").Scan(&name)
	if err != nil {
		return ""
	}
	return name
}

// among waits until somebody has the part, and says which of the replicas that is.
func (au *auditor) among(replicas []*daemonChild, part string, who func() string) (which int) {
	au.Helper()
	au.soon(part, func() bool {
		m := pidOf.FindStringSubmatch(who())
		for i, d := range replicas {
			if m != nil && strings.TrimSpace(m[1]) == pidText(d) && !d.over() {
				which = i
				return true
			}
		}
		return false
	})
	return which
}
