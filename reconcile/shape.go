package reconcile

import (
	"slices"
	"time"
)

// A Shape is a class of platforms: what its tasks and sandboxes are to each other, and which defaults of the rules
// follow. What the config says of a rule wins, and so does a preset's threshold.
type Shape struct {
	Name  string
	Means string

	After  map[string]time.Duration // thresholds
	Report []string                 // rules that only report
	Stop   []string                 // rules that stop and never end; they report where a provider cannot
	Off    []string                 // rules that run only when the config names them
	Keep   bool                     // what a task explains is never ended
	Many   bool                     // several sandboxes at once are usual for a task
}

// slow are thresholds for platforms whose machines take their time: GARM waits 20 minutes for a runner, Kortix 30 for
// a box, others 55. How long a silence may be is no matter of the class: heartbeat-lost measures it, and a failed
// probe has to agree.
func slow() map[string]time.Duration {
	return map[string]time.Duration{"assigned-stale": time.Hour, "provisioning-stuck": time.Hour,
		"pending-stuck": time.Hour}
}

// Shapes are the classes that the config may name, the default first.
var Shapes = []Shape{
	{Name: "task-per-sandbox", Means: "a task has a sandbox of its own, which ends with it"},
	{
		Name: "workspace", Means: "a person's sandbox, which rests between uses and holds what they work at",
		After: slow(),
		// Kortix's provider once deleted 25 boxes that were only parked: nothing that may hold files is ended.
		Report: []string{"duplicate", "deadline-exceeded", "errored", "record-without-container"},
		Stop:   []string{"orphan", "stop-ignored", "finished-lingering"},
		Off:    []string{"inactive"}, Keep: true,
	},
	{
		Name: "runner-pool", Means: "rows are machines: some wait for work, for days",
		After: slow(), Off: []string{"inactive"},
	},
	{
		Name: "queue-workers", Means: "sandboxes are workers that outlive tasks and are shared by them",
		After: slow(), Report: []string{"orphan", "duplicate"}, Off: []string{"inactive"}, Keep: true, Many: true,
	},
	{
		Name: "workflow", Means: "runs that wait for days, with a sandbox or without, and change it between attempts",
		After: slow(), Report: []string{"duplicate", "finished-lingering"}, Off: []string{"inactive"}, Many: true,
	},
}

// ShapeNames are the names that the config may give.
var ShapeNames = shapeNames()

func shapeNames() []string {
	names := make([]string, len(Shapes))
	for i := range Shapes {
		names[i] = Shapes[i].Name
	}
	return names
}

// ShapeNamed is the shape of that name; the default where there is none.
func ShapeNamed(name string) *Shape {
	for i := range Shapes {
		if Shapes[i].Name == name {
			return &Shapes[i]
		}
	}
	return &Shapes[0]
}

// Settings are those of the rule before a config is asked: its defaults under a preset, and in a class of platforms.
func (r *Rule) Settings(preset, shape string) RulePolicy {
	s := ShapeNamed(shape)
	p := r.Default
	p.Rollout, p.Remedy = 100, r.Remedies[0]
	if slices.Contains(s.Report, r.Name) {
		p.Remedy = Report
	}
	if slices.Contains(s.Stop, r.Name) {
		p.Remedy = Stop
	}
	if after := s.After[r.Name]; after != 0 {
		p.After = after
	}
	if after := r.Presets[preset]; after != 0 {
		p.After = after
	}
	return p
}

// OffIn reports whether the rule runs in the class of platforms only when the config names it.
func (r *Rule) OffIn(shape string) bool {
	return r.Off || slices.Contains(ShapeNamed(shape).Off, r.Name)
}
