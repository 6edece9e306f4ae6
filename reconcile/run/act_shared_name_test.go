package run_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Where all sandboxes are called alike, by their template, and rows hold that name, what is left over is ended all the
// same: each task that works has its own of that name, by its label. The last look before the act asks that too.
func TestAnAlikeNameShieldsNothingLeftOver(t *testing.T) {
	left := func(s *stage) {
		s.byLabelAlone()
		s.put(row{Task: reconcile.Task{State: reconcile.TaskCompleted}}, "over")
		s.lonely("sb-orphan")
		for _, id := range []string{"h1", "h2", "h3", "h4", "over"} {
			s.table.change(id, func(r *row) { r.Sandbox = "tpl" })
		}
		for _, id := range []string{"sb-h1", "sb-h2", "sb-h3", "sb-h4", "sb-over", "sb-orphan"} {
			s.cloud.Change(id, func(b *simulated.Sandbox) { b.Name = "tpl" })
		}
		s.watch(15)
	}
	for name, c := range map[string]struct {
		then func(*stage)
		want []string
	}{
		"each has its own": {func(*stage) {}, []string{"sb-orphan", "sb-over"}},
		"one works in another's": {func(s *stage) {
			s.cloud.Change("sb-h1", func(b *simulated.Sandbox) { b.Labels = map[string]string{"app": "ours", "task": "over"} })
		}, nil},
		"one got another's by its id": {func(s *stage) {
			s.table.change("h1", func(r *row) { r.Sandbox = "sb-over" })
		}, []string{"sb-orphan"}},
		"the own of one is gone": {func(s *stage) {
			s.cloud.Change("sb-h1", func(b *simulated.Sandbox) { b.Gone = true })
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := opened(t)
				left(s)
				c.then(s)
				for range 4 {
					s.once()
					time.Sleep(time.Minute)
				}
				got := s.deletes()
				slices.Sort(got)
				if got = slices.Compact(got); !slices.Equal(got, c.want) {
					t.Errorf("ended %v, want %v", got, c.want)
				}
			})
		})
	}
}
