package backtest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// silentOnce is a completed task of a day, that was once silent for so long.
func silentOnce(id string, made time.Time, silent time.Duration) *Life {
	at := func(d time.Duration) time.Time { return made.Add(time.Minute + d) }
	return worked(id, made, reconcile.TaskCompleted, Sign{At: at(0), Kind: Heartbeat},
		Sign{At: at(silent), Kind: Heartbeat}, Sign{At: at(silent + time.Second), Kind: Heartbeat})
}

// TestWhatCameBack: what a history had before it changed does not speak for a rule, and still speaks against it: a batch
// that comes each week would be ended by a rule that is proven by the days after the last one.
func TestWhatCameBack(t *testing.T) {
	const days = 32
	for name, c := range map[string]struct {
		silent func(day int) time.Duration // of the tasks of the day; 0: as always
		proven bool
		says   string
	}{
		"always quick":               {func(int) time.Duration { return 0 }, true, ""},
		"a batch each week":          {weekly(5), false, "400 of 3200 completed tasks"},
		"a batch at the month's end": {once(4, 6), false, "all tasks count until it is 30 days old, on 2026-03-"},
		"slower since two days":      {once(days-2, days), false, "tasks since then count"},
	} {
		t.Run(name, func(t *testing.T) {
			p := policy()
			p.Auto = map[string]bool{"heartbeat-lost": true}
			end := day0.Add(days * 24 * time.Hour)
			replay := New(p, day0, end, "heartbeat-lost")
			for i := range days * 100 {
				made := day0.Add(time.Duration(i) * 24 * time.Hour / 100)
				silent := time.Duration(10+i%37) * time.Second
				if s := c.silent(i / 100); s > 0 {
					silent = s
				}
				l := silentOnce(fmt.Sprint(i), made, silent)
				l.Class = fmt.Sprintf("task.kind=%d", i%2)
				replay.Add((*reconcile.PastTask)(l))
			}
			for _, got := range replay.Results(nil, "heartbeat-lost") {
				if got.Proven != c.proven || got.Class == All && !strings.Contains(got.Reason, c.says) {
					t.Errorf("%s: proven %t, at most %.3f: %s", got.Class, got.Proven, got.Upper, got.Reason)
				}
				if until := "until it is 30 days old"; got.Class == All && strings.Contains(c.says, until) &&
					!strings.Contains(got.Line, until) {
					t.Errorf("what holds it does not say until when: %s", got.Line)
				}
				if !c.proven && got.Suggested > 0 && got.Suggested < 5*time.Minute {
					t.Errorf("%s: %s would do", got.Class, got.Suggested)
				}
			}
			for _, l := range replay.Learn("heartbeat-lost", 90*time.Second, nil, end) {
				if l.Target > 0 && l.After < 5*time.Minute != c.proven {
					t.Errorf("%s: %s is learned", l.Class, l.After)
				}
			}
		})
	}
}

// TestKindThatIsAway: a kind of tasks that a rule is wrong about stays one, also while none of it came since the history
// changed.
func TestKindThatIsAway(t *testing.T) {
	replay := New(policy(), day0, day0.Add(32*24*time.Hour), "heartbeat-lost")
	for i := range 3200 {
		silent, kind := time.Duration(10+i%37)*time.Second, "usual"
		switch {
		case i > 2400:
			silent += 20 * time.Second
		case i%50 == 7:
			silent, kind = 6*time.Minute, "build"
		}
		l := silentOnce(fmt.Sprint(i), day0.Add(time.Duration(i)*24*time.Hour/100), silent)
		l.Class = "task.kind=" + kind
		replay.Add((*reconcile.PastTask)(l))
	}
	for _, got := range replay.Results(nil, "heartbeat-lost") {
		if wrong := got.Class == "task.kind=build"; wrong != (got.lower() > DefaultProof.FalsePositives) || wrong == got.Proven {
			t.Errorf("%s: %d of %d, proven %t: %s", got.Class, got.FalsePositives, got.Samples, got.Proven, got.Reason)
		}
		if got.Class == All && !strings.Contains(got.Reason, "changed about") {
			t.Errorf("the history did not change: %s", got.Reason)
		}
	}
}

func weekly(day int) func(int) time.Duration {
	return func(at int) time.Duration { return map[bool]time.Duration{true: 6 * time.Minute}[at%7 == day-1] }
}

func once(from, to int) func(int) time.Duration {
	return func(at int) time.Duration {
		return map[bool]time.Duration{true: 6 * time.Minute}[at >= from && at < to]
	}
}

// TestSuggestedIsProven: a threshold that is said to keep the bound keeps it once it is set, also where tasks that did
// not complete lived on after such a silence; and each point of the curve is what the rule comes to with it.
func TestSuggestedIsProven(t *testing.T) {
	replay := func(after time.Duration) *Replay {
		p := policy()
		own := p.Rules["heartbeat-lost"]
		own.After = after
		p.Rules["heartbeat-lost"] = own
		r := New(p, day0, day0.Add(2000*time.Hour), "heartbeat-lost")
		for i := range 1500 {
			l := silentOnce(fmt.Sprint(i), day0.Add(time.Duration(i)*time.Hour), time.Duration(35+i*7919%100)*time.Second)
			switch i % 3 {
			case 0:
				l.Task.State = reconcile.TaskStopped
			case 1:
				if i%5 == 0 {
					l.Task.State = reconcile.TaskFailed
				}
			}
			r.Add((*reconcile.PastTask)(l))
		}
		return r
	}
	first := resultOf(t, replay(10*time.Minute), "heartbeat-lost")
	if !first.Proven || first.Suggested <= 0 || first.LivedOn != 0 || !strings.Contains(first.Reason, "completed tasks were silent") {
		t.Fatalf("%+v", first)
	}
	then := resultOf(t, replay(first.Suggested), "heartbeat-lost")
	if !then.Proven || then.Suggested != first.Suggested {
		t.Errorf("with %s, which was to keep the bound: %s", first.Suggested, then.Reason)
	}
	for _, point := range first.Frontier {
		if point.After < 30*time.Second {
			continue
		}
		at := resultOf(t, replay(point.After), "heartbeat-lost")
		if at.FalsePositives != point.FalsePositives || at.Upper != point.Upper {
			t.Errorf("%s: the curve has %d, at most %.4f; the rule comes to %s", point.After, point.FalsePositives, point.Upper,
				at.Reason)
		}
	}
	short := resultOf(t, replay(time.Minute), "heartbeat-lost")
	if want := fmt.Sprintf("of %d tasks that completed or lived on were silent", short.Samples); short.LivedOn == 0 ||
		!strings.Contains(short.Reason, want) {
		t.Errorf("%s, want %q", short.Reason, want)
	}
}

// TestLineSaysBound: a rate that is low enough by itself is not what holds a rule: so few tasks say too little of it.
func TestLineSaysBound(t *testing.T) {
	replay := New(policy(), day0, day0.Add(300*time.Hour), "heartbeat-lost")
	for i := range 250 {
		silent := 20 * time.Second
		if i%100 == 7 {
			silent = 2 * time.Minute
		}
		replay.Add((*reconcile.PastTask)(silentOnce(fmt.Sprint(i), day0.Add(time.Duration(i)*time.Hour), silent)))
	}
	const want = "not proven on your history: 1.2 % of 250 completed tasks were silent for longer than 1m30s; at most 3.1 % " +
		"with 95 % confidence; 2m1s would do"
	if got := resultOf(t, replay, "heartbeat-lost"); got.Line != want {
		t.Errorf("%q, want %q", got.Line, want)
	}
}

// TestRhythmIsNoChange: kinds of tasks that take turns are of one nature, however many of them there are.
func TestRhythmIsNoChange(t *testing.T) {
	for _, turns := range []int{2, 6, 7, 30, 256} {
		values := make([]millis, 50_000)
		for i := range values {
			values[i] = millis(1000 * (10 + i%turns))
		}
		if at := changed(hourly(values)); at != 0 {
			t.Errorf("%d kinds that take turns: changed at %d of %d", turns, at, len(values))
		}
		for i := range values[30_000:] {
			values[30_000+i] *= 2
		}
		if at := changed(hourly(values)); at != 30_000 {
			t.Errorf("%d kinds that take turns: changed at %d, want 30000", turns, at)
		}
	}
}
