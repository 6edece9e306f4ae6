package decide

import (
	"strings"
	"testing"
)

func TestSandboxMissing(t *testing.T) {
	// The row names its sandbox by an id that the provider knows.
	const byID = "provider daytona id=yes; "
	const ran = byID + "task t1 running started=1h updated=1h ev.heartbeat=2m sandbox=s1; "
	const gone = "look daytona/s1 gone; find t1 none"
	const seen = "finding sandbox-missing task:t1 first=30s last=15s sighted=15s sightings=1; "
	const dated = seen + "task t1 running started=1h updated=1h ev.heartbeat=2m; " +
		"knew box daytona/s1 running task=t1 created=3h first=1h; "
	const named = seen + "provider daytona label=no named=yes id=no; "
	const searched = seen + "provider daytona label=yes; task t1 running started=1h updated=1h ev.heartbeat=2m sandbox=k1; " +
		"find t1 none; "
	// The sandbox was made and ended between two listings, where a later one of its name may go on.
	const unseen = "provider daytona id=yes nameslast=yes; task t1 running started=1h updated=1h ev.heartbeat=2m sandbox=s1; " +
		"knew task t1 running since=5m sandbox=s1; " + gone
	// The later one of its name is listed on its way out.
	const ended = "provider daytona id=yes nameslast=yes; " + seen + "task t1 running started=1h sandbox=s1; " +
		"knew box daytona/s1 running task=t1 name=n gone=5m; look daytona/s1 gone; find t1 none; " +
		"box daytona/s2 deleting name=n; "
	const longAgo = "finding sandbox-missing task:t1 first=20m last=15s sighted=15s sightings=50; provider daytona id=yes " +
		"nameslast=yes; task t1 running started=1h updated=1h ev.heartbeat=25m sandbox=s1; " +
		"knew task t1 running since=25m sandbox=s1; " + gone
	const byRow = "; provider daytona referenced=yes"
	const early = "pass quick; finding sandbox-missing task:t1 first=1m last=15s sighted=15s sightings=1; "
	const two = seen + "provider daytona id=yes label=no; provider e2b id=yes label=no; " +
		"task t1 running started=1h updated=1h ev.heartbeat=2m sandbox=s1; "
	const atWork = "task t1 running started=1h updated=1h ev.heartbeat=2m sandbox=k1; knew task t1 running since=1h sandbox=k1; watched since=3h; "
	testRule(t, "sandbox-missing", map[string]ruleCase{
		"its id was given to another one since": {
			seen + "task t1 running started=1h updated=1h ev.heartbeat=2m; knew box daytona/s1 running task=t1 created=2h; " +
				"look daytona/s1 running owned=no created=1m task=t9; find t1 none", "due", "s1 at daytona is gone"},
		"what has its id was made five seconds after a listing had shown that": {
			dated + "look daytona/s1 running owned=no created=59m55s; find t1 none", "held", "only the ledger remembers"},
		"what has its id was made six seconds after a listing had shown that": {
			dated + "look daytona/s1 running owned=no created=59m54s; find t1 none", "due", "s1 at daytona is gone"},
		"what has its id was made before a listing showed that, which lied of when": {
			dated + "look daytona/s1 running owned=no created=61m; find t1 none", "held", "only the ledger remembers"},
		"a sandbox is there that lost its labels, or was shown once with another's": {
			seen + "provider daytona label=yes; task t1 running started=1h updated=1h ev.heartbeat=2m sandbox=k1; " +
				"box daytona/s1 running owned=no; knew box daytona/s1 running task=t1; find t1 none", "held",
			"no sandbox is linked with it: sandbox s1 at daytona is running"},
		"a sandbox failed, and we ended it": {
			ran + "knew box daytona/s1 failed task=t1 gone=1m ours=yes; " + gone, "due",
			"s1 at daytona is gone, ended by sandkeeper; worker last seen"},
		"a sandbox is there that lost its task's label, and is ours": {
			seen + "provider daytona label=yes; task t1 running started=1h updated=1h ev.heartbeat=2m sandbox=k1; " +
				"box daytona/s1 running; knew box daytona/s1 running task=t1; find t1 none", "healthy", ""},
		"its row names one by its name that a label gives to a task that is over": {
			seen + "provider daytona label=yes; task t1 running started=1h updated=1h ev.heartbeat=2m sandbox=n9; " +
				"box daytona/s9 running task=t9 name=n9; row t9 completed updated=1h; find t1 none", "look",
			"the row names it, while its label names task t9"},
		"its row names one by its id that no label gives to a task": {
			seen + "provider daytona label=yes; task t1 running started=1h updated=1h ev.heartbeat=2m sandbox=s9; " +
				"box daytona/s9 running name=n9; find t1 none", "look", "the row names it, while no label links it"},
		"its row names one by its name that ended": {
			seen + "provider daytona label=yes; task t1 running started=1h updated=1h ev.heartbeat=2m sandbox=n9; " +
				"box daytona/s9 ended task=t9 name=n9; row t9 completed updated=1h; find t1 none", "due", ""},
		"the first look": {ran + gone, "seen", "sandbox is gone: no sandbox at daytona; worker last seen"},
		"the second look, 30s after the first": {
			seen + ran + gone, "due", ""},
		"the second look, a second earlier": {
			"finding sandbox-missing task:t1 first=29s last=15s sighted=15s sightings=1; " + ran + gone, "seen", ""},
		"listed since a minute before it fell silent, without it": {
			named + atWork + "source listing:daytona trusted since=3m; find t1 none", "held", "not listed while its worker was heard"},
		"the same where rows prove whose a sandbox is, and a label alone links it": {
			seen + "provider daytona referenced=yes label=yes named=no id=no; " + atWork +
				"source listing:daytona trusted since=3m; find t1 none", "held", "not listed while its worker was heard"},
		"the same where rows prove whose a sandbox is, and name it": {
			named + "provider daytona referenced=yes named=yes; " + atWork + "source listing:daytona trusted since=3m; find t1 none",
			"due", ""},
		"listed since an hour, of which its worker was heard for as long as two listings take": {
			named + atWork + "source listing:daytona trusted since=2h; find t1 none", "held", "only searched for"},
		"listed since its worker fell silent": {
			named + atWork + "source listing:daytona trusted since=119s; find t1 none", "due", ""},
		"listed since a minute before it fell silent, and its row came later": {
			named + strings.Replace(atWork, "since=1h", "since=150s", 1) + "source listing:daytona trusted since=3m; find t1 none",
			"due", ""},
		"not shown while it was at work, and searched in vain for an hour": {
			strings.Replace(named, "first=30s", "first=1h", 1) + atWork + "source listing:daytona trusted since=3m; find t1 none",
			"due", ""},
		"not shown while it was at work, and not there by its id": {
			ran + seen + "source listing:daytona trusted since=3m; " + gone, "due", ""},
		"searched where the clock is off, and never seen": {
			named + "task t1 running started=1h updated=1h ev.heartbeat=2m sandbox=k1; listing daytona off=-10m; find t1 none",
			"held", "clock-untrusted provider/daytona"},
		"an earlier one is gone where the clock is off": {
			named + "task t1 running started=1h updated=1h ev.heartbeat=2m sandbox=k2; knew box daytona/s1 running task=t1 name=k1 since=2h; " +
				"look daytona/s1 gone; listing daytona off=-10m; find t1 none", "held", "clock-untrusted provider/daytona"},
		"looked for by id where the clock is off": {seen + ran + "listing daytona off=-10m; " + gone, "due", ""},
		"searched by its label, and nobody is heard": {
			searched + "task w{1..3} running started=1h updated=1h ev.heartbeat=119s; box daytona/w{1..3} running task=w{1..3}",
			"held", "events-untrusted"},
		"searched by its label, and nobody is heard for long": {
			"finding sandbox-missing task:t1 first=30s last=15s sighted=15s sightings=1; provider daytona label=yes; " +
				"task t1 running started=1h updated=1h ev.heartbeat=12m sandbox=k1; find t1 none; " +
				"task w{1..3} running started=1h updated=1h ev.heartbeat=11m; box daytona/w{1..3} running task=w{1..3}",
			"due", ""},
		"searched by its label, and others are heard": {
			searched + "task w{1..3} running started=1h updated=1h ev.heartbeat=10s; box daytona/w{1..3} running task=w{1..3}",
			"due", ""},
		"one look long ago is still one look": {
			"rule sandbox-missing looks=3; " + seen + ran + gone, "seen", ""},
		"the ledger's clock ran backwards: no second look": {
			"finding sandbox-missing task:t1 first=1h last=-5s sighted=-5s sightings=1; " + ran + gone, "seen", ""},
		"a life sign inside the limit": {
			seen + byID + "task t1 running started=1h ev.heartbeat=90s sandbox=s1; " + gone, "kept", "last seen 1m30s ago"},
		"a life sign, and names of sandboxes last": {
			"provider daytona id=yes label=no named=yes; " + seen + "task t1 running started=1h ev.heartbeat=60s sandbox=s0; " +
				"row t9 completed; box daytona/s9 running task=t9 lasting=yes", "look", "last seen"},
		"a life sign a second older": {
			seen + byID + "task t1 running started=1h ev.heartbeat=91s sandbox=s1; " + gone, "due", ""},
		"a life sign from the future": {
			seen + byID + "task t1 running started=1h ev.heartbeat=-1h sandbox=s1; " + gone, "kept", "last seen"},
		"a life sign from the end of days": {
			seen + byID + "task t1 running started=1h ev.heartbeat=-2562047h sandbox=s1; " + gone, "kept", "last seen"},
		"running for less than the grace": {
			seen + byID + "task t1 running started=29s sandbox=s1; " + gone, "kept", "running for 29s by started_at"},
		"running for the grace": {seen + byID + "task t1 running started=30s sandbox=s1; " + gone, "due", ""},
		"the state began while providers were listed": {
			"clock read=5s; " + seen + byID + "task t1 running started=34s sandbox=s1; " + gone, "kept", ""},
		"the state began before":     {"clock read=5s; " + seen + byID + "task t1 running started=35s sandbox=s1; " + gone, "due", ""},
		"its sandbox is here":        {ran + "box daytona/s1 running task=t1", "healthy", ""},
		"its sandbox is paused":      {ran + "box daytona/s1 suspended task=t1", "healthy", ""},
		"its sandbox is coming back": {ran + "box daytona/s1 creating task=t1", "healthy", ""},
		"its sandbox is unknown":     {ran + "box daytona/s1 unknown task=t1", "healthy", ""},
		"its sandbox is failed, which is errored's": {
			ran + "box daytona/s1 failed task=t1", "healthy", ""},
		"its sandbox is stopped": {
			seen + ran + "box daytona/s1 stopped task=t1", "due", "s1 at daytona is stopped"},
		"its sandbox is ended": {seen + ran + "box daytona/s1 ended task=t1", "due", ""},
		"one is stopped, another runs": {
			seen + ran + "box daytona/s1 stopped task=t1; box daytona/s2 running task=t1", "healthy", ""},
		"remembered, not looked at": {
			seen + ran + "knew box daytona/s1 running task=t1", "look", "was not looked at"},
		"remembered, look failed": {
			seen + ran + "knew box daytona/s1 running task=t1; look daytona/s1 error", "look", "503"},
		"remembered, looked at and gone": {
			seen + ran + "knew box daytona/s1 running task=t1; look daytona/s1 gone", "due", "s1 at daytona is gone"},
		"remembered, looked at and running": {
			seen + ran + "knew box daytona/s1 running task=t1; look daytona/s1 running", "healthy", ""},
		"remembered, looked at and paused": {
			seen + ran + "knew box daytona/s1 running task=t1; look daytona/s1 suspended", "healthy", ""},
		"its id was another provider's, and one refuses it": {
			two + "knew box daytona/s1 running task=t1; look daytona/s1 gone; look e2b/s1 error", "due", "s1 at daytona is gone"},
		"what its row holds is another provider's name of it": {
			seen + "provider daytona label=no named=yes id=no; provider e2b id=yes label=no; box daytona/u1 stopped task=t1 key=s1; " +
				"task t1 running started=1h updated=1h ev.heartbeat=2m sandbox=s1", "due", "u1 at daytona is stopped"},
		"its id was nobody's yet, and one refuses it": {two + "look daytona/s1 gone; look e2b/s1 error", "look", "503"},
		"its id was another task's, and one refuses it": {
			two + "knew box daytona/s1 running task=t2; look daytona/s1 gone; look e2b/s1 error", "look", "503"},
		"remembered and confirmed gone after ours": {
			seen + ran + "knew box daytona/s1 running task=t1 gone=2m ours=yes; find t1 none", "due", ""},
		"gone by an earlier look alone": {
			seen + ran + "knew box daytona/s1 running task=t1 gone=1m", "look", ""},
		"pending":  {"task t1 pending started=1h; find t1 none", "healthy", ""},
		"unmapped": {"task t1 unknown started=1h; find t1 none", "healthy", ""},
		"out of where, and its sandbox is stopped": {
			"row t1 running started=1h; box daytona/s1 stopped task=t1", "healthy", ""},
		"over":         {"row t1 failed started=1h; box daytona/s1 stopped task=t1", "healthy", ""},
		"not searched": {seen + ran + "look daytona/s1 gone", "look", "not searched by link"},
		"searched, no answer": {
			seen + ran + "look daytona/s1 gone; find t1 error", "look", "503"},
		"nobody has seen one, and its row names none": {seen + "task t1 running started=1h ev.heartbeat=9m; find t1 none", "healthy", ""},
		"nobody has seen one, its row has a name of the platform's own, and its worker spoke": {
			seen + "task t1 running started=1h ev.heartbeat=9m sandbox=k0; find t1 none", "due", ""},
		"nobody has seen one, its row has a name of the platform's own, and nobody spoke": {
			seen + "task t1 running started=1h sandbox=k0; find t1 none", "healthy", ""},
		"assigned, and its row names one by its id": {
			seen + byID + "task t1 assigned updated=1h sandbox=s1; " + gone, "healthy", ""},
		"running without a start time, and its row names one by its id": {
			seen + byID + "task t1 running updated=1h sandbox=s1; " + gone, "due", ""},
		"its sandbox is seen for the first time, and is stopped": {
			seen + "task t1 running started=1h ev.heartbeat=9m; box daytona/s1 stopped task=t1", "due", ""},
		"over, and nothing proves that it was ours": {
			seen + "task t1 running started=1h updated=1h ev.heartbeat=9m; box daytona/s1 ended task=t1 unproven=old", "due", ""},
		"stopped, and nothing proves that it is ours": {
			seen + "task t1 running started=1h updated=1h ev.heartbeat=9m; box daytona/s1 stopped task=t1 unproven=old", "held",
			"is not proven ours"},
		"gone, and a later one of its name may go on": {"provider daytona id=yes nameslast=yes; " + seen +
			"task t1 running started=1h sandbox=s1; knew box daytona/s1 running task=t1; look daytona/s1 gone; find t1 none",
			"kept", "the next listing tells"},
		"over and on record, and a later one of its name may go on": {"pass quick; source listing:daytona trusted; " +
			"provider daytona id=yes nameslast=yes label=no; " + seen + "task t1 running started=1h sandbox=s1; " +
			"knew box daytona/s1 running task=t1; look daytona/s1 ended key=s1", "kept", "the next listing tells"},
		"gone, and no later one of its name in a listing since": {"provider daytona id=yes nameslast=yes; " +
			seen + "task t1 running started=1h sandbox=s1; knew box daytona/s1 running task=t1 gone=2m; look daytona/s1 gone; " +
			"find t1 none", "due", ""},
		"gone, and no later one of its name in this listing, the first since": {"provider daytona id=yes nameslast=yes; " +
			"task t1 running started=1h sandbox=s1; knew box daytona/s1 running task=t1 gone=2m; look daytona/s1 gone; " +
			"find t1 none", "seen", ""},
		"gone, and a later one of its name counts as another's": {"provider daytona id=yes nameslast=yes; " +
			seen + "task t1 running started=1h sandbox=s1; knew box daytona/s1 running task=t1 name=n gone=2m; " +
			"look daytona/s1 gone; find t1 none; knew box daytona/s2 running task=t0 name=n; box daytona/s2 running name=n",
			"kept", "the next listing tells"},
		"gone, and a later one of its name is listed for the first time, as another's": {"provider daytona id=yes nameslast=yes; " +
			seen + "task t0 running started=1h sandbox=s0; knew box daytona/s0 running task=t0 name=n; box daytona/s0 running key=s0 name=n; " +
			"task t1 running started=1h sandbox=s1; knew box daytona/s1 running task=t1 name=n gone=2m; " +
			"look daytona/s1 gone; find t1 none; box daytona/s2 running name=n", "kept", "the next listing tells"},
		"gone, and a later one of its name ended, is gone, and is listed for ever": {ended + "look daytona/s2 gone; " +
			"knew box daytona/s2 running task=t1 name=n gone=2m", "due", ""},
		"gone, and a later one of its name ended, and is listed, and nothing says that it is gone": {ended +
			"knew box daytona/s2 running task=t0 name=n gone=2m", "kept", "the next listing tells"},
		"gone, and a later one of its name is listed, and only a look says that it is gone": {ended + "look daytona/s2 gone; " +
			"knew box daytona/s2 running task=t1 name=n", "kept", "the next listing tells"},
		"a search leaves out what another row names too, and this pass shows it": {named +
			"task t1 running started=1h updated=1h ev.heartbeat=2m sandbox=n; task t2 running sandbox=n; " +
			"box daytona/s1 running key=n; find t1 none", "look", "another row names it too"},
		"ended before its task, which no pass saw live, was tried again": {"provider daytona id=yes; " +
			"task t1 assigned updated=41s sandbox=s1; knew box daytona/s1 running task=t1 gone=42s; look daytona/s1 gone", "healthy", ""},
		"named by an id that ended unseen, and no listing since": {
			early + "source listing:daytona trusted last=31s; " + unseen, "held", "before any pass saw its name"},
		"named by an id that ended unseen, and a listing since": {
			early + "source listing:daytona trusted last=30s; " + unseen, "due", ""},
		"named by an id that ended unseen, and no other came": {seen + unseen, "due", ""},
		"named by an id that ended unseen, where no name lasts": {
			early + "source listing:daytona trusted last=31s; " + unseen + "; provider daytona nameslast=no", "due", ""},
		"named by an id that ended unseen, and one came since": {
			seen + unseen + "; knew box daytona/s2 running first=7m name=n; box daytona/s2 running name=n", "held", ""},
		"named by an id that is known at another provider, and one came since": {
			seen + unseen + "; provider e2b id=yes; knew box e2b/s1 running task=t1 gone=2m; look e2b/s1 gone; " +
				"knew box daytona/s2 running first=7m name=n; box daytona/s2 running name=n", "due", ""},
		"named by an id that ended unseen, and another was there before": {
			seen + unseen + "; knew box daytona/s2 running first=421s name=n; box daytona/s2 running name=n", "due", ""},
		"named by an id that ended unseen, and one came since that another row names": {seen + unseen +
			"; task t2 running sandbox=s2; knew box daytona/s2 running task=t2 first=4m name=n; " +
			"box daytona/s2 running key=s2 name=n", "due", ""},
		"named by an id that ended unseen, and one came since that the row of a finished task names": {seen + unseen +
			"; row t2 completed sandbox=s2; knew task t2 completed sandbox=s2; " +
			"knew box daytona/s2 running task=t2 first=4m name=n; box daytona/s2 running key=s2 name=n", "due", ""},
		"named by an id that ended unseen, and one came since that names another live task": {seen + unseen +
			"; task t2 running started=4m; knew task t2 running since=4m; knew box daytona/s2 running task=t2 first=4m name=n; " +
			"box daytona/s2 running name=n task=t2", "due", ""},
		"named by an id that ended unseen, and one of a warm pool came since": {seen + unseen +
			"; knew box daytona/s2 running first=7m name=n; box daytona/s2 running name=n spare=yes", "due", ""},
		"named by an id that ended unseen, and one came long after": {longAgo +
			"; knew box daytona/s2 running first=10m name=n; box daytona/s2 running name=n", "due", ""},
		"named by an id that ended unseen, and one came as long after as may be": {longAgo +
			"; knew box daytona/s2 running first=17m30s name=n; box daytona/s2 running name=n", "held", ""},
		"named by an id that ended unseen long ago, and one is listed for the first time": {longAgo +
			"; box daytona/s2 running name=n", "due", ""},
		"named by an id that ended unseen, and one is listed for the first time": {
			seen + unseen + "; box daytona/s2 running name=n", "held", ""},
		"named by an id that ended unseen, where rows alone tell, and a stray came since": {
			seen + unseen + byRow + "; stray daytona/s2 running name=n created=4m", "held", "before any pass saw its name"},
		"named by an id that ended unseen, where rows alone tell, and a stray was there before its row": {
			seen + strings.Replace(unseen, "started=1h", "created=1h started=1h", 1) + byRow +
				"; stray daytona/s2 running name=n created=2h", "due", ""},
		"named by an id that ended unseen, where rows alone tell, and a stray came long after": {
			longAgo + byRow + "; stray daytona/s2 running name=n created=10m", "due", ""},
		"named by an id that ended unseen, where rows alone tell, and a stray came as long after as may be": {
			longAgo + byRow + "; stray daytona/s2 running name=n created=17m", "held", ""},
		"named by an id that ended unseen, where rows alone tell, and a stray is for another task": {
			seen + unseen + byRow + "; stray daytona/s2 running name=n created=4m task=t9", "due", ""},
		"named by an id that ended unseen, where rows alone tell, and a stray is in a warm pool": {
			seen + unseen + byRow + "; stray daytona/s2 running name=n created=4m spare=yes", "due", ""},
		"named by an id that ended unseen, where rows alone tell, and none is there": {
			seen + unseen + byRow, "due", ""},
		"named by an id that ended unseen, where rows alone tell, and this pass lists none": {
			early + "source listing:daytona trusted last=30s; " + unseen + byRow, "held", "before any pass saw its name"},
		"never started, and what went on with a name of it is gone": {"provider daytona id=yes nameslast=yes label=no named=yes; " +
			seen + "task t1 assigned updated=5m; knew task t1 assigned since=5m; " +
			"knew box daytona/s2 running task=t1 first=4m name=n; look daytona/s2 gone", "healthy", ""},
		"never started and never had one": {
			"task t1 assigned updated=1h; find t1 none", "healthy", ""},
		"never started, but its row names one, and the ledger saw it": {
			seen + "provider daytona id=yes; task t1 assigned updated=1h sandbox=s1; knew box daytona/s1 running task=t1; " +
				"look daytona/s1 gone", "due", ""},
		"never started, and only a label made it its sandbox": {
			seen + "task t1 assigned updated=1h; knew task t1 assigned since=1h; knew box daytona/s1 running task=t1 first=5m; " +
				"look daytona/s1 gone", "healthy", ""},
		"never started, saw another attempt's sandbox": {
			seen + "task t1 assigned updated=40s; knew task t1 assigned since=40s; " +
				"knew box daytona/s1 running task=t1 gone=2m ours=yes; find t1 none", "healthy", ""},
		"never started, another attempt's sandbox is gone only now": {
			seen + "task t1 assigned updated=40s; knew task t1 assigned since=40s; " +
				"knew box daytona/s1 running task=t1 first=1h; look daytona/s1 gone", "healthy", ""},
		"never started, another attempt's sandbox is stopped": {
			seen + "task t1 assigned updated=40s; knew task t1 assigned since=40s; " +
				"knew box daytona/s1 stopped task=t1 since=2m; box daytona/s1 stopped task=t1", "healthy", ""},
		"a heartbeat before this assignment is no start of it": {
			seen + "task t1 assigned heartbeat=20m assigned=40s; find t1 none", "healthy", ""},
		"its row names a new sandbox that was not looked at": {
			"provider daytona id=yes; " + seen + "task t1 running started=1h sandbox=s2; " +
				"knew box daytona/s1 running task=t1; look daytona/s1 gone", "look", "s2"},
		"its row names a new sandbox, and that is gone as well": {
			"provider daytona id=yes; " + seen + "task t1 running started=1h sandbox=s2; find t1 none; " +
				"knew box daytona/s1 running task=t1; look daytona/s1 gone; look daytona/s2 gone", "due", ""},
		"its row holds a name, and no sandbox has it, and its worker never spoke": {
			named + "task t1 running started=1h updated=1h sandbox=k0; find t1 none", "healthy", ""},
		"its row holds a name that nobody was asked for": {
			named + "task t1 running started=1h updated=1h ev.heartbeat=9m sandbox=k0", "look", "searched by link"},
		"its row holds a name, and no sandbox has it": {
			named + "task t1 running started=1h updated=1h ev.heartbeat=9m sandbox=k0; find t1 none", "due", ""},
		"handed out again, with the signs of the attempt before": {
			"knew task t1 assigned since=1m first=2h; task t1 assigned updated=1m ev.heartbeat=30m; " +
				"knew box daytona/s1 running task=t1; " + gone, "healthy", ""},
		"its row holds a name, and a quick pass only searched": {
			"pass quick; source listing:daytona trusted; " + named +
				"task t1 running started=1h updated=1h ev.heartbeat=9m sandbox=k0; find t1 none", "held", "only searched for"},
		"its row holds a name, and another one was gone before": {
			named + "task t1 running started=1h updated=1h ev.heartbeat=9m sandbox=k0; knew box daytona/s1 running task=t1; " +
				"look daytona/s1 gone", "look", "searched by link"},
		"its row holds an id where others hold names": {
			named + "task t1 running started=1h updated=1h sandbox=s1; box daytona/s1 running key=k0 also=s1", "healthy", ""},
		"at a provider that is not configured": {
			seen + "task t1 running started=1h provider=modal sandbox=s1 ev.heartbeat=9m; find t1 none", "kept", "not configured"},
	})
}

func TestSandboxMissingSources(t *testing.T) {
	const seen = "finding sandbox-missing task:t1 first=10m last=15s sighted=15s sightings=5; "
	const byID = "provider daytona id=yes; "
	const gone = "look daytona/s1 gone; find t1 none"
	const ran = seen + byID + "task t1 running started=1h updated=1h sandbox=s1; " + gone + "; "
	testRule(t, "sandbox-missing", map[string]ruleCase{
		"seen often":                        {ran, "due", ""},
		"its listing failed":                {ran + "listing daytona failed=503", "look", "no complete listing"},
		"its listing came back just now":    {ran + "source listing:daytona untrusted", "seen", ""},
		"tasks came back just now":          {ran + "source tasks untrusted", "seen", ""},
		"the ledger's watch began just now": {ran + "watched since=0s", "seen", ""},
		"the watch began before the last look": {
			ran + "watched since=16s", "due", ""},
		"a class with a longer limit, missing for less": {
			"rule sandbox-missing when.task.type=gpu then=15m; " + seen + byID + "task t1 running started=1h sandbox=s1 attr.type=gpu; " +
				gone, "seen", ""},
		"a class with a longer limit, missing for that long": {
			"rule sandbox-missing when.task.type=gpu then=10m; " + seen + byID + "task t1 running started=1h sandbox=s1 attr.type=gpu; " +
				gone, "due", ""},
		"a class with a shorter limit": {
			"rule sandbox-missing when.task.type=gpu then=5s; finding sandbox-missing task:t1 first=6s last=3s sighted=3s; " +
				byID + "task t1 running started=1h sandbox=s1 attr.type=gpu; " + gone, "due", ""},
		"a quick pass": {
			"pass quick; source listing:daytona trusted; " + ran, "due", ""},
		"a quick pass, its sandbox is not found by id either": {
			"pass quick; source listing:daytona trusted; " + seen + "task t1 running started=1h; find t1 none; " +
				"knew box daytona/s1 running task=t1; look daytona/s1 gone", "due", ""},
		"a quick pass, remembered and not looked at": {
			"pass quick; source listing:daytona trusted; " + ran + "knew box daytona/s2 running task=t1", "look", ""},
		"a quick pass without a listing": {
			"pass quick; " + ran, "look", "no complete listing"},
	})
}

// TestLookedTwice: an earlier look that found it gone is the first of two, also where a sign of life counted then.
func TestLookedTwice(t *testing.T) {
	const quick = "pass quick; source listing:daytona trusted; provider daytona id=yes; "
	const ran = "task t1 running started=1h updated=1h ev.heartbeat=2m sandbox=s1; look daytona/s1 gone; find t1 none; "
	const knew = "knew box daytona/s1 running task=t1 gone="
	const stopped = "task t1 running started=1h updated=1h ev.heartbeat=2m sandbox=s1; look daytona/s1 stopped task=t1; find t1 none; " +
		"knew box daytona/s1 stopped task=t1 since="
	testRule(t, "sandbox-missing", map[string]ruleCase{
		"gone for the threshold by an earlier look": {quick + ran + knew + "30s", "due", "s1 at daytona is gone"},
		"gone for a second less":                    {quick + ran + knew + "29s", "seen", ""},
		"gone since its worker was heard last":      {quick + ran + knew + "2m", "due", ""},
		"its worker was heard since":                {quick + ran + knew + "2m1s", "seen", ""},
		"three looks are asked for":                 {"rule sandbox-missing looks=3; " + quick + ran + knew + "1m", "seen", ""},
		"a longer threshold":                        {"rule sandbox-missing after=5m; " + quick + ran + knew + "1m", "seen", ""},
		"its listing came back since":               {quick + ran + knew + "1m; source listing:daytona trusted recovered=30s", "seen", ""},
		"another one of it is gone only now": {quick + ran + knew + "1m; knew box daytona/s2 running task=t1; look daytona/s2 gone",
			"seen", ""},
		"stopped for the threshold by an earlier look": {quick + stopped + "30s", "due", "s1 at daytona is stopped"},
		"stopped for a second less":                    {quick + stopped + "29s", "seen", ""},
		"stopped, and in another state before": {quick + strings.ReplaceAll(stopped, "knew box daytona/s1 stopped",
			"knew box daytona/s1 running") + "30s", "seen", ""},
		"a sign of life counts": {quick + "task t1 running started=1h updated=1h ev.heartbeat=90s sandbox=s1; look daytona/s1 gone; " +
			"find t1 none; " + knew + "1m", "kept", "last seen 1m30s ago"},
	})
	testRule(t, "sandbox-missing", map[string]ruleCase{
		"looked at before the sign of life ceases to count": {
			quick + "task t1 running started=1h ev.heartbeat=61s sandbox=s1; knew box daytona/s1 running task=t1", "look", "last seen"},
		"not looked at a second before": {
			quick + "task t1 running started=1h ev.heartbeat=60s sandbox=s1; knew box daytona/s1 running task=t1", "kept", "last seen"},
		"looked at once in a pass": {
			quick + "task t1 running started=1h ev.heartbeat=61s sandbox=s1; knew box daytona/s1 running task=t1; " +
				"look daytona/s1 gone", "kept", "last seen"},
	})
}

// TestInNeitherOfTwoStores: what a whole listing and a get of another store do not show needs no second look.
func TestInNeitherOfTwoStores(t *testing.T) {
	const task = "task t1 running started=1h updated=1h ev.heartbeat=2m sandbox=s1; "
	const stores = "provider daytona id=yes stores=yes lag=10s; " + task
	const knew = "knew box daytona/s1 running task=t1 first=1h; "
	const gone = "look daytona/s1 gone; find t1 none"
	testRule(t, "sandbox-missing", map[string]ruleCase{
		"in neither of two stores": {stores + knew + gone, "due", "is gone"},
		"one store tells both":     {"provider daytona id=yes; " + task + knew + gone, "seen", ""},
		"its end alone is shown": {"provider daytona id=yes stores=yes; " + task + knew +
			"box daytona/s1 stopped task=t1 key=s1; look daytona/s1 stopped task=t1 key=s1", "seen", ""},
		"its listing failed":                   {"listing daytona failed=503; " + stores + knew + gone, "seen", ""},
		"its listing was cut short":            {"listing daytona missing=eu; " + stores + knew + gone, "seen", ""},
		"only a quick pass":                    {"pass quick; source listing:daytona trusted; " + stores + knew + gone, "seen", ""},
		"younger than its index":               {stores + "knew box daytona/s1 running task=t1 first=9s; " + gone, "seen", ""},
		"as old as its index":                  {stores + "knew box daytona/s1 running task=t1 first=10s; " + gone, "due", ""},
		"no pass ever saw it":                  {stores + gone, "seen", ""},
		"the config gives the platform longer": {"rule sandbox-missing after=31s; " + stores + knew + gone, "seen", ""},
		"the config wants more looks":          {"rule sandbox-missing looks=3; " + stores + knew + gone, "seen", ""},
		"its worker spoke within the limit": {"provider daytona id=yes stores=yes; " +
			"task t1 running started=1h updated=1h ev.heartbeat=90s sandbox=s1; " + knew + gone, "kept", "last seen 1m30s ago"},
		"a second one is there": {stores + knew + gone + "; knew box daytona/s2 running task=t1; box daytona/s2 running task=t1",
			"healthy", ""},
		"of two only one is gone, the other stopped": {stores + knew + gone +
			"; knew box daytona/s2 running task=t1; box daytona/s2 stopped task=t1", "seen", ""},
		"names last": {"provider daytona nameslast=yes; " + stores + "knew box daytona/s1 running task=t1 first=1h gone=1m; " +
			gone, "seen", ""},
	})
}
