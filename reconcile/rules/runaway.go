package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// fewestSamples is how many measurements make a run.
const fewestSamples = 3

// runaway finds a sandbox that works without end, that does nothing while its task runs, or
// whose memory grows to its limit, all without activity of the worker. It only tells, with
// what the log speaks of: what is odd for one platform is the daily work of another.
func runaway(v *view.View, s *reconcile.Subject) Result {
	after := After(v, "runaway", s)
	if after <= 0 {
		return healthyResult("it has no threshold")
	}
	var kept Result
	for i := range s.Boxes {
		b := &s.Boxes[i]
		if !b.Here || !b.Owned || b.State != reconcile.SandboxRunning || len(b.Probes.Measurements) == 0 {
			continue
		}
		out := judgeMeasurements(v, s, b, after)
		if out.Found {
			return out
		}
		if kept.Suspect == "" {
			kept = out
		}
	}
	if kept.Suspect == "" {
		return no(v, func() string { return calm(v, s) })
	}
	return kept
}

// calm says what was measured last in the subject's sandboxes.
func calm(v *view.View, s *reconcile.Subject) string {
	for i := range s.Boxes {
		b := &s.Boxes[i]
		run := v.Wanted(b, func(m *reconcile.Measurements) bool { return m.CPU != nil || m.Memory != nil })
		if n := len(run); n > 0 {
			return fmt.Sprintf("sandbox %s: %s when measured %s ago", b.ID, measurementsText(&run[n-1]),
				text.Duration(v.Now.Sub(run[n-1].At)))
		}
	}
	return "no sandbox of it was measured recently"
}

// A strain is a run of measurements over a limit, and what it likely means.
type strain struct {
	run    []reconcile.Measurements
	what   string // "CPU at 99 %"
	likely string // "infinite loop"
}

func (t *strain) span() time.Duration { return t.run[len(t.run)-1].At.Sub(t.run[0].At) }

func judgeMeasurements(v *view.View, s *reconcile.Subject, b *reconcile.SeenSandbox, after time.Duration) Result {
	var met []strain
	kept := Result{}
	for _, t := range strains(v, s, b, after) {
		if len(t.run) == 0 {
			continue
		}
		if v.ActiveSince(s, t.run[0].At) {
			kept = Result{NeedsProbe: true, Suspect: t.what + ", but its worker was active meanwhile"}
			continue
		}
		if len(t.run) < fewestSamples || t.span() < after {
			kept = Result{NeedsProbe: true, Suspect: fmt.Sprintf("%s over %s of %s, measured %s",
				t.what, text.Duration(t.span()), text.Duration(after), times(len(t.run)))}
			continue
		}
		met = append(met, t)
	}
	if len(met) == 0 {
		return kept
	}
	return boxStrained(b, met)
}

// strains are the runs of the three kinds, each as long as it lasts until now.
func strains(v *view.View, s *reconcile.Subject, b *reconcile.SeenSandbox, after time.Duration) []strain {
	cpu := v.Wanted(b, func(m *reconcile.Measurements) bool { return m.CPU != nil })
	busy := view.Trailing(cpu,
		func(m *reconcile.Measurements) bool { return reconcile.LoadOf(m.CPU) == reconcile.LoadBusy })
	idle := view.Trailing(cpu,
		func(m *reconcile.Measurements) bool { return reconcile.LoadOf(m.CPU) == reconcile.LoadIdle })
	if s.Task == nil || s.LinkState != reconcile.LinkLive || s.Task.State != reconcile.TaskRunning {
		idle = nil // nobody waits for it
	}
	memory := v.Wanted(b, func(m *reconcile.Measurements) bool { return m.Memory != nil && m.Memory.Total > 0 })
	return []strain{
		{busy, "CPU at " + percents(busy), "infinite loop"},
		{idle, "CPU at " + percents(idle) + " while its task runs", "hung"},
		leak(growing(memory), after),
	}
}

// growing is the end of the run in which each measurement is above the one before.
func growing(run []reconcile.Measurements) []reconcile.Measurements {
	at := len(run) - 1
	for at > 0 && run[at-1].Memory.Used < run[at].Memory.Used {
		at--
	}
	return run[max(at, 0):]
}

// leak is memory that grows and is nearly used up, or will be within the threshold if it
// goes on like this.
func leak(run []reconcile.Measurements, after time.Duration) strain {
	if len(run) < 2 {
		return strain{}
	}
	first, last := run[0], run[len(run)-1]
	grown := float64(last.Memory.Used - first.Memory.Used)
	left := float64(last.Memory.Total - last.Memory.Used)
	soon := left/grown*float64(last.At.Sub(first.At)) <= float64(after)
	if !soon && !last.Memory.Full() {
		return strain{}
	}
	return strain{run, fmt.Sprintf("memory grew from %s to %s of %s",
		mebibytes(first.Memory.Used), mebibytes(last.Memory.Used), mebibytes(last.Memory.Total)), "leak"}
}

// boxStrained is the finding of all that was met.
func boxStrained(b *reconcile.SeenSandbox, met []strain) Result {
	out := Result{Found: true, Due: true, NeedsProbe: true, Report: true, Sandbox: b,
		Evidence: []reconcile.Evidence{boxSeenAs(b)}}
	var words, said []string
	for _, t := range met {
		words = append(words, fmt.Sprintf("%s for %s, without activity of its worker: likely %s",
			t.what, text.Duration(t.span()), t.likely))
		for _, m := range t.run {
			said = reconcile.AppendNew(said, m.Signs...)
			if e := (reconcile.Evidence{Source: b.Provider, At: m.At,
				Fact: measurementsText(&m)}); !slices.Contains(out.Evidence, e) {
				out.Evidence = append(out.Evidence, e)
			}
		}
	}
	out.Reason = reconcile.Joined(append([]string{"sandbox " + b.ID + ": " + words[0]}, words[1:]...)...)
	if len(said) > 0 {
		slices.Sort(said)
		out.Reason = reconcile.Joined(out.Reason, fmt.Sprintf("its log speaks of %s", strings.Join(said, ", ")))
	}
	return out
}

func measurementsText(v *reconcile.Measurements) string {
	var parts []string
	if v.CPU != nil {
		parts = append(parts, fmt.Sprintf("CPU %.0f %%", *v.CPU))
	}
	if v.Memory != nil {
		parts = append(parts, fmt.Sprintf("memory %s of %s", mebibytes(v.Memory.Used), mebibytes(v.Memory.Total)))
	}
	if len(v.Signs) > 0 {
		parts = append(parts, "log: "+strings.Join(v.Signs, ", "))
	}
	return reconcile.Joined(parts...)
}

// percents is the span of the use of the processor.
func percents(run []reconcile.Measurements) string {
	if len(run) == 0 {
		return ""
	}
	low, high := *run[0].CPU, *run[0].CPU
	for _, m := range run {
		low, high = min(low, *m.CPU), max(high, *m.CPU)
	}
	from, to := fmt.Sprintf("%.0f", low), fmt.Sprintf("%.0f", high)
	if from == to {
		return to + " %"
	}
	return from + " to " + to + " %"
}

func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }
