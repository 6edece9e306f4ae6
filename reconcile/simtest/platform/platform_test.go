package platform

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/history"
)

// onPlatform plays with a platform by hand, in a bubble.
func onPlatform(t *testing.T, setup string, do func(*testing.T, *Platform)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s, err := history.Parse("platform", setup, ofPlatform)
		if err != nil {
			t.Fatal(err)
		}
		platform, err := New(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		do(t, platform)
	})
}

func does(t *testing.T, platform *Platform, line string) {
	t.Helper()
	words := strings.Fields(line)
	if err := platform.Do(history.Event{Verb: words[0], Args: words[1:]}); err != nil {
		t.Fatal(err)
	}
}

// The guards of the table are those of the real statement.
func TestTableWrite(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile string
		change    func(*reconcile.Write)
		want      reconcile.Written
	}{
		"as it was judged":           {"", func(*reconcile.Write) {}, reconcile.WriteDone},
		"somebody touched it":        {"user t1 touch", func(*reconcile.Write) {}, reconcile.WriteBusy},
		"touched, under its lock":    {"user t1 touch", func(w *reconcile.Write) { w.Lock = true }, reconcile.WriteDone},
		"stopped, under its lock":    {"user t1 stop", func(w *reconcile.Write) { w.Lock = true }, reconcile.WriteMoved},
		"deleted":                    {"user t1 delete", func(*reconcile.Write) {}, reconcile.WriteMoved},
		"judged in another sandbox":  {"", func(w *reconcile.Write) { w.Task.Sandbox = "x" }, reconcile.WriteMoved},
		"a newer sign refutes it":    {"", func(w *reconcile.Write) { w.Refutable = true }, reconcile.WriteAlive},
		"a newer sign refutes none":  {"", func(w *reconcile.Write) { w.LastSeen = time.Now() }, reconcile.WriteDone},
		"activity alone refutes it":  {"", func(w *reconcile.Write) { w.Refutable, w.Active = true, true }, reconcile.WriteAlive},
		"the known sign refutes not": {"", func(w *reconcile.Write) { w.Refutable, w.LastSeen = true, time.Now() }, reconcile.WriteDone},
	} {
		t.Run(name, func(t *testing.T) {
			onPlatform(t, "kind full\ntask t1 running age=10s\n", func(t *testing.T, platform *Platform) {
				rows, _ := platform.Tasks().ByID(t.Context(), []string{"t1"})
				w := reconcile.Write{Step: reconcile.StepFail, Task: rows.Tasks[0], Reason: "drill [sandkeeper a1]"}
				c.change(&w)
				if c.meanwhile != "" {
					does(t, platform, c.meanwhile)
				}
				got, before, err := platform.Tasks().Write(t.Context(), w)
				if err != nil || got != c.want || (before != nil) != (got == reconcile.WriteDone) {
					t.Errorf("Write = %s, %v, %v; want %s", got, before, err, c.want)
				}
			})
		})
	}
}

func TestTableRestore(t *testing.T) {
	onPlatform(t, "kind full\ntask t1 running age=10s\n", func(t *testing.T, platform *Platform) {
		rows, _ := platform.Tasks().ByID(t.Context(), []string{"t1"})
		_, before, _ := platform.Tasks().Write(t.Context(), reconcile.Write{Step: reconcile.StepFail, Task: rows.Tasks[0],
			Reason: "drill [sandkeeper a1]"})
		if got, _ := platform.Tasks().Restore(t.Context(), "t1", *before); got != reconcile.WriteDone ||
			platform.table.rows["t1"].State != reconcile.TaskRunning {
			t.Errorf("Restore = %s, the row is %s", got, platform.table.rows["t1"].State)
		}
		does(t, platform, "user t1 stop")
		if got, _ := platform.Tasks().Restore(t.Context(), "t1", *before); got != reconcile.WriteMoved {
			t.Errorf("Restore of a row that moved = %s", got)
		}
	})
}

// A standby shows what it held and refuses to be written.
func TestStandby(t *testing.T) {
	onPlatform(t, "kind full\ntask t1 running age=10s\n", func(t *testing.T, platform *Platform) {
		does(t, platform, "platform standby for 1m")
		does(t, platform, "user t1 stop")
		clock, _ := platform.Tasks().Clock(t.Context())
		rows, _ := platform.Tasks().Live(t.Context())
		_, _, err := platform.Tasks().Write(t.Context(), reconcile.Write{Step: reconcile.StepFail, Task: rows.Tasks[0]})
		if !clock.Standby || len(rows.Tasks) != 1 || err == nil {
			t.Errorf("standby %v shows %d live rows, a write says %v", clock.Standby, len(rows.Tasks), err)
		}
		time.Sleep(2 * time.Minute)
		if rows, _ := platform.Tasks().Live(t.Context()); len(rows.Tasks) != 0 {
			t.Error("the primary is not back")
		}
	})
}

// newest is the last tick within spans that no gap swallows.
func TestNewest(t *testing.T) {
	zero := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return zero.Add(time.Duration(s) * time.Second) }
	during := func(from, to int) span { return span{at(from), at(to)} }
	for name, c := range map[string]struct {
		spans, gaps []span
		now, want   int // -1: none
	}{
		"at its start":                     {[]span{{from: zero}}, nil, 0, 0},
		"right before a tick":              {[]span{{from: zero}}, nil, 29, 0},
		"on a tick":                        {[]span{{from: zero}}, nil, 60, 60},
		"after its end":                    {[]span{during(0, 45)}, nil, 100, 30},
		"before it began":                  {[]span{{from: at(50)}}, nil, 40, -1},
		"of the newer span":                {[]span{during(0, 45), {from: at(70)}}, nil, 101, 100},
		"between two spans":                {[]span{during(0, 45), {from: at(70)}}, nil, 60, 30},
		"a gap swallows the newest":        {[]span{{from: zero}}, []span{during(85, 95)}, 100, 60},
		"the gap's end is no part of it":   {[]span{{from: zero}}, []span{during(60, 90)}, 100, 90},
		"a gap swallows all":               {[]span{{from: zero}}, []span{during(0, 200)}, 100, -1},
		"two gaps":                         {[]span{{from: zero}}, []span{during(80, 95), during(50, 65)}, 100, 30},
		"a gap swallows a whole span":      {[]span{during(0, 45), {from: at(70)}}, []span{during(65, 200)}, 101, 30},
		"an open gap lasts until further ": {[]span{{from: zero}}, []span{{from: at(61)}}, 500, 60},
	} {
		t.Run(name, func(t *testing.T) {
			got := newest(c.spans, 30*time.Second, at(c.now), c.gaps)
			if c.want < 0 && !got.IsZero() || c.want >= 0 && !got.Equal(at(c.want)) {
				t.Errorf("newest = %s, want %d", got, c.want)
			}
		})
	}
}

// Each platform takes a task from its making to its end.
func TestLives(t *testing.T) {
	for name, c := range map[string]struct {
		habits string
		state  reconcile.TaskState
		boxes  int
	}{
		"done, and its sandbox goes":         {"work=1m", reconcile.TaskCompleted, 0},
		"done, and its sandbox is left":      {"work=1m end=linger", reconcile.TaskCompleted, 1},
		"at work":                            {"", reconcile.TaskRunning, 1},
		"the sandbox comes first":            {"row=-30s", reconcile.TaskRunning, 1},
		"the result is lost":                 {"work=1m record=lost", reconcile.TaskRunning, 1},
		"the sandbox is never made":          {"crash=row", reconcile.TaskAssigned, 0},
		"the row is never written":           {"crash=sandbox", reconcile.TaskPending, 1},
		"no template, so an image":           {"template=gone", reconcile.TaskRunning, 1},
		"no template, and nothing else":      {"template=gone firm=yes", reconcile.TaskAssigned, 0},
		"the orchestrator comes back for it": {"crash=sandbox again=1m", reconcile.TaskRunning, 2},
	} {
		for _, kind := range []string{"omoios", "full", "coding-agent"} {
			t.Run(name+" at "+kind, func(t *testing.T) {
				onPlatform(t, "kind "+kind+"\ntask t1 new "+c.habits+"\n", func(t *testing.T, platform *Platform) {
					time.Sleep(5 * time.Minute)
					platform.Advance()
					if r := platform.table.rows["t1"]; r.State != c.state || len(platform.fleet().places(ours)) != c.boxes {
						t.Errorf("the row is %s and %d sandboxes are there; want %s and %d", r.State, len(platform.fleet().places(ours)), c.state,
							c.boxes)
					}
				})
			})
		}
	}
}

// What a worker says is on record as far as the pipeline carries it.
func TestEvents(t *testing.T) {
	silent := func(platform *Platform) time.Duration {
		rows, _ := platform.Tasks().Live(t.Context())
		return rows.Now.Sub(rows.Tasks[0].LastSeen()).Truncate(time.Second)
	}
	for name, c := range map[string]struct {
		lines []string
		most  time.Duration // how old the newest sign is three minutes later
		least time.Duration
	}{
		"all is well":                      {nil, 30 * time.Second, 0},
		"the worker is dead":               {[]string{"worker t1 die"}, 4 * time.Minute, 3 * time.Minute},
		"it hangs and beats on":            {[]string{"worker t1 hang"}, 30 * time.Second, 0},
		"nobody hears it":                  {[]string{"worker t1 silent"}, 4 * time.Minute, 3 * time.Minute},
		"the pipeline was down":            {[]string{"events down for 1m"}, 30 * time.Second, 0},
		"the pipeline is down":             {[]string{"events down"}, 4 * time.Minute, 3 * time.Minute},
		"events are late":                  {[]string{"events late by=1m for 1h"}, 91 * time.Second, time.Minute},
		"its sandbox is gone":              {[]string{"sandbox t1 die"}, 4 * time.Minute, 3 * time.Minute},
		"its sandbox is paused":            {[]string{"sandbox t1 pause"}, 4 * time.Minute, 3 * time.Minute},
		"it stamps an hour ahead":          {[]string{"worker t1 ahead by=1h"}, -59 * time.Minute, -time.Hour},
		"its sandbox was paused, and woke": {[]string{"sandbox t1 pause", "sandbox t1 resume"}, 30 * time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			onPlatform(t, "kind full\ntask t1 running age=1m\n", func(t *testing.T, platform *Platform) {
				for _, line := range c.lines {
					does(t, platform, line)
				}
				time.Sleep(3 * time.Minute)
				platform.Advance()
				if got := silent(platform); got > c.most || got < c.least {
					t.Errorf("silent for %s, want %s to %s", got, c.least, c.most)
				}
			})
		})
	}
}

// What is not well formed is refused with what would be.
func TestCheck(t *testing.T) {
	for line, want := range map[string]string{
		"task t1 new work=3m":      "",
		"task t1 fly":              "there are",
		"task t1 new wings=2":      "no key",
		"task t1 new work=soon":    "no duration",
		"limits per_pass=many":     "no number",
		"events down for ever":     "for 2m",
		"task":                     "missing",
		"weather bad":              "no verb",
		"sandbox t1 break":         "",
		"platform leak 3 age=1h":   "",
		"rule orphan mode=observe": "",
	} {
		words := strings.Fields(line)
		err := Check(history.Event{Verb: words[0], Args: words[1:]})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("Check(%q) = %v, want %q in it", line, err, want)
		}
	}
}

// The calm ends what is wrong by the platform's own doing, and a row that lost its result is written.
func TestCalm(t *testing.T) {
	onPlatform(t, "kind full\ntask t1 running age=1h\ntask t2 running age=1h\ntask t3 running age=1h\n",
		func(t *testing.T, platform *Platform) {
			for _, line := range []string{"events down", "worker t1 lose", "sandbox t2 unlabel", "sandbox t3 stuck", "platform empty"} {
				does(t, platform, line)
			}
			platform.Calm()
			time.Sleep(time.Minute)
			rows, _ := platform.Tasks().Live(t.Context())
			s, _ := platform.box("t2")
			if len(rows.Tasks) != 2 || s.Labels[labelTask] != "t2" || platform.table.rows["t1"].State != reconcile.TaskCompleted {
				t.Errorf("%d live rows, labels %v, t1 is %s", len(rows.Tasks), s.Labels, platform.table.rows["t1"].State)
			}
			if now := rows.Tasks[0]; now.AsOf.Sub(now.LastSeen()) > 30*time.Second {
				t.Errorf("not heard for %s", now.AsOf.Sub(now.LastSeen()))
			}
		})
}

func (t *Platform) box(task string) (simulated.Sandbox, bool) {
	b := t.tasks[task].box
	return b.cloud.world.Sandbox(b.ref.ID)
}
