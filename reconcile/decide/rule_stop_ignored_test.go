package decide

import "testing"

func TestStopIgnored(t *testing.T) {
	const box = "box daytona/s1 running task=t1; "
	testRule(t, "stop-ignored", map[string]ruleCase{
		"stopped 5s ago": {
			box + "row t1 stopped updated=5s", "due", "was stopped 5s ago by updated_at, its sandbox is still running"},
		"stopped 4s ago":                {box + "row t1 stopped updated=4s", "kept", "stopped 4s ago"},
		"stopped in the future":         {box + "row t1 stopped updated=-4s", "kept", "stopped 0s ago"},
		"no clock, known to be stopped": {box + "row t1 stopped; knew task t1 stopped since=5s", "due", "by ledger"},
		"no clock, not known":           {box + "row t1 stopped", "kept", ""},
		"a class with more time": {
			"rule stop-ignored when.provider=daytona then=1m; " + box + "row t1 stopped updated=59s", "kept", ""},
		"deleted 5s ago, which its status does not tell": {
			"knew task t1 running since=1h; " + box + "row t1 stopped status=running updated=5s", "due", "stopped 5s ago by updated_at"},
		"deleted 4s ago": {
			"knew task t1 running since=1h; " + box + "row t1 stopped status=running updated=4s", "kept", "stopped 4s ago"},
		"a session that began after the stop": {
			"box daytona/s1 running task=t1 lasting=yes created=9m59s; row t1 stopped updated=1h", "kept",
			"session of its sandbox began 9m59s ago, and has until 10m"},
		"a session that began after the stop, for long": {
			"box daytona/s1 running task=t1 lasting=yes created=10m; row t1 stopped updated=1h", "due", "was stopped 1h ago"},
		"a session that is older than the stop": {
			"box daytona/s1 running task=t1 lasting=yes created=10s; row t1 stopped updated=5s", "due", ""},
		"a sandbox that is younger than the stop, where names do not last": {
			"box daytona/s1 running task=t1 created=10s; row t1 stopped updated=1h", "due", ""},
		"a sandbox that is younger than the stop, which only a name links": {
			"provider daytona named=yes label=no; box daytona/s1 running key=n1 created=9m59s; row t1 stopped updated=1h sandbox=n1", "kept",
			"session of its sandbox began 9m59s ago, and has until 10m"},
		"the same, by its id": {
			"provider daytona named=yes label=no id=yes; box daytona/s1 running key=s1 created=10s; " +
				"row t1 stopped updated=1h sandbox=s1", "due", ""},
		"failed":    {box + "row t1 failed updated=1h", "healthy", ""},
		"completed": {box + "row t1 completed updated=1h", "healthy", ""},
		"live":      {box + "task t1 running updated=1h", "healthy", ""},
		"its sandbox is paused": {
			"box daytona/s1 suspended task=t1; row t1 stopped updated=5s", "due", "still suspended"},
		"its sandbox is stopped":       {"box daytona/s1 stopped task=t1; row t1 stopped updated=5s", "due", ""},
		"its sandbox is being deleted": {"box daytona/s1 deleting task=t1; row t1 stopped updated=5s", "healthy", ""},
		"its sandbox is ended":         {"box daytona/s1 ended task=t1; row t1 stopped updated=5s", "healthy", ""},
		"its sandbox is in a state that nobody knows": {
			"box daytona/s1 unknown task=t1 raw=warped; row t1 stopped updated=5s", "held", `unknown state "warped"`},
		"one sandbox is on its way out, another is left": {
			"box daytona/s{1..2} running task=t1; row t1 stopped updated=5s; " +
				"action a1 stop-ignored task:t1 terminate box=daytona/s1 claimed=1m outcome=accepted", "due", "sandbox=s2"},
		"one is unknown, another is left": {
			"box daytona/s1 unknown task=t1; box daytona/s2 running task=t1; row t1 stopped updated=5s", "due", "sandbox=s2"},
		"nothing proves that one is ours, another is left": {
			"box daytona/s1 running task=t1 unproven=older; box daytona/s2 running task=t1; row t1 stopped updated=5s",
			"due", "sandbox=s2"},
		"a live task uses the sandbox by now": {
			"provider daytona named=yes; box daytona/s1 running task=t1 key=s1; row t1 stopped updated=1h; " +
				"task t2 running sandbox=s1 started=1m", "healthy", ""},
	})
}
