package decide

import (
	"slices"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// What one tenant's shows freezes what is that tenant's; what many show freezes all.
func TestTenantsTrust(t *testing.T) {
	const shared = "tasks tenants; "
	const others = "task o{1..3} running started=1h updated=1m ev.heartbeat=9s tenant=t{1..3}; " +
		"box daytona/o{1..3} running task=o{1..3}; "
	const odd = "task x{1..9} running started=1h ev.heartbeat=9s tenant=evil; "
	testTrust(t, map[string]trustCase{
		"one tenant's tasks show life and have no sandbox": {
			shared + others + odd, "link@evil", "9 tasks show life and only 0 of them have a sandbox"},
		"two of one tenant beside one of another's": {
			shared + "task x{1..2} running started=1h ev.heartbeat=9s tenant=evil; task o1 running started=1h ev.heartbeat=9s tenant=t1; " +
				"box daytona/o1 running task=o1", "link@evil", "2 tasks show life and only 0 of them have a sandbox"},
		"two of one tenant beside three of another's, of which one has none either": {
			shared + "task x{1..2} running started=1h ev.heartbeat=9s tenant=evil; task o{1..3} running started=1h ev.heartbeat=9s tenant=t1; " +
				"box daytona/o{1..2} running task=o{1..2}", "link", "5 tasks show life and only 2"},
		"the same, but the row of that one names a sandbox that is given to a row of the first, which names it too": {
			shared + "provider daytona id=yes; task x{1..3} running started=1h ev.heartbeat=9s tenant=evil; " +
				"task x9 running started=1h ev.heartbeat=9s sandbox=o2 tenant=evil; task o{1..2} running started=1h ev.heartbeat=9s sandbox=o{1..2} tenant=t1; " +
				"box daytona/o{1..2} running key=o{1..2}", "link@evil", "4 tasks show life and only 1"},
		"one tenant's shows life, and no sandbox links to any": {
			shared + "task x1 running started=1h ev.heartbeat=9s tenant=evil; task o1 assigned updated=1m tenant=t1; box daytona/o1 running", "link@evil",
			"none of 1 sandboxes links to any task"},
		"the same, and one of another tenant's has begun": {
			shared + "task x1 running started=1h ev.heartbeat=9s tenant=evil; task o1 running started=1h updated=1h tenant=t1; box daytona/o1 running", "link",
			"none of 1 sandboxes links to any task"},
		"the same, and nobody knows whose they are": {
			"task x{1..9} running started=1h ev.heartbeat=9s; task o{1..3} running started=1h ev.heartbeat=9s; " +
				"box daytona/o{1..3} running task=o{1..3}", "link", "12 tasks show life and only 3"},
		"most tenants' do": {
			shared + "task x{1..3} running started=1h ev.heartbeat=9s tenant=a; " +
				"task y{1..3} running started=1h ev.heartbeat=9s tenant=b; " +
				"task z{1..3} running started=1h ev.heartbeat=9s tenant=c; " +
				"task o{1..3} running started=1h ev.heartbeat=9s tenant=ok; box daytona/o{1..3} running task=o{1..3}", "link", ""},
		"nobody else's tell": {
			shared + odd + "row z9 completed; box daytona/z9 running task=z9", "link@evil", ""},
		"nobody else's rows tell whether it is the right table": {
			shared + "knew task x{1..9} running tenant=evil", "tasks", ""},
		"one tenant's tasks show life, and a listing shows nothing": {
			shared + "task x1 running started=1h ev.heartbeat=9s tenant=evil; task o1 assigned tenant=t1", "listing:daytona@evil",
			"shows no sandbox of ours"},
		"the same, and that listing failed before": {
			shared + "source listing:daytona untrusted reason=\"the listing failed: unexpected end\"; " +
				"task x1 running started=1h ev.heartbeat=9s tenant=evil; task o1 assigned tenant=t1", "listing:daytona@evil",
			"shows no sandbox of ours"},
		"the same, and it showed nothing before, while others spoke": {
			shared + "source listing:daytona untrusted reason=\"the listing shows no sandbox of ours\"; " +
				"task x1 running started=1h ev.heartbeat=9s tenant=evil; task o1 assigned tenant=t1",
			"listing:daytona listing:daytona@evil", "shows no sandbox of ours"},
		"the same, and it failed since": {
			shared + "source listing:daytona untrusted reason=\"the listing failed: x, and the last that was read showed no sandbox of ours\"; " +
				"task x1 running started=1h ev.heartbeat=9s tenant=evil; task o1 assigned tenant=t1",
			"listing:daytona listing:daytona@evil", "shows no sandbox of ours"},
		"those of two do": {
			shared + "task x1 running started=1h ev.heartbeat=9s tenant=evil; task o1 running ev.heartbeat=9s tenant=t1",
			"listing:daytona", "shows no sandbox of ours"},
		"one tenant's rows vanished": {
			shared + others + "knew task x{1..9} running tenant=evil; knew task o{1..3} running tenant=t{1..3}", "tasks@evil",
			"9 of the 9 rows"},
		"they were accepted": {
			shared + others + "knew task x{1..9} running tenant=evil; knew task o{1..3} running tenant=t{1..3}; " +
				"source tasks@evil untrusted since=5m; release tasks@evil source:tasks@evil at=1m", "", ""},
		"a tenant's and some of most others' vanished": {
			shared + "knew task x{1..9} running tenant=evil; knew task o{1..3} running tenant=t{1..3}; " +
				"task o3 running started=1h ev.heartbeat=9s tenant=t3; box daytona/o3 running task=o3", "tasks", "11 of the 12"},
		"one tenant's probes fail": {
			shared + others + odd + "box daytona/x{1..9} running task=x{1..9}; probe daytona/x{1..9} failed=1m; " +
				"probe daytona/o{1..3} answered=1m", "probes:daytona@evil", "9 of the 9 sandboxes probed recently fail"},
		"the same in a quick pass, from the inventory": {
			"pass quick; " + shared + "knew task x{1..9} running tenant=evil; knew task o{1..3} running tenant=t{1..3}; " +
				"task o{1..3} running started=1h ev.heartbeat=9s tenant=t{1..3}; task x{1..9} running ev.heartbeat=9s tenant=evil; " +
				"knew box daytona/x{1..9} running task=x{1..9}; knew box daytona/o{1..3} running task=o{1..3}; " +
				"probe daytona/x{1..9} failed=1m; probe daytona/o{1..3} answered=1m", "probes:daytona@evil", ""},
		"a stranger's, which carry the labels of others' tasks": {
			shared + "provider daytona named=yes id=yes; " +
				"task o{1..3} running started=1h ev.heartbeat=9s tenant=t{1..3} sandbox=o{1..3}; " +
				"box daytona/o{1..3} running task=o{1..3}; box daytona/x{1..3} running task=o{1..3}; " +
				"box daytona/y{1..3} running task=o{1..3}; box daytona/z{1..3} running task=o{1..3}; " +
				"probe daytona/x{1..3} failed=1m; probe daytona/y{1..3} failed=1m; probe daytona/z{1..3} failed=1m; probe daytona/o{1..3} answered=1m", "probes:daytona@?", ""},
		"one tenant's fell silent together while they answer": {
			shared + others + "box daytona/x{1..9} running task=x{1..9}; " +
				"task x{1..9} running started=1h ev.heartbeat=5m tenant=evil; probe daytona/x{1..9} answered=1m; " +
				"probe daytona/o{1..3} answered=1m", "events@evil", "9 of 9 running tasks fell silent together"},
		"one tenant's row is from the future": {
			shared + others + "task x1 running started=1h updated=-1h ev.heartbeat=9s tenant=evil; " +
				"box daytona/x1 running task=x1", "clock:updated_at@evil", "runs 1h ahead"},
		"one tenant's clock stands still": {
			shared + others + "knew task x1 assigned updated=1h tenant=evil; " +
				"task x1 running updated=1h started=1h ev.heartbeat=9s tenant=evil; " +
				"box daytona/x1 running task=x1", "clock:updated_at@evil", "did not move when task x1"},
		"it is not believed until somebody says so": {
			shared + others + "source clock:updated_at@evil untrusted reason=\"did not move when task x1\"",
			"clock:updated_at@evil", ""},
		"and others' probes fail again": {
			shared + others + "source link@evil untrusted since=5m; " +
				"task x{1..3} running started=1h ev.heartbeat=9s tenant=evil; box daytona/x{1..3} running task=x{1..3}", "", ""},
	})
}

// What is frozen for one tenant is held for that tenant, and for what may be anybody's.
func TestTenantsFreeze(t *testing.T) {
	const world = "tasks tenants; task o{1..3} running started=1h ev.heartbeat=9s tenant=t{1..3}; " +
		"box daytona/o{1..3} running task=o{1..3}; knew task x{1..9} running tenant=evil; " +
		"knew task o{1..3} running tenant=t{1..3}; " +
		"finding orphan sandbox:daytona/s1 first=9m last=1m sighted=1m sightings=2; box daytona/s1 running created=1h"
	testRule(t, "orphan", map[string]ruleCase{
		"the tenant's own":       {world + " task=x1", "held", "tasks-untrusted @evil"},
		"another tenant's":       {world + " tenant=t1", "due", ""},
		"nobody knows whose":     {world, "held", "tasks-untrusted @evil"},
		"the tenant's, by label": {world + " tenant=evil", "held", "tasks-untrusted @evil"},
	})
	const pairs = "tasks tenants; provider daytona exclusive=yes; knew task t9 completed tenant=ok; " +
		"task x1 running started=1h updated=1h ev.heartbeat=9s tenant=evil; " +
		"task o{1..3} running started=1h ev.heartbeat=9s tenant=t{1..3}; box daytona/o{1..3} running task=o{1..3}; " +
		"finding orphan sandbox:daytona/s1 first=9m last=1m sighted=1m sightings=2; box daytona/s1 running created=1h"
	testRule(t, "orphan", map[string]ruleCase{
		"another tenant's task has no sandbox": {pairs + " tenant=ok", "due", ""},
		"one of its own tenant has none":       {pairs + " tenant=evil", "held", "unmatched pair: task x1"},
		"one has none, and nobody knows whose": {pairs, "held", "unmatched pair: task x1"},
	})
	const broken = "tasks tenants; task t1 running started=1h ev.heartbeat=5m tenant=ok; box daytona/s1 running task=t1; " +
		"probe daytona/s1 failed=2m,1m30s,1m; box daytona/x{1..8} running task=x{1..8}; " +
		"task x{1..8} running started=1h ev.heartbeat=9s tenant=evil; probe daytona/x{1..8} failed=2m,1m30s,1m; " +
		"task o{1..3} running started=1h ev.heartbeat=9s tenant=t{1..3}; box daytona/o{1..3} running task=o{1..3}; " +
		"probe daytona/o{1..3} answered=1m"
	testRule(t, "idle-broken", map[string]ruleCase{
		"beside eight of one tenant that fail": {broken, "due", ""},
	})
}

// An open breaker holds what is the tenants' that have too much; a rule that is wrong everywhere is held everywhere.
func TestTenantsBreaker(t *testing.T) {
	const limits = "tasks tenants; limits per_pass=50 share=100; "
	const fleet = "box daytona/f{01..20} running task=f{01..20}; row f{01..20} completed updated=1s; "
	ids := func(from, to int) (out []string) {
		for i := from; i <= to; i++ {
			out = append(out, "sandbox:daytona/o"+worldtest.Padded(i, 2))
		}
		return out
	}
	for name, c := range map[string]struct {
		world string
		held  []string
		do    int
	}{
		"one has too many, and another a few": {
			limits + fleet + lost("01..15", "evil") + lost("16..18", "ok"), ids(1, 15), 3},
		"open for one, and another has a few": {
			limits + fleet + "breaker orphan sandbox:daytona/o01 sandbox:daytona/o02; " + lost("01..02", "evil") +
				lost("16..18", "ok"), ids(1, 2), 3},
		"most tenants have too many": {
			limits + fleet + lost("01..12", "a") + lost("13..24", "b") + lost("25..26", "c"), ids(1, 26), 0},
		"nobody knows whose": {
			limits + fleet + lost("01..15", "") + lost("16..18", "ok"), ids(1, 18), 0},
	} {
		t.Run(name, func(t *testing.T) {
			_, p := PlanWorld(worldtest.NewWorld(t, worldtest.Anchor, c.world))
			if b := p.Breakers["orphan"]; !slices.Equal(b.Subjects, c.held) {
				t.Errorf("breaker = %v, want %v", b.Subjects, c.held)
			}
			if do := len(p.Steps) - heldSteps(p); do != c.do {
				t.Errorf("%d steps are to be done, want %d", do, c.do)
			}
		})
	}
}

// Of two tenants one worker each is dead.
const twoDead = "tasks tenants; limits per_pass=50 share=100; " +
	"task w{1..9} running started=1h ev.heartbeat=9s tenant=t{1..9}; box daytona/w{1..9} running task=w{1..9}; " +
	"task x1 running started=1h ev.heartbeat=9m tenant=evil; task o1 running started=1h ev.heartbeat=9m tenant=ok; " +
	"box daytona/x1 running task=x1; box daytona/o1 running task=o1; " +
	"probe daytona/x1 failed=10s; probe daytona/o1 failed=10s; probe daytona/w{1..5} answered=10s; "

// A rule that was wrong about the tasks of one tenant alone is held for that tenant, and observes when it was wrong
// about many's.
func TestTenantsRefute(t *testing.T) {
	wrong := func(which, tenant string) string {
		return "verdict heartbeat-lost task:b{" + which + "} ago=10m failed=10m; " +
			"row b{" + which + "} failed ev.heartbeat=5m error=\"[sandkeeper x]\"" + tenant + "; "
	}
	const evils, oks = "task:x1", "task:o1"
	for name, c := range map[string]struct {
		world   string
		demoted int
		done    []string
	}{
		"none":                     {"", 0, []string{oks, evils}},
		"one tenant's, now":        {wrong("1..3", " tenant=evil"), 0, []string{oks}},
		"one tenant's, before":     {"tally heartbeat-lost verdicts=9 regrets=3 of=evil; ", 0, []string{oks}},
		"two tenants'":             {"tally heartbeat-lost verdicts=9 regrets=3 of=evil,ok; ", 0, nil},
		"two before and a third's": {"tally heartbeat-lost verdicts=9 regrets=3 of=a,b; " + wrong("1..1", " tenant=c"), 1, nil},
		"nobody knows whose":       {wrong("1..3", ""), 1, nil},
		"too few of one to prove":  {wrong("1..2", " tenant=evil"), 0, []string{oks, evils}},
	} {
		t.Run(name, func(t *testing.T) {
			j, p := PlanWorld(worldtest.NewWorld(t, worldtest.Anchor, twoDead, c.world))
			if done := failedSubjects(p); !slices.Equal(done, c.done) || len(j.Demoted) != c.demoted {
				t.Errorf("done %q, want %q; demoted %v\nsteps %q", done, c.done, j.Demoted, stepLines(p))
			}
		})
	}
}

// What nobody knows the tenant of may be the one's about whose tasks a rule was wrong.
func TestTenantsRefuteUnknown(t *testing.T) {
	_, p := PlanWorld(worldtest.NewWorld(t, worldtest.Anchor, strings.Replace(twoDead, " tenant=evil", "", 1),
		"tally heartbeat-lost verdicts=9 regrets=3 of=a"))
	if done := failedSubjects(p); !slices.Equal(done, []string{"task:o1"}) {
		t.Errorf("done %q, want only what is of another tenant; steps %q", done, stepLines(p))
	}
}

// failedSubjects are those whose rows are to be failed now.
func failedSubjects(p *Plan) (done []string) {
	for _, s := range p.Steps {
		if len(s.HeldBy) == 0 && s.Step == reconcile.StepFail {
			done = append(done, s.Subject)
		}
	}
	slices.Sort(done)
	return done
}

// Tenants take turns in a budget.
func TestTenantsTakeTurns(t *testing.T) {
	_, p := PlanWorld(worldtest.NewWorld(t, worldtest.Anchor, "tasks tenants; limits per_pass=4 share=100; "+
		"box daytona/f{01..40} running task=f{01..40}; row f{01..40} completed updated=1s; "+
		lost("01..09", "evil")+lost("91..92", "ok")))
	done := map[string]bool{}
	for _, s := range p.Steps {
		if len(s.HeldBy) == 0 {
			done[s.Subject] = true
		}
	}
	if len(done) != 4 || !done["sandbox:daytona/o91"] || !done["sandbox:daytona/o92"] {
		t.Errorf("done in a pass of 4: %v, want both of the tenant who has two", done)
	}
}

// lost are orphans of one tenant, seen a minute ago.
func lost(which, tenant string) string {
	of := ""
	if tenant != "" {
		of = " tenant=" + tenant
	}
	return "box daytona/o{" + which + "} running created=1h" + of + "; " +
		"finding orphan sandbox:daytona/o{" + which + "} first=5m last=1m sighted=1m sightings=2; "
}

func heldSteps(p *Plan) (n int) {
	for _, s := range p.Steps {
		if len(s.HeldBy) > 0 {
			n++
		}
	}
	return n
}
