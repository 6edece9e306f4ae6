package platform

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/history"
)

// A court is a platform in which somebody does things by hand, as a process would.
type court struct {
	*testing.T
	platform *Platform
	n        int
	all      []history.Violation
}

const accused = "replica-1"

// try brings a case before the court: what is set up, and what is done.
func try(t *testing.T, setup string, do func(*court)) []history.Violation {
	t.Helper()
	var all []history.Violation
	synctest.Test(t, func(t *testing.T) {
		s, err := history.Parse("court", setup, ofPlatform)
		if err != nil {
			t.Fatal(err)
		}
		platform, err := New(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		c := &court{T: t, platform: platform}
		platform.Begins(accused, platform.Policy())
		time.Sleep(time.Minute)
		platform.Advance()
		do(c)
		all = c.all
	})
	return all
}

func (c *court) step(s Step) {
	c.n++
	s.N, s.At = c.n, time.Since(c.platform.began)
	if s.Process == "" {
		s.Process = accused
	}
	c.all = append(c.all, c.platform.Step(s)...)
}

func (c *court) box(task string) *box { return c.platform.tasks[task].box }

// claims takes an action, as the ledger would give it.
func (c *court) claims(a reconcile.Action) reconcile.Action {
	a.Attempts = max(a.Attempts, 1)
	c.step(Step{Call: "Claim", Party: "ledger", Args: reconcile.Claim{Action: a.ID, Pass: a.Pass}, Answer: a, Effect: true})
	return a
}

// looks makes the second look: the requests, the row, the sandbox.
func (c *court) looks(task string, b *box) {
	c.step(Step{Call: "Controls", Party: "ledger", Answer: reconcile.Controls{}})
	rows, _ := c.platform.Tasks().ByID(c.Context(), []string{task})
	c.step(Step{Call: "ByID", Party: "tasks", Args: []string{task}, Answer: rows})
	if b != nil {
		c.step(Step{Call: "Get", Party: b.ref.Provider, ID: b.ref.ID, Answer: reconcile.Sandbox{Ref: b.ref}})
	}
}

// happens lets something happen to the sandbox of a task.
func (c *court) happens(task, what string) {
	c.platform.fleet().sandboxEvent(argsOf([]string{task, what}))
}

// ends ends a sandbox at its provider.
func (c *court) ends(b *box) {
	_, _ = b.cloud.world.Destroy(b.ref.ID)
	c.step(Step{Call: "Terminate", Party: b.ref.Provider, ID: b.ref.ID, Effect: true, Answer: reconcile.TerminateAccepted})
}

// writes fails a row, whatever its guards say.
func (c *court) writes(task string, a reconcile.Action) {
	r := c.platform.table.rows[task]
	c.platform.table.remember(r, reconcile.Mark(a.ID))
	w := reconcile.Write{Step: reconcile.StepFail, Task: c.platform.watch.before.Task, Reason: "drill " + reconcile.Mark(a.ID)}
	c.platform.table.set(r, w.Step, w.Reason)
	c.platform.orchestrator().written(task)
	c.step(Step{Call: "Write", Party: "tasks", ID: task, Args: w, Answer: reconcile.WriteDone, Effect: true})
}

func action(id, rule, task string, b *box) reconcile.Action {
	a := reconcile.Action{ID: id, Remedy: id, Rule: rule, Task: task, Subject: "task:" + task, Pass: 1, Step: reconcile.StepFail}
	if b != nil {
		a.Step, a.Provider, a.Sandbox = reconcile.StepTerminate, b.ref.Provider, b.ref.ID
	}
	return a
}

// ended is a whole remedy: claim, second look, deed.
func (c *court) ended(rule, task string, b *box) {
	c.claims(action("a"+b.ref.ID, rule, task, b))
	c.looks(task, b)
	c.ends(b)
}

func (c *court) failed(rule, task string) {
	a := c.claims(action("w"+task, rule, task, nil))
	c.looks(task, c.box(task))
	c.writes(task, a)
}

const quietPlatform = "kind full\nprovider lab exclusive=no\ntask t1 running age=2h\ntask t2 running age=2h\n" +
	"task t3 running age=2h\ntask t4 running age=2h\ntask t9 stopped age=1h\n"

// Every property can fail: what it forbids, done once, is found.
func TestPropertiesFail(t *testing.T) {
	for name, c := range map[string]struct {
		property string
		setup    string
		do       func(*court)
	}{
		"a foreign sandbox is ended": {"P1", "platform foreign 1\n", func(c *court) {
			c.ended("orphan", "", c.platform.fleet().places(foreign)[0])
		}},
		"the log of a foreign sandbox is read": {"P1", "platform foreign 1\n", func(c *court) {
			b := c.platform.fleet().places(foreign)[0]
			c.step(Step{Call: "Logs", Party: "lab", ID: b.ref.ID, Answer: "secret"})
		}},
		"a row outside of where is written": {"P1", "task t8 running outside=yes\n", func(c *court) {
			c.failed("heartbeat-lost", "t8")
		}},
		"a terminal row is written": {"P2", "", func(c *court) {
			c.failed("heartbeat-lost", "t9")
		}},
		"a live task's sandbox is called missing": {"P3", "", func(c *court) { c.failed("sandbox-missing", "t1") }},
		"a sandbox that came back before the last look is called missing": {"P3", "sandbox t1 stop\n", func(c *court) {
			time.Sleep(3 * time.Minute)
			c.happens("t1", "resume")
			c.failed("sandbox-missing", "t1")
		}},
		"a sandbox that came back while the process stood still is called missing": {"P3", "sandbox t1 stop\n", func(c *court) {
			time.Sleep(3 * time.Minute)
			a := c.claims(action("w1", "sandbox-missing", "t1", nil))
			c.looks("t1", c.box("t1"))
			c.happens("t1", "resume")
			time.Sleep(stillMost + time.Second)
			c.writes("t1", a)
		}},
		"a sandbox that a row explains is ended as an orphan": {"P3", "", func(c *court) {
			c.ended("orphan", "t9", c.box("t9"))
		}},
		"ended without a look at the sandbox": {"P4", "", func(c *court) {
			b := c.box("t9")
			c.claims(action("a1", "stop-ignored", "t9", b))
			c.looks("t9", nil)
			c.ends(b)
		}},
		"ended without a look at the row": {"P4", "", func(c *court) {
			b := c.box("t9")
			c.claims(action("a1", "stop-ignored", "t9", b))
			c.looks("t1", b)
			c.ends(b)
		}},
		"written after a look before the claim": {"P4", "", func(c *court) {
			c.looks("t1", c.box("t1"))
			c.writes("t1", c.claims(action("a1", "heartbeat-lost", "t1", nil)))
		}},
		"a task is failed before its threshold": {"P5", "", func(c *court) { c.failed("heartbeat-lost", "t1") }},
		"an orphan that nobody has found twice is ended": {"P6", "platform leak 1\n", func(c *court) {
			b := c.platform.fleet().places(ours)[5]
			c.ended("orphan", "", b)
		}},
		"silence right after the events came back": {"P6", "events down for 10m\n", func(c *court) {
			c.platform.orchestrator().workerEvent(argsOf([]string{"t1", "die"}))
			for range 5 {
				time.Sleep(2 * time.Minute)
				c.step(Step{Call: "Record", Effect: true, Args: reconcile.Record{Kind: reconcile.Full, Complete: true, At: time.Now()}})
			}
			c.failed("heartbeat-lost", "t1")
		}},
		"more remedies than a pass may begin": {"P7", "limits per_pass=1 share=100\n", func(c *court) {
			c.claims(action("a1", "errored", "t1", c.box("t1")))
			c.claims(action("a2", "errored", "t2", c.box("t2")))
		}},
		"more remedies than the share of the fleet": {"P7", "limits per_pass=20 share=20\n", func(c *court) {
			c.claims(action("a1", "errored", "t1", c.box("t1")))
			c.claims(action("a2", "errored", "t2", c.box("t2")))
		}},
		"more remedies than an hour may see": {"P7", "limits per_hour=1 share=100\n", func(c *court) {
			c.claims(action("a1", "errored", "t1", c.box("t1")))
			a := action("a2", "errored", "t2", c.box("t2"))
			a.Pass = 2
			c.claims(a)
		}},
		"more due than the breaker lets through": {"P7", "platform leak 12\n", func(c *court) {
			var rec reconcile.Record
			for _, b := range c.platform.fleet().places(ours) {
				rec.Actions = append(rec.Actions, action("a"+b.ref.ID, "orphan", "", b))
			}
			c.step(Step{Call: "Record", Args: rec, Effect: true})
		}},
		"more probes than a minute may see": {"P7", "probe lab budget=3\n", func(c *court) {
			for range 2 {
				c.step(Step{Call: "ReserveProbes", ID: "lab", Answer: 2, Effect: true})
			}
		}},
		"a task that is held is failed": {"P8", "", func(c *court) {
			a := c.claims(action("a1", "heartbeat-lost", "t1", nil))
			c.looks("t1", c.box("t1"))
			c.step(Step{Call: "Controls", Answer: reconcile.Controls{Holds: []reconcile.Hold{{Target: "task:t1"}}}})
			c.writes("t1", a)
		}},
		"a sandbox is ended while all is paused": {"P8", "", func(c *court) {
			c.claims(action("a1", "stop-ignored", "t9", c.box("t9")))
			c.looks("t9", c.box("t9"))
			c.step(Step{Call: "Controls", Answer: reconcile.Controls{Pauses: []reconcile.Pause{{Scope: "all"}}}})
			c.ends(c.box("t9"))
		}},
		"a rule in observe acts": {"P9", "rule stop-ignored mode=observe\n", func(c *court) {
			c.ended("stop-ignored", "t9", c.box("t9"))
		}},
		"who only looks writes": {"P9", "", func(c *court) {
			c.step(Step{Process: "look-1", Call: "BeginPass", Party: "ledger"})
		}},
		"a probe wakes a paused sandbox": {"P10", "sandbox t1 pause\n", func(c *court) {
			b := c.box("t1")
			_, _ = b.cloud.world.Start(b.ref.ID)
			c.step(Step{Call: "Probe", Party: "lab", ID: b.ref.ID, Answer: reconcile.ProbeResult{}})
		}},
		"two decisions on one subject": {"P12", "", func(c *court) {
			s := &reconcile.Subject{ID: "task:t1"}
			r := &run.Result{Judged: &decide.Judgement{Decisions: []decide.Decision{{Subject: s}, {Subject: s}}}}
			c.all = append(c.all, c.platform.Pass("once-1", r, nil)...)
		}},
		"a listing that failed is counted": {"P12", "", func(c *court) {
			c.step(Step{Call: "List", Party: "lab", Err: errors.New("503")})
			c.step(Step{Call: "Record", Args: reconcile.Record{Kind: reconcile.Full, Counts: map[string]int{
				"sandboxes:lab:running": 0}}, Effect: true})
		}},
		"the ledger tells of a pass that was not complete": {"P13", "", func(c *court) {
			l, err := c.platform.Ledger.TakeLease(c.Context(), "x", time.Minute)
			if err != nil {
				c.Fatal(err)
			}
			id, err := c.platform.Ledger.BeginPass(c.Context(), l, reconcile.Full, time.Now())
			if err != nil {
				c.Fatal(err)
			}
			err = c.platform.Ledger.Record(c.Context(), l, reconcile.Record{Pass: id, Kind: reconcile.Full, Complete: true})
			if err != nil {
				c.Fatal(err)
			}
			c.all = append(c.all, c.platform.End()...)
		}},
		"a worker that shows life is failed": {"P14", "", func(c *court) { c.failed("heartbeat-lost", "t1") }},
		"healthy work is failed":             {"harm", "", func(c *court) { c.failed("idle-broken", "t1") }},
		"what waits for its turn is failed, for a sandbox that is broken": {
			"harm", "task t7 new pick=1h\n", func(c *court) { c.failed("idle-broken", "t7") }},
		"healthy work is ended": {"harm", "", func(c *court) { c.ended("errored", "t1", c.box("t1")) }},
		"the sandbox of a paused task is stopped": {"harm", "sandbox t1 pause\n", func(c *court) {
			c.ended("errored", "t1", c.box("t1"))
		}},
		"a user goes on in it": {"harm", "task t7 completed age=1h end=linger\nuser t7 touch\n", func(c *court) {
			c.ended("finished-lingering", "t7", c.box("t7"))
		}},
		"the plan says so": {"harm", "", func(c *court) {
			c.looks("t1", nil)
			c.step(Step{Call: "Record", Args: reconcile.Record{Actions: []reconcile.Action{
				action("a1", "idle-broken", "t1", nil)}}, Effect: true})
		}},
		"one action writes twice": {"once", "", func(c *court) {
			a := c.claims(action("a1", "heartbeat-lost", "t1", nil))
			c.looks("t1", c.box("t1"))
			c.writes("t1", a)
			c.writes("t1", a)
		}},
		"a sandbox is asked to go twice": {"once", "", func(c *court) {
			c.ended("stop-ignored", "t9", c.box("t9"))
			c.ends(c.box("t9"))
		}},
		"a deed without a claim": {"lost", "", func(c *court) { c.ends(c.box("t9")) }},
		"a worker at work, in a sandbox that is a minute too young to end": {
			"harm", "rule over-age mode=enforce after=50m\ntask t8 running age=48m\n", func(c *court) {
				c.platform.Shift("lab", -2*time.Hour)
				c.ended("over-age", "t8", c.box("t8"))
			}},
	} {
		t.Run(name, func(t *testing.T) {
			found := try(t, quietPlatform+c.setup, c.do)
			if !slices.ContainsFunc(found, func(v history.Violation) bool { return v.Property == c.property }) {
				t.Errorf("%s is not found to be broken, but %v", c.property, found)
			}
		})
	}
}

// What is right breaks nothing.
func TestPropertiesHold(t *testing.T) {
	for name, c := range map[string]struct {
		setup string
		do    func(*court)
	}{
		"the sandbox of a stopped task": {"", func(c *court) { c.ended("stop-ignored", "t9", c.box("t9")) }},
		"a dead worker, long after": {"worker t1 die\n", func(c *court) {
			time.Sleep(3 * time.Minute)
			c.failed("heartbeat-lost", "t1")
		}},
		"an orphan that two passes found": {"platform leak 1\n", func(c *court) {
			b := c.platform.fleet().places(ours)[5]
			for range 2 {
				c.step(Step{Call: "Record", Effect: true, Args: reconcile.Record{Kind: reconcile.Full, Complete: true, At: time.Now(),
					Findings: []reconcile.Finding{{Rule: "orphan", Provider: "lab", Sandbox: b.ref.ID}}}})
				time.Sleep(2 * time.Minute)
			}
			c.ended("orphan", "", b)
		}},
		"silence of a tenant that hides the outage from itself, right after the events came back": {
			"tenants 2\ntask x4 running age=2h sandbox=yes\nevents down for 10m\n", func(c *court) {
				c.happens("x4", "break")
				for range 5 {
					time.Sleep(2 * time.Minute)
					c.step(Step{Call: "Record", Effect: true, Args: reconcile.Record{Kind: reconcile.Full, Complete: true, At: time.Now()}})
				}
				c.failed("heartbeat-lost", "x4")
			}},
		"a sandbox that came back while the write was on its way": {"sandbox t1 stop\n", func(c *court) {
			time.Sleep(3 * time.Minute)
			a := c.claims(action("w1", "sandbox-missing", "t1", nil))
			c.looks("t1", c.box("t1"))
			time.Sleep(time.Second)
			c.happens("t1", "resume")
			time.Sleep(3 * time.Second)
			c.writes("t1", a)
		}},
		"a person ends it with its task": {"", func(c *court) {
			a := action("a1", reconcile.RuleOperator, "t1", c.box("t1"))
			a.Running = true
			c.claims(a)
			c.looks("t1", c.box("t1"))
			c.ends(c.box("t1"))
		}},
		"over its age, by a clock that was set back since": {"rule over-age mode=enforce after=50m\n", func(c *court) {
			c.platform.Shift("lab", -2*time.Hour)
			c.ended("over-age", "t1", c.box("t1"))
		}},
		"who continues a moment after the last look": {"task t7 completed age=1h end=linger\n", func(c *court) {
			b := c.box("t7")
			c.platform.tasks["t7"].entered = c.platform.began.Add(-time.Hour)
			c.claims(action("a1", "finished-lingering", "t7", b))
			c.looks("t7", b)
			c.platform.users().userEvent(argsOf([]string{"t7", "touch"}))
			c.ends(b)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if found := try(t, quietPlatform+c.setup, c.do); len(found) > 0 {
				t.Errorf("%v", found)
			}
		})
	}
}

// Wrong names what is still to be repaired, and nothing else.
func TestWrong(t *testing.T) {
	for name, c := range map[string]struct{ setup, want string }{
		"all is well":                    {"", ""},
		"a stopped task's sandbox":       {"task t8 stopped age=1h\n", "stop-ignored"},
		"a leak":                         {"platform leak 1\n", "orphan"},
		"a sandbox that failed":          {"task t8 running age=1h\nsandbox t8 fail\n", "errored"},
		"a row without its sandbox":      {"task t8 running age=1h\nsandbox t8 die\n", "sandbox-missing"},
		"a row whose worker never began": {"task t8 assigned age=1h sandbox=no\n", "assigned-stale"},
		"what the rule only observes":    {"rule orphan mode=observe\nplatform leak 1\n", ""},
		"a foreign sandbox":              {"platform foreign 1\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.ReplaceAll(quietPlatform, "task t9 stopped age=1h\n", "") + c.setup
			var wrong []string
			try(t, text, func(c *court) { wrong = c.platform.Wrong() })
			got := strings.Join(wrong, "; ")
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("wrong is %q, want %q", got, c.want)
			}
		})
	}
}

func ofPlatform(e history.Event, _ bool) error { return Check(e) }
