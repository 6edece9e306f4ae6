package reconcile

import "testing"

func TestFinishedUnrecorded(t *testing.T) {
	testRule(t, "finished-unrecorded", map[string]ruleCase{
		"finished after the last start": {
			"task t1 running started=10m ev.finished=9m59s", "report", "the row still says running"},
		"finished at the moment of a start": {"task t1 running started=10m ev.finished=10m", "healthy", ""},
		"finished before the last start":    {"task t1 running started=10m ev.finished=11m", "healthy", ""},
		"started again by an event":         {"task t1 running ev.started=5m ev.finished=6m", "healthy", ""},
		"finished after the start event":    {"task t1 running ev.started=6m ev.finished=5m", "report", ""},
		"a start of an earlier attempt": {
			"task t1 running started=10m ev.finished=9m; knew task t1 running stale=10m", "report", ""},
		"finished with no start at all": {"task t1 assigned ev.finished=1s", "report", "the row still says assigned"},
		"a finish from the future":      {"task t1 running started=10m ev.finished=-1h", "report", ""},
		"never finished":                {"task t1 running started=10m ev.activity=1s", "healthy", ""},
		"recorded": {
			"row t1 completed ev.finished=1h; box daytona/s1 running task=t1", "healthy", ""},
	})
}
