package decide

import (
	"slices"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// TestDescribe: by which values further tables may explain a sandbox.
func TestDescribe(t *testing.T) {
	p := reconcile.Policy{Tasks: reconcile.TasksPolicy{ExplainedBy: []reconcile.Explanation{{Table: "specs", Label: "spec_id"}, {Table: "warm"}}}}
	for name, c := range map[string]struct {
		sandbox reconcile.Sandbox
		want    []reconcile.FurtherKey
	}{
		"a label, a name and an id": {
			reconcile.Sandbox{Ref: reconcile.Ref{Provider: "daytona", ID: "s1"}, Name: "spec-1", Labels: map[string]string{"spec_id": "7"}},
			[]reconcile.FurtherKey{{By: 0, Value: "7"}, {By: 1, Value: "spec-1"}, {By: 1, Value: "s1"}}},
		"no label":           {reconcile.Sandbox{Ref: reconcile.Ref{Provider: "daytona", ID: "s1"}, Name: "spec-1"}, []reconcile.FurtherKey{{By: 1, Value: "spec-1"}, {By: 1, Value: "s1"}}},
		"an empty label":     {reconcile.Sandbox{Ref: reconcile.Ref{Provider: "daytona", ID: "s1"}, Labels: map[string]string{"spec_id": ""}}, []reconcile.FurtherKey{{By: 1, Value: "s1"}}},
		"a name like the id": {reconcile.Sandbox{Ref: reconcile.Ref{Provider: "daytona", ID: "s1"}, Name: "s1"}, []reconcile.FurtherKey{{By: 1, Value: "s1"}}},
		"a label that is no text": {
			reconcile.Sandbox{Ref: reconcile.Ref{Provider: "daytona", ID: "s1"}, Labels: map[string]string{"spec_id": "\xff"}}, []reconcile.FurtherKey{{By: 1, Value: "s1"}}},
		"a label without end": {
			reconcile.Sandbox{Ref: reconcile.Ref{Provider: "daytona", ID: "s1"}, Labels: map[string]string{"spec_id": strings.Repeat("x", 1001)}}, []reconcile.FurtherKey{{By: 1, Value: "s1"}}},
		"described before": {
			reconcile.Sandbox{Ref: reconcile.Ref{Provider: "daytona", ID: "s1"}, Further: []reconcile.FurtherKey{{By: 1, Value: "s1"}}}, []reconcile.FurtherKey{{By: 1, Value: "s1"}}},
	} {
		t.Run(name, func(t *testing.T) {
			p.Describe(&c.sandbox)
			if !slices.Equal(c.sandbox.Further, c.want) {
				t.Errorf("further = %v, want %v", c.sandbox.Further, c.want)
			}
		})
	}
	odd := reconcile.Sandbox{Ref: reconcile.Ref{Provider: "daytona", ID: "s1"}, Task: "\xff"}
	if p.Describe(&odd); !odd.BadLink {
		t.Error("what its provider says is not scrubbed")
	}
}

// TestExplainedElsewhere: what a further table explains is nobody's case, whatever is wrong with it.
func TestExplainedElsewhere(t *testing.T) {
	for rule, world := range map[string]string{
		"provisioning-stuck": "box daytona/s1 creating",
		"idle-broken":        "box daytona/s1 running; probe daytona/s1 failed=5m,3m,1m; probe daytona/z9 answered=1m",
		"over-age":           "rule over-age after=90m; box daytona/s1 running created=2h",
		"orphan":             "finding orphan sandbox:daytona/s1 first=10m last=2m sighted=2m sightings=3; box daytona/s1 running",
	} {
		for more, want := range map[string]bool{"": true, "explains specs daytona/s1": false, "explains specs daytona/s2": true} {
			w := worldtest.NewWorld(t, worldtest.Anchor, world, more)
			w.Only(rule)
			_, p := PlanWorld(w)
			acts := slices.ContainsFunc(stepLines(p), func(line string) bool { return line == "do terminate daytona/s1" })
			if acts != want {
				t.Errorf("%s with %q: steps %q, want it ended: %v", rule, more, stepLines(p), want)
			}
		}
	}
}

// A row of a task says more of a sandbox than a further table: a stopped task's sandbox is ended.
func TestATaskExplainsFirst(t *testing.T) {
	w := worldtest.NewWorld(t, worldtest.Anchor, "row t1 stopped updated=1h; box daytona/s1 running task=t1; explains specs daytona/s1")
	w.Only("stop-ignored")
	if _, p := PlanWorld(w); !slices.Equal(stepLines(p), do("terminate daytona/s1")) {
		t.Errorf("steps %q, want the stopped task's sandbox ended", stepLines(p))
	}
}

// What a sandbox shows is more than what the ledger remembers of it, which a listing may have shown once: neither the
// end of its former task nor the live one's takes what a further table explains.
func TestTheLedgerDoesNotExplainFirst(t *testing.T) {
	const known = "knew box daytona/s1 running task=t1; box daytona/s1 running; "
	for rule, world := range map[string]string{
		"stop-ignored":       "row t1 stopped updated=1h",
		"finished-lingering": "row t1 completed updated=1h",
		"duplicate":          "task t1 running; box daytona/s2 running task=t1",
	} {
		for more, want := range map[string]bool{"": rule != "duplicate", "explains specs daytona/s1": false} {
			w := worldtest.NewWorld(t, worldtest.Anchor, known, world, more)
			w.Only(rule)
			_, p := PlanWorld(w)
			shown := slices.ContainsFunc(stepLines(p), func(line string) bool { return strings.Contains(line, "terminate daytona/s1") })
			if shown != want {
				t.Errorf("%s with %q: steps %q, want its end among them: %v", rule, more, stepLines(p), want)
			}
		}
	}
}

// What a further table explains makes the link to tasks no less trusted.
func TestExplainedIsNotLoose(t *testing.T) {
	w := worldtest.NewWorld(t, "box daytona/s{1..3} running; explains specs daytona/s1; explains specs daytona/s2")
	v := JudgeWorld(w).View
	if got := v.CountLinks(v.Subjects()).Loose; got != 1 {
		t.Errorf("%d sandboxes count as explained by nothing, want 1", got)
	}
}

// A task that shows life and has no sandbox shields one that may be its own, not a younger one that a further table
// explains.
func TestExplainedShieldsNothing(t *testing.T) {
	const world = "box daytona/s1 running created=1h; box daytona/s2 running created=50m; explains specs daytona/s2; " +
		"task t1 running started=1h updated=1h ev.heartbeat=9s"
	v := JudgeWorld(worldtest.NewWorld(t, worldtest.Anchor, world)).View
	if got := v.Pairs[reconcile.Ref{Provider: "daytona", ID: "s1"}]; got != "t1" {
		t.Errorf("pairs = %v, want s1 shielded by t1", v.Pairs)
	}
}
