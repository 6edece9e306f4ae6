package decide

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
	"github.com/sandkeeper/sandkeeper/test/raced"
)

// grounds are the sources that each rule's verdict rests on, told once more and in another
// way than in the table of rules.
var grounds = map[string]string{
	"assigned-stale": "tasks link listing", "sandbox-missing": "tasks link " +
		"listing", "heartbeat-lost": "tasks events listing",
	"deadline-exceeded": "tasks", "stop-ignored": "tasks", "finished-lingering": "tasks listing",
	"orphan": "tasks link listing", "executions-stuck": "tasks probes listing",
	"inactive": "tasks events listing activity", "over-age": "listing", "record-without-container": "listing",
	"duplicate": "tasks link listing", "provisioning-stuck": "listing", "idle-broken": "probes " +
		"listing", "errored": "listing",
}

// TestProperties judges and plans random small worlds, four passes each with what the
// ledger remembers, and checks what must always hold.
func TestProperties(t *testing.T) {
	done := map[string]int{}
	for _, seed := range seeds(t, 1200) {
		r := worldOf(t, seed)
		w := worldtest.NewWorld(t, r.text)
		for pass := range 3 {
			c := &check{t: t, seed: seed, text: r.text, w: w}
			c.j, c.p = PlanWorld(w)
			c.partition()
			c.steps()
			c.budgets()
			c.incidents()
			c.holds()
			if t.Failed() {
				t.Fatalf("seed %d, pass %d, run it again with -run TestProperties -seed %d\nworld:\n%s", seed, pass, seed, r.text)
			}
			for i := range c.p.Steps {
				if s := &c.p.Steps[i]; len(s.HeldBy) == 0 {
					done[s.Rule]++
				}
			}
			remember(w, c.j, c.p)
			w.S.Memory.Now = w.S.Memory.Now.Add(time.Minute)
		}
	}
	if raced.On {
		return // too few to come to everything
	}
	for rule := range grounds {
		if done[rule] == 0 && *seedFlag == 0 {
			t.Errorf("no random world comes to a step of %s: the properties say nothing of it", rule)
		}
	}
}

// A check is one pass over one random world.
type check struct {
	t    *testing.T
	seed uint64
	text string
	w    *worldtest.World
	j    *Judgement
	p    *Plan
}

// partition: one decision a subject, every sandbox and every live task in exactly one.
func (c *check) partition() {
	subjects, boxes, tasks := map[string]int{}, map[reconcile.Ref]int{}, map[string]int{}
	for i := range c.j.Decisions {
		s := c.j.Decisions[i].Subject
		subjects[s.ID]++
		if s.Task != nil && s.LinkState == reconcile.LinkLive {
			tasks[s.Task.ID]++
		}
		for _, b := range s.Boxes {
			boxes[b.Ref]++
		}
	}
	for id, n := range subjects {
		if n != 1 {
			c.t.Errorf("%d decisions on %s", n, id)
		}
	}
	for _, s := range c.w.S.Sandboxes {
		if boxes[s.Ref] != 1 {
			c.t.Errorf("sandbox %s is in %d subjects", s.Ref, boxes[s.Ref])
		}
	}
	for _, t := range c.w.S.Tasks {
		if tasks[t.ID] != 1 {
			c.t.Errorf("task %s is in %d subjects", t.ID, tasks[t.ID])
		}
	}
	bySubject := func(a, b Decision) int { return strings.Compare(a.Subject.ID, b.Subject.ID) }
	if !slices.IsSortedFunc(c.j.Decisions, bySubject) {
		c.t.Error("decisions are not in order of subject")
	}
}

// holds: what the ledger keeps of a hold is read back as it was made.
func (c *check) holds() {
	var all reconcile.HeldBy
	for i := range c.p.Findings {
		all = append(all, c.p.Findings[i].HeldBy...)
	}
	for i := range c.p.Steps {
		all = append(all, c.p.Steps[i].HeldBy...)
	}
	for _, one := range all {
		if read := reconcile.ParseHeld(one.String()); read != one {
			c.t.Errorf("hold %+v is read back as %+v", one, read)
		}
	}
}

// steps: what is done is allowed.
func (c *check) steps() {
	rule := map[string]string{}
	for i := range c.p.Steps {
		s := &c.p.Steps[i]
		if before, ok := rule[s.Subject]; ok && before != s.Rule {
			c.t.Errorf("%s is repaired by %s and by %s", s.Subject, before, s.Rule)
		}
		rule[s.Subject] = s.Rule
		if len(s.HeldBy) > 0 {
			continue
		}
		d := c.decision(s.Subject)
		switch {
		case d == nil:
			c.t.Errorf("%s of %s, on which nothing was decided", s.Step, s.Subject)
			continue
		case s.Mode != reconcile.Enforce || c.w.S.Memory.Controls.Modes[s.Rule] != "":
			c.t.Errorf("%s is done by %s in mode %s", s.Step, s.Rule, s.Mode)
		}
		c.trusted(s, d)
		c.wished(s, d)
		if s.Step == reconcile.StepTerminate {
			c.terminate(s, d)
		} else {
			c.row(s, d)
		}
	}
}

func (c *check) decision(subject string) *Decision {
	for i := range c.j.Decisions {
		if c.j.Decisions[i].Subject.ID == subject {
			return &c.j.Decisions[i]
		}
	}
	return nil
}

// trusted: no step while a source that it rests on is not.
func (c *check) trusted(s *PlannedStep, d *Decision) {
	at := []string{""}
	for _, b := range d.Subject.Boxes {
		at = append(at, b.Provider)
	}
	if len(d.Subject.Boxes) == 0 {
		at = append(at, c.j.View.P.Candidates(d.Subject.Task)...)
	}
	for _, source := range c.j.Sources {
		kind, which, _ := strings.Cut(source.Name, ":")
		if !source.Trusted && worldtest.Contains(strings.Fields(grounds[s.Rule]), kind) && slices.Contains(at, which) &&
			!c.released(source.Name, s.Subject) {
			c.t.Errorf("%s of %s by %s while %s is not trusted: %s", s.Step, s.Subject, s.Rule, source.Name, source.Reason)
		}
	}
}

func (c *check) released(what, subject string) bool {
	return slices.ContainsFunc(c.w.S.Memory.Controls.Releases, func(r reconcile.Release) bool {
		return r.What == what && slices.Contains(r.Subjects, subject)
	})
}

// wished: no step against an operator's request.
func (c *check) wished(s *PlannedStep, d *Decision) {
	m := &c.w.S.Memory.Controls
	for _, p := range m.Pauses {
		if p.Scope == "all" || p.Scope == "rule:"+s.Rule || s.Provider != "" && p.Scope == "provider:"+s.Provider {
			c.t.Errorf("%s of %s although %s is paused", s.Step, s.Subject, p.Scope)
		}
	}
	for _, h := range m.Holds {
		held := h.Target == "task:"+s.Task || s.Sandbox != "" && (h.Target == "sandbox:"+s.Sandbox ||
			h.Target == "provider:"+s.Provider)
		for _, b := range d.Subject.Boxes {
			held = held || b.Labels["keep"] == "yes" && h.Target == "label:keep=yes" || h.Target == "sandbox:"+b.ID
		}
		if held {
			c.t.Errorf("%s of %s although %s is held", s.Step, s.Subject, h.Target)
		}
	}
	if b, open := c.p.Breakers[s.Rule]; open && slices.Contains(b.Subjects, s.Subject) {
		c.t.Errorf("%s of %s although the breaker of %s lists it", s.Step, s.Subject, s.Rule)
	}
}

// terminate: only what is here, ours, in a known state, and not a live task's by mistake.
func (c *check) terminate(s *PlannedStep, d *Decision) {
	b := boxOf(d, reconcile.Ref{Provider: s.Provider, ID: s.Sandbox})
	switch {
	case b == nil || !b.Here || b.Gone:
		c.t.Errorf("%s of %s/%s, which is not here", s.Step, s.Provider, s.Sandbox)
		return
	case !b.Owned:
		c.t.Errorf("%s of %s, which is not proven ours", s.Step, b.Ref)
	case b.State == reconcile.SandboxUnknown || b.State == reconcile.SandboxEnded:
		c.t.Errorf("%s of %s in state %q", s.Step, b.Ref, b.State)
	}
	fate := d.Subject.LinkState
	if fate == reconcile.LinkExplained || fate == reconcile.LinkUnread || fate == reconcile.LinkUnparsable {
		c.t.Errorf("%s of %s, whose task is %s", s.Step, b.Ref, fate)
	}
	if fate == reconcile.LinkUnknown && !c.w.P.Providers[b.Provider].Exclusive {
		c.t.Errorf("%s of %s, which names a stranger's task in a shared account", s.Step, b.Ref)
	}
	for _, t := range c.w.S.Tasks {
		if d.Subject.Task != nil && t.ID == d.Subject.Task.ID {
			continue
		}
		here := (t.Provider == "" || t.Provider == b.Provider) && c.w.P.Tasks.SandboxKnown
		if b.Task == t.ID || here && b.SandboxKey != "" && b.SandboxKey == t.Sandbox && b.Task != d.subject() && t.State.Live() {
			c.t.Errorf("%s of %s, which live task %s uses", s.Step, b.Ref, t.ID)
		}
	}
}

// subject is the id of the live task that was decided on, "" for none.
func (d *Decision) subject() string {
	if d.Subject.Task == nil || d.Subject.LinkState != reconcile.LinkLive {
		return ""
	}
	return d.Subject.Task.ID
}

func boxOf(d *Decision, ref reconcile.Ref) *reconcile.SeenSandbox {
	for i := range d.Subject.Boxes {
		if d.Subject.Boxes[i].Ref == ref {
			return &d.Subject.Boxes[i]
		}
	}
	return nil
}

// row: only a live row in a mapped status, never against a life sign or a finish.
func (c *check) row(s *PlannedStep, d *Decision) {
	t := d.Subject.Task
	if t == nil || d.Subject.LinkState != reconcile.LinkLive || !t.State.Live() {
		c.t.Errorf("%s of task %s, which is not live and mapped", s.Step, s.Task)
		return
	}
	silent := t.AsOf.Sub(t.LastSeen()) > 90*time.Second || view.TaskAhead(t) // that one counts from when it was first seen
	if !silent && worldtest.Contains([]string{"assigned-stale", "sandbox-missing", "heartbeat-lost"}, s.Rule) {
		c.t.Errorf("%s of task %s by %s, %s after its life sign", s.Step, s.Task, s.Rule, t.AsOf.Sub(t.LastSeen()))
	}
	vetoed := slices.ContainsFunc(d.Findings, func(f reconcile.Finding) bool { return f.Rule == "finished-unrecorded" })
	if vetoed && t.AsOf.Sub(t.Events.Finished) < time.Hour {
		c.t.Errorf("%s of task %s, whose worker finished a moment ago", s.Step, s.Task)
	}
	if s.Step == reconcile.StepRequeue && (!t.Retries || t.Attempts >= t.MaxAttempts) {
		c.t.Errorf("requeue of task %s without attempts left", s.Task)
	}
}

// budgets: remedies begun, each counted once.
func (c *check) budgets() {
	total, shared := map[string]bool{}, map[string]bool{}
	for i := range c.p.Steps {
		s := &c.p.Steps[i]
		if len(s.HeldBy) == 0 {
			total[s.Remedy] = true
			if !s.RowOnly {
				shared[s.Remedy] = true
			}
		}
	}
	limits := c.w.P.Limits
	if n := len(total); n > limits.PerPass || n > max(limits.PerHour-c.w.S.Memory.Spent.Hour, 0) {
		c.t.Errorf("%d remedies begun, per_pass %d, per_hour %d of which %d are "+
			"spent", n, limits.PerPass, limits.PerHour, c.w.S.Memory.Spent.Hour)
	}
	if n := len(shared); n > max(1, int(limits.Share*float64(c.j.Fleet)+1e-9)) {
		c.t.Errorf("%d remedies that end something begun, share %g of %d", n, limits.Share, c.j.Fleet)
	}
}
