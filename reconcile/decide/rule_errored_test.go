package decide

import "testing"

func TestErrored(t *testing.T) {
	testRule(t, "errored", map[string]ruleCase{
		"failed for the limit": {
			`box daytona/s1 failed created=1h updated=1m error="no space left"`, "due", "is in state failed for 1m; " +
				"no space left"},
		"failed for a second less": {"box daytona/s1 failed created=1h updated=59s", "kept", "failed for 59s of 1m"},
		"failed in the future":     {"box daytona/s1 failed created=1h updated=-1h", "kept", ""},
		"touched lately, but the ledger saw it failed for long": {
			"box daytona/s1 failed updated=1s; knew box daytona/s1 failed since=1m", "due", ""},
		"the ledger saw another state": {
			"box daytona/s1 failed updated=1s; knew box daytona/s1 running since=1h", "kept", ""},
		"an old one, its provider tells no time of change": {
			"box daytona/s1 failed created=9h updated=never", "kept", "failed for 0s of 1m"},
		"the ledger saw it failed since, its provider tells no time": {
			"box daytona/s1 failed created=9h updated=never; knew box daytona/s1 failed since=1m", "due", "failed for 1m"},
		"its provider's own word": {"box daytona/s1 failed raw=build_failed", "due", "is in state build_failed"},
		"running":                 {"box daytona/s1 running", "healthy", ""},
		"stopped":                 {"box daytona/s1 stopped", "healthy", ""},
		"nobody knows its state":  {"box daytona/s1 unknown raw=error?", "healthy", ""},
		"not ours":                {"box daytona/s1 failed owned=no", "healthy", ""},
		"of a live task":          {"box daytona/s1 failed task=t1; task t1 running started=1h", "due", ""},
		"nothing proves it ours, so that the ledger never tells for how long": {
			"box daytona/s1 failed created=9h updated=never unproven=nobody", "held", "is in state failed"},
		"nothing proves it ours, and its provider tells for how long": {
			"box daytona/s1 failed created=9h updated=59s unproven=nobody", "kept", "failed for 59s of 1m"},
		"of a task whose worker speaks": {
			"box daytona/s1 failed task=t1 key=s1; task t1 running started=1h ev.heartbeat=1s sandbox=s1", "kept", "its worker was last seen"},
		"of a task whose worker speaks, in another one that its row names": {
			"box daytona/s1 failed task=t1 key=s1; box daytona/s2 running task=t1 key=s2; " +
				"task t1 running started=1h ev.heartbeat=1s sandbox=s2", "due", "sandbox=s1"},
		"of a task whose worker speaks, and two entries may show the two": {
			"provider twin id=yes; box daytona/s1 failed task=t1 key=s1; box twin/s2 running task=t1 key=s2 name=s1; " +
				"task t1 running started=1h ev.heartbeat=1s sandbox=s2", "kept", "its worker was last seen"},
		"of a finished task":          {"box daytona/s1 failed task=t1; row t1 completed", "due", ""},
		"of a task out of where":      {"box daytona/s1 failed task=t1; row t1 running", "held", "outside `where`"},
		"of a task not known":         {"box daytona/s1 failed task=t9", "due", ""},
		"of a task not known, shared": {"provider daytona exclusive=no; box daytona/s1 failed task=t9", "held", "not known here"},
		"of a task that was not read": {"box daytona/s1 failed task=t9; unread t9", "held", "was not read"},
		"without a task table":        {"tasks none; box daytona/s1 failed task=t9", "due", ""},
		"its listing came back":       {"box daytona/s1 failed; source listing:daytona trusted recovered=59s", "kept", ""},
		"its listing failed":          {"box daytona/s1 failed; listing daytona failed=503", "held", "listing-untrusted"},
	})
}
