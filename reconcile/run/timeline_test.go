package run

import (
	"slices"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

func TestTimeline(t *testing.T) {
	w := worldtest.NewWorld(t, worldtest.Anchor, `
		provider e2b
		knew task t1 pending; task t1 assigned updated=1h provider=daytona
		knew task t2 running; row t2 completed updated=1h
		knew box daytona/s1 running; box daytona/s1 stopped
		knew box daytona/s2 running; look daytona/s2 gone
		knew box daytona/z9 running task=z9 first=1h
		box daytona/s3 running
		finding orphan sandbox:daytona/s1 provider=daytona
		knew task t3 running; task t3 running started=1m ev.heartbeat=5s; box daytona/s4 running task=t3
		finding errored task:t3 provider=daytona
		source probes:daytona untrusted
		listing e2b failed=503
		find t1 none`)
	j, p := planWorld(w)
	var got []string
	for _, e := range timelineOf(j.View, &Result{Plan: p, Judged: j, Sources: j.Sources}, decide.SeenTasks(j.View),
		decide.SeenSandboxes(j.View, j.Decisions)) {
		if !e.At.Equal(worldtest.LedgerNow) {
			t.Errorf("%v is not of the pass's time", e)
		}
		got = append(got, e.Subject+" "+e.Kind+" "+e.What)
	}
	want := []string{
		"task:t1 state pending → assigned",
		"task:t2 state running → completed",
		"sandbox:daytona/s1 state running → stopped",
		"sandbox:daytona/s2 state running → gone",
		"sandbox:daytona/s3 finding orphan: no task explains it: it names no task and no row names it; running, created 1h ago",
		"task:t1 finding assigned-stale: worker never started: no sandbox at daytona",
		"task:t3 resolved errored",
		"source:listing:e2b source not trusted: the listing failed: 503",
		"source:probes:daytona source trusted again",
	}
	if !slices.Equal(got, want) {
		t.Errorf("timeline:\n got %q\nwant %q", got, want)
	}
}
