package decide

import (
	"slices"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

func TestFinishedUnrecorded(t *testing.T) {
	testRule(t, "finished-unrecorded", map[string]ruleCase{
		"finished after the last start": {
			"task t1 running started=10m ev.finished=9m59s", "report", "the row still says running"},
		"finished at the moment of a start": {"task t1 running started=10m ev.finished=10m", "report", ""},
		"finished before the last start":    {"task t1 running started=10m ev.finished=11m", "healthy", ""},
		"started again by an event":         {"task t1 running ev.started=5m ev.finished=6m", "healthy", ""},
		"finished after the start event":    {"task t1 running ev.started=6m ev.finished=5m", "report", ""},
		"a start of an earlier attempt": {
			"task t1 running started=10m ev.finished=9m; knew task t1 running stale=10m", "report", ""},
		"finished with no start at all":    {"task t1 assigned ev.finished=1s", "report", "the row still says assigned"},
		"a finish from the future":         {"task t1 running started=10m ev.finished=-1h", "report", ""},
		"never finished":                   {"task t1 running started=10m ev.activity=1s", "healthy", ""},
		"it went on, 6s after its end":     {"task t1 running started=1h ev.finished=10m ev.activity=9m54s", "healthy", ""},
		"its last event, 5s after its end": {"task t1 running started=1h ev.finished=10m ev.activity=9m55s", "report", ""},
		"it went on, by a stamp of before the database's clock was set back": {
			"source tasks trusted setback=-10m; task t1 running started=1h ev.finished=10m ev.activity=-9m", "report", ""},
		"it went on, later than the clock had come when it was set back": {
			"source tasks trusted setback=9m59s; task t1 running started=1h ev.finished=10m ev.activity=9m53s", "healthy", ""},
		"finished before its start by the stamps, and the clock was set back by ten minutes since": {
			"source tasks trusted setback=-5m; task t1 running started=1m ev.finished=2m; knew task t1 running since=11m", "report", ""},
		"finished before its start, which is as old as the ledger knows it": {
			"source tasks trusted setback=-5m; task t1 running started=1m ev.finished=2m; knew task t1 running since=65s", "healthy", ""},
		"finished before its start, which is six seconds older by the ledger": {
			"source tasks trusted setback=-5m; task t1 running started=1m ev.finished=65s; knew task t1 running since=66s", "report", ""},
		"finished before the ledger saw it at work, by the clock that was set back since": {
			"source tasks trusted setback=-5m; task t1 running started=1m ev.finished=11m; knew task t1 running since=11m", "healthy", ""},
		"finished before its start, and the clock was never set back": {
			"task t1 running started=1m ev.finished=2m; knew task t1 running since=11m", "healthy", ""},
		"finished before its start, and was seen in another status": {
			"source tasks trusted setback=-5m; task t1 running started=1m ev.finished=2m; knew task t1 assigned since=11m", "healthy", ""},
		"only heartbeats after its end": {"task t1 running started=1h ev.finished=10m ev.heartbeat=5s", "report", ""},
		"recorded": {
			"row t1 completed ev.finished=1h; box daytona/s1 running task=t1", "healthy", ""},
	})
}

// TestFinishedVeto: what has finished is not failed, as long as anything is left of it that may record the
// end itself.
func TestFinishedVeto(t *testing.T) {
	const late = "task t1 running started=1h timeout=10m "
	const long = "task t1 running started=2h timeout=10m "
	said := func(ago string) string { return "finding finished-unrecorded task:t1 first=" + ago + "; " }
	for name, c := range map[string]struct {
		world  string
		vetoed bool
	}{
		"its sandbox runs":                      {late + "ev.finished=2m; box daytona/s1 running task=t1", true},
		"its sandbox is stopped":                {late + "ev.finished=2m; box daytona/s1 stopped task=t1", true},
		"its sandbox is ended, a moment ago":    {late + "ev.finished=90s; box daytona/s1 ended task=t1", true},
		"its sandbox is ended":                  {late + "ev.finished=91s; box daytona/s1 ended task=t1", false},
		"its sandbox is ended, it sends beats":  {late + "ev.finished=9m ev.heartbeat=90s; box daytona/s1 ended task=t1", true},
		"its sandbox is gone":                   {late + "ev.finished=2m; knew box daytona/s1 running task=t1; look daytona/s1 gone", false},
		"its sandbox was not looked at":         {late + "ev.finished=2m; knew box daytona/s1 running task=t1", true},
		"one is gone, another runs":             {late + "ev.finished=2m; knew box daytona/s1 running task=t1; look daytona/s1 gone; box daytona/s2 running task=t1", true},
		"nobody ever saw a sandbox of it":       {late + "ev.finished=2m", true},
		"nobody recorded it for an hour":        {long + "ev.finished=60m; box daytona/s1 running task=t1", false},
		"nobody recorded it for a second less":  {long + "ev.finished=3599s; box daytona/s1 running task=t1", true},
		"the same, and it is kept":              {long + "ev.finished=60m keep=-1m; box daytona/s1 running task=t1", true},
		"the same, and its deadline is to come": {long + "ev.finished=60m deadline=-1s; box daytona/s1 running task=t1", true},
		"said again, first an hour ago":         {said("60m") + long + "ev.finished=2m; box daytona/s1 running task=t1", false},
		"said again, first a second less ago":   {said("3599s") + long + "ev.finished=2m; box daytona/s1 running task=t1", true},
		"said again, and it began after that":   {said("2h") + "task t1 running started=50m timeout=10m " + "ev.finished=2m; box daytona/s1 running task=t1", true},
		"said again, and it is kept for ever":   {said("60m") + long + "ev.finished=2m keep=-9000h; box daytona/s1 running task=t1; limits kept=1h", false},
		"its worker went on":                    {late + "ev.finished=9m ev.activity=8m; box daytona/s1 running task=t1", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := worldtest.NewWorld(t, worldtest.Anchor, c.world)
			w.Only("finished-unrecorded", "deadline-exceeded")
			_, p := PlanWorld(w)
			if got := slices.Contains(stepLines(p), "held fail t1: veto: finished-unrecorded"); got != c.vetoed || len(p.Steps) == 0 {
				t.Errorf("steps %q, want the veto: %v", stepLines(p), c.vetoed)
			}
		})
	}
}
