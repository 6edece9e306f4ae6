package simtest

import (
	"context"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/history"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/platform"
)

// A hand is a janitor that does one thing, at its time.
type hand struct {
	Views
	at   time.Duration
	do   func(context.Context, Views) error
	born time.Time
	did  bool
}

func (h *hand) Pass(ctx context.Context) error {
	if h.did || h.Now().Sub(h.born) < h.at {
		return nil
	}
	h.did = true
	return h.do(ctx, h.Views)
}

// audit plays a history with one deed in it and gives the account of it.
func audit(t *testing.T, text string, at time.Duration, do func(context.Context, Views) error) *platform.Account {
	t.Helper()
	s, err := Parse("test", text)
	if err != nil {
		t.Fatal(err)
	}
	c := &closing{}
	r := Run(t, s, Options{Collect: true, Every: time.Second, Tail: 9 * time.Minute, Watch: []platform.Watcher{c},
		Begun:   func(place *platform.Platform) { c.Account = place.Account() },
		Janitor: func(v Views) Janitor { return &hand{Views: v, at: at, do: do, born: v.Now()} }})
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	return c.Account
}

type closing struct{ *platform.Account }

func (closing) Step(platform.Step) []history.Violation { return nil }

func (closing) Pass(string, *run.Result, error) []history.Violation { return nil }

func (c closing) End() []history.Violation {
	c.Close()
	return nil
}

// fail fails a task, whatever it is doing.
func fail(id string) func(context.Context, Views) error {
	return func(ctx context.Context, v Views) error {
		rows, err := v.Tasks.ByID(ctx, []string{id})
		if err != nil || len(rows.Tasks) == 0 {
			return err
		}
		_, _, err = v.Tasks.Write(ctx, reconcile.Write{Step: reconcile.StepFail, Task: rows.Tasks[0], Lock: true,
			Reason: "test " + reconcile.Mark("test")})
		return err
	}
}

// end deletes the sandboxes that a test picks.
func end(which func(reconcile.Sandbox) bool) func(context.Context, Views) error {
	return func(ctx context.Context, v Views) error {
		var found []reconcile.Sandbox
		p := v.Providers["lab"]
		_, err := p.List(ctx, func(page []reconcile.Sandbox) error {
			for _, s := range page {
				if which(s) {
					found = append(found, s)
				}
			}
			return nil
		})
		for _, s := range found {
			if _, stop := p.Terminate(ctx, reconcile.Sandbox{Ref: s.Ref, BadLink: true}); stop != nil {
				return stop
			}
		}
		return err
	}
}

func all(func() bool) func(reconcile.Sandbox) bool {
	return func(reconcile.Sandbox) bool { return true }
}

func ofTask(id string) func(reconcile.Sandbox) bool {
	return func(s reconcile.Sandbox) bool { return s.Task == id }
}

func both(first, second func(context.Context, Views) error) func(context.Context, Views) error {
	return func(ctx context.Context, v Views) error {
		if err := first(ctx, v); err != nil {
			return err
		}
		return second(ctx, v)
	}
}

func idle(context.Context, Views) error { return nil }

const (
	head   = "seed 1\ncalm 30m\nkind full\nprovider lab exclusive=yes\n"
	shared = "seed 1\ncalm 30m\nkind full\nprovider lab exclusive=no\n"
	busy   = "task a1 running age=10m\ntask a2 running age=10m\ntask a3 running age=10m\n"
	three  = head + busy
)

func TestAccountOfKills(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		at     time.Duration
		do     func(context.Context, Views) error
		want   string // the kind of the one kill, and its excuse; "" for none
	}{
		"failing a task whose worker is at work":   {three, 5 * time.Minute, fail("a1"), "work"},
		"failing one whose worker died":            {three + "@2m worker a1 die\n", 5 * time.Minute, fail("a1"), ""},
		"failing one that waits for its turn":      {three + "task p1 new pick=40m\n", 5 * time.Minute, fail("p1"), "queued"},
		"failing one that waits for a person":      {three + "@1m worker a1 wait\n", 5 * time.Minute, fail("a1"), "work"},
		"ending the sandbox of one at work":        {three, 5 * time.Minute, end(ofTask("a1")), "work"},
		"a task and its sandbox are one loss":      {three, 5 * time.Minute, both(fail("a1"), end(ofTask("a1"))), "work"},
		"the same the other way round":             {three, 5 * time.Minute, both(end(ofTask("a1")), fail("a1")), "work"},
		"ending what a user keeps":                 {three + "task k1 completed age=1h\n@1m user k1 keep 20m\n", 5 * time.Minute, end(ofTask("k1")), "kept"},
		"ending what somebody else runs":           {head + "platform foreign 1 age=1h\n", 5 * time.Minute, end(all(nil)), "foreign"},
		"ending what a twin runs":                  {shared + "platform twins 1 age=1h\n", 5 * time.Minute, end(all(nil)), "foreign"},
		"ending what was forgotten":                {head + "platform leak 1 age=1h\n", 5 * time.Minute, end(all(nil)), ""},
		"failing one that is past its own limit":   {head + busy + "task l1 running age=10m timeout=12m\n", 5 * time.Minute, fail("l1"), ""},
		"failing one right before its own limit":   {head + busy + "task l1 running age=10m timeout=16m\n", 5 * time.Minute, fail("l1"), "work"},
		"failing one that nobody hears":            {three + "task d1 running age=10m\n@1m worker a1 silent\n", 10 * time.Minute, fail("a1"), "work"},
		"failing one whose pipeline is down":       {three + "@1m events down\n", 10 * time.Minute, fail("a1"), "work"},
		"a write that was refused harmed nobody":   {three + "@1m platform standby for 20m\n", 5 * time.Minute, fail("a1"), ""},
		"failing one that shows no activity":       {three + "task s1 running age=10m act=50m\n", 25 * time.Minute, fail("s1"), "work"},
		"failing one that died a moment ago":       {three + "@5m worker a1 die\n", 5*time.Minute + time.Second, fail("a1"), ""},
		"failing one whose sandbox is coming up":   {head + busy + "task n1 new pick=1m row=1s boot=1m\n", 80 * time.Second, fail("n1"), "work"},
		"failing one whose worker never will come": {head + busy + "task n1 new pick=1m boot=10s\n@70s worker n1 never\n", 10 * time.Minute, fail("n1"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			for i, k := range audit(t, c.script, c.at, c.do).Kills {
				if i > 0 {
					got += "; "
				}
				got += k.Kind
				if k.Excused != "" {
					got += ", " + k.Excused
				}
			}
			if got != c.want {
				t.Errorf("kills %q, want %q", got, c.want)
			}
		})
	}
}

func TestAccountOfWrongs(t *testing.T) {
	const min = time.Minute
	for name, c := range map[string]struct {
		script string
		do     func(context.Context, Views) error // at 10m
		kind   string                             // of the one wrong; "" for none
		since  time.Duration                      // within everySo
		found  bool
		lasts  bool
	}{
		"all is well":                      {three, idle, "", 0, false, false},
		"a sandbox that is forgotten":      {head + "@3m platform leak 1 age=1m\n", idle, platform.WrongSandbox, 3 * min, false, true},
		"one that is ended":                {head + "@3m platform leak 1 age=1m\n", end(all(nil)), platform.WrongSandbox, 3 * min, true, false},
		"one that goes by itself":          {three + "@3m worker a1 finish\n@3m user a1 stop\n", idle, "", 0, false, false},
		"a row whose sandbox went away":    {three + "@3m sandbox a1 die\n", idle, platform.WrongTask, 3 * min, false, true},
		"one that is failed":               {three + "@3m sandbox a1 die\n", fail("a1"), platform.WrongTask, 3 * min, true, false},
		"a row that was never handed out":  {head + "task p1 new pick=50m\n", idle, "", 0, false, false},
		"a stopped task that goes on":      {three + "@3m user a1 stop\n", idle, platform.WrongSandbox, 3 * min, false, true},
		"finished, and its row does not":   {three + "@3m worker a1 lose\n", idle, "", 0, false, false},
		"somebody else's is nothing wrong": {shared + "platform foreign 2 age=9h\nplatform twins 2 age=9h\n", idle, "", 0, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := audit(t, c.script, 10*min, c.do)
			if c.kind == "" {
				if len(a.Wrongs) > 0 {
					t.Errorf("wrong: %+v, want nothing", *a.Wrongs[0])
				}
				return
			}
			if len(a.Wrongs) != 1 {
				t.Fatalf("%d things are wrong, want one", len(a.Wrongs))
			}
			w := a.Wrongs[0]
			if w.Kind != c.kind || w.Since < c.since || w.Since > c.since+platform.EverySo || (w.Deed >= 0) != c.found || w.Lasts != c.lasts {
				t.Errorf("wrong: %+v, want %s since %s, found %t, lasts %t", *w, c.kind, c.since, c.found, c.lasts)
			}
		})
	}
}
