package decide

import (
	"fmt"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// What a quick pass may sight again: found by a full one, long enough ago, held by nothing, and not too many, for a
// breaker has to see at once all that is due.
func TestWhatAQuickPassSightsAgain(t *testing.T) {
	now := time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		n      int
		kind   reconcile.PassKind
		change func(*reconcile.Finding)
		mode   reconcile.Mode
		want   int
	}{
		"ten":                            {10, reconcile.Quick, nil, reconcile.Enforce, 10},
		"eleven":                         {11, reconcile.Quick, nil, reconcile.Enforce, 0},
		"in a full pass":                 {1, reconcile.Full, nil, reconcile.Enforce, 0},
		"the rule is off":                {1, reconcile.Quick, nil, reconcile.Off, 0},
		"sighted a moment ago":           {1, reconcile.Quick, func(f *reconcile.Finding) { f.SightedAt = now.Add(-59 * time.Second) }, reconcile.Enforce, 0},
		"due already":                    {1, reconcile.Quick, func(f *reconcile.Finding) { f.Due = true }, reconcile.Enforce, 0},
		"held":                           {1, reconcile.Quick, func(f *reconcile.Finding) { f.HeldBy = reconcile.HeldBy{reconcile.HeldShared()} }, reconcile.Enforce, 0},
		"of a rule for full ones alone":  {1, reconcile.Quick, func(f *reconcile.Finding) { f.Rule = "over-age" }, reconcile.Enforce, 0},
		"waits its turn":                 {3, reconcile.Quick, waitsItsTurn, reconcile.Enforce, 3},
		"waits its turn, in a full pass": {3, reconcile.Full, waitsItsTurn, reconcile.Enforce, 0},
		"eleven wait their turn":         {11, reconcile.Quick, waitsItsTurn, reconcile.Enforce, 10},
		"waits its turn, and is held": {1, reconcile.Quick, func(f *reconcile.Finding) {
			waitsItsTurn(f)
			f.HeldBy = append(f.HeldBy, reconcile.HeldShared())
		}, reconcile.Enforce, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := &reconcile.Snapshot{Kind: c.kind, Memory: reconcile.Memory{Now: now, Findings: map[reconcile.FindingKey]reconcile.Finding{}}}
			for i := range c.n {
				f := reconcile.Finding{Rule: "orphan", Provider: "lab", Sandbox: fmt.Sprint("s", i), Subject: fmt.Sprint("sandbox:lab/s", i),
					SightedAt: now.Add(-time.Minute)}
				if c.change != nil {
					c.change(&f)
				}
				s.Memory.Findings[f.Key()] = f
			}
			rule := reconcile.RulePolicy{Mode: c.mode, Apart: time.Minute}
			p := &reconcile.Policy{Rules: map[string]reconcile.RulePolicy{"orphan": rule, "over-age": rule},
				Limits: reconcile.Limits{PerHour: 200}}
			if got := view.SightAgain(s, p); len(got) != c.want {
				t.Errorf("a quick pass sights %v again, want %d", got, c.want)
			}
		})
	}
}

func waitsItsTurn(f *reconcile.Finding) {
	f.Due, f.HeldBy = true, reconcile.HeldBy{{Kind: reconcile.HeldBudget, What: "share 10% of 20 sandboxes"}}
}

func TestOrphan(t *testing.T) {
	// Seen once, a minute ago: this look is the second sighting.
	const seen = "finding orphan sandbox:daytona/s1 first=1m last=1m sighted=1m sightings=1; "
	testRule(t, "orphan", map[string]ruleCase{
		"the first sighting": {
			"box daytona/s1 running", "seen", "no task explains it: it names no task and no row names it; running, created 1h ago"},
		"the second sighting, a minute later": {seen + "box daytona/s1 running", "due", ""},
		"the second look, a second earlier": {
			"finding orphan sandbox:daytona/s1 first=59s last=59s sighted=59s sightings=1; " +
				"box daytona/s1 running", "seen", ""},
		"the ledger's clock ran backwards": {
			"finding orphan sandbox:daytona/s1 first=1h last=-1m sighted=-1m sightings=1; box daytona/s1 running", "seen", ""},
		"a spare of a warm pool": {seen + "box daytona/s1 running spare=yes", "kept", "spare of a warm pool"},
		"created 5m ago":         {seen + "box daytona/s1 running created=5m", "due", ""},
		"created a second later": {seen + "box daytona/s1 running created=4m59s", "kept", "created 4m59s ago of 5m"},
		"created 2h ago, by a clock that is an hour ahead": {
			seen + "source clock:provider/daytona untrusted since=1h; listing daytona off=1h; " +
				"box daytona/s1 running created=2h; knew box daytona/s1 running first=1m",
			"kept", "first seen 1m ago of 5m"},
		"the same, and the ledger has seen it for long enough": {
			seen + "listing daytona off=1h; box daytona/s1 running created=2h; knew box daytona/s1 running first=5m", "due", ""},
		"created while the clock was ahead, which is right again": {
			seen + "source clock:provider/daytona trusted since=1m; box daytona/s1 running created=2h; " +
				"knew box daytona/s1 running first=2m", "kept", "first seen 2m ago of 5m"},
		"created long before the clock was ahead": {
			seen + "source clock:provider/daytona trusted since=5m; box daytona/s1 running created=2h; " +
				"knew box daytona/s1 running first=2m", "due", ""},
		"created a moment ago, by a clock that is an hour behind": {
			seen + "listing daytona off=-1h; box daytona/s1 running created=1m; knew box daytona/s1 running first=5m",
			"kept", "created 1m ago of 5m"},
		"created 2h ago, and an answer told no time": {
			seen + "listing daytona undated=yes; box daytona/s1 running created=2h; knew box daytona/s1 running first=1m",
			"kept", "first seen 1m ago of 5m"},
		"created 2h ago, by a clock that is off, and nobody looked for a while": {
			seen + "source clock:provider/daytona untrusted since=1h; listing daytona off=1h; watched since=6m; " +
				"box daytona/s1 running created=2h; knew box daytona/s1 running first=1h",
			"due", "running, at least 6m old"},
		"created in the future": {seen + "box daytona/s1 running created=-1h", "kept", "first seen 0s ago of 5m (dated 1h ahead"},
		"dated a year ahead, the ledger has seen it for long enough": {
			seen + "box daytona/s1 running created=-8760h; knew box daytona/s1 running first=5m", "due", "365d ahead, which is not believed"},
		"dated a year ahead, the ledger has seen it for less": {
			seen + "box daytona/s1 running created=-8760h; knew box daytona/s1 running first=4m59s", "kept", "first seen 4m59s ago of 5m"},
		"dated further ahead than a clock is believed to be": {
			seen + "box daytona/s1 running created=-31s; knew box daytona/s1 running first=5m", "due", "dated 31s ahead"},
		"dated no further ahead than that": {
			seen + "box daytona/s1 running created=-30s; knew box daytona/s1 running first=5m", "kept", "created"},
		"its age is not told, the ledger saw it for 5m": {
			seen + "box daytona/s1 running created=never; knew box daytona/s1 running first=5m", "due", ""},
		"its age is not told, the ledger saw it for less": {
			seen + "box daytona/s1 running created=never; knew box daytona/s1 running first=4m59s", "kept", ""},
		"its age is not told, the ledger has not seen it": {
			seen + "box daytona/s1 running created=never", "kept", "first seen 0s ago"},
		"explained by a live task": {seen + "box daytona/s1 running task=t2; task t2 running started=1h", "healthy", ""},
		"explained by a finished one": {
			seen + "box daytona/s1 running task=t2; row t2 completed updated=1h", "healthy", ""},
		"explained by one out of where": {
			seen + "box daytona/s1 running task=t2; row t2 running started=1h", "healthy", ""},
		"a live row holds its id, where others hold names": {
			"provider daytona label=no named=yes; " + seen + "box daytona/s1 running key=k0 also=s1; " +
				"task t2 running started=1h sandbox=s1", "healthy", ""},
		"a finished row holds its id, where others hold names": {
			"provider daytona label=no named=yes; " + seen + "box daytona/s1 running key=k0 also=s1; " +
				"row t2 completed updated=1h sandbox=s1", "healthy", ""},
		"no row was asked whether it holds its id": {
			"provider daytona label=no named=yes; " + seen + "box daytona/s1 running key=k0 also=s1; unread sandbox:s1",
			"kept", "not read"},
		"no row holds its id or its name": {
			"provider daytona label=no named=yes; " + seen + "box daytona/s1 running key=k0 also=s1; " +
				"row t2 completed updated=1h sandbox=s2", "due", ""},
		"a live row names that id at another account": {
			"provider daytona id=yes named=yes; provider e2b id=yes kind=e2b; " + seen + "box daytona/s1 running key=s1; " +
				"task t2 running started=1h sandbox=s1 provider=e2b", "due", ""},
		"a finished row names that id at another account": {
			"provider daytona id=yes named=yes; provider e2b id=yes kind=e2b; " + seen + "box daytona/s1 running key=s1; " +
				"row t2 completed updated=1h sandbox=s1 provider=e2b", "due", ""},
		"a live row names it at another entry of its kind": {
			"provider daytona id=yes named=yes; provider twin id=yes; " + seen + "box daytona/s1 running key=s1; " +
				"task t2 running started=1h sandbox=s1 provider=twin", "healthy", ""},
		"a live row names it at another entry, which shows the same": {
			"provider daytona id=yes named=yes; provider twin id=yes; " + seen + "box daytona/s1 running key=s1; " +
				"task t2 running started=1h sandbox=s1 provider=twin; box twin/s1 running key=s1; knew box twin/s1 running", "healthy", ""},
		"a live row names that id at another account of the kind, which has its own": {
			"provider daytona id=yes named=yes; provider twin id=yes; " + seen + "box daytona/s1 running key=s1; " +
				"task t2 running started=1h sandbox=s1 provider=twin; knew box twin/s1 running created=9h", "due", ""},
		"a live row names its name at another entry, which shows the same": {
			"provider daytona named=yes; provider twin named=yes; " + seen + "box daytona/s1 running key=k1; " +
				"task t2 running started=1h sandbox=k1 provider=twin; knew box twin/s1 running created=1h", "healthy", ""},
		"a live row names its name at another account of the kind": {
			"provider daytona named=yes; provider twin named=yes; " + seen + "box daytona/s1 running key=k1; " +
				"task t2 running started=1h sandbox=k1 provider=twin", "due", ""},
		"another entry of its kind has its name for an id, which is a live task's": {
			"provider daytona id=yes named=yes; provider twin id=yes; " + seen + "box daytona/s1 running key=s1 name=k1; " +
				"task t2 running started=1h sandbox=k1; box twin/k1 running key=k1; knew box twin/k1 running task=t2", "healthy", ""},
		"another entry of its kind had its name for an id": {
			"provider daytona id=yes named=yes; provider twin id=yes; " + seen + "box daytona/s1 running key=s1 name=k1; " +
				"task t2 running started=1h sandbox=k1; knew box twin/k1 running task=t2 gone=1h", "due", ""},
		"another entry of another kind has its name for an id": {
			"provider daytona id=yes named=yes; provider e2b id=yes kind=e2b; " + seen + "box daytona/s1 running key=s1 name=k1; " +
				"task t2 running started=1h sandbox=k1; box e2b/k1 running key=k1; knew box e2b/k1 running task=t2", "due", ""},
		"a former sandbox of its name was a live task's": {
			seen + "box daytona/s1 running name=k0 lasting=yes; knew box daytona/s0 stopped name=k0 task=t2; " +
				"task t2 running started=1h", "healthy", ""},
		"a former sandbox of its name was a finished task's": {
			seen + "box daytona/s1 running name=k0 lasting=yes; knew box daytona/s0 stopped name=k0 task=t2; " +
				"row t2 completed updated=1m", "healthy", ""},
		"a former sandbox of its name was a live task's, where names do not last": {
			seen + "box daytona/s1 running name=k0; knew box daytona/s0 stopped name=k0 task=t2 gone=1h; " +
				"task t2 running started=1h", "due", ""},
		"a former sandbox of its name, that a look shows, is a live row's": {
			"provider daytona id=yes label=no named=yes; " + seen + "box daytona/s1 running key=s1 name=k0 lasting=yes; " +
				"task t2 running started=9h ev.heartbeat=5s sandbox=s0; look daytona/s0 ended name=k0", "healthy", ""},
		"somebody lives without a sandbox, and has none here": {
			"provider daytona id=yes label=no named=yes; " + seen + "box daytona/s1 running key=s1 name=k0 lasting=yes; " +
				"task t2 running started=9h ev.heartbeat=5s sandbox=s0; look daytona/s0 gone", "due", ""},
		"somebody lives without a sandbox, and another row has its name": {
			"provider daytona id=no label=no named=yes; " + seen + "box daytona/s1 running key=k1 name=k1 lasting=yes; " +
				"box daytona/s0 running key=k0 name=k0 lasting=yes; task t2 running started=9h ev.heartbeat=5s sandbox=k0; " +
				"task t3 assigned updated=9h sandbox=k0; find t2 daytona/s0 key=k0", "due", ""},
		"somebody lives without a sandbox, for longer than this one": {
			seen + "box daytona/s1 running lasting=yes; task t2 running started=9h ev.heartbeat=5s; find t2 none", "held",
			"unmatched pair: task t2"},
		"nobody can end it": {seen + "box daytona/s1 running no-end=look-only", "held", "cannot be ended: look-only"},
		"names a task that the ledger knew and the table lost": {
			seen + "box daytona/s1 running task=t2; " +
				"knew task t2 completed", "due", `task "t2", known to the ledger, has no row any more`},
		"names a task that nobody ever knew": {
			seen + "box daytona/s1 running task=t2", "due", `it names task "t2", which has no row`},
		"names one that nobody ever knew, in a shared account": {
			"provider daytona exclusive=no; " + seen + "box daytona/s1 running task=t2", "held", "not-exclusive"},
		"names none, in a shared account": {
			"provider daytona exclusive=no; " + seen + "box daytona/s1 running", "due", ""},
		"names one that nobody ever knew, and was seen to name it before": {
			"provider daytona exclusive=no; " + seen + "box daytona/s1 running task=t2; knew box daytona/s1 running task=t2", "held", "not-exclusive"},
		"names one that nobody ever knew, and was active at the limit": {
			seen + "box daytona/s1 running task=t2 active=90s", "held", "not-exclusive: it names a task that nobody here ever knew and was " +
				"active 1m30s ago"},
		"names one that nobody ever knew, and was active a second before": {
			seen + "box daytona/s1 running task=t2 active=91s", "due", ""},
		"names one that the ledger knew, and was active": {
			seen + "box daytona/s1 running task=t2 active=1s; knew task t2 completed first=2h since=1h", "due", ""},
		"names one that was over at first sight, and was active at the limit": {
			seen + "box daytona/s1 running task=t2 active=90s; knew task t2 completed first=1h since=1h", "held",
			"not-exclusive: it names a task that was over when it was first seen, has no row any more and was active 1m30s ago"},
		"names one that was over at first sight, and was active a second before": {
			seen + "box daytona/s1 running task=t2 active=91s; knew task t2 completed first=1h since=1h", "due", ""},
		"names one by reference that only a purged row can have named": {
			"provider daytona exclusive=no label=no; " + seen + "box daytona/s1 running; knew box daytona/s1 running task=t2", "due",
			"known to the ledger, has no row any more"},
		"names none, and was active": {seen + "box daytona/s1 running active=1s", "due", ""},
		"names none, and need not": {
			"provider daytona required=no; " + seen + "box daytona/s1 running", "report",
			"reported only: it has no link at all (link: {required: true} where each must have one)"},
		"names one that nobody ever knew, and others need not": {
			"provider daytona required=no; " + seen + "box daytona/s1 running task=t2", "due", ""},
		"names one that was deleted, and others need not": {
			"provider daytona required=no; " + seen + "box daytona/s1 running task=t2; knew task t2 completed", "due", ""},
		"a further table explains it": {
			seen + "box daytona/s1 running; explains specs daytona/s1", "kept", "a row of specs explains it"},
		"a further table explains it, and it names what is no id": {
			seen + "box daytona/s1 running task=t-x; unparsable t-x; explains specs daytona/s1", "kept", "a row of specs explains it"},
		"a further table explains it, and it names a task that nobody knew": {
			seen + "box daytona/s1 running task=t2; explains specs daytona/s1", "kept", "a row of specs explains it"},
		"a further table explains another": {
			seen + "box daytona/s1 running; explains specs daytona/s2", "due", ""},
		"names what is no id": {
			seen + "box daytona/s1 running task=t-x; unparsable t-x", "held", "unparsable"},
		"its label is not signed": {
			seen + "box daytona/s1 running unsigned=t1", "held", "is not signed by link.key_file"},
		"its label was not signed when the ledger knew it": {
			seen + "box daytona/s1 running unsigned=t2; knew box daytona/s1 running task=t2; task t2 running started=1h", "healthy", ""},
		"its task was not read": {seen + "box daytona/s1 running task=t2; unread t2", "kept", "its task was not read"},
		"labels lost, task live": {
			seen + "box daytona/s1 running; knew box daytona/s1 running task=t2; task t2 running started=1h", "healthy", ""},
		"labels lost, a direct look names its task": {
			seen + "box daytona/s1 running; look daytona/s1 running task=t2", "kept", "that it names task t2"},
		"labels lost, a further table may explain it": {
			seen + "box daytona/s1 running; look daytona/s1 running further=p1", "kept", "by which a further table may"},
		"labels there, no row of the further table": {
			seen + "box daytona/s1 running further=p1; look daytona/s1 running further=p1", "due", ""},
		"labels lost, a spare": {
			seen + "box daytona/s1 running; look daytona/s1 running spare=yes", "kept", "it is a spare of a warm pool"},
		"labels lost, excepted": {
			seen + "box daytona/s1 running; look daytona/s1 running owned=no excepted=yes", "kept", "the config excepts it"},
		"labels lost, task finished": {
			seen + "box daytona/s1 running; knew box daytona/s1 running task=t2; row t2 completed updated=1h", "healthy", ""},
		"labels lost, task vanished": {
			seen + "box daytona/s1 running; knew box daytona/s1 running task=t2; knew task t2 completed", "due", ""},
		"named by a live row": {
			"provider daytona label=no named=yes; " + seen + "box daytona/s1 running key=k1; " +
				"task t1 running sandbox=k1 started=1h", "healthy", ""},
		"named by a finished row": {
			"provider daytona label=no named=yes; " + seen + "box daytona/s1 running key=k1; " +
				"row t1 completed sandbox=k1", "healthy", ""},
		"named by no row": {"provider daytona label=no named=yes; " + seen + "box daytona/s1 running key=k1", "due", ""},
		"no row was asked whether it names it": {
			"provider daytona label=no named=yes; " + seen + "box daytona/s1 running key=k1; " +
				"unread sandbox:k1", "kept", "not read"},
		"paused":                             {seen + "box daytona/s1 suspended", "due", ""},
		"failed":                             {seen + "box daytona/s1 failed", "due", ""},
		"a state that nobody knows":          {seen + "box daytona/s1 unknown raw=warped", "held", `unknown state "warped"`},
		"being deleted":                      {seen + "box daytona/s1 deleting", "kept", "is being deleted"},
		"ended":                              {seen + "box daytona/s1 ended", "healthy", ""},
		"foreign":                            {seen + "box daytona/s1 running owned=no", "healthy", ""},
		"no task table":                      {"tasks none; " + seen + "box daytona/s1 running", "healthy", ""},
		"a quick pass judges none":           {"pass quick; " + seen + "box daytona/s1 running", "healthy", ""},
		"a quick pass that got it by its id": {"pass quick; source listing:daytona trusted; " + seen + "look daytona/s1 running", "due", ""},
		"a quick pass that got it by its id, and no full one has found it": {
			"pass quick; source listing:daytona trusted; look daytona/s1 running", "healthy", ""},
		"a quick pass that could not get it": {"pass quick; source listing:daytona trusted; " + seen +
			"box daytona/s1 running; look daytona/s1 error", "healthy", ""},
		"a class with a longer limit": {
			"rule orphan when.template=gpu then=2h; " + seen + "box daytona/s1 running template=gpu", "kept", "of 2h"},
		"another region's limit": {
			"rule orphan when.region=us then=2h; " + seen + "box daytona/s1 running region=eu", "due", ""},
		"a class by its template, another task's": {
			"rule orphan when.template=gpu then=2h; " + seen + "box daytona/s1 running template=cpu", "due", ""},
	})
}

func TestOrphanSources(t *testing.T) {
	const seen = "finding orphan sandbox:daytona/s1 first=10m last=2m sighted=2m sightings=3; box daytona/s1 running; "
	testRule(t, "orphan", map[string]ruleCase{
		"seen often":             {seen, "due", ""},
		"the table is empty":     {seen + "tasks empty", "held", "tasks-untrusted"},
		"the table is a standby": {seen + "tasks standby", "held", "tasks-untrusted"},
		"tasks came back for the limit": {
			"source tasks trusted recovered=5m; " +
				"finding orphan sandbox:daytona/s1 first=5m last=2m sighted=2m sightings=1; box daytona/s1 running", "due", ""},
		"tasks came back a second later":    {seen + "source tasks trusted recovered=4m59s", "kept", ""},
		"its listing came back a while ago": {seen + "source listing:daytona trusted recovered=4m59s", "kept", ""},
		"its listing was cut":               {seen + "listing daytona missing=eu", "held", "listing-untrusted daytona"},
		"another provider's listing failed": {seen + "provider e2b; listing e2b failed=503", "due", ""},
		"released by a person": {
			seen + "listing daytona missing=eu; release listing:daytona sandbox:daytona/s1", "due", ""},
		"another was released": {
			seen + "listing daytona missing=eu; release listing:daytona sandbox:daytona/s2", "held", ""},
		"our own watch began after the sightings": {
			seen + "watched since=1m59s", "seen", ""},
		"our own watch began before the last": {
			seen + "watched since=2m", "due", ""},
	})
}

// TestOrphanPairs: a task that lives and has no sandbox may be an orphan's.
func TestOrphanPairs(t *testing.T) {
	const seen = "finding orphan sandbox:daytona/s1 first=10m last=2m sighted=2m sightings=3; "
	const box = "box daytona/s1 running created=30m; "
	const paired = seen + box + "knew task t2 running since=29m first=29m; task t2 running started=30m ev.heartbeat=5s; " +
		"find t2 none; "
	const works = "box daytona/w1 running task=w1; task w1 running started=2h ev.heartbeat=5s; " +
		"probe daytona/w1 answered=1m worker=alive; "
	testRule(t, "orphan", map[string]ruleCase{
		"the worker is not in it": {paired + works + "probe daytona/s1 answered=1m worker=dead", "due", ""},
		"the worker may not be in it, and nothing tells": {
			paired + works + "probe daytona/s1 answered=1m", "held", "unmatched pair: task t2"},
		"the worker was not in it before it broke": {
			paired + works + "probe daytona/s1 answered=2m failed=1m worker=dead", "held", "unmatched pair: task t2"},
		"the command finds no worker anywhere": {
			paired + "probe daytona/s1 answered=1m worker=dead", "held", "unmatched pair: task t2"},
		"the command finds workers of another template": {
			paired + "knew box daytona/w1 running template=gpu; " + works + "probe daytona/s1 answered=1m worker=dead",
			"held", "unmatched pair: task t2"},
		"the command found one long ago": {
			paired + "probe daytona/w1 answered=1h1s worker=alive; probe daytona/s1 answered=1m worker=dead",
			"held", "unmatched pair: task t2"},
		"a worker was in it before": {
			paired + works + "probe daytona/s1 answered=1m worker=dead alive=10m", "held", "unmatched pair: task t2"},
		"a worker was in another of its id before": {
			paired + works + "knew box daytona/s1 running first=5m; probe daytona/s1 answered=1m worker=dead alive=10m", "due", ""},
		"the worker was not in it when the task had just begun": {
			paired + works + "probe daytona/s1 answered=19m1s worker=dead", "held", "unmatched pair: task t2"},
		"the worker was not in it 10m after the task began": {
			paired + works + "probe daytona/s1 answered=19m worker=dead", "due", ""},
		"the worker is not in it, and has not spoken since": {
			paired + works + "probe daytona/s1 answered=7s worker=dead", "held", "unmatched pair: task t2"},
		"the worker is not in it, and nobody knows since when the task runs": {
			seen + box + "task t2 running started=30m ev.heartbeat=5s; find t2 none; " + works +
				"probe daytona/s1 answered=1m worker=dead", "held", "unmatched pair: task t2"},
		"a live task began with it": {
			seen + box + "task t2 running started=30m ev.heartbeat=5s; find t2 none", "held", "unmatched pair: task t2"},
		"a live task began 10m after": {
			seen + box + "task t2 running started=20m ev.heartbeat=5s; find t2 none", "held", ""},
		"a live task began later than that": {
			seen + box + "task t2 running started=19m59s ev.heartbeat=5s; find t2 none", "due", ""},
		"a live task began 10m before": {
			seen + box + "task t2 running started=40m ev.heartbeat=5s; find t2 none", "held", ""},
		"a live task began before that": {
			seen + box + "task t2 running started=40m1s ev.heartbeat=5s; find t2 none", "due", ""},
		"the task is silent": {
			seen + box + "task t2 running started=30m ev.heartbeat=91s; find t2 none", "due", ""},
		"the task has a sandbox": {
			seen + box + "task t2 running started=30m ev.heartbeat=5s; box daytona/s2 running task=t2", "due", ""},
		"the task is at another provider": {
			"provider e2b; " + seen + box + "task t2 running provider=e2b started=30m ev.heartbeat=5s; " +
				"find t2 none", "due", ""},
		"the task is at its provider": {
			"provider e2b; " + seen + box + "task t2 running provider=daytona started=30m ev.heartbeat=5s; " +
				"find t2 none", "held", ""},
		"what has ended needs no shield": {
			seen + "box daytona/s0 ended created=30m; " + box + "task t2 running started=30m ev.heartbeat=5s; " +
				"find t2 none", "held", ""},
		"what is not ours takes none either": {
			seen + "box daytona/s0 running created=30m owned=no; " + box + "task t2 running started=30m " +
				"ev.heartbeat=5s; find t2 none", "held", ""},
		"nor does that of a finished task": {
			seen + "box daytona/s0 running created=29m task=t9; row t9 completed; " + box +
				"task t2 running started=30m ev.heartbeat=5s; find t2 none", "held", ""},
		"nor does what is being deleted": {
			seen + "box daytona/s0 deleting created=30m; " + box + "task t2 running started=30m ev.heartbeat=5s; " +
				"find t2 none", "held", ""},
	})
}

// TestOrphanShields: each task shields one sandbox, and as many are shielded as can be,
// whoever is asked first.
func TestOrphanShields(t *testing.T) {
	const boxes = "box daytona/s1 running created=30m; box daytona/s2 running created=45m; "
	for name, c := range map[string]struct {
		world string
		want  int
	}{
		"one task, two sandboxes": {boxes + "task t1 running started=37m ev.heartbeat=5s", 1},
		"two tasks, one of them fits both": {
			boxes + "task t1 running started=37m ev.heartbeat=5s; task t2 running started=21m ev.heartbeat=5s", 2},
		"the same, named the other way": {
			boxes + "task t2 running started=37m ev.heartbeat=5s; task t1 running started=21m ev.heartbeat=5s", 2},
		"two tasks, each fits the older": {boxes + "task t{1..2} running started=55m ev.heartbeat=5s", 1},
		"one at its provider, one anywhere": {
			"provider e2b; " + boxes + "box e2b/s3 running created=40m; task t1 running started=38m ev.heartbeat=5s; " +
				"task t2 running provider=daytona started=38m ev.heartbeat=5s", 2},
	} {
		t.Run(name, func(t *testing.T) {
			w := worldtest.NewWorld(t, worldtest.Anchor, c.world)
			w.Only("orphan")
			held := 0
			for _, d := range JudgeWorld(w).Decisions {
				for _, f := range d.Findings {
					held += len(f.HeldBy)
				}
			}
			if held != c.want {
				t.Errorf("%d orphans are held for the tasks that may own them, want %d", held, c.want)
			}
		})
	}
}
