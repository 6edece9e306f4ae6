package decide

import "testing"

func TestDeadlineExceeded(t *testing.T) {
	testRule(t, "deadline-exceeded", map[string]ruleCase{
		"we failed it a moment ago, and its user went on at once": {
			"task t1 running timeout=10m updated=1s; knew task t1 running since=1h updated=1h; " +
				"verdict deadline-exceeded task:t1 ago=10s failed=10s", "healthy", ""},
		"it runs for as long, and nobody has ended it": {
			"task t1 running timeout=10m updated=1s; knew task t1 running since=1h updated=1h", "due", "as the ledger saw"},
		"ran for its timeout": {"task t1 running started=10m timeout=10m", "due", "ran 10m of 10m"},
		"ran a second less":   {"task t1 running started=9m59s timeout=10m", "healthy", ""},
		"at its deadline":     {"task t1 running started=1h deadline=0s", "due", "past its deadline"},
		"a second before":     {"task t1 running started=1h deadline=-1s", "healthy", ""},
		"at its deadline, which only puts it to sleep": {
			"tasks sleeps; task t1 running started=1h deadline=0s", "report", "reported only: map the column as fails_at"},
		"a second before, and it only puts it to sleep": {"tasks sleeps; task t1 running started=1h deadline=-1s", "healthy", ""},
		"past a deadline that only puts it to sleep, and at its timeout": {
			"tasks sleeps; task t1 running started=1h timeout=1h deadline=30m", "due", "ran 1h of 1h"},
		"past a deadline that only puts it to sleep, a second before its timeout": {
			"tasks sleeps; task t1 running started=59m59s timeout=1h deadline=30m", "report", "past its deadline"},
		"past a deadline that fails it, and at its timeout": {
			"task t1 running started=1h timeout=1h deadline=30m", "due", "past its deadline"},
		"no start time, a deadline that only puts it to sleep": {
			"tasks sleeps; task t1 running deadline=1m; knew task t1 running since=1h", "report", "past its deadline"},
		"no start time, such a deadline, and its timeout as the ledger saw": {
			"tasks sleeps; task t1 running deadline=1m timeout=10m; knew task t1 running since=11m", "due", "as the ledger saw"},
		"no start time, such a deadline, and the timeout a second later": {
			"tasks sleeps; task t1 running deadline=1m timeout=10m; knew task t1 running since=9m59s", "report", ""},
		"no start time, such a deadline, and nobody saw it begin": {
			"tasks sleeps; task t1 running deadline=1m timeout=10m updated=9m59s", "report", ""},
		"no start time, such a deadline, and its row stands for longer than its timeout": {
			"tasks sleeps; task t1 running deadline=1m timeout=10m updated=1h", "due", "its row has not changed since"},
		"started anew by an event, while the row keeps the first start": {
			"task t1 running started=1h ev.started=9m59s timeout=10m", "healthy", ""},
		"started anew by an event, for its timeout": {
			"task t1 running started=1h ev.started=10m timeout=10m", "due", "ran 10m of 10m"},
		"the start event of the attempt before": {"task t1 running started=9m ev.started=1h timeout=10m", "healthy", ""},
		"a deadline from before it was started anew": {
			"task t1 running started=1h ev.started=5m deadline=10m", "kept", "over before this attempt began"},
		"neither timeout nor deadline": {"task t1 running started=1000h", "healthy", ""},
		"the rule's own limit where the row has none": {
			"rule deadline-exceeded after=5m; task t1 running started=5m", "due", ""},
		"the rule's own limit, a second less": {
			"rule deadline-exceeded after=5m; task t1 running started=4m59s", "healthy", ""},
		"the row's own timeout wins": {
			"rule deadline-exceeded after=5m; task t1 running started=6m timeout=10m", "healthy", ""},
		"a class has its own limit": {
			"rule deadline-exceeded after=5m when.task.type=gpu then=1h; " +
				"task t1 running started=6m attr.type=gpu", "healthy", ""},
		"life signs do not help": {
			"task t1 running started=10m timeout=10m ev.heartbeat=1s", "due", "last seen"},
		"a start that was told before its row was made is of another": {
			"task t1 running created=2m ev.started=20m timeout=10m", "healthy", ""},
		"a start that was told when its row was made": {
			"task t1 running created=20m ev.started=20m timeout=10m", "due", "ran 20m"},
		"started in the future": {
			"task t1 running started=-2s timeout=10m", "healthy", ""},
		"a deadline of an earlier attempt": {
			"task t1 running started=5m deadline=10m", "kept", "over before this attempt began"},
		"a deadline at the moment of its start": {
			"task t1 running started=5m deadline=5m", "kept", "over before this attempt began"},
		"a start of an earlier attempt": {
			"task t1 running started=10h timeout=10m; knew task t1 running since=9m stale=10h", "healthy", ""},
		"a start of an earlier attempt, and the ledger saw this one run long": {
			"task t1 running started=10h timeout=10m; knew task t1 running since=11m stale=10h", "due", "as the ledger saw"},
		"no start time, and the pass that saw it first had read its row late": {
			"task t1 running timeout=10m; knew task t1 running since=10m", "healthy", ""},
		"no start time, begun anew since in the same status": {
			"task t1 running timeout=10m asked=2; knew task t1 running since=1h asked=1", "healthy", ""},
		"no start time, the ledger saw it run long": {
			"task t1 running timeout=10m; knew task t1 running since=11m", "due", "as the ledger saw"},
		"no start time, the ledger saw it for less": {
			"task t1 running timeout=10m; knew task t1 running since=9m59s", "healthy", ""},
		"no start time, its row has not changed for its timeout": {
			"task t1 running timeout=10m updated=10m", "due", "ran at least 10m of 10m, its row has not changed since"},
		"no start time, its row has not changed for a second less": {"task t1 running timeout=10m updated=9m59s", "healthy", ""},
		"no start time, its row has not changed, by a clock that is not trusted": {
			"task w1 running updated=-1h; task t1 running timeout=10m updated=1h", "healthy", ""},
		"no start time, its row has not changed since before it was begun anew": {
			"task t1 running timeout=10m updated=1h asked=2; knew task t1 running since=1h updated=1h asked=1", "healthy", ""},
		"no start time, not known": {"task t1 running timeout=10m", "healthy", ""},
		"no start time, the ledger saw another status": {
			"task t1 running timeout=10m; knew task t1 assigned since=1h", "healthy", ""},
		"no start time, and nobody watched for long": {
			"task t1 running timeout=10m; knew task t1 running since=1h; watched since=9m", "healthy", ""},
		"no start time, past a deadline of this attempt": {
			"task t1 running deadline=1m; knew task t1 running since=1h", "due", "past its deadline"},
		"no start time, at a deadline of this attempt": {
			"task t1 running deadline=0s; knew task t1 running since=1h", "due", ""},
		"no start time, a deadline as old as the state": {
			"task t1 running deadline=1h; knew task t1 running since=1h", "healthy", ""},
		"no start time, past a deadline that may be of an earlier attempt": {
			"task t1 running deadline=10m; knew task t1 running since=1m", "healthy", ""},
		"its clock is not trusted": {
			"task t1 running started=-1h timeout=10m", "healthy", ""},
		"another row's clock runs ahead: the ledger's counts": {
			"task w1 running started=-1h; task t1 running started=1h timeout=10m; " +
				"knew task t1 running since=11m", "due", "as the ledger saw"},
		"assigned":                       {"task t1 assigned started=1h timeout=10m", "healthy", ""},
		"pending":                        {"task t1 pending deadline=1h", "healthy", ""},
		"assigned, and past its own end": {"task t1 assigned updated=1h deadline=59m", "due", "past its deadline"},
		"assigned, with a deadline as old as the state":     {"task t1 assigned updated=1h deadline=1h", "healthy", ""},
		"assigned, a second before its end":                 {"task t1 assigned updated=1h deadline=-1s", "healthy", ""},
		"pending, and past its own end":                     {"task t1 pending updated=1h deadline=0s", "due", "past its deadline"},
		"pending, at a deadline that only puts it to sleep": {"tasks sleeps; task t1 pending updated=1h deadline=1m", "healthy", ""},
		"parked, and past its end":                          {"task t1 parked updated=1h deadline=1m", "healthy", ""},
		"over":                                              {"row t1 completed started=1h timeout=10m; box daytona/s1 running task=t1", "healthy", ""},
		"unmapped":                                          {"task t1 unknown started=1h timeout=10m", "healthy", ""},
		"a deadline of the end of days": {
			"task t1 running started=1h deadline=-2562047h", "healthy", ""},
	})
}
