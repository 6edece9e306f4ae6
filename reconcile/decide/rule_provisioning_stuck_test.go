package decide

import "testing"

func TestProvisioningStuck(t *testing.T) {
	const live = "task t1 assigned updated=1h; "
	testRule(t, "provisioning-stuck", map[string]ruleCase{
		"coming up for the limit": {
			live + "box daytona/s1 creating task=t1 created=5m", "due", "has been creating for 5m, limit 5m"},
		"coming up for a second less": {
			live + "box daytona/s1 creating task=t1 created=4m59s", "kept", "creating for 4m59s of 5m"},
		"created in the future": {live + "box daytona/s1 creating task=t1 created=-1h", "kept", ""},
		"created long ago, restarted lately": {
			live + "box daytona/s1 creating task=t1 created=10h updated=1m", "kept", "1m of 5m"},
		"touched lately, but the ledger saw it come up for long": {
			live + "box daytona/s1 creating task=t1 created=10h updated=1m; knew box daytona/s1 creating since=5m", "due", ""},
		"the ledger saw it in another state": {
			live + "box daytona/s1 creating task=t1 created=10h updated=1m; " +
				"knew box daytona/s1 suspended since=1h", "kept", ""},
		"the ledger saw it in another state, and its provider's clock of changes stands still": {
			live + "box daytona/s1 creating task=t1 created=10h updated=10h; " +
				"knew box daytona/s1 stopped since=1m", "kept", "creating for 0s of 5m"},
		"the ledger saw it run, and its provider tells no change": {
			live + "box daytona/s1 creating task=t1 created=10h; knew box daytona/s1 running since=1h", "kept", ""},
		"no link, where each must have one": {"box daytona/s1 creating created=5m", "due", ""},
		"no link, where it needs none": {
			"provider daytona required=no; box daytona/s1 creating created=5m", "held", "it has no link to any task"},
		"running":                {live + "box daytona/s1 running task=t1", "healthy", ""},
		"nobody knows its state": {live + "box daytona/s1 unknown task=t1", "healthy", ""},
		"not ours":               {live + "box daytona/s1 creating task=t1 owned=no", "healthy", ""},
		"its worker lives": {
			"task t1 running ev.heartbeat=90s; box daytona/s1 creating task=t1", "kept", "last seen 1m30s ago"},
		"its worker lived": {"task t1 running ev.heartbeat=91s; box daytona/s1 creating task=t1", "due", ""},
		"its terminate is open": {
			live + "box daytona/s1 creating task=t1; " +
				"action a1 errored task:t1 terminate box=daytona/s1 claimed=1m", "healthy", ""},
		"another's, by its label, of a task whose sandbox works": {
			"provider daytona id=yes; task t1 running sandbox=s2; box daytona/s1 creating task=t1; box daytona/s2 running task=t1",
			"due", "only this sandbox: a label alone"},
		"of the attempt before, while the next one is handed out": {
			live + "knew task t1 assigned since=1h; knew box daytona/s1 creating task=t1 first=2h; box daytona/s1 creating task=t1",
			"due", "only this sandbox: a label alone"},
		"of the attempt before, as the ledger saw it before its clock was set back": {
			live + "knew task t1 assigned since=1h; knew box daytona/s1 creating task=t1 first=-1h; box daytona/s1 creating task=t1",
			"due", "only this sandbox: a label alone"},
		"the one that the task has": {
			live + "knew task t1 assigned since=1h; knew box daytona/s1 creating task=t1 first=50m; box daytona/s1 creating task=t1",
			"due", "limit 5m"},
		"a second one, behind one that is young": {
			live + "box daytona/s1 creating task=t1 created=1m; box daytona/s2 creating task=t1 created=5m", "due", "sandbox s2"},
		"without a task":     {"box daytona/s1 creating", "due", ""},
		"of a finished task": {"row t1 failed; box daytona/s1 creating task=t1", "due", ""},
		"of a finished task that was heard a moment ago": {
			"row t1 failed ev.heartbeat=5s; box daytona/s1 creating task=t1", "due", ""},
		"of a task out of where": {
			"row t1 running; box daytona/s1 creating task=t1", "held", "its task is outside `where`"},
		"of a task not known here":    {"box daytona/s1 creating task=t9", "due", ""},
		"of a task not known, shared": {"provider daytona exclusive=no; box daytona/s1 creating task=t9", "held", "its task is not known here"},
		"of what is no task":          {"box daytona/s1 creating task=t-x; unparsable t-x", "held", ""},
		"of a task that was not read": {"box daytona/s1 creating task=t9; unread t9", "held", "its task was not read"},
		"without a task table":        {"tasks none; box daytona/s1 creating task=t9", "due", ""},
		"of a task in an unmapped status": {
			"task t1 unknown status=odd; box daytona/s1 creating task=t1", "held", `status "odd" is not mapped`},
		"its listing came back": {
			live + "box daytona/s1 creating task=t1; source listing:daytona trusted recovered=4m59s", "kept", ""},
		"its listing failed": {
			live + "box daytona/s1 creating task=t1; listing daytona failed=503", "held", "listing-untrusted"},
		"an inactive image is named": {
			live + "box daytona/s1 creating task=t1 template=light; " +
				"template daytona/light inactive", "due", `snapshot "light" is inactive`},
		"a class that pulls for long": {
			"rule provisioning-stuck when.template=gpu then=2h; " + live + "box daytona/s1 creating task=t1 " +
				"template=gpu", "kept", "of 2h"},
	})
}
