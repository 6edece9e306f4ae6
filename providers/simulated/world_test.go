package simulated

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func lab(o Options) (*World, *Clock) {
	clock := NewClock(noon)
	o.Now = clock.Now
	return New(o), clock
}

func (w *World) mustBe(t *testing.T, id string, state reconcile.SandboxState) {
	t.Helper()
	if s, ok := w.Sandbox(id); !ok || s.State != state {
		t.Errorf("sandbox = %+v, %t; want it %s", s, ok, state)
	}
}

func TestTransitionsTakeTime(t *testing.T) {
	w, clock := lab(Options{StartAfter: 5 * time.Second, StopAfter: 2 * time.Second, DeleteAfter: 10 * time.Second})
	s, err := w.Create(Sandbox{Name: "a"})
	if err != nil {
		t.Fatal(err)
	}
	w.mustBe(t, s.ID, reconcile.SandboxCreating)
	if _, err := w.Destroy(s.ID); !errors.Is(err, ErrBusy) {
		t.Errorf("Destroy while it comes up = %v, want ErrBusy", err)
	}
	clock.Advance(5*time.Second - 1)
	w.mustBe(t, s.ID, reconcile.SandboxCreating)
	clock.Advance(1)
	w.mustBe(t, s.ID, reconcile.SandboxRunning)
	if got, _ := w.Sandbox(s.ID); !got.LastActivityAt.Equal(noon.Add(5 * time.Second)) {
		t.Errorf("last activity = %s, want the change of state", got.LastActivityAt)
	}
	if got, err := w.Halt(s.ID); err != nil || got.Raw != "stopping" {
		t.Errorf("Halt = %+v, %v; want stopping", got, err)
	}
	clock.Advance(2 * time.Second)
	if _, err := w.Start(s.ID); err != nil {
		t.Error(err)
	}
	clock.Advance(5 * time.Second)
	w.mustBe(t, s.ID, reconcile.SandboxRunning)
	if got, err := w.Destroy("a"); err != nil || !got.Doomed || !strings.HasPrefix(got.Name, "DESTROYED_a_") ||
		got.FormerName() != "a" {
		t.Errorf("Destroy = %+v, %v; want it doomed and renamed", got, err)
	}
	w.mustBe(t, s.ID, reconcile.SandboxRunning) // the raw state lags
	clock.Advance(5 * time.Second)
	w.mustBe(t, s.ID, reconcile.SandboxDeleting)
	clock.Advance(5 * time.Second)
	if _, err := w.Look(s.ID); !errors.Is(err, ErrGone) {
		t.Errorf("Look = %v, want ErrGone", err)
	}
}

func TestStuckTransitionsNeverEnd(t *testing.T) {
	w, clock := lab(Options{DeleteAfter: 10 * time.Second})
	s := w.Put(Sandbox{State: reconcile.SandboxCreating, Stuck: true})
	clock.Advance(24 * time.Hour)
	w.mustBe(t, s.ID, reconcile.SandboxCreating)
	if _, err := w.Destroy(s.ID); err != nil {
		t.Fatal(err)
	}
	clock.Advance(24 * time.Hour)
	w.mustBe(t, s.ID, reconcile.SandboxDeleting)
}

func TestTheProviderEndsSandboxesItself(t *testing.T) {
	w, clock := lab(Options{StopIdle: 15 * time.Minute})
	idle := w.Put(Sandbox{})
	used := w.Put(Sandbox{})
	expired := w.Put(Sandbox{ExpiresAt: noon.Add(10 * time.Minute)})
	clock.Advance(10 * time.Minute)
	w.Touch(used.ID)
	clock.Advance(5 * time.Minute)
	w.mustBe(t, idle.ID, reconcile.SandboxStopped)
	w.mustBe(t, used.ID, reconcile.SandboxRunning)
	w.mustBe(t, expired.ID, reconcile.SandboxEnded)
	if got := w.Sandboxes(); len(got) != 2 {
		t.Errorf("%d sandboxes, want 2", len(got))
	}
	clock.Advance(25 * time.Hour)
	w.Sandboxes()
	if _, ok := w.Sandbox(expired.ID); ok {
		t.Error("what is long gone is still remembered")
	}
}

func TestPages(t *testing.T) {
	w, clock := lab(Options{})
	for i := range 10 {
		w.Put(Sandbox{ID: fmt.Sprintf("sb-%d", 9-i), CreatedAt: noon.Add(-time.Duration(i) * time.Minute),
			Labels: map[string]string{"odd": fmt.Sprint(i % 2)}})
	}
	walk := func(q Query, f Fault) (ids []string) {
		for range 20 {
			page, next := w.Page(q, f)
			for _, s := range page {
				ids = append(ids, strings.TrimPrefix(s.ID, "sb-"))
			}
			if next == "" {
				break
			}
			q.After = next
		}
		return ids
	}
	for name, test := range map[string]struct {
		q    Query
		f    Fault
		want string
	}{
		"all, oldest first": {Query{Limit: 3}, Fault{}, "0 1 2 3 4 5 6 7 8 9"},
		"one page exactly":  {Query{Limit: 10}, Fault{}, "0 1 2 3 4 5 6 7 8 9"},
		"by label":          {Query{Limit: 2, Labels: map[string]string{"odd": "1"}}, Fault{}, "0 2 4 6 8"},
		"by a label nobody": {Query{Labels: map[string]string{"odd": "7"}}, Fault{}, ""},
		"empty":             {Query{}, Fault{Effect: EmptyList}, ""},
		"leaving out":       {Query{Limit: 3}, Fault{Effect: Omit}, "1 3 5 7 9"},
		"leaving out one": {
			Query{Limit: 3}, Fault{Effect: Omit, Omits: func(s Sandbox) bool { return s.ID == "sb-4" }},
			"0 1 2 3 5 6 7 8 9",
		},
		"as it was before":   {Query{}, Fault{Lag: time.Second}, "0 1 2 3 4 5 6 7 8"},
		"pages that overlap": {Query{Limit: 6}, Fault{Effect: Repeat}, "0 1 2 3 4 5 3 4 5 6 7 8 6 7 8 9"},
	} {
		if got := strings.Join(walk(test.q, test.f), " "); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
	page, _ := w.Page(Query{}, Fault{Effect: LoseLabels})
	if page[0].Labels != nil {
		t.Error("labels are still there")
	}
	clock.Advance(time.Minute)
	if page, _ := w.Page(Query{}, Fault{Lag: time.Minute}); len(page) != 10 {
		t.Errorf("%d are seen once the lag is over, want 10", len(page))
	}
}

// A lagging index shows a sandbox that is gone, and not one that is new.
func TestIndexLag(t *testing.T) {
	w, clock := lab(Options{IndexLag: 3 * time.Second})
	s := w.Put(Sandbox{})
	seen := func() int {
		page, _ := w.Page(Query{}, Fault{})
		return len(page)
	}
	if seen() != 0 {
		t.Error("a new one is listed at once")
	}
	clock.Advance(3 * time.Second)
	if seen() != 1 {
		t.Error("it is not listed after the lag")
	}
	if _, err := w.Destroy(s.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Look(s.ID); !errors.Is(err, ErrGone) {
		t.Errorf("Look = %v, want ErrGone: get does not lag", err)
	}
	if page, _ := w.Page(Query{}, Fault{}); len(page) != 1 || page[0].State != reconcile.SandboxRunning || page[0].Doomed {
		t.Errorf("list = %+v, want it running as before", page)
	}
	clock.Advance(3 * time.Second)
	if seen() != 0 {
		t.Error("it is listed after the lag")
	}
}

func TestHiddenOnes(t *testing.T) {
	w, _ := lab(Options{})
	s := w.Put(Sandbox{State: reconcile.SandboxFailed})
	if _, err := w.Destroy(s.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Look(s.ID); !errors.Is(err, ErrGone) {
		t.Errorf("Look = %v, want ErrGone", err)
	}
	open, _ := w.Page(Query{}, Fault{})
	all, _ := w.Page(Query{Hidden: true}, Fault{})
	if len(open) != 0 || len(all) != 1 {
		t.Errorf("%d listed, %d with the hidden ones; want 0 and 1", len(open), len(all))
	}
}

func TestFaults(t *testing.T) {
	struck := func(w *World, c Call) bool { return w.Called(c).Effect == Answer }
	count := func(f Fault, calls []Call) (n int) {
		w, _ := lab(Options{Seed: 1})
		f.Effect = Answer
		w.Inject(f)
		for _, c := range calls {
			if struck(w, c) {
				n++
			}
		}
		return n
	}
	gets := slices.Repeat([]Call{{Kind: Get, ID: "a"}}, 10)
	mixed := []Call{{Kind: List, Page: 1}, {Kind: List, Page: 2}, {Kind: List, Page: 3}, {Kind: Exec, ID: "a"},
		{Kind: Files, ID: "b"}, {Kind: Delete, ID: "a"}}
	for name, test := range map[string]struct {
		f     Fault
		calls []Call
		want  int
	}{
		"every call":            {Fault{}, gets, 10},
		"three times":           {Fault{Count: 3}, gets, 3},
		"after four":            {Fault{Skip: 4}, gets, 6},
		"once, after four":      {Fault{Skip: 4, Count: 1}, gets, 1},
		"always by chance":      {Fault{Chance: 1}, gets, 10},
		"another kind":          {Fault{On: List}, gets, 0},
		"another id":            {Fault{ID: "b"}, gets, 0},
		"from page 2":           {Fault{On: List, Page: 2}, mixed, 2},
		"the toolbox":           {Fault{On: Toolbox}, mixed, 2},
		"the toolbox of one":    {Fault{On: Toolbox, ID: "b"}, mixed, 1},
		"what the test accepts": {Fault{Match: func(c Call) bool { return c.Kind == Delete }}, mixed, 1},
	} {
		if got := count(test.f, test.calls); got != test.want {
			t.Errorf("%s: struck %d times, want %d", name, got, test.want)
		}
	}
	if got := count(Fault{Chance: 0.5}, slices.Repeat(gets, 20)); got < 60 || got > 140 {
		t.Errorf("a chance of 0.5 struck %d of 200 times", got)
	}
	w, _ := lab(Options{})
	lift := w.Inject(Fault{Effect: Answer})
	lift()
	w.Inject(Fault{Effect: Answer})
	w.Fix()
	if struck(w, gets[0]) {
		t.Error("a lifted fault strikes")
	}
}

func TestJournal(t *testing.T) {
	w, clock := lab(Options{})
	w.Called(Call{Kind: Get, ID: "a"})
	clock.Advance(time.Second)
	w.Called(Call{Kind: Delete, ID: "a"})
	if got := w.Destructive(); len(w.Calls()) != 2 || len(got) != 1 ||
		got[0] != (Call{Kind: Delete, ID: "a", At: noon.Add(time.Second)}) {
		t.Errorf("Destructive = %+v, want the delete alone", got)
	}
	for range journalSize {
		w.Called(Call{Kind: Get})
	}
	if n := len(w.Calls()); n > journalSize {
		t.Errorf("%d calls are remembered, want at most %d", n, journalSize)
	}
	w.ResetCalls()
	if len(w.Calls()) != 0 {
		t.Error("calls are remembered after a reset")
	}
}

func TestWaits(t *testing.T) {
	var waited time.Duration
	w := New(Options{Wait: func(_ context.Context, d time.Duration) error {
		waited = d
		return context.DeadlineExceeded
	}})
	if err := w.Wait(t.Context(), Fault{Delay: time.Second}); !errors.Is(err, context.DeadlineExceeded) ||
		waited != time.Second {
		t.Errorf("Wait = %v after %s, want the hook's answer after 1s", err, waited)
	}
	if _ = w.Wait(t.Context(), Fault{Effect: Hang}); waited < 24*time.Hour {
		t.Errorf("a hang waits %s, want for ever", waited)
	}
	if err := w.Wait(t.Context(), Fault{}); err != nil {
		t.Errorf("Wait without a fault = %v, want none", err)
	}
}

func TestInside(t *testing.T) {
	w, _ := lab(Options{})
	s := w.Put(Sandbox{Disk: map[string]string{"/workspace/a/b.txt": "hello", "/workspace/c.txt": "x"}})
	for command, want := range map[string]Result{
		"true": {}, "false": {Exit: 1}, "exit 3": {Exit: 3}, "echo hi there": {Output: "hi there\n"}, "sleep 1": {},
		"cat /workspace/a/b.txt": {
			Output: "hello"}, "make": {}, "cat /x": {Exit: 1, Output: "cat: /x: No such file or directory\n"},
	} {
		if got, trouble := w.Exec(s.ID, command, 5*time.Second); got != want || trouble != Healthy {
			t.Errorf("Exec(%s) = %+v, %s; want %+v", command, got, trouble, want)
		}
	}
	if _, trouble := w.Exec(s.ID, "sleep 6", 5*time.Second); trouble != TimedOut {
		t.Errorf("Exec(sleep 6) = %s, want timed out", trouble)
	}
	for folder, want := range map[string]string{
		"/workspace": "a/ c.txt", "/workspace/a/": "b.txt", "/tmp": "", "/": "bin/ etc/ home/ tmp/ usr/ workspace/",
	} {
		files, trouble := w.Folder(s.ID, folder)
		var names []string
		for _, f := range files {
			name := f.Name
			if f.Dir {
				name += "/"
			}
			names = append(names, name)
		}
		if got := strings.Join(names, " "); got != want || trouble != Healthy {
			t.Errorf("Folder(%s) = %s, %s; want %s", folder, got, trouble, want)
		}
	}
	if _, trouble := w.Folder(s.ID, "/nowhere"); trouble != NoPath {
		t.Errorf("Folder(/nowhere) = %s, want no path", trouble)
	}
	if _, trouble := w.Exec("none", "true", time.Second); trouble != Unknown {
		t.Errorf("Exec in none = %s, want unknown", trouble)
	}
}

func TestTemplatesAge(t *testing.T) {
	w, clock := lab(Options{ActivateAfter: time.Minute})
	w.PutTemplate(Template{Name: "ours"})
	w.PutTemplate(Template{Name: "general", General: true})
	be := func(name string, want reconcile.TemplateState) {
		t.Helper()
		if got, err := w.TemplateOf(name); err != nil || got.State != want {
			t.Errorf("template %s = %+v, %v; want %s", name, got, err, want)
		}
	}
	clock.Advance(UnusedFor - 1)
	be("ours", reconcile.TemplateActive)
	if _, err := w.Create(Sandbox{Template: "ours"}); err != nil {
		t.Fatal(err)
	}
	clock.Advance(UnusedFor - 1)
	be("ours", reconcile.TemplateActive)
	clock.Advance(1)
	be("ours", reconcile.TemplateInactive)
	be("general", reconcile.TemplateActive)
	var no *Refused
	if _, err := w.Create(Sandbox{Template: "ours"}); !errors.As(err, &no) || !strings.Contains(no.Words, "inactive") {
		t.Errorf("Create from it = %v, want refused as inactive", err)
	}
	if _, err := w.Create(Sandbox{Template: "none"}); !errors.As(err, &no) {
		t.Errorf("Create from none = %v, want refused", err)
	}
	if _, err := w.ActivateTemplate("ours"); err != nil {
		t.Fatal(err)
	}
	be("ours", reconcile.TemplateBuilding)
	clock.Advance(time.Minute)
	be("ours", reconcile.TemplateActive)
	w.RemoveTemplate("ours")
	if _, err := w.TemplateOf("ours"); !errors.Is(err, ErrGone) {
		t.Errorf("TemplateOf = %v, want ErrGone", err)
	}
}

func TestLimits(t *testing.T) {
	w, _ := lab(Options{Limits: Limits{CPU: 2}})
	s, err := w.Create(Sandbox{})
	if err != nil {
		t.Fatal(err)
	}
	w.Put(Sandbox{State: reconcile.SandboxStopped})
	if _, err := w.Create(Sandbox{}); err != nil {
		t.Errorf("Create = %v, want it to fit: a stopped one takes no CPU", err)
	}
	var no *Refused
	if _, err := w.Create(Sandbox{}); !errors.As(err, &no) {
		t.Errorf("Create = %v, want it refused", err)
	}
	if _, err := w.Destroy(s.ID); err != nil {
		t.Fatal(err)
	}
	if used, limits := w.Account(); used.CPU != 1 || used.DiskGiB != 6 || limits.CPU != 2 {
		t.Errorf("Account = %+v of %+v, want 1 CPU and 6 GiB used", used, limits)
	}
}

func TestConcurrentUse(t *testing.T) {
	w, clock := lab(Options{StartAfter: 2, DeleteAfter: 3})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				s, err := w.Create(Sandbox{Labels: map[string]string{"i": fmt.Sprint(i)}})
				if err != nil {
					t.Error(err)
					return
				}
				clock.Advance(2)
				w.Change(s.ID, func(s *Sandbox) { s.Labels["x"] = "y" })
				w.Page(Query{Labels: map[string]string{"i": fmt.Sprint(i)}}, w.Called(Call{Kind: List}))
				if _, err := w.Destroy(s.ID); err != nil {
					t.Error(err)
				}
				clock.Advance(3)
			}
		})
	}
	wg.Wait()
	if n := len(w.Sandboxes()); n != 0 {
		t.Errorf("%d sandboxes are left, want none", n)
	}
}
