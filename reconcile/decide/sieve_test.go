package decide

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/fleet"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
	"github.com/sandkeeper/sandkeeper/test/raced"
)

// TestSieve judges passes over random worlds of which the ledger has seen a part: over everybody, and over the rows
// that are not plain. Where the latter stands both come to the same, to the last byte, and what was left out had
// nothing to say.
func TestSieve(t *testing.T) {
	t.Run("quick", func(t *testing.T) { sievesAsAll(t, quickly, 3, 120) })
	t.Run("full", func(t *testing.T) { sievesAsAll(t, fully, 8, 120) })
}

// sievesAsAll judges worlds with so many steady tasks besides, of which so many passes have to stand.
func sievesAsAll(t *testing.T, see func(*rand.Rand, *worldtest.World) reconcile.Snapshot, steady, least int) {
	stood, left, heard, fresh, fell := 0, 0, 0, 0, map[string]int{}
	for _, seed := range seeds(t, 800) {
		r := worldOf(t, seed)
		if seed%2 == 0 { // one with less trouble: of most others everybody is read
			r.lines = nil
			r.PolicyOf()
			for i := range r.IntN(3) {
				r.task(fmt.Sprintf("t%d", i))
			}
			for i := range r.IntN(4) {
				r.sandbox("daytona", i)
			}
		}
		for i := range steady {
			r.add("task p%d running started=2h updated=2h created=2h ev.heartbeat=5s ev.activity=5s sandbox=%s", i,
				r.one("", "p1", "s2"))
			r.add("box daytona/p%d running task=p%d created=2h", i, i)
		}
		w := worldtest.NewWorld(t, strings.Join(r.lines, "\n"))
		for range 1 + r.IntN(2) {
			j, p := PlanWorld(w)
			remember(w, j, p)
			w.S.Memory.Now = w.S.Memory.Now.Add(time.Minute)
		}
		for range 4 {
			forget(r.Rand, &w.S.Memory)
			s := see(r.Rand, w)
			listed := fleet.NewListing(&s.Memory)
			for i := range s.Sandboxes {
				listed.Add(&s.Sandboxes[i])
			}
			sieve := NewSieve(&s, &w.P, listed)
			if sieve == nil {
				fell["not sieved"]++
				break
			}
			some := s
			some.Tasks = nil
			for i := range s.Tasks {
				if row := s.Tasks[i]; !sieve.Plain(&row) {
					some.Tasks = append(some.Tasks, row)
				}
			}
			some.Plain = sieve.Rows()
			if s.Kind == reconcile.Full {
				some.Sandboxes = listed.Rest()
				some.Weigh()
				s.Weigh()
			}
			j := Judge(&some, &w.P)
			all := Judge(&s, &w.P)
			if !sieve.Stands(j) {
				fell["not standing"]++
			} else if n := some.Plain.Tasks; n > 0 {
				stood, left = stood+1, left+n
				heard, fresh = heard+len(some.Plain.Heard), fresh+len(some.Plain.Fresh)
				if got, want := comesTo(t, j, nil), comesTo(t, all, j); got != want {
					t.Fatalf("seed %d, run it again with -run TestSieve -seed %d\nworld:\n%s\nthe rows that are not plain come to\n%s\n"+
						"everybody comes to\n%s", seed, seed, strings.Join(r.lines, "\n"), got, want)
				}
			}
			remember(w, all, MakePlan(all, 8))
			w.S.Memory.Now = w.S.Memory.Now.Add(15 * time.Second)
		}
	}
	t.Logf("%d passes stood, %d rows were left out, %d heard, %d with new sandboxes; %v", stood, left, heard, fresh, fell)
	newest := min(heard, fresh)
	if steady == 3 { // nothing is new in a quick pass
		newest = heard
	}
	if !raced.On && *seedFlag == 0 && (stood < least || left < 3*least || newest < least || fell["not standing"] < 40) {
		t.Errorf("%d passes over some stood, %d rows were left out, of them %d heard and %d with new sandboxes, %d did not "+
			"stand: too few to show anything", stood, left, heard, fresh, fell["not standing"])
	}
}

// fully is a snapshot of the world as a full pass has it. Some rows and some sandboxes have changed since.
func fully(r *rand.Rand, w *worldtest.World) reconcile.Snapshot {
	s := w.S
	s.Kind, s.Sandboxes = reconcile.Full, slices.Clone(w.S.Sandboxes)
	s.Listings = maps.Clone(w.S.Listings)
	for name, seen := range s.Listings {
		seen.Complete, seen.Error = seen.Complete || r.IntN(2) > 0, ""
		s.Listings[name] = seen
	}
	for i := range s.Sandboxes {
		sb := &s.Sandboxes[i]
		if r.IntN(20) > 0 {
			continue
		}
		switch ago := sb.AsOf.Add(-time.Duration(r.IntN(400)-20) * time.Second); r.IntN(7) {
		case 0:
			sb.State = reconcile.SandboxStopped
		case 1:
			sb.Task = fmt.Sprint("p", r.IntN(8))
		case 2:
			sb.Task = ""
		case 3:
			sb.CreatedAt = ago
		case 4:
			sb.Name = fmt.Sprint("s", r.IntN(14))
		case 5:
			sb.SandboxKey = fmt.Sprint("s", r.IntN(14))
		case 6:
			sb.Owned = false
		}
	}
	changed(r, &s)
	return s
}

// quickly is a snapshot of the world as a quick pass has it, before anything is looked at: nothing is listed. Some rows
// have changed since.
func quickly(r *rand.Rand, w *worldtest.World) reconcile.Snapshot {
	s := quicklyAsItIs(r, w)
	changed(r, &s)
	return s
}

// quicklyAsItIs is the same of rows that have not changed.
func quicklyAsItIs(r *rand.Rand, w *worldtest.World) reconcile.Snapshot {
	s := w.S
	s.Kind, s.Whole, s.Listings, s.Sandboxes = reconcile.Quick, false, map[string]reconcile.ListingSeen{}, nil
	s.Lookups, s.Finds = map[reconcile.Ref]reconcile.Lookup{}, map[string]reconcile.FindLookup{}
	for ref, look := range w.S.Lookups {
		if r.IntN(4) == 0 {
			s.Lookups[ref] = look
			if !look.Gone && look.Error == "" {
				s.AddOwned(look.Sandbox)
			}
		}
	}
	return s
}

// forget takes some of what is remembered away, now and then all: as if that had come since.
func forget(r *rand.Rand, m *reconcile.Memory) {
	of := []int{0, 0, 10, 1}[r.IntN(4)]
	goes := func() bool { return of > 0 && r.IntN(of) == 0 }
	tasks, boxes := map[string]reconcile.TaskSeen{}, map[reconcile.Ref]reconcile.SandboxSeen{}
	for _, id := range slices.Sorted(m.Tasks.Keys()) {
		if !goes() {
			tasks[id] = m.Tasks.Of(id)
		}
	}
	for _, ref := range slices.SortedFunc(m.Sandboxes.Keys(), reconcile.CompareRefs) {
		if !goes() {
			boxes[ref] = m.Sandboxes.Of(ref)
		}
	}
	m.Tasks, m.Sandboxes = reconcile.RememberedOf(tasks), reconcile.RememberedOf(boxes)
}

// changed changes some rows, and lets workers be heard.
func changed(r *rand.Rand, s *reconcile.Snapshot) {
	beats := r.IntN(2) > 0
	for i := range s.Tasks {
		if t := &s.Tasks[i]; beats && r.IntN(4) > 0 && strings.HasPrefix(t.ID, "p") {
			t.Events.Heartbeat = t.AsOf.Add(-time.Duration(r.IntN(40)) * time.Second)
			t.UpdatedAt = t.Events.Heartbeat
		}
	}
	for i := range s.Tasks {
		t := &s.Tasks[i]
		if r.IntN(20) > 0 {
			continue
		}
		switch ago := t.AsOf.Add(-time.Duration(r.IntN(400)-20) * time.Second); r.IntN(6) {
		case 0:
			t.UpdatedAt = ago
		case 1:
			t.Events.Heartbeat = ago
		case 2:
			t.Events.Activity = ago
		case 3:
			t.Sandbox = fmt.Sprint("s", r.IntN(14))
		case 4:
			t.DeadlineAt = ago
		case 5:
			t.CreatedAt = t.AsOf.Add(time.Minute)
		}
	}
}

// comesTo is what a pass writes down and does, and its decisions on those subjects that another judgement has; on others
// it has to have found nothing, and to want nothing.
func comesTo(t *testing.T, j, only *Judgement) string {
	t.Helper()
	var decisions []Decision
	for i := range j.Decisions {
		d := &j.Decisions[i]
		if only != nil {
			if _, has := only.place(d.Subject.ID); !has {
				if len(d.Findings) > 0 || d.Look || d.Probe || d.Unlooked {
					t.Errorf("%s was left out, and is found to be %+v", d.Subject.ID, d)
				}
				continue
			}
		}
		decisions = append(decisions, *d)
	}
	tasks, boxes := remembered(j)
	text, err := json.MarshalIndent([]any{MakePlan(j, 7), decisions, j.Reports, j.Resolved, j.Sources, j.Counts, j.Fleet,
		tasks, boxes, Tallies(j.View, tasks, boxes), SeenTemplates(j.View, j.Decisions), j.Verdicts, j.Over,
		j.FalsePositives, j.Incidents, j.Demoted}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// remembered is what the ledger is to remember after the pass, of rows that were left out as well.
func remembered(j *Judgement) ([]reconcile.TaskSeen, []reconcile.SandboxSeen) {
	tasks, boxes, plain := SeenTasks(j.View), SeenSandboxes(j.View, j.Decisions), &j.View.S.Plain
	for _, t := range plain.Heard {
		tasks = append(tasks, t.Seen())
	}
	for _, b := range plain.Fresh {
		boxes = append(boxes, b.Seen())
	}
	slices.SortFunc(tasks, func(a, b reconcile.TaskSeen) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(boxes, func(a, b reconcile.SandboxSeen) int { return reconcile.CompareRefs(a.Ref, b.Ref) })
	return tasks, boxes
}
