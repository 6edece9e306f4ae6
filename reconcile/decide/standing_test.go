package decide

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
	"github.com/sandkeeper/sandkeeper/test/raced"
)

// An again is a world in which quick passes follow one another, some seconds apart, while rows, events and what the
// ledger has change.
type again struct {
	*rand.Rand
	*worldtest.World
	st       Standing
	recalled *reconcile.Recalled
	events   map[string]reconcile.Events // of each row at the last comparison
	read     int
}

// TestStanding judges one quick pass after the other over random worlds: over everybody, and over what has changed
// since the last one. Where the latter stands both come to the same, to the last byte.
func TestStanding(t *testing.T) {
	passes, left, stood, quiet, due, heard, came, acts := 0, 0, 0, 0, 0, 0, 0, 0
	for _, seed := range seeds(t, 600) {
		r := worldOf(t, seed)
		r.lines = nil
		r.PolicyOf()
		for i := range r.IntN(3) {
			r.task(fmt.Sprintf("t%d", i))
		}
		for i := range 6 {
			r.add("task p%d running started=2h updated=2h created=2h ev.heartbeat=5s ev.activity=%s sandbox=%s", i,
				r.one("5s", "5s", "5m"), r.one("", "", "", "p1", "s2"))
			r.add("box daytona/p%d running task=p%d created=2h%s", i, i, r.one("", " key=p1", " key=s2"))
		}
		if r.IntN(2) == 0 {
			r.add("rule %s mode=enforce remedy=terminate", r.one("inactive", "deadline-exceeded"))
		}
		w := worldtest.NewWorld(t, strings.Join(r.lines, "\n"))
		if r.IntN(4) == 0 {
			w.P.Rules["systemic"] = reconcile.RulePolicy{Mode: reconcile.Enforce, Count: 3, Window: time.Hour}
		}
		looked := w.S.Lookups
		a := &again{Rand: r.Rand, World: w, recalled: &reconcile.Recalled{}, events: map[string]reconcile.Events{}}
		for range 2 {
			j, p := PlanWorld(w)
			remember(w, j, p)
			a.after(time.Second)
		}
		for range 24 {
			a.after([]time.Duration{time.Second, time.Second, time.Second, 2 * time.Second, 5 * time.Second, 20 * time.Second,
				time.Minute, 5 * time.Minute}[r.IntN(8)])
			a.changes()
			passes++
			if w.S.Lookups = maps.Clone(looked); r.IntN(2) == 0 {
				for i := range w.S.Sandboxes {
					w.S.Lookups[w.S.Sandboxes[i].Ref] = reconcile.Lookup{Sandbox: w.S.Sandboxes[i]}
				}
			}
			s := quicklyAsItIs(r.Rand, w)
			a.recalls(&s)
			var all *Judgement
			before := beforeRows(s)
			if sieve := NewSieveAgain(&before, &w.P, &a.st); sieve != nil {
				some := a.reads(t, &s, sieve)
				some.Plain = sieve.Rows()
				j := Judge(&some, &w.P)
				all = Judge(&s, &w.P)
				if n := some.Plain.Tasks; sieve.StandsDue(j) && n > 0 {
					stood, left = stood+1, left+n
					if !sieve.Stands(j) {
						came++
					}
					acts += len(MakePlan(j, 7).Actions)
					if heard += len(some.Plain.Heard); a.read == len(some.Tasks) {
						quiet++
					}
					if got, want := comesTo(t, j, nil), comesTo(t, all, j); got != want {
						t.Fatalf("seed %d, run it again with -run TestStanding -seed %d\nworld:\n%s\nwhat has changed comes to\n%s\n"+
							"everybody comes to\n%s", seed, seed, strings.Join(r.lines, "\n"), got, want)
					}
				} else if n > 0 {
					due++
				}
			} else {
				all = Judge(&s, &w.P)
			}
			remember(w, all, MakePlan(all, 8))
		}
	}
	t.Logf("%d passes, %d stood, %d left out %d rows without reading one that is plain, %d heard, %d did not stand, "+
		"%d stood with what came due, %d actions", passes, stood, quiet, left, heard, due, came, acts)
	if !raced.On && *seedFlag == 0 && (stood < 1000 || quiet < 200 || heard < 200 || due < 100 || acts < 10) {
		t.Errorf("of %d passes %d stood, %d read no row that is plain, %d rows were heard, %d did not stand, and %d actions "+
			"were planned: too few to show anything", passes, stood, quiet, heard, due, acts)
	}
}

// beforeRows is the snapshot before any row is read, or any sandbox looked at.
func beforeRows(s reconcile.Snapshot) reconcile.Snapshot {
	s.Tasks, s.Rows, s.Absent, s.Sandboxes = nil, nil, nil, nil
	s.Lookups, s.Finds = nil, nil
	return s
}

// after lets time pass. All clocks go alike.
func (a *again) after(d time.Duration) {
	s := &a.S
	s.Memory.Now, s.Memory.LastPass, s.T0 = s.Memory.Now.Add(d), s.Memory.Now, s.T0.Add(d)
	s.Clock.Now = s.T0
	for i := range s.Tasks {
		s.Tasks[i].AsOf = s.T0
	}
	for id, row := range s.Rows {
		row.AsOf = s.T0
		s.Rows[id] = row
	}
	for i := range s.Sandboxes {
		s.Sandboxes[i].AsOf = s.Sandboxes[i].AsOf.Add(d)
	}
}

// changes lets rows, events and what is remembered change.
func (a *again) changes() {
	s := &a.S
	s.Tasks, s.Rows, s.Absent = slices.Clone(s.Tasks), maps.Clone(s.Rows), maps.Clone(s.Absent)
	busy := a.IntN(3) > 0
	for i := 0; busy && i < len(s.Tasks); i++ {
		t := &s.Tasks[i]
		if a.IntN(6) > 0 {
			continue
		}
		ago := t.AsOf.Add(-time.Duration(a.IntN(60)) * time.Second)
		switch n := a.IntN(24); {
		case n < 8:
			t.Events.Heartbeat = ago
		case n < 12:
			t.Events.Heartbeat, t.UpdatedAt = ago, ago
		case n < 14:
			t.Events.Activity = ago
		case n < 15:
			t.HeartbeatAt = ago
		case n < 16:
			t.DeadlineAt = t.AsOf.Add(time.Duration(a.IntN(60)-10) * time.Second)
		case n < 17:
			t.Error += "x"
		case n < 18:
			t.Sandbox = fmt.Sprint("s", a.IntN(14))
		case n < 19:
			t.State, t.Status = reconcile.TaskAssigned, "assigned"
		case n < 20:
			t.Version, t.CreatedAt = t.Version+"1", t.AsOf.Add(time.Minute)
		case n < 22: // it ends
			over := *t
			over.State, over.Status = reconcile.TaskCompleted, "completed"
			s.Rows[t.ID] = over
			s.Tasks = slices.Delete(s.Tasks, i, i+1)
		case n < 23: // it is deleted
			s.Absent[t.ID] = true
			s.Tasks = slices.Delete(s.Tasks, i, i+1)
		default:
			another := *t
			another.ID += "n"
			if !slices.ContainsFunc(s.Tasks, func(t reconcile.Task) bool { return t.ID == another.ID }) {
				s.Tasks = append(s.Tasks, another)
			}
		}
	}
	if a.IntN(4) == 0 { // of how often rules are wrong something else is known
		n := 1 + a.IntN(40)
		m := &s.Memory
		m.FalsePositives = map[string]reconcile.Tally{"inactive": {Verdicts: n, FalsePositives: a.IntN(3)}}
		m.Armed = map[string]int64{"inactive": int64(n)}
		m.Controls.Proofs = []reconcile.Proof{{Rule: "inactive"}}
	}
	if a.IntN(20) == 0 { // the config is another one
		for _, rule := range []string{"heartbeat-lost", "inactive"} {
			p := a.P.Rules[rule]
			p.After = []time.Duration{20 * time.Second, 90 * time.Second, 10 * time.Minute}[a.IntN(3)]
			a.P.Rules = maps.Clone(a.P.Rules)
			a.P.Rules[rule] = p
		}
	}
	if m := &s.Memory; a.IntN(6) == 0 {
		for id, seen := range m.Tasks.All() {
			switch seen.ErrorSum++; a.IntN(8) {
			case 0:
				m.Tasks.Put(id, seen)
			case 1:
				m.Tasks.Drop(id)
			}
		}
		for ref, seen := range m.Sandboxes.All() {
			switch seen.ResumedAt = m.Now; a.IntN(12) {
			case 0:
				m.Sandboxes.Put(ref, seen)
			case 1:
				seen.Task = fmt.Sprint("p", a.IntN(6))
				m.Sandboxes.Put(ref, seen)
			case 2:
				m.Sandboxes.Drop(ref)
			case 3:
				seen.GoneAt = m.Now
				m.Sandboxes.Put(ref, seen)
			}
		}
	}
}

// recalls recalls what has changed.
func (a *again) recalls(s *reconcile.Snapshot) {
	a.recalled = worldtest.RecallAgain(a.recalled, &s.Memory, !a.st.Knows())
	a.st.Recalled(a.recalled)
}

// reads reads what has changed, as a task database does.
func (a *again) reads(t *testing.T, s *reconcile.Snapshot, sieve *Sieve) reconcile.Snapshot {
	t.Helper()
	sums, rows := map[int]int64{}, map[string]*reconcile.Task{}
	var all, some []reconcile.RowSum
	for i := range s.Tasks {
		row := s.Tasks[i]
		sum := reconcile.RowSum{ID: row.ID, Bucket: int(reconcile.Sum(row.ID) % 7)}
		events, known := a.events[row.ID]
		sum.Heard = known && events != row.Events
		a.events[row.ID], rows[row.ID] = row.Events, &s.Tasks[i]
		row.AsOf, row.Events = time.Time{}, reconcile.Events{}
		text, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		h := fnv.New64a()
		h.Write(text)
		sum.Sum = int64(h.Sum64())
		sums[sum.Bucket] ^= sum.Sum
		all = append(all, sum)
	}
	for bucket, was := range sieve.Sums() {
		if now := sums[bucket]; now == was {
			delete(sums, bucket)
		} else {
			sums[bucket] = now
		}
	}
	for _, row := range all {
		if _, changed := sums[row.Bucket]; changed || row.Heard {
			some = append(some, row)
		}
	}
	ids, ok := sieve.Pick(sums, some)
	if !ok {
		t.Fatal("rows are there twice")
	}
	out := *s
	out.Tasks = nil
	slices.Sort(ids)
	slices.Reverse(ids) // rows that are read alone come in any order
	for _, id := range ids {
		if row := *rows[id]; !sieve.Plain(&row) {
			out.Tasks = append(out.Tasks, row)
		}
	}
	if a.read = len(ids); !sieve.Ended(s.T0) {
		t.Fatal("rows were not read")
	}
	return out
}
