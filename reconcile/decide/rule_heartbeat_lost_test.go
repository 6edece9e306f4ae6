package decide

import "testing"

func TestHeartbeatLost(t *testing.T) {
	// Its probe fails, and another's is answered: something besides silence agrees.
	const fails = "probe daytona/s1 failed=10s; probe daytona/w1 answered=10s; "
	// Four others are well, so that a silent one is alone.
	const well = "task w{1..4} running started=1h ev.heartbeat=5s; box daytona/w{1..4} running task=w{1..4}; " +
		"box daytona/s1 running task=t1; " + fails
	// One other: fewer than three tasks run.
	const few = "task w1 running started=1h ev.heartbeat=5s; box daytona/w1 running task=w1; " +
		"box daytona/s1 running task=t1; "
	const silent = "task t1 running started=1h ev.heartbeat=2m; "
	const ahead = well + "task t1 running started=1h ev.heartbeat=-10m; knew task t1 running ahead=-10m aheadsince=5m; "
	testRule(t, "heartbeat-lost", map[string]ruleCase{
		"silent for a second more than the limit": {
			well + "task t1 running started=1h ev.heartbeat=91s", "due", "worker fell silent: last seen 2026-03-01 " +
				"11:58:29 UTC, 1m31s ago"},
		"silent for the limit": {well + "task t1 running started=1h ev.heartbeat=90s", "healthy", ""},
		"a heartbeat from the future": {
			well + "task t1 running started=1h ev.heartbeat=-1h", "healthy", ""},
		"the column is as good as an event": {
			well + "task t1 running started=1h heartbeat=91s", "due", ""},
		"silent, but active": {
			well + "task t1 running started=1h ev.heartbeat=10m ev.activity=60s", "healthy", ""},
		"never heard of: that is assigned-stale's": {
			well + "task t1 running started=1h", "healthy", ""},
		"nobody sends heartbeats here": {
			"task w{1..4} running started=1h activity=5s; task t1 running started=1h activity=1h; " +
				"box daytona/s1 running task=t1", "healthy", ""},
		"a column that is written with the start alone": {
			"task w{1..4} running started=30m heartbeat=30m activity=5s; box daytona/w{1..4} running task=w{1..4}; " +
				"task t1 running started=1h heartbeat=1h; box daytona/s1 running task=t1; " + fails, "healthy", ""},
		"assigned": {well + "task t1 assigned updated=1h ev.heartbeat=1h", "healthy", ""},
		"over":     {well + "row t1 failed ev.heartbeat=1h", "healthy", ""},
		"unmapped": {well + "task t1 unknown ev.heartbeat=1h", "healthy", ""},
		"its sandbox is coming up again": {
			"task w{1..4} running started=1h ev.heartbeat=5s; " + silent + "box daytona/s1 creating " +
				"task=t1", "kept", "its sandbox s1 is creating"},
		"few run, and it was not probed": {
			few + silent, "probe", "its sandbox is probed first"},
		"few run, and it answered a probe": {
			few + silent + "probe daytona/s1 answered=10s", "held", "only silence: its probe was answered"},
		"few run, and its probe failed": {
			few + silent + "probe daytona/s1 failed=10s; " +
				"probe daytona/w1 answered=10s", "due", "its probe failed: exec: timed out"},
		"few run, and its probes fail by turns": {
			few + silent + "probe daytona/s1 failed=10s ended=1m; probe daytona/w1 answered=10s", "held", "only silence"},
		"few run, and its probe failed before it fell silent": {
			few + silent + "probe daytona/s1 failed=2m1s; probe daytona/w1 answered=10s", "probe", ""},
		"few run, and its sandbox is gone": {
			"task w1 running started=1h ev.heartbeat=5s; " +
				"box daytona/w1 running task=w1; " + silent + "knew box daytona/s1 running task=t1; " +
				"look daytona/s1 gone", "due", "sandbox s1 is gone"},
		"few run, and its sandbox is failed": {
			"task w1 running started=1h ev.heartbeat=5s; " +
				"box daytona/w1 running task=w1; " + silent + "box daytona/s1 failed task=t1", "due", ""},
		"three run": {
			"task w{1..2} running started=1h ev.heartbeat=5s; " + silent + "box daytona/s1 running task=t1", "probe", "probed first"},
		"three run, and its probe failed": {
			"task w{1..2} running started=1h ev.heartbeat=5s; box daytona/w{1..2} running task=w{1..2}; " + silent +
				"box daytona/s1 running task=t1; " + fails, "due", ""},
		"a heartbeat of an earlier attempt": {
			well + "task t1 running started=80s heartbeat=20m", "kept", ""},
		"an earlier attempt's, and this one is silent for longer than the limit": {
			well + "task t1 running started=91s heartbeat=20m", "due", ""},
		"an earlier attempt's, timed by the ledger": {
			well + "task t1 running started=2h heartbeat=20m updated=1s; knew task t1 running since=80s stale=2h", "kept", ""},
		"events came back a moment ago": {
			well + silent + "source events trusted recovered=90s", "kept", ""},
		"events came back long ago": {
			well + silent + "source events trusted recovered=91s", "due", ""},
		"tasks came back a moment ago": {
			well + silent + "source tasks trusted recovered=80s", "kept", ""},
		"events are out": {
			"task w{1..2} running started=1h ev.heartbeat=2m; task t1 running started=1h ev.heartbeat=10m; " +
				"box daytona/w{1..2} running task=w{1..2}; box daytona/s1 running task=t1; " + fails,
			"held", "events-untrusted"},
		"events stopped a moment ago: the one who spoke first is not dead": {
			"task w{1..2} running started=1h ev.heartbeat=31s; task t1 running started=1h ev.heartbeat=91s; " +
				"box daytona/w{1..2} running task=w{1..2}; box daytona/s1 running task=t1",
			"kept", "of which only 1m count"},
		"others were heard a moment ago": {
			"task w{1..2} running started=1h ev.heartbeat=30s; task t1 running started=1h ev.heartbeat=91s; " +
				"box daytona/w{1..2} running task=w{1..2}; box daytona/s1 running task=t1; " + fails,
			"due", ""},
		"events come back in this pass": {
			well + silent + "source events untrusted", "kept", ""},
		"its class may be silent for longer": {
			"rule heartbeat-lost when.task.type=gpu then=10m; " + well + "task t1 running started=1h ev.heartbeat=10m " +
				"attr.type=gpu", "healthy", ""},
		"a class never has a shorter limit than the veto": {
			"rule heartbeat-lost when.task.type=gpu then=10s; " + well + "task t1 running started=1h ev.heartbeat=80s " +
				"attr.type=gpu", "healthy", ""},
		"the sandbox that its row names has lost its labels, and is paused": {
			"provider daytona id=yes; task w{1..4} running started=1h ev.heartbeat=5s; box daytona/w{1..4} running " +
				"task=w{1..4}; " + "task t1 running started=1h ev.heartbeat=2m sandbox=s1; look daytona/s1 suspended owned=no",
			"kept", "the sandbox that its row names, daytona/s1, is"},
		"the database's clock was set back": {
			ahead + "source tasks trusted setback=-10m", "healthy", ""},
		"it was set back since the last pass, a minute ago": {
			ahead + "source tasks trusted clock=-9m", "healthy", ""},
		"it had not come as far":      {ahead + "source tasks trusted setback=-9m54s", "due", ""},
		"the worker's clock is ahead": {ahead + "source tasks trusted clock=1m setback=1h", "due", ""},
		"a quick pass that cannot look at its sandbox, which may be paused": {
			"pass quick; source listing:daytona trusted; task w{1..4} running started=1h ev.heartbeat=5s; " + silent +
				"knew box daytona/s1 suspended task=t1; look daytona/s1 error", "held", "could not be looked at"},
		"a quick pass that found it gone": {
			"pass quick; source listing:daytona trusted; task w{1..4} running started=1h ev.heartbeat=5s; " + silent +
				"knew box daytona/s1 suspended task=t1; look daytona/s1 gone", "due", ""},
	})
}
