package decide

import "testing"

func TestOverAge(t *testing.T) {
	const on = "rule over-age after=10m; "
	const live = "task t1 running started=1m ev.heartbeat=1s ev.activity=1s; "
	const young = "box daytona/z9 running task=z9 created=1s; row z9 completed updated=1s"
	testRuleBeside(t, young, "over-age", map[string]ruleCase{
		"too old, and a further table explains it": {
			"rule over-age after=10m; box daytona/s1 running created=90m; explains specs daytona/s1", "kept", "a row of specs explains it"},
		"as old as the maximum": {on + "box daytona/s1 running created=10m", "due", "sandbox s1 is 10m old, the maximum is 10m"},
		"a second younger":      {on + "box daytona/s1 running created=9m59s", "healthy", ""},
		"created in the future": {on + "box daytona/s1 running created=-1h", "healthy", ""},
		"dated ahead, first seen that long ago": {
			on + "box daytona/s1 running created=-1h; knew box daytona/s1 running first=10m", "due", "dated 1h ahead"},
		"dated ahead, first seen later": {
			on + "box daytona/s1 running created=-1h; knew box daytona/s1 running first=9m59s", "healthy", ""},
		"dated ahead by a clock that was set back, first seen that long ago": {on +
			"source clock:provider/daytona untrusted since=1m; listing daytona off=-1h; box daytona/s1 running created=-10m; " +
			"knew box daytona/s1 running first=10m", "due", "dated 10m ahead"},
		"dated ahead by a clock that was set back, first seen later": {on +
			"source clock:provider/daytona untrusted since=1m; listing daytona off=-1h; box daytona/s1 running created=-10m; " +
			"knew box daytona/s1 running first=9m59s", "healthy", ""},
		"nobody says a maximum": {"box daytona/s1 running created=999h", "healthy", ""},
		"no word of its creation, first seen that long ago": {
			on + "box daytona/s1 running created=never; knew box daytona/s1 running first=10m", "due", ""},
		"no word of its creation, first seen later": {
			on + "box daytona/s1 running created=never; knew box daytona/s1 running first=9m59s", "healthy", ""},
		"a live task works in it":                    {on + live + "box daytona/s1 running task=t1 created=10m", "due", "its task t1 is running"},
		"its task is completed":                      {on + "row t1 completed updated=1s; box daytona/s1 running task=t1 created=10m", "due", ""},
		"it is paused":                               {on + "box daytona/s1 suspended created=10m", "due", ""},
		"it is stopped":                              {on + "box daytona/s1 stopped created=10m", "due", ""},
		"it is being deleted":                        {on + "box daytona/s1 deleting created=10m", "healthy", ""},
		"it is ended":                                {on + "box daytona/s1 ended created=10m", "healthy", ""},
		"in an unknown state":                        {on + "box daytona/s1 unknown raw=warped created=10m", "held", `unknown state "warped"`},
		"its task was not read":                      {on + "unread t1; box daytona/s1 running task=t1 created=10m", "held", "its task was not read"},
		"its task is outside":                        {on + "row t1 running outside=yes; box daytona/s1 running task=t1 created=10m", "held", "outside `where`"},
		"its task is a stranger's":                   {"provider daytona exclusive=no; " + on + "box daytona/s1 running task=t1 created=10m", "held", "not-exclusive"},
		"somebody else's":                            {on + "box daytona/s1 running owned=no created=10m", "healthy", ""},
		"its listing failed":                         {on + "listing daytona failed=503; look daytona/s1 running created=10m", "held", "listing-untrusted"},
		"without tasks":                              {"tasks none; " + on + "box daytona/s1 running created=10m", "due", ""},
		"two of one task, the older one is over age": {on + live + "box daytona/s1 running task=t1 created=9m; box daytona/s2 running task=t1 created=11m", "due", "sandbox=s2"},
		"the oldest is on its way out": {on + live + "box daytona/s1 running task=t1 created=12m; box daytona/s2 running task=t1 created=11m; " +
			"action a1 over-age task:t1 terminate box=daytona/s1 claimed=1m", "due", "sandbox=s2"},
		"its task's row names it, and it is labelled for another": {"provider daytona id=yes; " + on + "task t1 running started=20m " +
			"sandbox=s1 ev.heartbeat=1s ev.activity=1s; knew task t1 running; box daytona/s1 running task=z1 key=s1 created=19m; " +
			"knew box daytona/s1 running task=t1",
			"kept", "sandbox s1 is labelled for task z1 by now"},
		"a quick pass": {"pass quick; source listing:daytona trusted; " + on + "look daytona/s1 running created=10m", "healthy", ""},
		"a class with a longer maximum": {
			"rule over-age after=10m when.template=gpu then=1h; box daytona/s1 running template=gpu created=59m", "healthy", ""},
		"a class that alone has a maximum": {
			"rule over-age when.template=gpu then=10m; box daytona/s1 running template=gpu created=10m", "due", ""},
		"another class": {
			"rule over-age when.template=gpu then=10m; box daytona/s1 running template=light created=99m", "healthy", ""},
	})
}
