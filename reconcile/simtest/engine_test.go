package simtest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/history"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/platform"
	"github.com/sandkeeper/sandkeeper/test/raced"
)

// A small world in which one task is stale and one sandbox nobody's, for whoever comes.
const smallWorld = `
seed 3
calm 15m
provider lab exclusive=yes
task t1 running act=20s work=9h
task t2 running act=20s work=9h
task t3 running act=20s work=9h
task t4 running act=20s work=9h
`

const (
	onceEach = "process once every 2m\n"
	replicas = "process replica-1 quick 15s full 2m\nprocess replica-2 quick 15s full 2m\n"
	dying    = "@1m sandbox t1 die\n@1m sandbox t2 die\n"
	leaking  = "@1m platform leak 1 age=1h\n"
)

func playText(t *testing.T, text string, o Options) *Report {
	t.Helper()
	s, err := Parse("test", text)
	if err != nil {
		t.Fatal(err)
	}
	r := Run(t, s, o)
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	return r
}

// Each verb of the engine does what its line says.
func TestVerbs(t *testing.T) {
	cases := map[string]struct {
		script string
		want   []string // what must have happened
	}{
		"once is a process of its own each time": {onceEach, []string{"pass: full", "call: DropLease"}},
		"replicas hand work on":                  {replicas + dying, []string{"pass: quick", "call: Kick", "outcome: fail done"}},
		"who looks writes nothing":               {"process look every 2m\n" + dying, []string{"pass: full", "finding: sandbox-missing"}},
		"a provider's fault strikes": {onceEach + "@1m fault lab list error status 503 for 5m\n",
			[]string{"fault: provider error 503", "frozen: listing"}},
		"a database's fault strikes": {onceEach + "@1m fault tasks Live error for 5m\n",
			[]string{"fault: tasks error", "pass: failed"}},
		"a call hangs until the statement's time-out": {onceEach + "@1m fault ledger Recall hang count 1\n",
			[]string{"fault: ledger hang", "pass: failed"}},
		"a call takes effect and fails": {onceEach + dying + "@1m fault tasks Write done-error count 1\n",
			[]string{"fault: tasks done-error", "outcome: fail pending", "outcome: fail done"}},
		"a standby is read only": {onceEach + "@1m fault ledger any standby for 5m\n",
			[]string{"fault: ledger standby", "call: TakeLease"}},
		"a kick is lost, and the next pass makes up for it": {replicas + dying + "@1m fault queue Kick lost count 1\n",
			[]string{"fault: queue lost", "outcome: fail done"}},
		"a kick comes twice": {replicas + dying + "@1m fault queue Kick twice for 9m\n", []string{"fault: queue twice"}},
		"a process dies at its call": {replicas + dying + "@1m crash any Write 1 before\n",
			[]string{"crash before: Write", "outcome: fail done"}},
		"a process dies when its call is done": {onceEach + leaking + "@1m crash once Terminate 1 after\n",
			[]string{"crash after: Terminate", "outcome: terminate confirmed"}},
		"a process stands still": {replicas + dying + "@1m freeze any Claim 1 after for 3m\n",
			[]string{"freeze after: Claim", "outcome: fail done"}},
		"a lease is handed on": {onceEach + dying + "@1m lease once Record 1\n", []string{"lease before: Record"}},
		"a replica is stopped and comes again": {replicas + dying + "@1m stop replica-1 for 1m\n@1m stop replica-2 for 1m\n",
			[]string{"outcome: fail done"}},
		"clocks jump and drift": {onceEach + "@1m clock lab jump -5m\n@1m clock ledger jump 5m\n@1m clock tasks drift 10ms for 5m\n",
			[]string{"clock: lab jump back", "clock: ledger jump ahead", "clock: tasks drift"}},
		"a config is rolled out": {replicas + dying + "@1m config rule sandbox-missing mode=observe\n" +
			"@1m config at replica-1 limits per_pass=1\n@1m config version without orphan\n",
			[]string{"event: config rule", "event: config at", "event: config version", "held: observe"}},
		"an operator holds": {onceEach + dying + "@1m operator hold provider:lab for 12m\n", []string{"held: hold"}},
		"an operator pauses": {onceEach + dying + "@1m operator pause all for 10m\n@9m operator resume all\n",
			[]string{"held: pause", "operator: resume"}},
		"an operator lowers a mode": {onceEach + dying + "@1m operator mode sandbox-missing observe\n",
			[]string{"held: observe"}},
		"an operator ends a sandbox": {replicas + "@3m operator terminate t1 running\n", []string{"outcome: terminate confirmed"}},
		"an operator ends all":       {onceEach + "@3m operator emergency running\n", []string{"outcome: terminate confirmed"}},
		"an operator takes a quarantine back": {replicas + "rule stop-ignored remedy=quarantine\n@3m user t1 stop\n" +
			"@5m operator restore any\n", []string{"outcome: quarantine done", "outcome: resume done"}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := playText(t, smallWorld+setupFirst(test.script), Options{Collect: true})
			for _, what := range test.want {
				if r.Coverage[what] == 0 {
					t.Errorf("%q did not happen; there was: %v", what, history.SortedKeys(r.Coverage))
				}
			}
			for _, v := range r.Violations {
				t.Errorf("%s: %s", v.Property, v.Says)
			}
		})
	}
}

// setupFirst moves the lines of the setup before the events.
func setupFirst(text string) string {
	lines := strings.SplitAfter(text, "\n")
	slices.SortStableFunc(lines, func(a, b string) int { return min(strings.Count(a, "@"), 1) - min(strings.Count(b, "@"), 1) })
	return strings.Join(lines, "")
}

// A recorder keeps the steps and breaks a property of its own at some of them.
type recorder struct {
	steps []platform.Step
	bad   func(s platform.Step) bool
	ended int
}

func (r *recorder) Step(s platform.Step) []history.Violation {
	r.steps = append(r.steps, s)
	if r.bad != nil && r.bad(s) {
		return []history.Violation{{Property: "harm", Step: s.N, Says: "a test says so"}}
	}
	return nil
}

func (r *recorder) Pass(string, *run.Result, error) []history.Violation { return nil }

func (r *recorder) End() []history.Violation {
	r.ended++
	return nil
}

func TestWhatIsToldOfAStep(t *testing.T) {
	w := &recorder{}
	playText(t, smallWorld+onceEach+dying+"@1m fault tasks Write done-error count 1\n@4m operator hold task:t3\n",
		Options{Watch: []platform.Watcher{w}})
	write := slices.IndexFunc(w.steps, func(s platform.Step) bool { return s.Call == "Write" })
	if write < 0 {
		t.Fatal("nothing was written")
	}
	s := w.steps[write]
	if s.Party != "tasks" || !s.Effect || s.Err == nil || s.Answer != nil || s.Struck != "tasks done-error" ||
		!strings.HasPrefix(s.Process, "once-") {
		t.Errorf("the write that failed after its effect is told as %+v", s)
	}
	if _, ok := s.Args.(reconcile.Write); !ok {
		t.Errorf("what it asked with is %T", s.Args)
	}
	held := func(s platform.Step) bool { return s.Process == "operator" && s.Call == "Hold" && s.Effect }
	if !slices.ContainsFunc(w.steps, held) {
		t.Error("nobody was told of the operator's hold")
	}
	if w.ended != 1 {
		t.Errorf("the end was told %d times", w.ended)
	}
}

func TestAViolationEndsTheHistory(t *testing.T) {
	for name, test := range map[string]struct {
		collect bool
		want    int
	}{
		"the first one does":    {false, 1},
		"unless all are wanted": {true, 3},
	} {
		t.Run(name, func(t *testing.T) {
			left := 3
			w := &recorder{bad: func(s platform.Step) bool {
				left--
				return left >= 0
			}}
			r := playText(t, smallWorld+onceEach, Options{Watch: []platform.Watcher{w}, Collect: test.collect})
			if len(r.Violations) != test.want || !test.collect && len(w.steps) != 1 {
				t.Errorf("%d violations after %d steps, want %d", len(r.Violations), len(w.steps), test.want)
			}
		})
	}
}

// What a violation does not need is left out.
func TestShrink(t *testing.T) {
	if raced.On {
		return // it plays dozens of histories, one after the other
	}
	s, err := Parse("test", smallWorld+onceEach+"process look every 5m\nlimits per_hour=0\n@1m nothing\n"+
		"@1m fault lab list slow by 1s count 1\n@2m sandbox t2 die\n@3m clock lab jump 1s\n@4m nothing\n")
	if err != nil {
		t.Fatal(err)
	}
	got := Shrink(t, s, "live", time.Hour)
	want := "seed 3\ncalm 15m\ntask t2 running act=20s work=9h\nprocess once every 2m\nlimits per_hour=0\n@2m sandbox t2 die\n"
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
}

// When the faults have stopped and it does not come right, that is a violation as well.
func TestLive(t *testing.T) {
	r := playText(t, smallWorld+"process replica-1 quick 1m full 2m\nlimits per_hour=0\n"+dying, Options{})
	if len(r.Violations) != 1 || r.Violations[0].Property != "live" {
		t.Errorf("violations %v, want one of live: nothing may ever be begun", r.Violations)
	}
}

// A peer plays in the place of sandkeeper, behind the same gate.
type peer struct {
	Views
	passes *int
}

var errPeer = errors.New("no view of it")

func (p peer) Pass(ctx context.Context) error {
	*p.passes++
	rows, err := p.Tasks.Live(ctx)
	if err != nil || len(rows.Tasks) == 0 {
		return errors.Join(err, errPeer)
	}
	_, err = p.Providers["lab"].Get(ctx, rows.Tasks[0].Sandbox)
	return err
}

func TestAPeerPlays(t *testing.T) {
	passes := 0
	r := playText(t, smallWorld+onceEach+"@2m crash peer Get 1 before\n", Options{Every: time.Minute,
		Janitor: func(v Views) Janitor { return peer{v, &passes} }})
	if passes != 15 || r.Coverage["call: Get"] == 0 || r.Coverage["call: Recall"] > 0 || r.Coverage["crash before: Get"] != 1 {
		t.Errorf("%d passes, %v", passes, history.SortedKeys(r.Coverage))
	}
}

func TestBare(t *testing.T) {
	if took := Bare(t, 3); took <= 0 {
		t.Errorf("a pass takes %s", took)
	}
}
