package tasks

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// looks is how often a watch looks at the live rows.
const looks = 30

// Watch looks at the live rows again and again for this long, and says how the clocks of their workers move: one look
// cannot tell a clock that stands still, or how far apart heartbeats really come.
func (t *Tasks) Watch(ctx context.Context, span time.Duration) []reconcile.CheckResult {
	w := watch{span: span, clocks: map[string]*watched{}}
	for i := 0; ; i++ {
		rows, err := t.Live(ctx)
		if err != nil {
			return []reconcile.CheckResult{{What: "watch", Said: err.Error()}}
		}
		w.look(&rows)
		if i == looks {
			return w.told(t.plan, t.after)
		}
		select {
		case <-ctx.Done():
			return []reconcile.CheckResult{{What: "watch", Said: context.Cause(ctx).Error(),
				Fix: "watch for less, or with a longer --timeout"}}
		case <-time.After(span / looks):
		}
	}
}

// A watch is what several looks show.
type watch struct {
	span   time.Duration
	clocks map[string]*watched
}

// A watched is one clock.
type watched struct {
	at    map[string]time.Time // of each task that was there all the time
	moved map[string]bool
	gaps  []time.Duration // between two values of one task
	looks int             // at which some task's had moved
	all   int             // at which all had
	apart time.Duration   // how far apart they then were, at most
}

func (w *watch) look(rows *reconcile.Rows) {
	for _, c := range taskClocks {
		if !c.beats {
			continue
		}
		seen := map[string]time.Time{}
		for i := range rows.Tasks {
			if t := &rows.Tasks[i]; c.of(t.State) && !c.at(t).IsZero() {
				seen[t.ID] = c.at(t)
			}
		}
		before := w.clocks[c.name]
		if before == nil {
			w.clocks[c.name] = &watched{at: seen, moved: map[string]bool{}}
			continue
		}
		before.look(seen)
	}
}

func (w *watched) look(seen map[string]time.Time) {
	var first, last time.Time
	moved := 0
	for id, was := range w.at {
		at, there := seen[id]
		if !there {
			delete(w.at, id)
			delete(w.moved, id)
			continue
		}
		first, last = earliest(first, at), reconcile.Latest(last, at)
		if at.After(was) {
			moved++
			w.moved[id] = true
			w.gaps = append(w.gaps, at.Sub(was))
			w.at[id] = at
		}
	}
	if moved > 0 {
		w.looks++
		if moved == len(w.at) && moved >= fewRows {
			w.all++
			w.apart = max(w.apart, last.Sub(first))
		}
	}
}

// told is a line for each clock that is mapped and was seen.
func (w *watch) told(c *Compiled, after time.Duration) (out []reconcile.CheckResult) {
	for _, clock := range taskClocks {
		if clock.beats && c.columns[clock.name] != "" {
			out = append(out, w.clocks[clock.name].told(clock.name, w.span, after))
		}
	}
	if len(out) == 0 {
		return []reconcile.CheckResult{{What: "watch", OK: true, Said: "no clock of a worker is mapped"}}
	}
	return out
}

func (w *watched) told(name string, span, after time.Duration) reconcile.CheckResult {
	line := reconcile.CheckResult{What: "watched " + name, OK: true}
	unmap := "map what the worker itself writes while it works, or remove tasks.columns." + name
	line.Said = fmt.Sprintf("in %s it moved in %d of %d running tasks", text.Duration(span), len(w.moved), len(w.at))
	if len(w.at) == 0 {
		line.Said += ": watch while tasks run"
		return line
	}
	slices.Sort(w.gaps)
	longest := quantile(w.gaps, 1)
	switch {
	case len(w.moved) == 0:
		line.Fix = "watch for longer than it should take; if it still stands, " + unmap
	case w.all == w.looks && w.apart <= quantile(w.gaps, 0.5)/10: // workers of their own are as far apart as they beat
		line.Said += ", in all of them to one moment: a loop of the platform writes it, and no worker"
		line.Fix = unmap
	default:
		line.Said += fmt.Sprintf("; half came within %s, 19 of 20 within %s, the longest took %s",
			text.Duration(quantile(w.gaps, 0.5)), text.Duration(quantile(w.gaps, 0.95)), text.Duration(longest))
		if name == "heartbeat_at" && after > 0 && 3*longest > after {
			line.Fix = "rules: {heartbeat-lost: {after: " + text.Exact(roundUp(3*longest)) + "}}, three of the longest"
		}
	}
	return line
}
