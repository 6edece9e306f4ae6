package decide

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

func TestExecutionsStuck(t *testing.T) {
	const live = "task t1 running started=1h ev.activity=10m; box daytona/s1 running task=t1; "
	const old = "task t1 running started=2h ev.activity=1h; box daytona/s1 running task=t1; "
	const first = "vitals daytona/s1 at=90s queued=1 for=40s; "
	const stuck = live + first + "vitals daytona/s1 at=10s queued=2 for=2m; "
	testRule(t, "executions-stuck", map[string]ruleCase{
		"of a live task whose row names one that names another task": {
			"provider daytona id=yes; task t1 running started=1h ev.activity=10m sandbox=s1; knew task t1 running; " +
				"box daytona/s1 running task=z1 key=s1; knew box daytona/s1 running task=t1; " + first +
				"vitals daytona/s1 at=10s queued=2 for=2m", "healthy", ""},
		"of a live task whose row names another": {
			"provider daytona id=yes; task t1 running started=1h ev.activity=10m sandbox=s2; box daytona/s1 running task=t1; " +
				"box daytona/s2 running task=t1; " + first + "vitals daytona/s1 at=10s queued=2 for=2m", "healthy", ""},
		"queued for the threshold": {
			stuck, "due", "says running but runs nothing: 2 executions are queued, the oldest for 2m, limit 2m"},
		"a second less": {
			live + first + "vitals daytona/s1 at=10s queued=1 for=119s", "probe", "1 execution is queued for 1m59s of 2m, seen 2"},
		"seen once": {
			live + "vitals daytona/s1 at=10s queued=1 for=1h", "probe", "seen once"},
		"seen twice, at last another one": {
			live + "vitals daytona/s1 at=5m queued=1 for=2m; vitals daytona/s1 at=10s queued=1 for=2m", "probe", "seen once"},
		"seen twice, just the same one": {
			live + "vitals daytona/s1 at=135s queued=1 for=0s; vitals daytona/s1 at=10s queued=1 for=2m", "due", ""},
		"seen twice, a second before it was queued": {
			live + "vitals daytona/s1 at=136s queued=1 for=0s; vitals daytona/s1 at=10s queued=1 for=2m", "probe", "seen once"},
		"empty in between": {
			live + first + "vitals daytona/s1 at=50s queued=0; vitals daytona/s1 at=10s queued=1 for=2m", "probe", "seen once"},
		"not measured in between": {
			live + first + "vitals daytona/s1 at=50s cpu=3; vitals daytona/s1 at=10s queued=1 for=2m", "due", ""},
		"empty at last":         {stuck + "vitals daytona/s1 at=5s queued=0", "healthy", ""},
		"not measured at last":  {stuck + "vitals daytona/s1 at=5s cpu=3", "due", ""},
		"behind one that runs":  {live + first + "vitals daytona/s1 at=10s queued=1 running=1 for=1h", "healthy", ""},
		"one ran in between":    {live + first + "vitals daytona/s1 at=50s queued=1 running=1 for=80s; vitals daytona/s1 at=10s queued=1 for=2m", "probe", "seen once"},
		"measured too long ago": {old + worldtest.Ages("daytona/s1", "queued=1 for=3m", 31*time.Minute, 30*time.Minute+1), "probe", "too long ago"},
		"measured just lately":  {old + worldtest.Ages("daytona/s1", "queued=1 for=3m", 31*time.Minute, 30*time.Minute), "due", ""},
		"its worker was active a second after the first look": {
			"task t1 running started=1h ev.activity=89s; box daytona/s1 running task=t1; " + first +
				"vitals daytona/s1 at=10s queued=1 for=2m", "probe", "its worker was active after that was first seen"},
		"its worker was active at the first look": {
			"task t1 running started=1h ev.activity=90s; box daytona/s1 running task=t1; " + first +
				"vitals daytona/s1 at=10s queued=1 for=2m", "due", ""},
		"heartbeats are no activity": {
			"task t1 running started=1h ev.heartbeat=1s; box daytona/s1 running task=t1; " + first +
				"vitals daytona/s1 at=10s queued=1 for=2m", "due", ""},
		"resumed 2m before the first look": {
			stuck + "knew box daytona/s1 running task=t1 resumed=210s", "due", ""},
		"resumed a second later": {
			stuck + "knew box daytona/s1 running task=t1 resumed=209s", "probe", "seen once"},
		"resumed just now": {
			stuck + "knew box daytona/s1 running task=t1 resumed=1m", "probe", "soon after it was resumed"},
		"our watch began after the first look":    {stuck + "watched since=89s", "probe", "seen once"},
		"our watch began with the first look":     {stuck + "watched since=90s", "due", ""},
		"probes came back after the first look":   {stuck + "source probes:daytona trusted recovered=89s", "probe", "seen once"},
		"the provider's clock runs backwards":     {live + first + "vitals daytona/s1 at=10s queued=1 for=-5s", "probe", ""},
		"coming up":                               {"task t1 running started=1h; box daytona/s1 creating task=t1; " + first + "vitals daytona/s1 at=10s queued=1 for=2m", "healthy", ""},
		"not ours":                                {"task t1 running started=1h; box daytona/s1 running task=t1 owned=no; " + first + "vitals daytona/s1 at=10s queued=1 for=2m", "healthy", ""},
		"never measured":                          {live, "healthy", ""},
		"without a task":                          {"box daytona/s1 running; " + first + "vitals daytona/s1 at=10s queued=1 for=2m", "due", ""},
		"of a task out of where":                  {"row t1 running; box daytona/s1 running task=t1; " + first + "vitals daytona/s1 at=10s queued=1 for=2m", "held", "outside `where`"},
		"the listing failed":                      {stuck + "listing daytona failed=503", "held", "listing-untrusted"},
		"a class with more time":                  {"rule executions-stuck when.provider=daytona then=5m; " + stuck, "probe", "of 5m"},
		"everywhere: that is the provider's":      {stuck + waiting3, "held", "probes-untrusted"},
		"of three, while as many others are well": {stuck + waiting2 + worldtest.Ages("daytona/s{5..7}", "queued=0", time.Minute), "due", ""},
	})
}

// waiting2 and waiting3 are other sandboxes whose executions wait as well.
const (
	waiting2 = "box daytona/s{2..3} running; vitals daytona/s{2..3} at=90s queued=1 for=1h; " +
		"box daytona/s{5..7} running; "
	waiting3 = waiting2 + "box daytona/s4 running; vitals daytona/s4 at=90s queued=1 for=1h; "
)

// TestExecutionsStuckInQuickPasses: a quick pass gets the sandbox by its id.
func TestExecutionsStuckInQuickPasses(t *testing.T) {
	testRule(t, "executions-stuck", map[string]ruleCase{
		"it was got by id": {"pass quick; source listing:daytona trusted; knew box daytona/s1 running task=t1; " +
			"task t1 running started=1h; look daytona/s1 running task=t1; vitals daytona/s1 at=90s queued=1 for=40s; " +
			"vitals daytona/s1 at=10s queued=1 for=2m", "due", ""},
	})
	s := &reconcile.Snapshot{Memory: reconcile.Memory{Probes: map[reconcile.Ref]reconcile.ProbeSeen{}}}
	for id, e := range map[string]*reconcile.ExecutionsSeen{"waits": {Queued: 1}, "moves": {Queued: 1, Running: 1}, "idle": {}, "none": nil} {
		ref := reconcile.Ref{Provider: "lab", ID: id}
		s.Memory.Sandboxes.Put(ref, reconcile.SandboxSeen{Ref: ref})
		s.Memory.Probes[ref] = reconcile.ProbeSeen{Ref: ref, Measurements: []reconcile.Measurements{{Executions: e}}}
	}
	if got := view.QuickLooks(s); len(got) != 1 || got[0].ID != "waits" {
		t.Errorf("a quick pass looks at %v, want the one whose executions wait", got)
	}
}
