package decide

import (
	"strings"
	"testing"
)

// What many are called alike: the rows of t1, which is over, and of t2 hold the same name.
const (
	shared = "box daytona/s1 running task=t1 name=n1; row t1 completed updated=10m; " +
		"task t2 running started=1h sandbox=n1; "
	own = "knew box daytona/s2 running task=t2 name=n1; box daytona/s2 running task=t2 name=n1"
)

func TestFinishedLingering(t *testing.T) {
	const box = "box daytona/s1 running task=t1; "
	testRule(t, "finished-lingering", map[string]ruleCase{
		"finished for the limit": {
			box + "row t1 completed updated=10m", "due", "is completed, its sandbox is still running"},
		"finished for a second less": {
			box + "row t1 completed updated=9m59s", "kept", "9m59s ago by updated_at, limit 10m"},
		"kept for ever, over for the limit": {
			box + "row t1 completed updated=2h keep=-9000h; limits kept=2h", "due", "longer than limits.keep_alive, 2h"},
		"kept for ever, over for a second less": {
			box + "row t1 completed updated=7199s keep=-9000h; limits kept=2h", "kept", "kept alive until"},
		"kept for ever, its row is written again and again": {
			box + "row t1 completed updated=10m keep=-9000h; knew task t1 completed since=2h; limits kept=2h", "due", ""},
		"handed on by its name, under its old label": {
			"box daytona/s1 running task=t1 name=n1; row t1 completed updated=10m; task t2 running started=1h sandbox=n1",
			"held", "names another task than the row that names it by a name"},
		"handed on by its id, under its old label": {
			"box daytona/s1 running task=t1 name=n1; row t1 completed updated=10m; task t2 running started=1h sandbox=s1",
			"held", "names another task than the row"},
		"its name is held by a task that works in its own of that name": {shared + own, "due", ""},
		"the same, which no pass saw before": {
			shared + "box daytona/s2 running task=t2 name=n1", "held", "no sandbox labelled as that task's own"},
		"the same, which is not listed any more": {
			shared + "knew box daytona/s2 running task=t2 name=n1; find t2 none", "held", "that task's own"},
		"the same, which does not run any more": {
			shared + "knew box daytona/s2 running task=t2 name=n1; box daytona/s2 stopped task=t2 name=n1", "held", "own"},
		"the same, which is called otherwise by now": {
			shared + "knew box daytona/s2 running task=t2 name=n1; box daytona/s2 running task=t2 name=n2", "held", "own"},
		"the same, whose label is gone": {
			shared + "knew box daytona/s2 running task=t2 name=n1; box daytona/s2 running name=n1", "held", "own"},
		"the same, which a look does not find": {shared + own + "; look daytona/s2 gone", "held", "own"},
		"the same, which is being ended": {
			shared + own + "; action a1 over-age task:t2 terminate box=daytona/s2 claimed=1m outcome=accepted", "held", "own"},
		"the same, where tenants write labels": {
			strings.ReplaceAll(shared, "started=1h", "started=1h tenant=a") + own + "; tasks tenants", "held", "own"},
		"handed on by its id to a task that has one of its name": {
			strings.ReplaceAll(shared, "sandbox=n1", "sandbox=s1") + own, "held", "names another task than the row"},
		"handed on by its id, as which the task's own is called": {
			strings.ReplaceAll(shared, "daytona/s1", "daytona/n1") + own, "held", "names another task than the row"},
		"one of two tasks that hold its name has none of its own": {
			shared + own + "; task t3 running started=1h sandbox=n1", "held", "task t3 may work in it"},
		"its own row names it, under its label": {
			"box daytona/s1 running task=t1 name=n1; row t1 completed updated=10m sandbox=n1", "due", ""},
		"failed counts as finished":                  {box + "row t1 failed updated=10m", "due", ""},
		"finished in the future":                     {box + "row t1 completed updated=-4s", "kept", ""},
		"stopped is stop-ignored's":                  {box + "row t1 stopped updated=1h", "healthy", ""},
		"live":                                       {box + "task t1 running updated=1h", "healthy", ""},
		"out of where":                               {box + "row t1 running updated=1h", "healthy", ""},
		"no clock, known to be over":                 {box + "row t1 completed; knew task t1 completed since=10m", "due", ""},
		"no clock, not known":                        {box + "row t1 completed", "kept", "no clock tells when it ended"},
		"an event a moment ago":                      {box + "row t1 completed updated=1h ev.activity=9m59s", "kept", "by events"},
		"an event long ago":                          {box + "row t1 completed updated=1h ev.activity=10m", "due", ""},
		"its worker only sends heartbeats":           {box + "row t1 completed updated=1h ev.heartbeat=5s", "due", ""},
		"its worker said a moment ago that it ended": {box + "row t1 completed updated=1h ev.finished=9m59s", "kept", "by events"},
		"the provider saw activity": {
			"box daytona/s1 running task=t1 active=9m59s; row t1 completed updated=1h", "kept", "by daytona"},
		"the provider saw it before": {"box daytona/s1 running task=t1 active=10m; row t1 completed updated=1h", "due", ""},
		"the provider saw it before, by a clock that went ahead a moment ago": {
			"box daytona/s1 running task=t1 active=70m; row t1 completed updated=1h; listing daytona off=1h", "kept",
			"0s ago by daytona"},
		"the same, and the clock has been ahead for long": {
			"source clock:provider/daytona untrusted since=10m; box daytona/s1 running task=t1 active=70m; " +
				"row t1 completed updated=1h; listing daytona off=1h", "due", ""},
		"activity in the future": {
			"box daytona/s1 running task=t1 active=-1h; row t1 completed updated=1h", "kept", ""},
		"its row was touched a moment ago, though over for long": {
			box + "row t1 completed updated=1m; knew task t1 completed since=1h", "kept", "1m ago by updated_at"},
		"its row was touched by a clock that nobody trusts": {
			box + "row t1 completed updated=1m; source clock:updated_at untrusted; " +
				"knew task t1 completed since=1h", "due", ""},
		"kept alive":           {box + "row t1 completed updated=1h keep=-1s", "kept", "kept alive until"},
		"kept alive until now": {box + "row t1 completed updated=1h keep=0s", "due", ""},
		"tasks came back a while ago": {
			box + "row t1 completed updated=1h; source tasks trusted recovered=9m59s", "kept", "recovery"},
		"tasks came back before": {box + "row t1 completed updated=1h; source tasks trusted recovered=10m", "due", ""},
		"tasks are not trusted":  {box + "row t1 completed updated=1h; tasks standby", "held", "tasks-untrusted"},
		"its listing failed": {
			box + "row t1 completed updated=1h; listing daytona failed=503", "held", "listing-untrusted daytona"},
		"nothing here tells when it was used": {
			"tasks eventless; " + box + "row t1 completed updated=1h", "report", "nothing here tells when it was used last"},
		"no events, and its provider tells when it was used": {
			"tasks eventless; box daytona/s1 running task=t1 active=10m; row t1 completed updated=1h", "due", ""},
		"no events, and its row tells when it was used": {
			"tasks eventless; " + box + "row t1 completed updated=1h activity=10m", "due", ""},
		"a status of the platform's own": {
			box + "row t1 failed status=cancelled updated=1h", "due", "is failed (cancelled), its sandbox"},
		"its sandbox is being deleted": {
			"box daytona/s1 deleting task=t1; row t1 completed updated=1h", "healthy", ""},
		"its sandbox is in a state that nobody knows": {
			"box daytona/s1 unknown task=t1; row t1 completed updated=1h", "held", "unknown state"},
		"the labels are lost, the ledger remembers whose it was": {
			"box daytona/s1 running; knew box daytona/s1 running task=t1; row t1 completed updated=1h", "held",
			"only the ledger remembers that it showed this one"},
		"one that only the ledger links stands behind its own": {
			"box daytona/s1 running; knew box daytona/s1 running task=t1; box daytona/s2 running task=t1; " +
				"row t1 completed updated=1h", "due", ""},
		"the labels are lost, its row names it": {
			"provider daytona named=yes id=yes; box daytona/s1 running key=s1; knew box daytona/s1 running task=t1; " +
				"row t1 completed updated=1h sandbox=s1", "due", ""},
		"named by the row, read by the sandbox": {
			"provider daytona label=no named=yes; box daytona/s1 running key=k1; " +
				"row t1 completed updated=1h sandbox=k1", "due", ""},
	})
}
