package run_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
)

// A said is what is said of one subject, with what may differ between two looks left out.
type said struct {
	Subject      string
	Kept, KeptBy string
	Here         []string // sandboxes of it that were seen now
	Findings     []reconcile.Finding
	Steps        []string
}

func whatIsSaid(d *decide.Decision, p *decide.Plan) said {
	out := said{Subject: d.Subject.ID, Kept: d.Kept, KeptBy: d.KeptBy}
	for _, b := range d.Subject.Boxes {
		if b.Here {
			out.Here = append(out.Here, b.ID)
		}
	}
	for _, f := range p.Findings {
		if f.Subject == out.Subject {
			f.Evidence = nil
			out.Findings = append(out.Findings, f)
		}
	}
	for _, s := range p.Steps {
		if s.Subject == out.Subject {
			out.Steps = append(out.Steps, string(s.Step)+" "+s.Sandbox+" held by "+s.HeldBy.String())
		}
	}
	return out
}

// explain asks what is known of an id. It fails when anything was changed for it.
func (s *stage) explain(id string) (*run.Explained, *life) {
	s.Helper()
	h, err := s.ledger.Subject(s.Context(), id)
	if err != nil && !errors.Is(err, reconcile.ErrNotFound) {
		s.Fatal(err)
	}
	l := &life{}
	e, err := s.keeper("asker", l).Explain(s.Context(), id, h)
	if err != nil {
		s.Fatal(err)
	}
	for _, call := range l.calls {
		if slices.Contains(changing, call) {
			s.Errorf("explain %s called %s", id, call)
		}
	}
	return e, l
}

// TestExplainSaysWhatAFullLookSays: of every subject, after whatever happened since the last
// pass, the look at the one thing comes to what a look at everything comes to, without a
// listing.
func TestExplainSaysWhatAFullLookSays(t *testing.T) {
	for name, happens := range map[string]func(*stage){
		"nothing happened": func(*stage) {},
		"a sandbox died": func(s *stage) {
			// Which task misses a sandbox is known as of the last listing: with an orphan beside it,
			// only a look at everything makes the two a pair that is held.
			s.cloud.Change("sb-h1", func(b *simulated.Sandbox) { b.Gone, b.State = true, reconcile.SandboxEnded })
			for _, id := range []string{"sb-orphan", "sb-orphan2", "sb-orphan3"} {
				s.cloud.Change(id, func(b *simulated.Sandbox) { b.Gone, b.State = true, reconcile.SandboxEnded })
			}
		},
		"a sandbox stopped": func(s *stage) {
			s.cloud.Change("sb-h2", func(b *simulated.Sandbox) { b.State = reconcile.SandboxStopped })
		},
		"a task was completed": func(s *stage) {
			s.table.change("h1", func(r *row) { r.State = reconcile.TaskCompleted })
		},
		"a task was stopped": func(s *stage) {
			s.table.change("h2", func(r *row) { r.State = reconcile.TaskStopped })
		},
		"a worker fell silent": func(s *stage) {
			s.table.change("h3", func(r *row) { r.beats, r.Events.Heartbeat = false, ago(5*time.Minute) })
		},
		"a task began with a sandbox that no listing has shown": func(s *stage) {
			s.put(row{beats: true}, "fresh")
		},
		"a task got a second sandbox": func(s *stage) {
			s.cloud.Put(simulated.Sandbox{ID: "sb-second", CreatedAt: ago(time.Second),
				Labels: map[string]string{"app": "ours", "task": "h4"}})
		},
		"somebody else's sandbox names a task of ours": func(s *stage) {
			s.cloud.Put(simulated.Sandbox{ID: "sb-theirs", CreatedAt: ago(time.Hour), Labels: map[string]string{"task": "h1"}})
		},
		"a row names somebody else's sandbox": func(s *stage) {
			s.table.change("h1", func(r *row) { r.Sandbox = "sb-foreign" })
		},
		"an orphan was given to a task": func(s *stage) {
			s.cloud.Change("sb-orphan", func(b *simulated.Sandbox) { b.Labels["task"] = "h1" })
		},
		"one is held": func(s *stage) {
			_, err := s.ledger.Hold(s.Context(), reconcile.Hold{Target: "sandbox:sb-orphan", Author: "ann", Reason: "look"})
			if err != nil {
				s.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := opened(t, append(slices.Clone(everything), "orphan2", "orphan3")...)
				s.policy.Limits.PerPass = 100
				s.policy.Limits.Share = 1
				happens(s)
				r, err := s.keeper("looker", &life{}).Plan(t.Context(), reconcile.Full)
				if err != nil {
					t.Fatal(err)
				}
				if len(r.Judged.Decisions) < 7 || len(r.Plan.Steps) < 2 {
					t.Errorf("%d subjects and %d steps prove little", len(r.Judged.Decisions), len(r.Plan.Steps))
				}
				for i := range r.Judged.Decisions {
					s.saysTheSame(&r.Judged.Decisions[i], r.Plan)
				}
			})
		})
	}
}

func (s *stage) saysTheSame(want *decide.Decision, p *decide.Plan) {
	s.Helper()
	ids := []string{want.Subject.ID}
	for _, b := range want.Subject.Boxes {
		ids = append(ids, b.ID, b.Ref.String())
	}
	if want.Subject.Task != nil {
		ids = append(ids, want.Subject.Task.ID)
	}
	for _, id := range ids {
		e, l := s.explain(id)
		if e.Decision == nil {
			s.Errorf("explain %s found nothing, want %s", id, want.Subject.ID)
			continue
		}
		if diff := cmp.Diff(whatIsSaid(want, p), whatIsSaid(e.Decision, e.Plan)); diff != "" {
			s.Errorf("explain %s (-full look +explain):\n%s", id, diff)
		}
		if slices.Contains(l.calls, "List") || e.Whole {
			s.Errorf("explain %s listed a provider", id)
		}
	}
}

// TestExplainFindsWhatNoPassJudges: what is over, what is not ours and what nobody knows.
func TestExplainFindsWhatNoPassJudges(t *testing.T) {
	for name, test := range map[string]struct {
		id                    string
		happens               func(*stage)
		decided, row, foreign bool
		whole                 bool
	}{
		"a task that is over and has no sandbox": {id: "h1", row: true, happens: func(s *stage) {
			s.table.change("h1", func(r *row) { r.State = reconcile.TaskCompleted })
			s.cloud.Change("sb-h1", func(b *simulated.Sandbox) { b.Gone, b.State = true, reconcile.SandboxEnded })
		}},
		"a sandbox of somebody else": {id: "sb-foreign", foreign: true, happens: func(*stage) {}},
		"an id that nobody knows":    {id: "nobody", whole: true, happens: func(*stage) {}},
		"a sandbox that no pass has seen yet": {id: "sb-young", decided: true, happens: func(s *stage) {
			s.lonely("sb-young")
		}},
		"the last pass was long ago": {id: "h1", decided: true, whole: true, happens: func(*stage) {
			time.Sleep(10 * time.Minute)
		}},
		"an orphan that is gone since": {id: "sb-orphan", happens: func(s *stage) {
			s.cloud.Change("sb-orphan", func(b *simulated.Sandbox) { b.Gone, b.State = true, reconcile.SandboxEnded })
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := opened(t, "orphan")
				test.happens(s)
				e, l := s.explain(test.id)
				if got := e.Decision != nil; got != test.decided {
					t.Errorf("a decision: %t, want %t", got, test.decided)
				}
				if got := e.Row != nil; got != test.row {
					t.Errorf("a row: %t, want %t", got, test.row)
				}
				if got := len(e.Foreign) > 0; got != test.foreign {
					t.Errorf("somebody else's: %t, want %t", got, test.foreign)
				}
				if got := slices.Contains(l.calls, "List"); got != test.whole || e.Whole != test.whole {
					t.Errorf("listed: %t, said so: %t, want %t", got, e.Whole, test.whole)
				}
			})
		})
	}
}

// TestExplainShowsWhatTheLastPassHeldBack: a budget is the fleet's, so a look at one subject
// takes the last pass's word for it.
func TestExplainShowsWhatTheLastPassHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t, "orphan", "orphan2", "orphan3")
		s.policy.Limits.PerPass = 1
		s.cloud.Inject(simulated.Fault{On: simulated.Delete, Status: 500})
		r := s.once()
		held := 0
		for _, f := range r.Plan.Findings {
			if len(f.HeldBy) == 0 {
				continue
			}
			held++
			e, _ := s.explain(f.Sandbox)
			if len(e.Plan.Steps) != 1 || e.Plan.Steps[0].HeldBy.String() != f.HeldBy[0].String()+", by the last pass" {
				t.Errorf("explain %s: steps %+v, want one held by %s", f.Sandbox, e.Plan.Steps, f.HeldBy)
			}
		}
		if held != 2 {
			t.Errorf("the pass held %d of 3 back, want 2", held)
		}
	})
}

// TestExplainReadsTheRowLast: a task that ends while its sandboxes are looked at is over, and
// not one that lost its sandbox.
func TestExplainReadsTheRowLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t)
		h, err := s.ledger.Subject(t.Context(), "h1")
		if err != nil {
			t.Fatal(err)
		}
		l := &life{before: before("Get", func() {
			s.table.change("h1", func(r *row) { r.State = reconcile.TaskCompleted })
			s.cloud.Change("sb-h1", func(b *simulated.Sandbox) { b.Gone, b.State = true, reconcile.SandboxEnded })
		})}
		e, err := s.keeper("asker", l).Explain(t.Context(), "h1", h)
		if err != nil {
			t.Fatal(err)
		}
		if e.Decision != nil || e.Row == nil || e.Row.State != reconcile.TaskCompleted {
			t.Errorf("decision %+v and row %+v, want no decision and a completed row", e.Decision, e.Row)
		}
	})
}
