package decide

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/rules"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// A trustCase is a world and what is not trusted in it: the source's name and a part of
// the reason. "" is a world in which everything is trusted.
type trustCase struct{ world, untrusted, says string }

func testTrust(t *testing.T, cases map[string]trustCase) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var names, reasons []string
			for _, s := range JudgeWorld(worldtest.NewWorld(t, c.world)).Sources {
				if !s.Trusted {
					names, reasons = append(names, s.Name), append(reasons, s.Reason.String())
				}
			}
			if got := strings.Join(names, " "); got != c.untrusted {
				t.Fatalf("untrusted = %q, want %q\nworld: %s\nreasons: %q", got, c.untrusted, c.world, reasons)
			}
			if got := strings.Join(reasons, "; "); !strings.Contains(got, c.says) {
				t.Errorf("reasons = %q, want %q in it", got, c.says)
			}
		})
	}
}

func TestListingTrust(t *testing.T) {
	const four = "knew box daytona/s{1..4} running; "
	const half = "box daytona/s{3..4} running; "
	const less = "box daytona/s4 running; "
	testTrust(t, map[string]trustCase{
		"a complete listing":          {"box daytona/s1 running", "", ""},
		"an empty one, nothing known": {"", "", ""},
		"an empty one where an operator ended what nobody had seen": {
			"knew box daytona/s9 ended first=1m gone=1m ours=yes; task t1 running updated=9s activity=9s", "listing:daytona",
			"while task t1 is running"},
		"it failed": {
			"listing daytona failed=timeout", "listing:daytona", "the listing failed: timeout"},
		"it failed once workers had spoken against it": {
			"source listing:daytona untrusted reason=\"the listing shows no sandbox of ours\"; listing daytona failed=timeout",
			"listing:daytona", "the listing failed: timeout, and the last that was read showed no sandbox of ours"},
		"it was cut": {"listing daytona missing=eu,us", "listing:daytona", "eu, us not read"},
		"another one failed": {
			"provider e2b; listing e2b failed=503; box daytona/s1 running", "listing:e2b", ""},
		"half is gone": {four + half, "", ""},
		"others came in the place of what it lost, while it is not believed": {
			"source listing:daytona untrusted since=5m; " + four + "knew box daytona/n{1..4} running first=4m; " +
				"box daytona/n{1..4} running; look daytona/s1 running", "listing:daytona", "lost 4 of 4 sandboxes, but s1"},
		"others came as well, and most are back": {
			"source listing:daytona untrusted since=5m; " + four + half + "knew box daytona/n{1..4} running first=4m; " +
				"box daytona/n{1..4} running; look daytona/s1 running", "", ""},
		"it was relabelled by its owner": {
			"knew box daytona/s1 running; look daytona/s1 running owned=no", "listing:daytona", "lost 1 of 1"},
		"it was shown as a task's whose row names another one": {
			"provider daytona id=yes; task t1 running sandbox=s2; knew box daytona/s1 running task=t1; " +
				"knew box daytona/s2 running task=t1 gone=5m; look daytona/s1 running owned=no", "", ""},
		"the same, and it shows that it is ours": {
			"provider daytona id=yes; task t1 running sandbox=s2; knew box daytona/s1 running task=t1; " +
				"knew box daytona/s2 running task=t1 gone=5m; look daytona/s1 running", "listing:daytona", "lost 1 of 1"},
		"it was shown as a task's whose row names it": {
			"provider daytona id=yes; task t1 running sandbox=s1; knew box daytona/s1 running task=t1; " +
				"look daytona/s1 running owned=no key=s1", "listing:daytona", "lost 1 of 1"},
		"it was shown as a task's whose row names one that nobody saw": {
			"provider daytona id=yes; task t1 running sandbox=s2; knew box daytona/s1 running task=t1; " +
				"look daytona/s1 running owned=no", "listing:daytona", "lost 1 of 1"},
		"it was shown as a task's whose row names another one, and it shows a task": {
			"provider daytona id=yes; task t1 running sandbox=s2; knew box daytona/s1 running task=t1; " +
				"knew box daytona/s2 running task=t1 gone=5m; look daytona/s1 running owned=no task=t9", "listing:daytona",
			"lost 1 of 1"},
		"it was relabelled by its owner, and another one came since": {
			"source listing:daytona untrusted since=5m; knew box daytona/s1 running; look daytona/s1 running owned=no; " +
				"knew box daytona/n1 running first=4m; box daytona/n1 running", "", ""},
		"more than half is gone, and others have their ids": {
			"knew box daytona/s{1..4} running created=9h first=8h; " + less + "look daytona/s{1..3} running created=1h", "", ""},
		"more than half is gone, not looked": {
			four + less, "listing:daytona", "lost 3 of 4 sandboxes, and they were not looked at"},
		"more than half is gone, all were looked at": {
			four + less + "look daytona/s{1..3} gone", "", ""},
		"more than half is gone, they have ended": {
			four + less + "look daytona/s{1..3} ended", "", ""},
		"more than half is gone, one is alive": {
			four + less + "look daytona/s{1..2} gone; " +
				"look daytona/s3 running", "listing:daytona", "but s3, got by id, is running"},
		"more than half is gone, all are alive": {
			four + less + "look daytona/s{1..3} running", "listing:daytona", "lost 3 of 4"},
		"more than half is gone, one is paused": {
			four + less + "look daytona/s{1..2} gone; look daytona/s3 suspended", "listing:daytona", "is suspended"},
		"more than half is gone, one cannot be looked at": {
			four + less + "look daytona/s{1..2} gone; " +
				"look daytona/s3 error", "listing:daytona", "could not be looked at: 503"},
		"everything is gone": {
			four + "look daytona/s{1..4} gone", "", ""},
		"everything is gone and one is alive": {
			four + "look daytona/s{1..3} gone; look daytona/s4 running", "listing:daytona", ""},
		"what is known to be gone does not count": {
			"knew box daytona/s{1..3} running gone=1h; knew box daytona/s4 running; box daytona/s4 running", "", ""},
		"what we are ending does not count": {
			four + less + "action a{1..3} orphan sandbox:daytona/s{1..3} terminate box=daytona/s{1..3} claimed=1m " +
				"outcome=accepted", "", ""},
		"what we only mean to end does": {
			four + less + "action a{1..3} orphan sandbox:daytona/s{1..3} terminate " +
				"box=daytona/s{1..3}", "listing:daytona", ""},
		"twenty of many were looked at": {
			"knew box daytona/s{01..60} running; look daytona/s{01..20} gone", "", ""},
		"nineteen of many were looked at": {
			"knew box daytona/s{01..60} running; look daytona/s{01..19} gone", "listing:daytona", "not looked at"},
		"another provider's do not count": {
			"provider e2b; knew box e2b/s{1..4} running; look e2b/s{1..4} gone; box daytona/s1 running", "", ""},
		"an empty listing while a worker lives": {
			"task t1 assigned updated=1h ev.heartbeat=90s", "listing:daytona", "while task t1 is assigned, worker last seen"},
		"an empty listing while a worker lived": {
			"task t1 assigned updated=1h ev.heartbeat=91s", "", ""},
		"an empty listing while a started task runs": {
			"task t{1..3} running started=1h", "events listing:daytona", "while task t3 is running, worker never seen"},
		"an empty listing while two may be phantoms": {"task t{1..2} running started=1h", "", ""},
		"one that workers spoke against, and now their table is empty": {
			"source listing:daytona untrusted reason=\"the listing shows no sandbox of ours\"; tasks empty; knew task t1 running",
			"listing:daytona tasks", "the listing shows no sandbox of ours"},
		"one that workers spoke against, and now they have finished": {
			"source listing:daytona untrusted reason=\"the listing shows no sandbox of ours\"; knew task t1 running; row t1 completed",
			"", ""},
		"one that had failed, and now the table is empty": {
			"source listing:daytona untrusted reason=\"the listing failed\"; tasks empty; knew task t1 running", "tasks", ""},
		"an empty listing while nothing ever started": {
			"task t1 running updated=1h", "", ""},
		"an empty listing by one that had sandboxes": {
			"task t1 running started=1h; knew box daytona/s1 running gone=1h", "", ""},
		"an empty listing while three are set up":           {"task t{1..3} assigned updated=9s activity=9s", "", ""},
		"an empty listing while three were queued just now": {"task t{1..3} pending updated=9s activity=9s", "", ""},
		"an empty listing while one is set up and sends": {
			"task t1 assigned updated=9s activity=8s", "listing:daytona", "while task t1 is assigned"},
		"an empty listing while a task works, as its row says": {
			"task t1 running updated=9s activity=9s", "listing:daytona", "while task t1 is running"},
		"an empty listing while a worker lives elsewhere": {
			"provider e2b; task t1 running provider=e2b started=1h ev.heartbeat=9s", "listing:e2b", ""},
		"an empty listing, and a finished task's worker lives": {
			"row t1 completed ev.heartbeat=9s", "", ""},
		"a quick pass leaves it as it was, trusted": {"pass quick; source listing:daytona trusted", "", ""},
		"a quick pass leaves it as it was, untrusted": {
			"pass quick; source listing:daytona untrusted", "listing:daytona", "as before"},
		"no task table, an empty listing": {"tasks none", "", ""},
	})
}

func TestTasksTrust(t *testing.T) {
	const box = "box daytona/b1 running task=x; row x completed; "
	const emptied = "source tasks untrusted since=5m reason=\"the task table is empty while x\"; "
	const knew = "source tasks trusted clock=1m; knew task t{1..4} assigned updated=2m; "
	const older = "task t{1..3} assigned updated=20h"
	const were = "reason=\"1 of the 4 rows that were live are not there, and 3 others are older\" "
	const fresh = "task n1 running; box daytona/n1 running task=n1; "
	testTrust(t, map[string]trustCase{
		"all rows are there":  {"knew task t{1..4} assigned; task t{1..4} assigned", "", ""},
		"two of two vanished": {"knew task t{1..2} running", "", ""},
		"three of three vanished": {
			"knew task t{1..3} running", "tasks", "3 of the 3 rows that were live at the last trusted pass are not there"},
		"three of six vanished": {"knew task t{1..6} running; task t{4..6} assigned", "", ""},
		"four of six vanished": {
			"knew task t{1..6} running; task t{5..6} assigned", "tasks", "4 of the 6"},
		"they finished":             {"knew task t{1..3} running; row t{1..3} completed", "", ""},
		"they were finished before": {"knew task t{1..3} completed", "", ""},
		"a standby":                 {"tasks standby", "tasks", "is a standby"},
		"an empty table, no sandbox and nothing known": {"tasks empty", "", ""},
		"an empty table, a sandbox of ours": {
			"tasks empty; box daytona/s1 running", "tasks", "the task table is empty"},
		"an empty table, one row was live": {
			"tasks empty; knew task t1 running", "tasks", "the task table is empty"},
		"an empty table, a quick pass that lists nothing": {
			"pass quick; tasks empty; knew box daytona/s1 running", "tasks", "the task table is empty"},
		"an empty table, a quick pass, all sandboxes gone": {
			"pass quick; tasks empty; knew box daytona/s1 running gone=1h", "", ""},
		"a staging copy: other rows, none of ours": {
			"knew task t{1..5} running; task x{1..5} assigned; " + box, "tasks", "5 of the 5"},
		"no task table": {"tasks none standby empty; box daytona/s1 running", "", ""},
		"it was emptied, and one new row came": {
			emptied + "knew task t{1..2} running; " + fresh + "box daytona/s1 running", "tasks", "2 of the 2"},
		"it was emptied, and one of two is back": {emptied + "knew task t{1..2} running; task t2 running; box daytona/s1 running", "", ""},
		"it was emptied, and what was live has ended": {
			emptied + "knew task t{1..2} running; row t{1..2} completed; " + fresh + "box daytona/s1 running", "", ""},
		"it was emptied, and an operator released it": {
			emptied + "release tasks source:tasks at=1m; knew task t{1..2} running; " + fresh + "box daytona/s1 running", "", ""},
		"it was emptied, and an operator released one of what it holds": {
			emptied + "release tasks sandbox:daytona/s1 at=1m; knew task t{1..2} running; " + fresh + "box daytona/s1 running",
			"tasks", "2 of the 2"},
		"it was emptied, and each sandbox is explained": {emptied + "knew task t{1..2} running; " + fresh, "", ""},
		"it was emptied, a quick pass": {
			"pass quick; " + emptied + "knew task t{1..2} running; task n1 running", "tasks", "2 of the 2"},
		"it was emptied, and a sandbox is hidden": {
			emptied + "knew task t{1..2} running; knew box daytona/s1 running; look daytona/s1 running; " + fresh +
				"box daytona/n2 running task=x; row x completed; ", "listing:daytona tasks", "2 of the 2"},
		"it was emptied, and a sandbox of several is hidden": {
			emptied + "knew task t{1..2} running; knew box daytona/s{1..3} running; look daytona/s1 running; " +
				"box daytona/s{2..3} running task=n{2..3}; task n{2..3} running", "tasks", "2 of the 2"},
		"it was emptied, and the listing failed": {
			emptied + "knew task t{1..2} running; listing daytona failed=503; task n1 running", "listing:daytona tasks", ""},
		"it was emptied, and is a standby": {
			emptied + "tasks standby; knew task t{1..2} running; " + fresh, "tasks", "is a standby"},
		"two of two vanished from one that was a standby": {
			"source tasks untrusted reason=\"the task database is a standby\"; knew task t{1..2} running; " + fresh +
				"box daytona/s1 running", "", ""},
		"one row is gone, and the others are older": {
			knew + older, "tasks", "1 of the 4 rows that were live are not there, and 3 others are older than they were: a restored"},
		"the same, in a quick pass": {"pass quick; " + knew + older, "tasks", "1 of the 4"},
		"one row is gone, and one other is older": {
			knew + "task t1 assigned updated=20h; task t{2..3} assigned updated=1m", "", ""},
		"two rows are gone, and one other is older": {
			knew + "task t1 assigned updated=20h; task t2 assigned updated=1m", "", ""},
		"one row is gone": {knew + "task t{1..3} assigned updated=1m", "", ""},
		"one row is gone, and the others are older by little": {
			knew + "task t{1..3} assigned updated=7m", "", ""},
		"rows are older, and none is gone": {knew + "task t{1..4} assigned updated=20h", "", ""},
		"one row is gone, and the others were handed out again": {
			knew + "task t{1..3} assigned updated=20h started=20h", "", ""},
		"one row is gone, and the others are in another status": {
			knew + "task t{1..3} pending updated=20h", "", ""},
		"one row is gone, and the clock of the others was ahead": {
			"source tasks trusted clock=1m; knew task t{1..4} assigned updated=-1h; " +
				"task t{1..3} assigned updated=1m", "", ""},
		"one row is gone, and the clock was set back": {
			"source tasks trusted clock=-1h; knew task t{1..4} assigned updated=-50m; " +
				"task t{1..3} assigned updated=1m", "", ""},
		"rows became older, and are newer again, but one is gone": {
			"source tasks untrusted since=5m clock=1m " + were + "; knew task t{1..4} assigned updated=2m; " +
				"task t{1..3} assigned updated=1m; box daytona/s1 running", "tasks", "1 of the 4"},
		"rows became older, and all are there again": {
			"source tasks untrusted since=5m clock=1m " + were + "; knew task t{1..4} assigned updated=2m; " +
				"task t{1..4} assigned updated=1m; box daytona/s1 running", "", ""},
		"rows became older, and an operator released it": {
			"source tasks untrusted since=5m clock=1m " + were + "; release tasks source:tasks at=1m; " + strings.TrimPrefix(knew,
				"source tasks trusted clock=1m; ") + older + "; box daytona/s1 running", "", ""},
		"rows became older, and each sandbox is explained": {
			"source tasks untrusted since=5m clock=1m " + were + "; knew task t1 assigned; " + fresh, "", ""},
		"one tenant's rows became older": {
			"tasks tenants; " + strings.ReplaceAll(knew, "updated=", "tenant=a updated=") +
				strings.ReplaceAll(older, "updated=", "tenant=a updated="), "", ""},
		"two tenants' rows became older": {
			"tasks tenants; " + knew + "task t{1..2} assigned updated=20h tenant=a; " +
				"task t3 assigned updated=20h tenant=b", "tasks", "1 of the 4"},
		"rows were lost, and two of three are still": {
			"source tasks untrusted since=5m reason=\"3 of the 3 rows that were live at the last trusted pass are not there: x\"; " +
				"knew task t{1..3} running; task t3 running; box daytona/s1 running", "tasks", "2 of the 3"},
	})
}

func TestLinkTrust(t *testing.T) {
	const lively = "task t{1..4} running started=1h ev.heartbeat=9s; "
	const linked = "box daytona/z9 running task=z9; row z9 completed; "
	testTrust(t, map[string]trustCase{
		"all resolve":  {lively + "box daytona/s{1..4} running task=t{1..4}", "", ""},
		"half resolve": {lively + "box daytona/s{1..2} running task=t{1..2}", "", ""},
		"fewer than half resolve": {
			lively + "box daytona/s1 running task=t1", "link", "4 tasks show life and only 1 of them have a sandbox"},
		"two of two do not resolve": {
			linked + "task t{1..2} running started=1h ev.heartbeat=9s; box daytona/s1 running", "", ""},
		"three of three do not resolve": {
			linked + "task t{1..3} running started=1h ev.heartbeat=9s; box daytona/s1 running", "link", "3 tasks show life"},
		"those out of where prove nothing": {
			linked + "task t{1..3} running started=1h ev.heartbeat=9s; row t{4..9} running started=1h ev.heartbeat=9s; " +
				"box daytona/s{4..9} running task=t{4..9}", "link", "3 tasks show life"},
		"two and one that is silent do not": {
			linked + "task t{1..2} running started=1h ev.heartbeat=9s; task t3 running started=1h ev.heartbeat=91s; " +
				"box daytona/s1 running", "", ""},
		"no sandbox at all links, and started tasks have none": {
			"task t{1..3} running started=1h; " +
				"box daytona/s{1..2} running", "events link", "none of 2 sandboxes links to any task, while 3 started tasks have none"},
		"no sandbox at all links, and one that lives has none": {
			"task t1 running started=1h ev.heartbeat=9s; box daytona/s1 running", "link", "none of 1 sandboxes links to any task"},
		"one dead task and one orphan are what they are": {
			"task t1 running started=1h; box daytona/s1 running", "", ""},
		"no sandbox at all links, and no task has started": {
			"task t1 assigned updated=1h; box daytona/s{1..2} running", "", ""},
		"three are set up at once": {linked + "task t{1..3} assigned updated=9s activity=9s; box daytona/s1 running", "", ""},
		"three are set up at once, beside one that nothing explains": {
			"task t{1..3} assigned updated=9s activity=9s; box daytona/s1 running", "", ""},
		"three work, as their rows say": {
			linked + "task t{1..3} running updated=9s activity=9s; box daytona/s1 running", "link", "3 tasks show life"},
		"one links, to a finished task": {linked + "task t1 running started=1h; box daytona/s{1..2} running", "", ""},
		"found by id is found": {
			linked + lively + "knew box daytona/s{1..4} running task=t{1..4}; " +
				"look daytona/s{1..4} running task=t{1..4}; knew box daytona/s{5..9} running; " +
				"box daytona/s{5..9} running", "", ""},
		"a listing is not trusted": {lively + "listing daytona failed=503", "listing:daytona", ""},
		"an engine is down, and none at another has a sandbox": {
			"provider twin; listing twin failed=503; " + linked +
				"task t{1..3} running started=1h ev.heartbeat=9s provider=daytona; box daytona/s1 running", "link listing:twin", "3 tasks show life"},
		"an engine is down, where they may all be": {
			"provider twin; listing twin failed=503; " + linked +
				"task t{1..3} running started=1h ev.heartbeat=9s; box daytona/s1 running", "listing:twin", ""},
		"an engine is down, and the link was not trusted": {
			"provider twin; listing twin failed=503; source link untrusted; task t{1..4} running started=1h ev.heartbeat=9s provider=daytona; " +
				"box daytona/s{1..4} running task=t{1..4}", "link listing:twin", "as before"},
		"a listing is not trusted, and the link was not": {
			lively + "listing daytona failed=503; source link untrusted", "link listing:daytona", ""},
		"a quick pass leaves it as it was": {
			"pass quick; source link untrusted; " + lively, "link", "as before"},
		"it was lost, and all resolve": {
			"source link untrusted; " + lively + "box daytona/s{1..4} running task=t{1..4}", "", ""},
		"it was lost, and one that lives resolves": {
			"source link untrusted; task t1 running started=1h ev.heartbeat=9s; box daytona/s1 running task=t1", "", ""},
		"it was lost, and half of those who live resolve": {
			"source link untrusted; " + lively + "box daytona/s{1..2} running task=t{1..2}", "", ""},
		"it was lost, and everything is linked": {"source link untrusted; " + linked, "", ""},
		"it was lost, and nobody lives who could prove it": {
			"source link untrusted; " + linked + "box daytona/s1 running", "link", "as before"},
		"it was lost, and two who live do not resolve": {
			"source link untrusted; " + linked + "task t{1..2} running started=1h ev.heartbeat=9s; " +
				"box daytona/s1 running", "link", "as before"},
		"it was lost, and nothing is there": {"source link untrusted", "link", "as before"},
		"no task table":                     {"tasks none; box daytona/s1 running", "", ""},
	})
}

func TestEventsTrust(t *testing.T) {
	const boxes = "box daytona/s{1..9} running task=t{1..9}; "
	testTrust(t, map[string]trustCase{
		"all three are silent": {
			boxes + "task t{1..3} running started=1h ev.heartbeat=91s", "events", "3 tasks run and none was heard for 1m31s"},
		"all three are at the limit": {boxes + "task t{1..3} running started=1h ev.heartbeat=90s", "", ""},
		"one of three is heard": {
			boxes + "task t{1..2} running started=1h ev.heartbeat=1h; task t3 running started=1h ev.heartbeat=9s", "", ""},
		"both of two are silent":            {boxes + "task t{1..2} running started=1h ev.heartbeat=1h", "", ""},
		"three run and none was ever heard": {boxes + "task t{1..3} running started=1h", "events", "heard for ever"},
		"one out of where is heard": {
			boxes + "task t{1..3} running started=1h ev.heartbeat=91s; row t4 running ev.heartbeat=5s", "events", ""},
		"the database's clock was set ahead since the last pass, a minute ago": {
			"source tasks trusted clock=11m; " + boxes + "task t1 running started=1h ev.heartbeat=10m", "events",
			"the task database's clock was set ahead by 10m"},
		"the same, where no events are mapped": {
			"tasks eventless; source tasks trusted clock=11m; " + boxes + "task t1 running started=1h", "events",
			"the task database's clock was set ahead by 10m"},
		"it was set ahead before, where no events are mapped": {
			"tasks eventless; source events untrusted since=30s; " + boxes + "task t1 running started=1h", "events",
			"trusted again in 1m30s"},
		"the same a limit later": {
			"tasks eventless; source events untrusted since=2m recovered=90s; " + boxes + "task t1 running started=1h", "", ""},
		"it is as far as it should be": {
			"source tasks trusted clock=1m; " + boxes + "task t1 running started=1h ev.heartbeat=10m", "", ""},
		"three are assigned and silent": {boxes + "task t{1..3} assigned updated=1h ev.heartbeat=1h", "", ""},
		"no events are mapped":          {"tasks eventless; " + boxes + "task t{1..3} running started=1h", "", ""},
		"a third fell silent together while they answer": {
			boxes + "task t{1..3} running started=1h ev.heartbeat=5m; task t{4..9} running started=1h ev.heartbeat=9s; " +
				"probe daytona/s{1..3} answered=1m",
			"events", "3 of 9 running tasks fell silent together while their sandboxes answer"},
		"they answered before they fell silent": {
			boxes + "task t{1..3} running started=1h ev.heartbeat=5m; task t{4..9} running started=1h ev.heartbeat=9s; " +
				"probe daytona/s{1..3} answered=6m", "", ""},
		"less than a third did": {
			boxes + "task t{1..2} running started=1h ev.heartbeat=5m; task t{3..9} running started=1h ev.heartbeat=9s; " +
				"probe daytona/s{1..2} answered=1m", "", ""},
		"a third, but one of them long before": {
			boxes + "task t{1..2} running started=1h ev.heartbeat=5m; task t3 running started=1h ev.heartbeat=391s; " +
				"task t{4..9} running started=1h ev.heartbeat=9s; probe daytona/s{1..3} answered=1m", "", ""},
		"a third, one of them one limit before": {
			boxes + "task t{1..2} running started=1h ev.heartbeat=5m; task t3 running started=1h ev.heartbeat=390s; " +
				"task t{4..9} running started=1h ev.heartbeat=9s; probe daytona/s{1..3} answered=1m",
			"events", ""},
		"back in this pass": {
			boxes + "source events untrusted; " +
				"task t{1..3} running started=1h ev.heartbeat=9s", "events", "heartbeat timers restarted, trusted again in 1m30s"},
		"back for a second less than the limit": {
			boxes + "source events untrusted since=1h recovered=89s; " +
				"task t{1..3} running started=1h ev.heartbeat=9s", "events", "again in 1s"},
		"back for the limit": {
			boxes + "source events untrusted since=1h recovered=90s; task t{1..3} running started=1h ev.heartbeat=9s", "", ""},
		"came back once before it was lost": {
			boxes + "source events untrusted since=1h recovered=2h; " +
				"task t{1..3} running started=1h ev.heartbeat=9s", "events", "again in 1m30s"},
		"a quick pass sees it as well": {
			"pass quick; task t{1..3} running started=1h ev.heartbeat=91s", "events", ""},
	})
}

// TestSilentTogether: before their sandboxes were probed, those that fell silent together
// are neither convicted nor the pipeline blamed.
func TestSilentTogether(t *testing.T) {
	const three = "box daytona/s{1..9} running task=t{1..9}; task t{1..3} running started=1h ev.heartbeat=5m; " +
		"task t{4..9} running started=1h ev.heartbeat=9s; "
	testRule(t, "heartbeat-lost", map[string]ruleCase{
		"none was probed since": {
			three, "probe", "its sandbox is probed first"},
		"all were probed and failed": {
			three + "probe daytona/s{1..3} failed=1m; probe daytona/s{4..9} answered=1m", "due", ""},
		"it was probed and failed, the others were not": {
			three + "probe daytona/s1 failed=1m; probe daytona/s{4..9} answered=1m", "due", ""},
		"the probe met the provider's trouble": {three + "probe daytona/s{1..3} infra=1m", "held", "only silence: "},
		"probes are off":                       {"provider daytona off=yes; " + three, "held", "only silence: no probe of its sandbox can be made"},
		"all failed while the probes were out, which they are not any more": {
			"source probes:daytona untrusted; " + three + "probe daytona/s{1..3} failed=1m; probe daytona/s{4..9} answered=1m",
			"held", "only silence: "},
		"two of three cannot be looked at": {
			"pass quick; source listing:daytona trusted; knew box daytona/s{1..9} running task=t{1..9}; " +
				"look daytona/s1 running task=t1; look daytona/s2 error; look daytona/s3 error; " +
				"task t{1..3} running started=1h ev.heartbeat=5m; task t{4..9} running started=1h ev.heartbeat=9s", "held", "only silence: "},
		"their sandboxes are gone": {
			"knew box daytona/s{1..3} running task=t{1..3}; look daytona/s{1..3} gone; " +
				"box daytona/s{4..9} running task=t{4..9}; " +
				"task t{1..3} running started=1h ev.heartbeat=5m; task t{4..9} running started=1h ev.heartbeat=9s", "due", ""},
	})
}

func TestProbesTrust(t *testing.T) {
	const boxes = "tasks none; box daytona/s{1..9} running; "
	testTrust(t, map[string]trustCase{
		"none was probed": {boxes, "", ""},
		"all answered":    {boxes + "probe daytona/s{1..9} answered=1m", "", ""},
		"one fails and none answered": {
			boxes + "probe daytona/s1 failed=1m", "probes:daytona", "1 sandboxes fail their probe and no other answered"},
		"one fails and another answered": {
			boxes + "probe daytona/s1 failed=1m; probe daytona/s2 answered=1m", "", ""},
		"two fail and another answered": {
			boxes + "probe daytona/s{1..2} failed=1m; probe daytona/s3 answered=1m", "", ""},
		"three fail and three answered": {
			boxes + "probe daytona/s{1..3} failed=1m; probe daytona/s{4..6} answered=1m", "", ""},
		"three fail and two answered": {
			boxes + "probe daytona/s{1..3} failed=1m; " +
				"probe daytona/s{4..5} answered=1m", "probes:daytona", "3 of the 5 sandboxes probed recently fail"},
		"each counts once": {
			boxes + "probe daytona/s1 failed=4m,3m,2m,1m; probe daytona/s2 answered=1m", "", ""},
		"one answered within the window": {
			boxes + "probe daytona/s1 failed=1m; probe daytona/s2 answered=30m", "", ""},
		"one answered before the window": {
			boxes + "probe daytona/s1 failed=1m; probe daytona/s2 answered=30m1s", "probes:daytona", ""},
		"the window is at least 5m": {
			"provider daytona every=10s; " + boxes + "probe daytona/s1 failed=1m; probe daytona/s2 answered=5m", "", ""},
		"one that answered is not there": {
			boxes + "probe daytona/s1 failed=1m; probe daytona/x answered=1m", "probes:daytona", ""},
		"another provider's answered": {
			"provider e2b; " + boxes + "box e2b/x running; probe daytona/s1 failed=1m; " +
				"probe e2b/x answered=1m", "probes:daytona", ""},
		"the provider's own trouble says nothing": {boxes + "probe daytona/s{1..9} infra=1m", "", ""},
		"probes are off": {
			"provider daytona off=yes; " + boxes + "probe daytona/s1 failed=1m", "", ""},
		"nothing was probed since, and it was not trusted": {boxes + "source probes:daytona untrusted", "", ""},
	})
}

// TestProviderClockTrust: half a minute is believed; what is measured again is believed again.
func TestProviderClockTrust(t *testing.T) {
	const box = "box daytona/s1 running task=t1; task t1 running started=1h; "
	const was = "source clock:provider/daytona untrusted; "
	testTrust(t, map[string]trustCase{
		"half a minute ahead":          {box + "listing daytona off=30s", "", ""},
		"more than half a minute":      {box + "listing daytona off=31s", "clock:provider/daytona", "31s ahead of our own clock"},
		"more than half a minute late": {box + "listing daytona off=-1h", "clock:provider/daytona", "1h behind our own clock"},
		"right again":                  {was + box + "listing daytona", "", ""},
		"the listing failed, and it was off before": {
			was + box + "listing daytona failed=503 off=0s", "clock:provider/daytona listing:daytona", ""},
	})
}

func TestClockTrust(t *testing.T) {
	testTrust(t, map[string]trustCase{
		"5s ahead": {"box daytona/s1 running task=t1; task t1 running started=-5s", "", ""},
		"more than 5s ahead": {
			"box daytona/s1 running task=t1; " +
				"task t1 running started=-6s", "clock:started_at", "runs 6s ahead of the database's now"},
		"each on its own": {
			"box daytona/s1 running task=t1; task t1 running started=-6s; " +
				"task t2 assigned assigned=-1h updated=-1h", "clock:assigned_at clock:started_at clock:updated_at", ""},
		"an event is ahead": {
			"task t1 running started=1h ev.heartbeat=-1h; box daytona/s1 running task=t1", "clock:events", ""},
		"a deadline is ahead, as it should be": {
			"box daytona/s1 running task=t1; task t1 running started=1h deadline=-1h keep=-1h", "", ""},
		"updated_at moved with the status": {
			"knew task t1 pending updated=1h; task t1 assigned updated=9s", "", ""},
		"updated_at did not move with the status": {
			"knew task t1 pending updated=1h; " +
				"task t1 assigned updated=1h", "clock:updated_at", "did not move when task t1 went from pending to assigned"},
		"nothing changed and nothing moved": {
			"knew task t1 assigned updated=1h; task t1 assigned updated=1h", "", ""},
		"it was our own write": {
			`knew task t1 running updated=1h; task t1 pending updated=1h error="gone [sandkeeper x1]"`, "", ""},
		"it is not mapped": {"knew task t1 pending; task t1 assigned", "", ""},
		"ahead once, and not any more": {
			"source clock:updated_at untrusted reason=\"runs 9m ahead of the database's now\"; task t1 assigned updated=9s",
			"", ""},
		"stuck once stays stuck": {
			"source clock:updated_at untrusted; task t1 assigned updated=9s", "clock:updated_at", "as before"},
		"stuck, released before": {
			"source clock:updated_at untrusted since=1h; release clock:updated_at at=2h; " +
				"task t1 assigned updated=9s", "clock:updated_at", ""},
		"stuck, released since": {
			"source clock:updated_at untrusted since=1h; release clock:updated_at source:clock:updated_at at=1m; task t1 assigned updated=9s",
			"", ""},
		"released and stuck again": {
			"source clock:updated_at untrusted since=1h; release clock:updated_at at=1m; " +
				"knew task t1 pending updated=1h; task t1 assigned updated=1h", "clock:updated_at", "did not move"},
		"ahead once, not any more": {
			"source clock:started_at untrusted; box daytona/s1 running task=t1; task t1 running started=1h", "", ""},
	})
	w := worldtest.NewWorld(t, "task t1 running started=-1h")
	reports := JudgeWorld(w).Reports
	if len(reports) != 1 || reports[0].Rule != "clock-untrusted" || !strings.Contains(reports[0].Reason,
		"started_at runs 1h") {
		t.Errorf("reports = %v, want one of clock-untrusted that names started_at and 1h", reports)
	}
}

// TestWhatIsDatedAheadIsTold: of whatever task a sandbox is, and however new it is to the ledger.
func TestWhatIsDatedAheadIsTold(t *testing.T) {
	for world, want := range map[string]string{
		"box daytona/s1 running created=-30s":                                      "",
		"box daytona/s1 ended created=-1h":                                         "",
		"pass quick; box daytona/s1 running created=-1h":                           "",
		"box daytona/s1 running created=-31s":                                      "daytona dates 1 of our sandboxes in the future, s1 by 31s",
		"box daytona/s2 running created=-2h; box daytona/s1 suspended created=-1h": "daytona dates 2 of our sandboxes in the future, s1 by 1h",
		"listing daytona off=1h; box daytona/s1 running created=-1h":               "the clock of daytona is 1h ahead",
	} {
		said := ""
		for _, f := range JudgeWorld(worldtest.NewWorld(t, world)).Reports {
			if f.Rule == "clock-untrusted" {
				said += f.Reason
			}
		}
		if (said == "") != (want == "") || !strings.Contains(said, want) {
			t.Errorf("%s: told %q, want %q", world, said, want)
		}
	}
}

// TestFreezesHold: which rules each freeze holds.
func TestFreezesHold(t *testing.T) {
	for source, want := range map[string][]string{
		reconcile.SourceTasks: {"assigned-stale", "sandbox-missing", "heartbeat-lost", "inactive", "deadline-exceeded",
			"stop-ignored", "finished-lingering", "pending-stuck", "looping",
			"orphan", "duplicate", "provisioning-stuck", "idle-broken", "executions-stuck", "awake", "runaway"},
		reconcile.SourceLink:            {"assigned-stale", "sandbox-missing", "orphan", "duplicate"},
		reconcile.SourceEvents:          {"assigned-stale", "heartbeat-lost", "inactive"},
		reconcile.SourceActivity:        {"inactive"},
		reconcile.ProbesOf("daytona"):   {"idle-broken", "executions-stuck"},
		reconcile.ClockOf("updated_at"): nil,
		reconcile.ListingOf("e2b"):      nil,
		reconcile.ListingOf("daytona"): {"assigned-stale", "sandbox-missing", "heartbeat-lost", "inactive", "finished-lingering",
			"orphan", "duplicate", "record-without-container", "provisioning-stuck", "idle-broken", "executions-stuck",
			"errored", "over-age", "awake", "terminating-stuck", "runaway"},
	} {
		t.Run(source, func(t *testing.T) {
			w := worldtest.NewWorld(t, "provider e2b")
			v := view.New(&w.S, &w.P)
			v.Sources[source] = reconcile.SourceSeen{Name: source}
			s := &reconcile.Subject{ID: "task:t1", Task: &reconcile.Task{ID: "t1"}, Boxes: []reconcile.SeenSandbox{reconcile.Box(&reconcile.Sandbox{Ref: reconcile.Ref{Provider: "daytona", ID: "s1"}})}}
			var got []string
			for i := range reconcile.Rules {
				if rules.Finds[reconcile.Rules[i].Name] == nil {
					continue // it is about the whole fleet
				}
				if len(freezes(v, &reconcile.Rules[i], s, false)) > 0 {
					got = append(got, reconcile.Rules[i].Name)
				}
				if source == reconcile.SourceEvents && len(freezes(v, &reconcile.Rules[i], s, true)) > 0 {
					t.Errorf("a conclusive %s is held by %s", reconcile.Rules[i].Name, source)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("held = %v, want %v", got, want)
			}
		})
	}
}

// TestTrustOverPasses: a freeze does not wear off by being looked at again, begins once,
// and its end is remembered.
func TestTrustOverPasses(t *testing.T) {
	for name, c := range map[string]struct{ world, source string }{
		"a table that lost its rows": {"knew task t{1..3} running", "tasks"},
		"an empty table":             {"tasks empty; box daytona/s1 running", "tasks"},
		"a listing that lost what is alive": {
			"knew box daytona/s{1..4} running; look daytona/s{1..4} running", "listing:daytona"},
		"an empty listing while one lives": {"task t1 running started=1h ev.heartbeat=9s", "listing:daytona"},
		"a link that resolves nothing": {
			"task t{1..4} running started=1h ev.heartbeat=9s; box daytona/s9 running", "link"},
		"events that nobody sends": {
			"task t{1..4} running started=1h ev.heartbeat=9m; box daytona/s{1..4} running task=t{1..4}", "events"},
		"probes that nobody answers": {
			"tasks none; box daytona/s{1..4} running; probe daytona/s{1..4} failed=9s", "probes:daytona"},
		"a clock that did not move": {
			"knew task t1 pending updated=1h; task t1 assigned updated=1h", "clock:updated_at"},
	} {
		t.Run(name, func(t *testing.T) {
			w := worldtest.NewWorld(t, c.world)
			for pass := range 4 {
				j, p := PlanWorld(w)
				remember(w, j, p)
				seen := w.S.Memory.Sources[c.source]
				if seen.Trusted {
					t.Fatalf("pass %d trusts %s", pass, c.source)
				}
				if !seen.Since.Equal(worldtest.LedgerNow) || !seen.LastTrusted.IsZero() {
					t.Errorf("pass %d: untrusted since %s, last trusted %s; want since %s, never trusted",
						pass, seen.Since, seen.LastTrusted, worldtest.LedgerNow)
				}
				w.S.Memory.Now = w.S.Memory.Now.Add(15 * time.Second)
			}
		})
	}
}

// TestTrustLost: what was trusted is not from now on, and when it last was is remembered.
func TestTrustLost(t *testing.T) {
	w := worldtest.NewWorld(t, "source listing:daytona trusted since=9h recovered=9h last=1m; listing daytona failed=503")
	for _, got := range JudgeWorld(w).Sources {
		want := reconcile.SourceSeen{Name: "listing:daytona", Reason: reconcile.ListingFailed("503"), Since: worldtest.LedgerNow,
			RecoveredAt: worldtest.LedgerNow.Add(-9 * time.Hour), LastTrusted: worldtest.LedgerNow.Add(-time.Minute)}
		if got.Name == want.Name && got != want {
			t.Errorf("source = %+v, want %+v", got, want)
		}
	}
}

// TestEventsDownTwice: each time the events come back, one full limit passes before they
// are trusted.
func TestEventsDownTwice(t *testing.T) {
	w := worldtest.NewWorld(t, "box daytona/s{1..3} running task=t{1..3}; task t{1..3} running started=9h")
	pass := func(after, silent time.Duration) bool {
		w.S.Memory.Now = w.S.Memory.Now.Add(after)
		for i := range w.S.Tasks {
			w.S.Tasks[i].Events.Heartbeat = worldtest.TaskNow.Add(-silent)
		}
		j, p := PlanWorld(w)
		remember(w, j, p)
		return w.S.Memory.Sources[reconcile.SourceEvents].Trusted
	}
	for i, c := range []struct {
		after, silent time.Duration
		want          bool
		why           string
	}{
		{0, 0, true, "well"},
		{time.Minute, 10 * time.Minute, false, "down"},
		{time.Minute, 0, false, "back"},
		{time.Minute, 10 * time.Minute, false, "down again before the limit was over"},
		{10 * time.Minute, 0, false, "back again: the limit starts anew"},
		{89 * time.Second, 0, false, "back for a second less than the limit"},
		{time.Second, 0, true, "back for the limit"},
		{time.Hour, 10 * time.Minute, false, "down once more"},
		{time.Hour, 0, false, "back once more"},
	} {
		if got := pass(c.after, c.silent); got != c.want {
			t.Fatalf("pass %d (%s): trusted = %v, want %v", i, c.why, got, c.want)
		}
	}
}

// A clock that is set back is known by what the ledger's clock says of the time in between, and
// stays known: afterwards it runs on as if nothing had been.
func TestClockThatIsSetBackIsRemembered(t *testing.T) {
	for name, c := range map[string]struct {
		source string
		want   time.Duration // ahead of the clock of now; 0 for never
	}{
		"as far as it should be":              {"source tasks trusted clock=1m", 0},
		"as far as clocks differ":             {"source tasks trusted clock=55s", 0},
		"back by more than that":              {"source tasks trusted clock=54s", 6 * time.Second},
		"set back a while ago":                {"source tasks trusted clock=1m setback=-10m", 10 * time.Minute},
		"set back again, not as far ahead":    {"source tasks trusted clock=-4m setback=-10m", 10 * time.Minute},
		"set back again, from farther":        {"source tasks trusted clock=-14m setback=-10m", 18 * time.Minute},
		"a first pass has nothing to compare": {"", 0},
		"set ahead and back since, as a row tells that was made meanwhile": {
			"source tasks trusted clock=1m; task t1 running created=-1h", time.Hour + time.Minute},
		"set back a while ago, and again since": {
			"source tasks trusted clock=1m setback=-10m; task t1 running created=-1h", time.Hour + time.Minute},
		"rows are made as far ahead as clocks differ": {
			"source tasks trusted clock=1m; task t1 running created=-5s", 0},
		"rows are always made ahead": {
			"source tasks trusted clock=1m; source clock:created_at untrusted; task t1 running created=-1h", 0},
		"a first pass, and a row is made ahead": {"task t1 running created=-1h", 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := worldtest.NewWorld(t, worldtest.Anchor, c.source)
			i := slices.IndexFunc(JudgeWorld(w).Sources, func(s reconcile.SourceSeen) bool { return s.Name == reconcile.SourceTasks })
			seen := JudgeWorld(w).Sources[i]
			want := time.Time{}
			if c.want > 0 {
				want = w.S.T0.Add(c.want)
			}
			if !seen.SetBack.Equal(want) || !seen.Clock.Equal(w.S.T0) {
				t.Errorf("clock %s, set back from %s; want %s and %s", seen.Clock, seen.SetBack, w.S.T0, want)
			}
		})
	}
}
