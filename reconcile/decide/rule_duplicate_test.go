package decide

import "testing"

func TestDuplicate(t *testing.T) {
	const ids = "provider daytona id=yes; task t1 running started=1h sandbox=s1; "
	const one = "box daytona/s1 running task=t1 key=s1; "
	const twin = "provider twin id=yes; " // of the same kind
	testRule(t, "duplicate", map[string]ruleCase{
		"two, the row names one": {ids + one + "box daytona/s2 running task=t1 created=2m", "due", "sandbox=s2"},
		"the one that the row names was gone, and is listed again": {
			ids + one + "knew box daytona/s1 running gone=5m; box daytona/s2 running task=t1", "look", "listed again"},
		"the same, and a look says that it is gone": {
			ids + one + "knew box daytona/s1 running gone=5m; look daytona/s1 gone; box daytona/s2 running task=t1", "healthy", ""},
		"another task's row names the second": {
			ids + one + "task t2 running started=1h sandbox=s2; box daytona/s2 running task=t1 key=s2", "report",
			"the row of task t2 names it"},
		"another task's row names the third, and nobody's the second": {
			ids + one + "task t2 running started=1h sandbox=s3; box daytona/s2 running task=t1; box daytona/s3 running task=t1 key=s3",
			"due", "sandbox=s2"},
		"the one that the row names names another task": {
			ids + "box daytona/s1 running task=z1 key=s1; box daytona/s2 running task=t1", "healthy", ""},
		"the row names the other": {ids + "box daytona/s0 running task=t1; " + one, "due", "sandbox=s0"},
		"two, and two are usual": {
			"provider daytona id=yes; task t1 running started=1h sandbox=s1 sandboxes=2; " + one + "box daytona/s2 running task=t1", "healthy", ""},
		"three, and two are usual": {
			"provider daytona id=yes; task t1 running started=1h sandbox=s1 sandboxes=2; " + one + "box daytona/s{2..3} running task=t1",
			"report", "task has 3 live sandboxes"},
		"two, and one is usual": {
			"provider daytona id=yes; task t1 running started=1h sandbox=s1 sandboxes=1; " + one + "box daytona/s2 running task=t1", "due", ""},
		"the younger is a second too young": {
			ids + one + "box daytona/s2 running task=t1 created=1m59s", "kept", "the younger for 1m59s of 2m"},
		"the younger is from the future": {ids + one + "box daytona/s2 running task=t1 created=-1h", "kept", ""},
		"the row names neither": {
			"provider daytona id=yes; " +
				"task t1 running started=1h sandbox=s9; " + one + "box daytona/s2 running task=t1", "report", "task has 2 " +
				"live sandboxes: s1, s2"},
		"the row names none": {
			"provider daytona id=yes; task t1 running started=1h; " + one + "box daytona/s2 running task=t1", "report", ""},
		"the row names it by a name of the platform's own": {
			"task t1 running started=1h sandbox=s1; " + one + "box daytona/s2 running task=t1", "report", ""},
		"both accounts use the id that the row names": {
			ids + "provider e2b id=yes kind=e2b; " + one + "box e2b/s1 running task=t1 key=s1", "report",
			"task has 2 live sandboxes: daytona/s1, e2b/s1"},
		"both accounts use the id, the row names one of them": {
			"provider daytona id=yes; provider e2b id=yes kind=e2b; task t1 running started=1h sandbox=s1 provider=daytona; " + one +
				"box e2b/s1 running task=t1 key=s1", "due", "sandbox=s1"},
		"two entries show one sandbox": {ids + twin + one + "box twin/s1 running task=t1 key=s1", "healthy", ""},
		"two entries show one sandbox, the row names an entry": {
			twin + "provider daytona id=yes; task t1 running started=1h sandbox=s1 provider=twin; " + one +
				"box twin/s1 running task=t1 key=s1; knew box daytona/s1 running", "healthy", ""},
		"two entries show one sandbox, and there is another one": {
			ids + twin + one + "box twin/s1 running task=t1 key=s1; box daytona/s2 running task=t1 key=s2", "due", "sandbox=s2"},
		"two entries show what may be one sandbox": {
			twin + "provider daytona id=yes; task t1 running started=1h sandbox=s1 provider=daytona; " +
				"box daytona/s1 running task=t1 key=s1; box twin/s1 running task=t1 key=s1 created=2h", "report", ""},
		"two entries use the id, and the row's own is a known one": {
			twin + "provider daytona id=yes; task t1 running started=1h sandbox=s1 provider=daytona; " + one +
				"box twin/s1 running task=t1 key=s1 created=2h; knew box daytona/s1 running created=1h", "report", ""},
		"the other has its id for a name": {
			ids + one + "box daytona/s2 running key=s2 also=s1 name=s1", "healthy", ""},
		"the other has for a name what the row holds": {
			"provider daytona id=yes; task t1 running started=1h sandbox=k1; box daytona/s1 running task=t1 key=s1; " +
				"box daytona/s2 running key=s2 also=k1 name=k1", "report", ""},
		"the other is of an account that the row does not name": {
			"provider daytona id=yes; provider e2b id=yes kind=e2b; task t1 running started=1h sandbox=s1 provider=daytona; " + one +
				"box e2b/s1 running key=s1", "healthy", ""},
		"only one":                   {ids + one, "healthy", ""},
		"the other is stopped":       {ids + one + "box daytona/s2 stopped task=t1", "healthy", ""},
		"the other is failed":        {ids + one + "box daytona/s2 failed task=t1", "healthy", ""},
		"the other is being deleted": {ids + one + "box daytona/s2 deleting task=t1", "healthy", ""},
		"the other is paused":        {ids + one + "box daytona/s2 suspended task=t1", "due", ""},
		"the other is coming up":     {ids + one + "box daytona/s2 creating task=t1", "due", ""},
		"the other is in an unknown state": {
			ids + one + "box daytona/s2 unknown task=t1 raw=warped", "held", `unknown state "warped"`},
		"the other is not ours": {ids + one + "box daytona/s2 running task=t1 owned=no", "healthy", ""},
		"the other's terminate is open": {
			ids + one + "box daytona/s2 running task=t1; " +
				"action a1 duplicate task:t1 terminate box=daytona/s2 claimed=1m outcome=accepted", "healthy", ""},
		"the other's terminate was not begun": {
			ids + one + "box daytona/s2 running task=t1; action a1 duplicate task:t1 terminate box=daytona/s2", "due", ""},
		"three, one at a time": {ids + one + "box daytona/s{2..3} running task=t1", "due", "sandbox=s2"},
		"three, one of them unknown": {
			ids + one + "box daytona/s2 unknown task=t1; box daytona/s3 running task=t1", "due", "sandbox=s3"},
		"of a finished task": {"row t1 completed; box daytona/s{1..2} running task=t1", "healthy", ""},
		"of a task in an unmapped status": {
			"provider daytona id=yes; " +
				"task t1 unknown status=odd sandbox=s1; " + one + "box daytona/s2 running task=t1", "held", `status "odd" ` +
				`is not mapped`},
		"of a vanished task": {"box daytona/s{1..2} running task=t1; knew task t1 running", "healthy", ""},
		"tasks are not trusted": {
			ids + one + "box daytona/s2 running task=t1; tasks standby", "held", "tasks-untrusted"},
		"the listing failed": {
			ids + one + "box daytona/s2 running task=t1; listing daytona failed=503", "held", "listing-untrusted"},
		"a quick pass judges none": {
			"pass quick; " + ids + one + "box daytona/s2 running task=t1", "healthy", ""},
		"a class with more time": {
			"rule duplicate when.provider=daytona then=2h; " + ids + one + "box daytona/s2 running task=t1", "kept", "of 2h"},
	})
}
