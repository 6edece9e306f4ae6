package main

import (
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

func TestWrapped(t *testing.T) {
	t.Parallel()
	word := strings.Repeat("x", 43)
	for name, tt := range map[string]struct{ text, want string }{
		"short":                  {"a  short\tline", "a short line"},
		"as wide as a line":      {word + " " + word + "x", word + " " + word + "x"},
		"one wider":              {word + " " + word + "xx", word + "\n" + strings.Repeat(" ", 17) + word + "xx"},
		"a word wider than that": {strings.Repeat(word, 3), strings.Repeat(word, 3)},
		"nothing":                {"", ""},
	} {
		if got := wrapped(tt.text); got != tt.want {
			t.Errorf("%s: wrapped(%q) = %q, want %q", name, tt.text, got, tt.want)
		}
	}
}

// TestKindOf: a reason that only counts on is the same reason, another one is not.
func TestKindOf(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		a, b string
		same bool
	}{
		"counts on": {"110 tasks run and none was heard for 40s: it is down",
			"109 tasks run and none was heard for 1m0s: it is down", true},
		"another cause": {"the listing failed: 500", "the listing lost 64 of 102 sandboxes", false},
		"counts down":   {"events are back; heartbeat timers restarted, trusted again in 40s", "events are back; heartbeat timers restarted, trusted again in 4s", true},
		"trusted":       {"", "the listing failed: 500", false},
	} {
		if got := kindOf(tt.a) == kindOf(tt.b); got != tt.same {
			t.Errorf("%s: %q and %q the same = %v, want %v", name, kindOf(tt.a), kindOf(tt.b), got, tt.same)
		}
	}
}

func TestWidestGap(t *testing.T) {
	t.Parallel()
	began := func(seconds ...int) []reconcile.PassSeen { // newest first
		var out []reconcile.PassSeen
		for _, s := range seconds {
			out = append(out, reconcile.PassSeen{BeganAt: time.Unix(int64(s), 0)})
		}
		return out
	}
	for name, tt := range map[string]struct {
		passes []reconcile.PassSeen
		want   time.Duration
	}{
		"the gap at the time counts":        {began(130, 128, 113, 111), 15 * time.Second},
		"an earlier one does not":           {began(130, 128, 126, 119, 100), 7 * time.Second},
		"one pass makes none":               {began(130), 0},
		"none":                              {nil, 0},
		"all before the time: the last one": {began(118, 115, 100), 3 * time.Second},
	} {
		if got := widestGap(tt.passes, time.Unix(120, 0)); got != tt.want {
			t.Errorf("%s: widestGap = %s, want %s", name, got, tt.want)
		}
	}
}

// TestWaitingNamesWhatItWaitsFor: the thing that is missing, what holds it, and how many more there are.
func TestWaitingNamesWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	stage := &demoStage{providers: demoWorlds(time.Now())}
	vercel := stage.at(atVercel)
	box := vercel.Put(simulated.Sandbox{}).ID
	c := &script{stage: stage, truth: newTruth(stage)}
	o := &reconcile.Overview{Findings: []reconcile.FindingSeen{
		{Finding: reconcile.Finding{Sandbox: box, HeldBy: reconcile.HeldBy{{Kind: reconcile.HeldHold, Reason: "drill"}}}}}}
	if got := c.waits().lacking(o); !strings.Contains(got, "to notice what just happened") {
		t.Errorf("with nothing broken it waits for %q", got)
	}
	o.Sources = []reconcile.SourceSeen{{Name: "listing:vercel", Reason: reconcile.Said("HTTP 429")}}
	if got := c.waits().lacking(o); !strings.HasPrefix(got, "listing:vercel to be trusted: HTTP 429") {
		t.Errorf("with a source in doubt it waits for %q", got)
	}
	c.truth.add(affected{sandbox: box, found: true})
	c.truth.add(affected{task: "t-1"})
	got := c.waits().lacking(o)
	if want := "sandbox " + box + " at Vercel to be terminated; on hold: "; !strings.HasPrefix(got, want) ||
		!strings.Contains(got, "drill") || !strings.HasSuffix(got, "; and 1 more") {
		t.Errorf("it waits for %q, want %q, the hold and one more", got, want)
	}
}
