package decide

import "testing"

func TestAssignedStale(t *testing.T) {
	const found = "task t1 assigned updated=30s; knew task t1 assigned since=30s; box daytona/s1 running task=t1; "
	testRule(t, "assigned-stale", map[string]ruleCase{
		"assigned for the limit": {
			"task t1 assigned updated=3m; find t1 none", "due", "worker never started: no sandbox at daytona"},
		"assigned for a second less": {
			"task t1 assigned updated=2m59s; find t1 none", "kept", "assigned for 2m59s of 3m"},
		"assigned seconds ago though created hours ago": {
			"task t1 assigned created=5h assigned=8s updated=8s; find t1 none", "kept", "assigned for 8s"},
		"assigned long ago, its row touched a second ago": {
			"task t1 assigned assigned=4m updated=1s; find t1 none", "due", ""},
		"touched a second ago, but the ledger saw it assigned for the limit": {
			"task t1 assigned updated=1s; knew task t1 assigned since=3m; find t1 none", "due", ""},
		"touched a second ago, seen assigned by the ledger for less": {
			"task t1 assigned updated=1s; knew task t1 assigned since=2m59s; find t1 none", "kept", ""},
		"the ledger saw another status before": {
			"task t1 assigned updated=1s; knew task t1 pending since=1h; find t1 none", "kept", ""},
		"the ledger's own clock does not reach behind an outage of ours": {
			"task t1 assigned updated=1s; knew task t1 assigned since=1h; watched since=2m; find t1 none", "kept", ""},
		"a row's clock does, though": {
			"task t1 assigned assigned=4m updated=1s; watched since=1s; find t1 none", "due", ""},
		"no clock at all": {
			"task t1 assigned; find t1 none", "kept", "assigned for 0s"},
		"its clock runs backwards": {
			"task t1 assigned assigned=-4s updated=-4s; find t1 none", "kept", "assigned for 0s"},
		"its clock is not trusted and the ledger's says enough": {
			"task t1 assigned assigned=-1h updated=10m; knew task t1 assigned since=4m; find t1 none", "due", ""},
		"its clock is not trusted and the ledger's says too little": {
			"task t1 assigned assigned=-1h updated=1s; knew task t1 assigned since=2m; find t1 none", "kept", ""},
		"the state began while providers were listed": {
			"clock read=30s; task t1 assigned updated=3m29s; find t1 none", "kept", ""},
		"the state began before providers were listed": {
			"clock read=30s; task t1 assigned updated=3m30s; find t1 none", "due", ""},
		"claiming is assigned too": {
			"task t1 assigned status=claiming updated=3m; find t1 none", "due", ""},
		"running without a start": {
			"task t1 running updated=3m; find t1 none", "healthy", ""},
		"running with a start": {
			"task t1 running started=5m updated=5m; find t1 none", "healthy", ""},
		"a start that an earlier attempt left behind": {
			"task t1 assigned started=2h updated=3m; knew task t1 assigned since=3m stale=2h; find t1 none", "due", ""},
		"a start that came after the earlier attempt's": {
			"task t1 running started=10s updated=3m; knew task t1 running since=3m stale=2h; find t1 none", "healthy", ""},
		"one event ever": {
			"task t1 assigned updated=1h ev.heartbeat=50m; find t1 none", "healthy", ""},
		"a life sign before this assignment is of an earlier attempt": {
			"task t1 assigned heartbeat=20m assigned=4m updated=4m; find t1 none", "due", ""},
		"an earlier attempt's life sign inside the limit still vetoes": {
			"task t1 assigned heartbeat=90s assigned=80s updated=80s; knew box daytona/s1 running task=t1; look daytona/s1 gone",
			"kept", "before it was handed out"},
		"a life sign since this assignment": {
			"task t1 assigned heartbeat=3m assigned=4m updated=4m; find t1 none", "healthy", ""},
		"a life sign, and nothing says when it was assigned": {
			"task t1 assigned heartbeat=20m updated=4m; find t1 none", "healthy", ""},
		"being set up, its row changed within the limit": {
			"task t1 assigned updated=90s activity=90s; knew task t1 assigned since=10m; find t1 none", "kept",
			"its row was changed 1m30s ago: it is being set up"},
		"its row changed a second before that": {
			"task t1 assigned updated=91s activity=91s; knew task t1 assigned since=10m; find t1 none", "kept", "assigned for 1m31s of 3m"},
		"its row stands still for the limit": {
			"task t1 assigned updated=3m activity=3m; find t1 none", "due", "worker never started: no sandbox at daytona"},
		"its row stands still for a second less": {
			"task t1 assigned updated=2m59s activity=2m59s; find t1 none", "kept", "assigned for 2m59s of 3m"},
		"its row was changed in the future": {
			"task t1 assigned updated=-4s activity=-4s; knew task t1 assigned since=10m; find t1 none", "kept", "being set up"},
		"an activity with a clock of its own": {
			"task t1 assigned updated=4m activity=4m1s; find t1 none", "healthy", ""},
		"its row is changed, and an event": {
			"task t1 assigned updated=9s activity=9s ev.heartbeat=4m; find t1 none", "healthy", ""},
		"running, its activity is the row's clock": {
			"task t1 running updated=4m activity=4m; find t1 none", "healthy", ""},
		"pending":      {"task t1 pending updated=1h; find t1 none", "healthy", ""},
		"over":         {"row t1 failed updated=1h; box daytona/s1 running task=t1", "healthy", ""},
		"out of where": {"row t1 assigned updated=1h; box daytona/s1 running task=t1", "healthy", ""},
		"unmapped":     {"task t1 unknown updated=1h; find t1 none", "healthy", ""},
		"its row names a sandbox that is another task's by its label": {
			"provider daytona named=yes; task t1 assigned updated=1h sandbox=k1; box daytona/s1 running task=t9 key=k1; " +
				"row t9 completed updated=1s", "look", "sandbox s1 at daytona is running, and names task t9"},
		"the clock of its row was set ahead by an hour since, and no events are mapped": {
			"tasks eventless; source tasks trusted clock=61m; task t1 assigned updated=1h; find t1 none", "held", "events-untrusted"},
		"it was set ahead a second less than the limit ago": {
			"tasks eventless; source tasks trusted clock=1m; source events trusted recovered=179s; " +
				"task t1 assigned updated=1h; find t1 none", "kept", "assigned for 2m59s of 3m"},
		"it was set ahead the limit ago": {
			"tasks eventless; source tasks trusted clock=1m; source events trusted recovered=3m; " +
				"task t1 assigned updated=1h; find t1 none", "due", ""},
		"not looked": {"task t1 assigned updated=1h", "look", "not searched by link at daytona yet"},
		"look failed": {
			"task t1 assigned updated=1h; find t1 error", "look", "could not be searched by link: daytona: 503"},
		"found by link": {"task t1 assigned updated=1h; find t1 daytona/s1", "due", "sandbox s1 at daytona is running"},
		"its sandbox is still coming up": {
			"task t1 assigned updated=1h; box daytona/s1 creating task=t1", "kept", "its sandbox s1 is still creating"},
		"its sandbox runs, and the worker in it never started": {
			"task t1 assigned updated=1h; box daytona/s1 running task=t1", "due", "sandbox s1 at daytona is running"},
		"its sandbox works for another, in a shared account": {
			"provider daytona exclusive=no; task t1 assigned updated=1h; " +
				"box daytona/s1 running task=t1 active=90s", "kept", ""},
		"it did so a while ago": {
			"provider daytona exclusive=no; task t1 assigned updated=1h; " +
				"box daytona/s1 running task=t1 active=91s", "due", ""},
		"its stopped sandbox worked a moment ago": {
			"provider daytona exclusive=no; task t1 assigned updated=1h; box daytona/s1 stopped task=t1 active=1s", "due", ""},
		"the account is ours alone": {
			"task t1 assigned updated=1h; box daytona/s1 running task=t1 active=1s", "due", ""},
		"its sandbox was active at the limit: somebody sets it up": {
			"task t1 assigned updated=4m; box daytona/s1 running task=t1 active=90s", "kept",
			"was active 1m30s ago at the provider: it is being set up, and has until 5m after it was handed out"},
		"its sandbox was active a second before that": {
			"task t1 assigned updated=4m; box daytona/s1 running task=t1 active=91s", "due", ""},
		"active, a second before the limit of provisioning-stuck": {
			"task t1 assigned updated=4m59s; box daytona/s1 running task=t1 active=1s", "kept", "being set up"},
		"active, at the limit of provisioning-stuck": {
			"task t1 assigned updated=5m; box daytona/s1 running task=t1 active=1s", "due", ""},
		"active, and its class comes up for longer": {
			"rule provisioning-stuck after=20m; task t1 assigned updated=19m59s; box daytona/s1 running task=t1 active=1s", "kept", "until 20m"},
		"active, and known from before it was handed out": {
			"task t1 assigned updated=4m; knew task t1 assigned since=4m; knew box daytona/s1 running task=t1 first=5m; " +
				"box daytona/s1 running task=t1 active=1s", "kept", "being set up"},
		"active, and of this attempt": {
			"task t1 assigned updated=4m; knew task t1 assigned since=4m; knew box daytona/s1 running task=t1 first=3m; " +
				"box daytona/s1 running task=t1 active=1s", "kept", "being set up"},
		"active, and paused by now": {"task t1 assigned updated=4m; box daytona/s1 stopped task=t1 active=1s", "due", ""},
		"its worker was found there": {
			"task t1 assigned updated=1h; knew task t1 assigned since=9m; knew box daytona/s1 running task=t1 first=8m; " +
				"box daytona/s1 running task=t1; probe daytona/s1 answered=10s worker=alive", "probe",
			"its worker was there 10s ago"},
		"its worker was found dead": {
			"task t1 assigned updated=1h; box daytona/s1 running task=t1; probe daytona/s1 answered=10s worker=dead alive=1h", "due", ""},
		"its worker was found there in this state, and is dead": {
			found + "probe daytona/s1 answered=5s worker=dead alive=20s", "due",
			"worker never started: sandbox s1 at daytona is running; its worker was there, and was not running 5s ago"},
		"its worker was found there in the state before, and is dead": {
			found + "probe daytona/s1 answered=5s worker=dead alive=31s", "kept", "assigned for 30s of 3m"},
		"its worker was never found there, and is dead": {
			found + "probe daytona/w1 answered=5s worker=alive; probe daytona/s1 answered=5s worker=dead", "kept", "assigned for 30s of 3m"},
		"its worker is dead, and spoke in an attempt before": {
			"task t1 assigned heartbeat=10m assigned=30s updated=30s; knew task t1 assigned since=30s; " +
				"box daytona/s1 running task=t1; probe daytona/s1 answered=5s worker=dead alive=9m", "kept", "assigned for 30s of 3m"},
		"its worker was found there, and a new one of its name is looked for": {
			found + "probe daytona/s1 answered=241s worker=dead alive=242s", "kept", "assigned for 30s of 3m"},
		"its worker can be asked for, at the shorter limit": {"provider daytona worker=pgrep; task t1 assigned updated=20s; " +
			"box daytona/s1 running task=t1", "probe", "assigned for 20s of 3m"},
		"its worker can be asked for, a second before": {"provider daytona worker=pgrep; task t1 assigned updated=19s; " +
			"box daytona/s1 running task=t1", "kept", ""},
		"its worker can be asked for, and that would keep it awake": {"provider daytona worker=pgrep awake=yes; " +
			"task t1 assigned updated=20s; box daytona/s1 running task=t1", "kept", ""},
		"its worker can be asked for, and it does not run": {"provider daytona worker=pgrep; task t1 assigned updated=20s; " +
			"box daytona/s1 stopped task=t1", "kept", ""},
		"its worker was found there, too long ago": {
			"task t1 assigned updated=1h; box daytona/s1 running task=t1; probe daytona/s1 answered=241s worker=alive", "due", ""},
		"its worker was found there, at the limit of how long that counts": {
			"task t1 assigned updated=1h; box daytona/s1 running task=t1; probe daytona/s1 answered=4m worker=alive", "probe", ""},
		"its worker was found there, before it was paused and came back": {
			"task t1 assigned updated=1h; box daytona/s1 running task=t1; knew box daytona/s1 running task=t1 resumed=10s; " +
				"probe daytona/s1 answered=11s worker=alive", "due", ""},
		"its sandbox answers, and tells of no worker": {
			"task t1 assigned updated=1h; box daytona/s1 running task=t1; probe daytona/s1 answered=10s", "due", ""},
		"its sandbox is in a state that nobody knows": {
			"task t1 assigned updated=1h; box daytona/s1 unknown task=t1 raw=warped", "kept", `unknown state "warped"`},
		"its sandbox was there, is not listed and was not looked at": {
			"task t1 assigned updated=1h; " +
				"knew box daytona/s1 running task=t1", "look", "s1 is not listed and was not looked at"},
		"its sandbox was there and cannot be looked at": {
			"task t1 assigned updated=1h; knew box daytona/s1 running task=t1; look daytona/s1 error", "held", "503"},
		"its sandbox was there and is gone": {
			"task t1 assigned updated=1h; knew box daytona/s1 running task=t1; " +
				"look daytona/s1 gone", "due", "s1 at daytona is gone"},
	})
}

func TestAssignedStaleConclusive(t *testing.T) {
	const named = "provider daytona id=yes; "
	const gone = named + "knew box daytona/s1 running task=t1 since=15s first=15s; look daytona/s1 gone; "
	const first = "knew task t1 assigned since=20s; "
	const noted = "provider daytona templates=light; knew task t1 assigned since=20s; " +
		`task t1 assigned updated=20s template=light error="no such snapshot"; find t1 none; `
	testRule(t, "assigned-stale", map[string]ruleCase{
		"an error that was there at once, and its template is unusable": {noted + "template daytona/light inactive", "due",
			`the platform noted: no such snapshot; snapshot "light" is inactive`},
		"an error that was there at once, and its template is usable": {noted + "template daytona/light active", "kept",
			"20s of 3m"},
		"an error that was there at once, and nothing of its template": {noted + "template daytona/heavy inactive", "kept",
			"20s of 3m"},
		"an error that was there at once, and its template was unusable only before": {"pass quick; " +
			"source listing:daytona trusted; " + noted + "template daytona/light inactive asof=20s", "kept", "20s of 3m"},
		"an error that was there at once, and its template was unusable since": {"pass quick; " +
			"source listing:daytona trusted; " + noted + "template daytona/light inactive asof=19s", "due", "no such snapshot"},
		"its template is unusable, and no error": {"knew task t1 assigned since=20s; task t1 assigned updated=20s template=light; " +
			"find t1 none; template daytona/light inactive", "kept", "20s of 3m"},
		"its template is unusable, and an error of ours": {"knew task t1 assigned since=20s; find t1 none; " +
			`task t1 assigned updated=20s template=light error="sandkeeper: x [sandkeeper 0123456789abcdef]"; ` +
			"template daytona/light inactive", "kept", "20s of 3m"},
		"an error that was there at once, its template is unusable, and it has a sandbox": {noted +
			"template daytona/light inactive; box daytona/s1 running task=t1", "kept", "20s of 3m"},
		"its sandbox is gone, 20s": {gone + first + "task t1 assigned updated=20s sandbox=s1", "due", ""},
		"its sandbox is gone, and a later one of its name may go on": {"pass quick; source listing:daytona trusted; " +
			"provider daytona id=yes nameslast=yes; knew box daytona/s1 running task=t1 since=15s first=15s; " +
			"look daytona/s1 gone; " + first + "task t1 assigned updated=20s sandbox=s1", "kept", "20s of 3m"},
		"its sandbox is gone, in a quick pass": {"pass quick; source listing:daytona trusted; " +
			"provider daytona id=yes; knew box daytona/s1 running task=t1 since=15s first=15s; " +
			"look daytona/s1 gone; find t1 none; " + first + "task t1 assigned updated=20s sandbox=s1", "due", ""},
		"its sandbox is gone, 19s": {gone + "knew task t1 assigned since=19s; task t1 assigned updated=19s sandbox=s1", "kept", "19s of 20s"},
		"its sandbox is failed, 20s": {
			named + first + "task t1 assigned updated=20s sandbox=s1; knew box daytona/s1 running task=t1 first=15s; " +
				"box daytona/s1 failed task=t1", "due", ""},
		"one that only its label makes its sandbox is failed": {
			named + first + "task t1 assigned updated=20s; knew box daytona/s1 creating task=t1 first=15s; " +
				"box daytona/s1 failed task=t1", "kept", "20s of 3m"},
		"one that only its label makes its sandbox is failed, for the limit": {
			named + "task t1 assigned updated=3m; knew task t1 assigned since=3m; find t1 none; " +
				"knew box daytona/s1 creating task=t1 first=15s; box daytona/s1 failed task=t1", "due", "worker never started"},
		"one that only its label makes its sandbox is gone": {gone + first + "task t1 assigned updated=20s", "kept", "20s of 3m"},
		"its sandbox is gone, and was there before the state, 20s": {
			"knew box daytona/s1 running task=t1 since=15s first=30s; look daytona/s1 gone; " + first + "task t1 assigned updated=20s",
			"kept", "20s of 3m"},
		"the same, and the row names it": {
			"provider daytona id=yes; knew box daytona/s1 running task=t1 since=15s first=30s; look daytona/s1 gone; " + first +
				"task t1 assigned updated=20s sandbox=s1", "due", ""},
		"the same, and was there long before": {
			"provider daytona id=yes; knew box daytona/s1 running task=t1 since=9m first=10m; look daytona/s1 gone; " +
				"knew task t1 assigned since=20s sandbox=s1; task t1 assigned updated=20s sandbox=s1", "kept", "20s of 3m"},
		"the same, and came back for this attempt": {
			"provider daytona id=yes; knew box daytona/s1 running task=t1 since=15s first=10m; look daytona/s1 gone; " +
				"knew task t1 assigned since=20s sandbox=s1; task t1 assigned updated=20s sandbox=s1", "due", ""},
		"the same, of the attempt that was ended by us": {
			"provider daytona id=yes; knew box daytona/s1 running task=t1 first=15s gone=10s ours=yes; look daytona/s1 gone; " +
				"knew task t1 assigned since=20s sandbox=s1; task t1 assigned updated=20s sandbox=s1", "kept", "20s of 3m"},
		"the same, of a task that nobody knew": {
			"provider daytona id=yes; knew box daytona/s1 running task=t1 since=9m first=10m; look daytona/s1 gone; " +
				"task t1 assigned updated=20s sandbox=s1", "kept", "20s of 3m"},
		"its sandbox is failed, but never seen before": {
			"task t1 assigned updated=20s; box daytona/s1 failed task=t1", "kept", "20s of 3m"},
		"its sandbox is paused, which is not gone": {
			"task t1 assigned updated=20s; knew box daytona/s1 running task=t1; " +
				"box daytona/s1 suspended task=t1", "kept", "of 3m"},
		"one of two sandboxes is gone": {
			gone + "task t1 assigned updated=20s sandbox=s1; box daytona/s2 running task=t1; " +
				"knew box daytona/s2 running task=t1", "kept", "of 3m"},
		"the sandbox of an earlier attempt, gone before this one began": {
			"task t1 assigned updated=25s; knew task t1 assigned since=25s; " +
				"knew box daytona/s1 running task=t1 gone=1m ours=yes; find t1 none", "kept", "25s of 3m"},
		"the sandbox of an earlier attempt, stopped before this one began": {
			"task t1 assigned updated=25s; knew task t1 assigned since=25s; " +
				"knew box daytona/s1 stopped task=t1 since=1m; box daytona/s1 stopped task=t1", "kept", "25s of 3m"},
		"the platform noted an error, 20s": {
			`task t1 assigned updated=20s error="quota exceeded"; knew task t1 assigned since=15s erred=yes; find t1 none`,
			"due", "the platform noted: quota exceeded"},
		"the platform noted an error, 19s": {
			`task t1 assigned updated=19s error="quota exceeded"; knew task t1 assigned since=15s erred=yes; ` +
				`find t1 none`, "kept", ""},
		"the error was there before": {
			`task t1 assigned updated=1m error="quota exceeded"; knew task t1 assigned since=1m; ` +
				`find t1 none`, "kept", "of 3m"},
		"the error was noted in an earlier state": {
			`task t1 assigned updated=1m error="quota exceeded"; knew task t1 pending since=2m erred=yes; ` +
				`find t1 none`, "kept", "of 3m"},
		"the error is our own": {
			`task t1 assigned updated=1m error="gone [sandkeeper x1]"; knew task t1 assigned since=1m erred=yes; ` +
				`find t1 none`, "kept", "of 3m"},
		"a shorter limit stays shorter": {
			gone + "rule assigned-stale after=10s; task t1 assigned updated=10s sandbox=s1", "due", ""},
		"events are out: a proof does not need them": {
			gone + first + "task t1 assigned updated=20s sandbox=s1; source events trusted recovered=1s", "due", ""},
	})
}

func TestAssignedStaleSources(t *testing.T) {
	const stale = "task t1 assigned updated=1h; find t1 none; "
	testRule(t, "assigned-stale", map[string]ruleCase{
		"tasks came back for the limit":   {stale + "source tasks trusted recovered=3m", "due", ""},
		"tasks came back a second less":   {stale + "source tasks trusted recovered=2m59s", "kept", "2m59s of 3m"},
		"events came back a second less":  {stale + "source events trusted recovered=2m59s", "kept", ""},
		"its listing came back just now":  {stale + "source listing:daytona trusted recovered=1s", "kept", ""},
		"another's listing came back now": {stale + "provider e2b; source listing:e2b trusted recovered=1s", "kept", ""},
		"another's, which it cannot be at": {
			"provider e2b; source listing:e2b trusted recovered=1s; task t1 assigned provider=daytona updated=1h; " +
				"find t1 none", "due", ""},
		"its listing failed": {
			stale + "listing daytona failed=503", "held", "listing-untrusted daytona"},
		"its listing was cut": {stale + "listing daytona missing=eu", "held", "no complete listing of daytona"},
		"it was released from a listing that failed": {
			stale + "listing daytona failed=503; release listing:daytona task:t1", "held",
			"listing-untrusted daytona"},
		"another's listing failed, which it cannot be at": {
			"provider e2b; listing e2b failed=503; task t1 assigned provider=daytona updated=1h; find t1 none", "due", ""},
		"it failed a second early": {
			"task t1 assigned updated=2m59s; listing daytona failed=503", "kept", "2m59s of 3m"},
		"a quick pass rests on the last": {"pass quick; source listing:daytona trusted last=2m; " + stale, "due", ""},
		"the last is too old": {
			"pass quick; source listing:daytona trusted last=5m1s; " + stale, "look", ""},
		"there never was one": {"pass quick; " + stale, "look", "no complete listing"},
		"named by id, looked, gone": {
			"provider daytona id=yes; task t1 assigned updated=1h sandbox=s1; look daytona/s1 gone; find t1 none", "due", ""},
		"named by id, not looked": {
			"provider daytona id=yes; task t1 assigned updated=1h sandbox=s1; find t1 none", "look", "s1"},
		"named by id, look failed": {
			"provider daytona id=yes; task t1 assigned updated=1h sandbox=s1; look daytona/s1 error; " +
				"find t1 none", "look", "503"},
		"named by id, found, linked to none": {
			"provider daytona id=yes; task t1 assigned updated=1h sandbox=s1; look daytona/s1 running owned=no; " +
				"find t1 none", "look", "s1 at daytona is running"},
		"at a provider that is not configured": {
			"task t1 assigned updated=1h provider=modal; find t1 none", "kept", `provider "modal" is not configured`},
	})
}

func TestAssignedStaleCause(t *testing.T) {
	const stale = "task t1 assigned updated=4m; find t1 none; "
	testRule(t, "assigned-stale", map[string]ruleCase{
		"an inactive snapshot names the cause": {
			stale + "template daytona/light inactive; started daytona/light ago=650h30m",
			"due", `no sandbox at daytona; snapshot "light" is inactive, last successful start from it 2026-02-02 04:30`},
		"it never shortens the threshold": {
			"task t1 assigned updated=2m59s; find t1 none; template daytona/light inactive", "kept", ""},
		"another template than the task's accuses nobody": {
			"task t1 assigned updated=4m template=heavy; find t1 none; " +
				"template daytona/light inactive", "due", "no sandbox at daytona\n"},
		"one that could not be measured accuses nobody": {
			stale + `template daytona/light ""`, "due", "no sandbox at daytona\n"},
	})
}

func TestThresholdOverrides(t *testing.T) {
	const gpu = "rule assigned-stale when.template=gpu then=15m; "
	const both = "rule assigned-stale when.template=gpu when.task.type=build then=15m; "
	testRule(t, "assigned-stale", map[string]ruleCase{
		"its class waits longer":    {gpu + "task t1 assigned updated=14m59s template=gpu; find t1 none", "kept", "of 15m"},
		"its class waits that long": {gpu + "task t1 assigned updated=15m template=gpu; find t1 none", "due", ""},
		"another class does not":    {gpu + "task t1 assigned updated=3m template=cpu; find t1 none", "due", ""},
		"no class does not":         {gpu + "task t1 assigned updated=3m; find t1 none", "due", ""},
		"both must match": {
			both + "task t1 assigned updated=3m template=gpu attr.type=test; find t1 none", "due", ""},
		"both match": {
			both + "task t1 assigned updated=3m template=gpu attr.type=build; find t1 none", "kept", "of 15m"},
		"the first that matches": {
			gpu + "rule assigned-stale when.template=gpu then=1m; task t1 assigned updated=3m template=gpu; " +
				"find t1 none", "kept", "of 15m"},
		"by region of its sandbox": {
			"rule assigned-stale when.region=us then=15m; task t1 assigned updated=5m; " +
				"box daytona/s1 running task=t1 region=us", "kept", "of 15m"},
		"by its provider": {
			"rule assigned-stale when.provider=daytona then=15m; task t1 assigned updated=5m provider=daytona; " +
				"find t1 none", "kept", "of 15m"},
		"by a key that nobody has": {
			"rule assigned-stale when.weather=fine then=15m; task t1 assigned updated=5m; find t1 none", "due", ""},
	})
}
