package reconcile

import (
	"slices"
	"strings"
	"testing"
)

// TestDescribe: by which values further tables may explain a sandbox.
func TestDescribe(t *testing.T) {
	p := Policy{Tasks: TasksPolicy{ExplainedBy: []Explanation{{Table: "specs", Label: "spec_id"}, {Table: "warm"}}}}
	for name, c := range map[string]struct {
		sandbox Sandbox
		want    []FurtherKey
	}{
		"a label, a name and an id": {
			Sandbox{Ref: Ref{"daytona", "s1"}, Name: "spec-1", Labels: map[string]string{"spec_id": "7"}},
			[]FurtherKey{{0, "7"}, {1, "spec-1"}, {1, "s1"}}},
		"no label":           {Sandbox{Ref: Ref{"daytona", "s1"}, Name: "spec-1"}, []FurtherKey{{1, "spec-1"}, {1, "s1"}}},
		"an empty label":     {Sandbox{Ref: Ref{"daytona", "s1"}, Labels: map[string]string{"spec_id": ""}}, []FurtherKey{{1, "s1"}}},
		"a name like the id": {Sandbox{Ref: Ref{"daytona", "s1"}, Name: "s1"}, []FurtherKey{{1, "s1"}}},
		"a label that is no text": {
			Sandbox{Ref: Ref{"daytona", "s1"}, Labels: map[string]string{"spec_id": "\xff"}}, []FurtherKey{{1, "s1"}}},
		"a label without end": {
			Sandbox{Ref: Ref{"daytona", "s1"}, Labels: map[string]string{"spec_id": strings.Repeat("x", 1001)}}, []FurtherKey{{1, "s1"}}},
		"described before": {
			Sandbox{Ref: Ref{"daytona", "s1"}, Further: []FurtherKey{{1, "s1"}}}, []FurtherKey{{1, "s1"}}},
	} {
		t.Run(name, func(t *testing.T) {
			p.describe(&c.sandbox)
			if !slices.Equal(c.sandbox.Further, c.want) {
				t.Errorf("further = %v, want %v", c.sandbox.Further, c.want)
			}
		})
	}
	odd := Sandbox{Ref: Ref{"daytona", "s1"}, Task: "\xff"}
	if p.describe(&odd); !odd.OddLink {
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
			w := newWorld(t, anchor, world, more)
			w.only(rule)
			_, p := w.plan()
			acts := slices.ContainsFunc(stepLines(p), func(line string) bool { return line == "do terminate daytona/s1" })
			if acts != want {
				t.Errorf("%s with %q: steps %q, want it ended: %v", rule, more, stepLines(p), want)
			}
		}
	}
}

// A row of a task says more of a sandbox than a further table: a stopped task's sandbox is ended.
func TestATaskExplainsFirst(t *testing.T) {
	w := newWorld(t, anchor, "row t1 stopped updated=1h; box daytona/s1 running task=t1; explains specs daytona/s1")
	w.only("stop-ignored")
	if _, p := w.plan(); !slices.Equal(stepLines(p), do("terminate daytona/s1")) {
		t.Errorf("steps %q, want the stopped task's sandbox ended", stepLines(p))
	}
}

// What a further table explains makes the link to tasks no less trusted.
func TestExplainedIsNotLoose(t *testing.T) {
	w := newWorld(t, "box daytona/s{1..3} running; explains specs daytona/s1; explains specs daytona/s2")
	v := w.judge().view
	if got := v.countLinks(v.subjects()).loose; got != 1 {
		t.Errorf("%d sandboxes count as explained by nothing, want 1", got)
	}
}
