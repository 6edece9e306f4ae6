package decide

import "testing"

func TestIdleBroken(t *testing.T) {
	// Another sandbox answers, so that the probes can be trusted.
	const other = "box daytona/s9 running task=t9; row t9 completed; probe daytona/s9 answered=1m; "
	const live = other + "task t1 running started=1h ev.activity=10m; "
	const box = "box daytona/s1 running task=t1; "
	const broken = live + box + "probe daytona/s1 failed=2m,1m30s,1m; "
	testRule(t, "idle-broken", map[string]ruleCase{
		"three failures over a minute": {
			broken, "due", "says running but does not work: 3 probes in a row failed over 1m, the last: exec: timed out"},
		"over a second less": {
			live + box + "probe daytona/s1 failed=119s,90s,60s", "probe", "3 of 3 probes failed over 59s of 1m"},
		"two failures": {live + box + "probe daytona/s1 failed=2m,1m", "probe", "2 of 3"},
		"the only other answered when the second was met": {
			live + box + "probe daytona/s1 failed=5m,2m,1s; probe daytona/s9 answered=2m5s", "due", ""},
		"the only other answered before the second was met": {
			live + box + "probe daytona/s1 failed=5m,2m,1s; probe daytona/s9 answered=2m6s", "held", ""},
		"two others answered before the second was met": {
			live + box + "probe daytona/s1 failed=5m,2m,1s; probe daytona/s9 answered=2m6s; " +
				"box daytona/s8 running task=t8; row t8 completed; probe daytona/s8 answered=5m", "due", ""},
		"four failures":           {live + box + "probe daytona/s1 failed=3m,2m,1m,1s", "due", "4 probes"},
		"the clock ran backwards": {live + box + "probe daytona/s1 failed=1m,90s,2m", "probe", ""},
		"active after the first failure": {
			other + box + "task t1 running started=1h ev.activity=119s; " +
				"probe daytona/s1 failed=2m,1m30s,1m", "probe", "was active after the first that failed"},
		"active at the first failure": {
			other + box + "task t1 running started=1h ev.activity=2m; probe daytona/s1 failed=2m,1m30s,1m", "due", ""},
		"started after the last failure": {
			other + box + "task t1 running started=59s; probe daytona/s1 failed=2m,1m30s,1m", "probe",
			"before its worker was started"},
		"started after the first failure": {
			other + box + "task t1 running started=119s; probe daytona/s1 failed=2m,1m30s,1m", "probe", "2 of 3"},
		"started at the first failure": {
			other + box + "task t1 running started=2m; probe daytona/s1 failed=2m,1m30s,1m", "due", ""},
		"started after the first failure, by a clock that is wrong": {
			other + box + "task w1 running started=-1h; task t1 running started=119s; probe daytona/s1 failed=2m,1m30s,1m",
			"due", ""},
		"of a finished task that was started after it": {
			other + box + "row t1 completed started=1s; probe daytona/s1 failed=2m,1m30s,1m", "due", ""},
		"heartbeats are no activity": {
			other + box + "task t1 running started=1h ev.heartbeat=1s; probe daytona/s1 failed=2m,1m30s,1m", "due", ""},
		"of a finished task that was active after it": {
			other + box + "row t1 completed ev.activity=1s; probe daytona/s1 failed=2m,1m30s,1m", "due", ""},
		"resumed 2m before the first": {broken + "knew box daytona/s1 running task=t1 resumed=4m", "due", ""},
		"resumed a second later": {
			broken + "knew box daytona/s1 running task=t1 resumed=3m59s", "probe", "2 of 3"},
		"resumed a moment ago": {
			broken + "knew box daytona/s1 running task=t1 resumed=1m", "probe", "soon after it was resumed"},
		"our watch began after the first":  {broken + "watched since=119s", "probe", "2 of 3"},
		"our watch began with the first":   {broken + "watched since=2m", "due", ""},
		"probes came back after the first": {broken + "source probes:daytona trusted recovered=119s", "probe", ""},
		"of the attempt before, while the next one is handed out": {
			other + "task t1 assigned assigned=10m updated=10m; knew task t1 assigned since=10m; " + box +
				"knew box daytona/s1 running task=t1 first=1h; probe daytona/s1 failed=2m,1m30s,1m", "healthy", ""},
		"of the attempt before, while the row names the next one's, which nobody has seen yet": {
			"provider daytona id=yes; " + other + "task t1 running sandbox=s2; knew task t1 running since=10m; " + box +
				"knew box daytona/s1 running task=t1 first=1h; probe daytona/s1 failed=2m,1m30s,1m", "healthy", ""},
		"of an attempt that is handed out": {
			other + "task t1 assigned assigned=1h updated=1h; knew task t1 assigned since=1h; " + box +
				"knew box daytona/s1 running task=t1 first=10m; probe daytona/s1 failed=2m,1m30s,1m", "due", ""},
		"of a live task that has another, and no row names it": {
			broken + "box daytona/s2 running task=t1", "healthy", ""},
		"of a live task that has another, which is gone": {
			broken + "knew box daytona/s2 running task=t1; look daytona/s2 gone", "due", ""},
		"of a live task whose row names one that names another task": {
			"provider daytona id=yes; " + other + "task t1 running started=1h ev.activity=10m sandbox=s1; " +
				"knew task t1 running; box daytona/s1 running task=z1 key=s1; knew box daytona/s1 running task=t1; probe daytona/s1 failed=2m,1m30s,1m",
			"healthy", ""},
		"of a live task that has another, and its row names this one": {
			"provider daytona id=yes; " + other + "task t1 running started=1h ev.activity=10m sandbox=s1; " + box +
				"probe daytona/s1 failed=2m,1m30s,1m; box daytona/s2 running task=t1", "due", ""},
		"of a live task whose row names another, which is stopped": {
			"provider daytona id=yes; " + other + "task t1 running started=1h ev.activity=10m sandbox=s2; " + box +
				"probe daytona/s1 failed=2m,1m30s,1m; box daytona/s2 stopped task=t1", "healthy", ""},
		"of a live task that has another, which is stopped and that no row names": {
			broken + "box daytona/s2 stopped task=t1", "due", ""},
		"of a live task whose row names another": {
			"provider daytona id=yes; " + other + "task t1 running started=1h ev.activity=10m sandbox=s2; " + box +
				"probe daytona/s1 failed=2m,1m30s,1m; box daytona/s2 running task=t1", "healthy", ""},
		"suspended": {
			live + "box daytona/s1 suspended task=t1; probe daytona/s1 failed=2m,1m30s,1m", "healthy", ""},
		"creating": {
			live + "box daytona/s1 creating task=t1; probe daytona/s1 failed=2m,1m30s,1m", "healthy", ""},
		"unknown": {
			live + "box daytona/s1 unknown task=t1; probe daytona/s1 failed=2m,1m30s,1m", "healthy", ""},
		"not ours": {
			live + "box daytona/s1 running task=t1 owned=no; probe daytona/s1 failed=2m,1m30s,1m", "healthy", ""},
		"answering":    {live + box + "probe daytona/s1 answered=1m", "healthy", ""},
		"never probed": {live + box, "healthy", ""},
		"nobody else answers": {
			"task t1 running started=1h; " + box + "probe daytona/s1 failed=2m,1m30s,1m", "held", "probes-untrusted daytona"},
		"the other answered in the round of the second": {other + box + "task t1 running started=1h; " +
			"probe daytona/s9 answered=95s; probe daytona/s1 failed=2m,1m30s,1m", "due", ""},
		"the other answered long before": {other + box + "task t1 running started=1h; " +
			"probe daytona/s9 answered=96s; probe daytona/s1 failed=2m,1m30s,1m", "held",
			"no other sandbox has answered since its probes fail"},
		"one of two others fails as well": {broken + "box daytona/s8 running task=t8; row t8 completed; " +
			"probe daytona/s8 failed=1m", "held", "1 of the 2 others that were probed since fail as well"},
		"one of three others fails as well": {broken + "box daytona/s{7..8} running; " +
			"probe daytona/s8 failed=1m; probe daytona/s7 answered=2m", "due", ""},
		"one of two others failed and answered since": {broken + "box daytona/s8 running task=t8; row t8 completed; " +
			"probe daytona/s8 answered=1m ended=90s", "held", "1 of the 2 others that were probed since fail as well"},
		"one of two others failed and answered before, minutes ago": {broken + "box daytona/s8 running task=t8; row t8 completed; " +
			"probe daytona/s8 answered=1m ended=5m", "held", "1 of the 2 others that were probed since fail as well"},
		"one of two others failed and answered before, a second earlier": {broken + "box daytona/s8 running task=t8; " +
			"row t8 completed; probe daytona/s8 answered=1m ended=5m1s", "due", ""},
		"one of two others failed and answered since, long ago": {live + box + "probe daytona/s1 failed=9m50s,1m30s,1m; " +
			"box daytona/s8 running task=t8; row t8 completed; probe daytona/s8 answered=1m ended=9m", "due", ""},
		"it failed and answered a while ago": {
			live + box + "probe daytona/s1 failed=2m,1m30s,1m ended=4m", "probe", "it fails and answers by turns"},
		"it failed and answered long ago": {
			live + box + "probe daytona/s1 failed=2m,1m30s,1m ended=5m", "due", ""},
		"another provider's fail": {broken + "box e2b/s8 running; probe e2b/s8 failed=1m", "due", ""},
		"without a task": {
			other + "box daytona/s1 running; probe daytona/s1 failed=2m,1m30s,1m", "due", ""},
		"of a task out of where": {
			other + "row t1 running; " + box + "probe daytona/s1 failed=2m,1m30s,1m", "held", "outside `where`"},
		"of a task that was not read": {
			other + "unread t1; " + box + "probe daytona/s1 failed=2m,1m30s,1m", "held", "its task was not read"},
		"the listing failed":     {broken + "listing daytona failed=503", "held", "listing-untrusted"},
		"a class with more time": {"rule idle-broken when.provider=daytona then=5m; " + broken, "probe", "of 5m"},
	})
}

// TestIdleBrokenInQuickPasses: a quick pass gets only the suspects, and remembers that
// others answer.
func TestIdleBrokenInQuickPasses(t *testing.T) {
	const quick = "pass quick; source listing:daytona trusted; knew box daytona/s1 running task=t1; " +
		"task t1 running started=1h; look daytona/s1 running task=t1; probe daytona/s1 failed=2m,1m30s,1m; "
	testRule(t, "idle-broken", map[string]ruleCase{
		"another answered": {quick + "knew box daytona/s9 running; probe daytona/s9 answered=1m", "due", ""},
		"another answered and is gone by now": {
			quick + "knew box daytona/s9 running gone=30s; probe daytona/s9 answered=1m", "held", "probes-untrusted"},
		"two others fail as well": {
			quick + "knew box daytona/s{8..9} running; probe daytona/s{8..9} failed=1m; knew box daytona/s7 running; " +
				"probe daytona/s7 answered=1m",
			"held", "probes-untrusted"},
	})
}
