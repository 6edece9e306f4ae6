package backtest

import (
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

var day0 = time.Date(2026, 2, 2, 0, 0, 0, 0, time.UTC)

// policy is that of a platform with events and heartbeats, all rules at their defaults.
func policy() *reconcile.Policy {
	p := &reconcile.Policy{Quick: 15 * time.Second, Full: 2 * time.Minute, Rules: map[string]reconcile.RulePolicy{},
		Providers: map[string]reconcile.ProviderPolicy{"daytona": {Name: "daytona", LinkTask: true}},
		Tasks:     reconcile.TasksPolicy{Events: true, Heartbeats: true}}
	for i := range reconcile.Rules {
		r := &reconcile.Rules[i]
		s := r.Settings("omoios", "")
		if s.Mode = reconcile.Observe; r.Off {
			s.Mode = reconcile.Off
		}
		p.Rules[r.Name] = s
	}
	return p
}

// worked is a task that was made at a moment, started a minute later, spoke at these offsets of its start and
// ended at the last.
func worked(id string, made time.Time, state reconcile.TaskState, signs ...Sign) *Life {
	began := made.Add(time.Minute)
	l := &Life{Task: reconcile.Task{ID: id, State: state, CreatedAt: made, StartedAt: began}}
	for _, s := range signs {
		l.Signs = append(l.Signs, s)
		l.Ended = s.At
	}
	return l
}

// beats are signs of a kind, so many seconds after the start of a task that was made at day0.
func beats(kind reconcile.EventKind, seconds ...float64) (out []Sign) {
	for _, s := range seconds {
		out = append(out, Sign{At: day0.Add(time.Minute + time.Duration(s*float64(time.Second))), Kind: kind})
	}
	return out
}

func replayOf(p *reconcile.Policy, lives ...*Life) *Replay {
	r := New(p, day0, day0.Add(48*time.Hour))
	for _, l := range lives {
		r.Add((*reconcile.PastTask)(l))
	}
	return r
}

func resultOf(t *testing.T, r *Replay, rule string) Result {
	t.Helper()
	for _, one := range r.Results(nil, rule) {
		if one.Class == All {
			return one
		}
	}
	t.Fatalf("no result of %s", rule)
	return Result{}
}

// TestReplay: what one task shows of one rule, at both sides of its threshold.
func TestReplay(t *testing.T) {
	after := func(rule string, d time.Duration) func(*reconcile.Policy) {
		return func(p *reconcile.Policy) {
			s := p.Rules[rule]
			s.After = d
			p.Rules[rule] = s
		}
	}
	none := func(*reconcile.Policy) {}
	completed, failed := reconcile.TaskCompleted, reconcile.TaskFailed
	for name, c := range map[string]struct {
		rule                 string
		set                  func(*reconcile.Policy)
		life                 *Life
		samples, wrong, dead int
		longest, delay       float64
	}{
		"silence just below the limit": {"heartbeat-lost", none,
			worked("a", day0, completed, beats(Heartbeat, 0, 30, 120, 130)...), 1, 0, 0, 90, 0},
		"silence just above it": {"heartbeat-lost", none,
			worked("a", day0, completed, beats(Heartbeat, 0, 30, 120.2, 130)...), 1, 1, 0, 90.2, 0},
		"a silence at work proves nothing": {"heartbeat-lost", none,
			worked("a", day0, completed, append(append(beats(Heartbeat, 0, 60), beats(0, 70)...), beats(Heartbeat, 600, 610)...)...),
			1, 0, 0, 60, 0},
		"dead: found after the limit": {"heartbeat-lost", none,
			over(worked("a", day0, failed, beats(Heartbeat, 0, 30)...), 30+900), 0, 0, 1, 0, 90.001},
		"dead: its platform was faster": {"heartbeat-lost", none,
			over(worked("a", day0, failed, beats(Heartbeat, 0, 30)...), 30+60), 0, 0, 1, 0, 60},
		"failed in the end, but lived on after a silence": {"heartbeat-lost", none,
			worked("a", day0, failed, beats(Heartbeat, 0, 200, 210)...), 1, 1, 0, 200, 0},
		"stopped by somebody: no life, no death": {"heartbeat-lost", none,
			over(worked("a", day0, reconcile.TaskStopped, beats(Heartbeat, 0, 30)...), 900), 0, 0, 0, 0, 0},
		"failed by us: no life, no death": {"heartbeat-lost", none,
			ours(over(worked("a", day0, failed, beats(Heartbeat, 0, 30)...), 900)), 0, 0, 0, 0, 0},
		"its completion was its next sign": {"heartbeat-lost", none,
			over(worked("a", day0, completed, beats(Heartbeat, 0, 30)...), 330), 1, 1, 0, 300, 0},

		"inactive with heartbeats, below the limit": {"inactive", after("inactive", time.Minute),
			worked("a", day0, completed, mixed(59)...), 1, 0, 0, 59, 0},
		"inactive with heartbeats, above it": {"inactive", after("inactive", time.Minute),
			worked("a", day0, completed, mixed(61)...), 1, 1, 0, 61, 0},
		"who waits for a person is not inactive": {"inactive", after("inactive", time.Minute),
			worked("a", day0, completed, append(append(beats(Waiting, 0), beats(Heartbeat, 30, 60, 90)...), beats(0, 100)...)...),
			1, 0, 0, 0, 0},

		"started just in time": {"assigned-stale", none, late(worked("a", day0, completed, beats(0, 500)...), 180), 1, 0, 0, 180, 0},
		"started too late":     {"assigned-stale", none, late(worked("a", day0, completed, beats(0, 500)...), 181), 1, 1, 0, 181, 0},
		"never started": {"assigned-stale", none,
			unstarted(worked("a", day0, failed, beats(0, 540)...)), 0, 0, 1, 0, 180.001},

		"ran to its own limit":   {"deadline-exceeded", none, limited(worked("a", day0, completed, beats(0, 60)...), 60), 1, 0, 0, 60, 0},
		"ran beyond its limit":   {"deadline-exceeded", none, limited(worked("a", day0, completed, beats(0, 61)...), 60), 1, 1, 0, 61, 0},
		"ran beyond the default": {"deadline-exceeded", after("deadline-exceeded", time.Minute), worked("a", day0, completed, beats(0, 61)...), 1, 1, 0, 61, 0},

		"used again soon": {"finished-lingering", none,
			then(worked("a", day0, completed, beats(0, 60)...), 60+600), 1, 0, 0, 600, 0},
		"used again after the limit": {"finished-lingering", none,
			then(worked("a", day0, completed, beats(0, 60)...), 60+601), 1, 1, 0, 601, 0},
		"never used again": {"finished-lingering", none, worked("a", day0, completed, beats(0, 60)...), 1, 0, 0, 0, 0},

		"an attempt before it took the time": {"assigned-stale", none, again(late(worked("a", day0, completed, beats(0, 500)...), 181)), 0, 0, 0, 0, 0},

		"picked up after long": {"pending-stuck", none, late(worked("a", day0, completed, beats(0, 5000)...), 601), 1, 1, 0, 601, 0},
		"picked up in time":    {"pending-stuck", none, late(worked("a", day0, completed, beats(0, 5000)...), 600), 1, 0, 0, 600, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := policy()
			c.set(p)
			got := resultOf(t, replayOf(p, c.life), c.rule)
			if got.Samples != c.samples || got.FalsePositives != c.wrong || got.Dead != c.dead {
				t.Errorf("samples %d, false positives %d, dead %d; want %d, %d, %d; %s", got.Samples, got.FalsePositives, got.Dead,
					c.samples, c.wrong, c.dead, got.Reason)
			}
			if got.Measured.Max.Seconds() != c.longest || got.Delay.P50.Seconds() != c.delay {
				t.Errorf("longest %v, delay %v; want %v, %v", got.Measured.Max.Seconds(), got.Delay.P50.Seconds(), c.longest, c.delay)
			}
		})
	}
}

// over ends a life so many seconds after its start.
func over(l *Life, seconds float64) *Life {
	l.Ended = l.Task.StartedAt.Add(time.Duration(seconds * float64(time.Second)))
	return l
}

func ours(l *Life) *Life {
	l.Task.Error = "silent " + reconcile.Mark("a-1")
	return l
}

// late starts a life so many seconds after it was made.
func late(l *Life, seconds int) *Life {
	l.Task.StartedAt = l.Task.CreatedAt.Add(time.Duration(seconds) * time.Second)
	return l
}

func unstarted(l *Life) *Life {
	l.Task.StartedAt, l.Signs = time.Time{}, nil
	return l
}

func limited(l *Life, seconds int) *Life {
	l.Task.Timeout = time.Duration(seconds) * time.Second
	return l
}

// again makes a life the second attempt of its task.
func again(l *Life) *Life {
	l.Task.Attempts = 1
	return l
}

// then adds activity after the end.
func then(l *Life, seconds float64) *Life {
	l.Signs = append(l.Signs, beats(0, seconds)...)
	return l
}

// mixed are heartbeats every 10 s, and activity at the start and so many seconds later.
func mixed(seconds float64) []Sign {
	out := beats(0, 0)
	for s := 10.0; s < seconds; s += 10 {
		out = append(out, beats(Heartbeat, s)...)
	}
	return append(out, beats(0, seconds, seconds+1)...)
}

// TestReplayHearsOthers: where nobody was heard the events were out, and no worker was silent.
func TestReplayHearsOthers(t *testing.T) {
	gap := func(id string, silent bool) *Life {
		l := worked(id, day0, reconcile.TaskCompleted, beats(Heartbeat, 0, 60)...)
		for s := 90.0; s < 3600; s += 30 {
			if !silent || s > 1200 {
				l.Signs = append(l.Signs, beats(Heartbeat, s)...)
			}
		}
		return over(l, 3600)
	}
	out := []*Life{gap("a", true), gap("b", true), gap("c", true), gap("d", true)}
	if got := resultOf(t, replayOf(policy(), out...), "heartbeat-lost"); got.FalsePositives != 0 || got.Samples != 4 {
		t.Errorf("all silent at once: %d of %d false positives, want 0 of 4", got.FalsePositives, got.Samples)
	}
	out[3] = gap("d", false)
	if got := resultOf(t, replayOf(policy(), out...), "heartbeat-lost"); got.FalsePositives != 3 {
		t.Errorf("one was heard: %d false positives, want 3", got.FalsePositives)
	}
}

// TestReplayClasses: a class has a line of its own, with its own threshold.
func TestReplayClasses(t *testing.T) {
	p := policy()
	s := p.Rules["heartbeat-lost"]
	s.Overrides = []reconcile.Override{{When: map[string]string{"template": "gpu"}, After: 10 * time.Minute}}
	p.Rules["heartbeat-lost"] = s
	var lives []*Life
	for i := range 80 {
		l := worked(string(rune('0'+i)), day0.Add(time.Duration(i)*time.Minute), reconcile.TaskCompleted)
		l.Task.Template = []string{"gpu", "cpu"}[i%2]
		for _, s := range []int{0, 300, 310} {
			l.Signs = append(l.Signs, Sign{At: l.Task.StartedAt.Add(time.Duration(s) * time.Second), Kind: Heartbeat})
		}
		lives = append(lives, over(l, 320))
	}
	got := map[string]int{}
	for _, r := range replayOf(p, lives...).Results(nil, "heartbeat-lost") {
		got[r.Class+" "+r.After.String()] = r.FalsePositives
	}
	want := map[string]int{"all 1m30s": 40, "template=gpu 10m0s": 0, "template=cpu 1m30s": 40}
	for key, n := range want {
		if got[key] != n || len(got) != len(want) {
			t.Fatalf("results %v, want %v", got, want)
		}
	}
}

// TestReplayLacks: every rule has a line; what cannot be replayed says why, and what the ledger knows.
func TestReplayLacks(t *testing.T) {
	p := policy()
	p.Tasks.Events, p.Tasks.Heartbeats = false, false
	seen := map[string]reconcile.RuleReport{
		"heartbeat-lost": {Verdicts: 400, FalsePositives: 1}, "sandbox-missing": {Verdicts: 10}, "orphan": {Verdicts: 400}}
	byRule := map[string]Result{}
	for _, r := range replayOf(p).Results(seen) {
		byRule[r.Rule] = r
	}
	if len(byRule) != len(reconcile.RuleNames) {
		t.Errorf("%d rules, want %d", len(byRule), len(reconcile.RuleNames))
	}
	for rule, want := range map[string]struct {
		samples int
		proven  bool
		says    string
	}{
		"heartbeat-lost":  {400, true, "keeps no events"},
		"sandbox-missing": {10, false, "of 10 verdicts in the ledger 0 came back"},
		"orphan":          {400, false, "cannot come back"},
		"duplicate":       {0, false, "no verdict"},
		"looping":         {0, false, "only reports"},
	} {
		got := byRule[rule]
		if got.Samples != want.samples || got.Proven != want.proven || !strings.Contains(got.Reason, want.says) {
			t.Errorf("%s: %d samples, proven %v, %q", rule, got.Samples, got.Proven, got.Reason)
		}
	}
}

// TestEveryRuleIsReplayedOrSaysWhy holds both tables against that of the rules.
func TestEveryRuleIsReplayedOrSaysWhy(t *testing.T) {
	said := map[string]bool{}
	for i := range replays {
		said[replays[i].rule] = true
	}
	for name := range unreplayed {
		if said[name] {
			t.Errorf("%s is replayed, and says why it is not", name)
		}
		said[name] = true
	}
	for _, name := range reconcile.RuleNames {
		if !said[name] {
			t.Errorf("%s is neither replayed nor says why", name)
		}
		delete(said, name)
	}
	for name := range said {
		t.Errorf("%s is no rule", name)
	}
}
