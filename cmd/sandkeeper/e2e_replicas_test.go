package main

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/result"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

var (
	replicasFor  = flag.Duration("for", 15*time.Second, "how long replicas are killed")
	replicasSeed = flag.Uint64("seed", 0, "of the faults; 0: another one each time")
)

// livingRules are thresholds near their floors, but for that of a start: a platform that stands still for some seconds
// begins its tasks so much later. What breaks at random is alike often enough to
// be an incident, which would hold its repair for half an hour.
const livingRules = `{assigned-stale: {after: 30s}, sandbox-missing: {after: 1s}, heartbeat-lost: {after: 30s},
  stop-ignored: {after: 1s}, finished-lingering: {after: 3s}, orphan: {after: 30s, apart: 1s},
  idle-broken: {after: 5s, failures: 2}, systemic: off}`

var livingSettings = settings{
	rules:  livingRules,
	limits: "{per_pass: 4, share: 20%, breaker: 100%, per_hour: 100000}",
	probe:  `{exec: "true", path: "/", worker: "pgrep -f [w]orker", every: 3s, timeout: 2900ms, budget: 2500/m}`,
	call:   "5s",
	more:   quickly,
}

// seedOf is the seed of a run, which a failure shows.
func seedOf(t *testing.T) uint64 {
	seed := *replicasSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-seed %d", seed)
	return seed
}

// TestReplicasAreKilled: three of them keep a living platform, and one after the other is
// killed. Everything broken is repaired once, and nothing else is touched.
func TestReplicasAreKilled(t *testing.T) {
	a, seed := newArena(t, settings{}), seedOf(t)
	au := a.audited(seed, nil)
	a.configure(livingSettings)
	a.must("migrate")
	au.p.every = 600 * time.Millisecond
	defer au.p.start()()
	au.faults()
	replicas := []*daemonChild{a.daemon("run"), a.daemon("run"), a.daemon("run")}
	rng := rand.New(rand.NewPCG(seed, 3))
	for until := time.Now().Add(*replicasFor); time.Now().Before(until); {
		a.pass(time.Second + time.Duration(rng.Int64N(int64(3*time.Second))))
		i := rng.IntN(len(replicas))
		au.kill(replicas[i].child)
		a.pass(time.Duration(rng.Int64N(int64(time.Second))))
		replicas[i] = a.daemon("run")
	}
	au.settled()
	for _, d := range replicas {
		au.stop(d)
	}
	au.audit()
	gap, cut := au.longestGap()
	// One that is killed between taking the lease and recording its pass holds the lease too.
	if most := time.Duration(cut+1)*15*time.Second + busy; gap > most {
		t.Errorf("no pass ended for %s, want at most %s", gap, most)
	}
}

// faults are what a network does to calls.
func (au *auditor) faults() {
	for _, f := range []simulated.Fault{
		{On: simulated.Delete, Chance: 0.1, Effect: simulated.DoneThenDrop},
		{On: simulated.Delete, Chance: 0.1, Effect: simulated.DoneThenAnswer, Status: 502},
		{On: simulated.Delete, Chance: 0.1, Effect: simulated.Drop},
		{On: simulated.Delete, Chance: 0.3, Delay: 2500 * time.Millisecond},
		{On: simulated.Get, Chance: 0.05, Effect: simulated.Answer, Status: 502},
		{On: simulated.Get, Chance: 0.2, Delay: 200 * time.Millisecond},
	} {
		au.cloud.Inject(f)
	}
}

// settled waits, after the last fault, until everything is repaired.
func (au *auditor) settled() {
	au.Helper()
	au.cloud.Fix()
	au.p.heal()
	const patience = 90 * time.Second // while nothing more is repaired
	least := len(au.unrepaired())
	for until := time.Now().Add(patience); !au.well(); au.pass(200 * time.Millisecond) {
		if left := len(au.unrepaired()); left < least {
			least, until = left, time.Now().Add(patience)
		}
		if time.Now().After(until) {
			return // the audit tells what is left
		}
	}
	plan, left := au.leftToDo()
	// The platform lives on: a plan may meet it between the end of a row and of its sandbox.
	for tries := 0; left > 0 && tries < 5; tries++ {
		au.pass(2 * time.Second)
		plan, left = au.leftToDo()
	}
	if left > 0 {
		au.Errorf("something is left to do: %s", plan)
	}
}

// leftToDo is a plan of now, and how much of it can be repaired.
func (au *auditor) leftToDo() (plan string, steps int) {
	au.Helper()
	_, plan, _ = au.run("plan", "-o", "json")
	r := au.report(plan)
	findings := slices.DeleteFunc(r.Findings, func(f result.Finding) bool { return ofTheFleet[f.Rule] })
	return plan, len(r.Steps) + len(findings)
}

// ofTheFleet are the rules that tell of what was, for a while, and of how much there is:
// nothing of that can be repaired.
var ofTheFleet = map[string]bool{"systemic": true, "capacity": true}
