package decide

import "testing"

func TestRecordWithoutContainer(t *testing.T) {
	const hollow = "box daytona/s1 running hollow=yes task=t1; "
	const seen = "finding record-without-container task:t1 first=2m last=2m sighted=2m sightings=1; "
	const silent = "task t1 running started=1h ev.heartbeat=91s; "
	testRule(t, "record-without-container", map[string]ruleCase{
		"the first look":  {hollow + silent, "seen", "the record of sandbox s1 says running, and nothing runs behind it"},
		"the second look": {seen + hollow + silent, "due", "its task t1 is running"},
		"the second look, 30s later": {
			"finding record-without-container task:t1 first=30s last=30s sighted=30s sightings=1; " + hollow + silent, "due", ""},
		"the second look, too soon": {
			"finding record-without-container task:t1 first=29s last=29s sighted=29s sightings=1; " + hollow + silent, "seen", ""},
		"the config wants them closer": {
			"rule record-without-container apart=1s; " +
				"finding record-without-container task:t1 first=1s last=1s sighted=1s sightings=1; " + hollow + silent, "due", ""},
		"the config wants three looks": {
			"rule record-without-container looks=3; " + seen + hollow + silent, "seen", ""},
		"the config cannot want one": {
			"rule record-without-container looks=1; " + hollow + silent, "seen", ""},
		"the ledger's clock ran backwards: no second look": {
			"finding record-without-container task:t1 first=1h last=-5s sighted=-5s sightings=1; " + hollow + silent, "seen", ""},
		"its worker speaks":        {seen + hollow + "task t1 running started=1h ev.heartbeat=90s", "kept", "its worker was last seen 1m30s ago"},
		"its worker spoke":         {seen + hollow + silent, "due", ""},
		"something runs behind it": {seen + "box daytona/s1 running task=t1; " + silent, "healthy", ""},
		"its task is over":         {seen + hollow + "row t1 failed updated=1h ev.heartbeat=1s", "due", ""},
		"no task explains it": {
			"finding record-without-container sandbox:daytona/s1 first=2m last=2m sighted=2m sightings=1; " +
				"box daytona/s1 running hollow=yes", "due", ""},
		"its task was not read":       {seen + "unread t1; finding record-without-container sandbox:daytona/s1 sightings=1 first=2m last=2m sighted=2m; " + hollow, "held", "its task was not read"},
		"its task is outside":         {seen + hollow + "row t1 running outside=yes", "held", "outside `where`"},
		"somebody else's":             {"box daytona/s1 running hollow=yes owned=no", "healthy", ""},
		"in an unknown state":         {seen + "box daytona/s1 unknown raw=warped hollow=yes task=t1; " + silent, "held", "unknown state"},
		"it is being deleted":         {seen + "box daytona/s1 deleting hollow=yes task=t1; " + silent, "healthy", ""},
		"a listing that was cut":      {seen + hollow + silent + "listing daytona missing=eu", "held", "listing-untrusted"},
		"a listing that came back":    {seen + hollow + silent + "source listing:daytona untrusted", "seen", ""},
		"a quick pass does not judge": {"pass quick; source listing:daytona trusted; " + seen + silent + "look daytona/s1 running hollow=yes task=t1", "healthy", ""},
		"one is on its way out, another is left": {
			seen + hollow + "box daytona/s2 running hollow=yes task=t1; " + silent +
				"action a1 record-without-container task:t1 terminate box=daytona/s1 claimed=1m", "due", "sandbox=s2"},
	})
}
