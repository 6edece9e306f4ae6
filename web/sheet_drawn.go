package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web/chart"
)

// drawn is what happened as lines of time. Clocks are never compared, so each line says whose it goes by.
func (l *life) drawn() string {
	var lanes []chart.Lane
	for i := range l.Tasks[:min(len(l.Tasks), 2)] {
		lanes = append(lanes, l.taskLanes(&l.Tasks[i])...)
	}
	for i := range l.Sandboxes[:min(len(l.Sandboxes), mostBoxes)] {
		b := &l.Sandboxes[i]
		lanes = append(lanes, chart.Lane{Name: "sandbox " + brief(b.ID), Clock: "provider's clock",
			Marks: marked(mark(b.CreatedAt, "box", "", "created"))}, l.boxLane(b))
	}
	lanes = append(lanes, l.ownLane())
	for i := range lanes {
		slices.SortStableFunc(lanes[i].Marks, func(a, b chart.Mark) int { return a.At.Compare(b.At) })
	}
	lanes = slices.DeleteFunc(lanes, func(one chart.Lane) bool { return len(one.Marks)+len(one.Spans) == 0 })
	return chart.Lanes("Timeline", l.told(), lanes) + chart.Moments(lanes) // of which the stylesheet shows one
}

// told is the chart for those who do not see it.
func (l *life) told() string {
	return fmt.Sprintf("%s, %s, %s, %s", ui.Count(len(l.Tasks), "task"), ui.Count(len(l.Sandboxes), "sandbox"),
		ui.Count(len(l.Probes), "probe"), ui.Count(len(l.Actions), "action")) + "; the tables below say the same"
}

func mark(at time.Time, class, what, label string) chart.Mark {
	return chart.Mark{At: at, Class: class, Text: strings.TrimSpace(label + " " + text.Time(at) + " " + what),
		Label: label}
}

// marked are the marks that have a time.
func marked(all ...chart.Mark) []chart.Mark {
	return slices.DeleteFunc(all, func(m chart.Mark) bool { return m.At.IsZero() })
}

// taskLanes are the row by its database's clock, and what the ledger saw of it by its own.
func (l *life) taskLanes(t *reconcile.TaskSeen) []chart.Lane {
	name := "task " + brief(t.ID)
	seen := chart.Lane{Name: name, Clock: "sandkeeper's clock", Marks: marked(
		mark(t.FirstSeen, "task", "", "first seen"), mark(t.Since, "task", "", text.Plain(t.Status, 24)),
		mark(t.MarkAt, "task", "by its activity", "last seen"))}
	for _, at := range t.Attempts {
		seen.Marks = append(seen.Marks, mark(at, "bad", "an attempt ended without success", "attempt failed"))
	}
	if !t.FirstSeen.IsZero() && t.Live {
		seen.Spans = []chart.Span{{From: t.FirstSeen, To: l.Now, Class: "task", Text: "live as far as it was seen"}}
	}
	return []chart.Lane{{Name: name, Clock: "task database's clock", Marks: marked(
		mark(t.StartedAt, "task", "", "started"), mark(t.UpdatedAt, "task", "", "row changed"),
		mark(t.BeatAt, "task", "newest heartbeat", "last seen"))}, seen}
}

func brief(id string) string {
	seen, rest := ui.IdParts(ui.Name(id))
	if rest != "" {
		return seen + "…"
	}
	return seen
}

// boxLane is a sandbox from when it was first seen until it was gone, with its probes.
func (l *life) boxLane(b *reconcile.SandboxSeen) chart.Lane {
	end := b.GoneAt
	if end.IsZero() {
		end = l.Now
	}
	lane := chart.Lane{Name: "sandbox " + brief(b.ID), Clock: "sandkeeper's clock", Marks: marked(
		mark(b.RanAt, "box", "", "running"), mark(b.ResumedAt, "box", "", "resumed"), mark(b.GoneAt, "gone", "", "gone"))}
	if !b.FirstSeen.IsZero() {
		lane.Spans = []chart.Span{{From: b.FirstSeen, To: end, Class: "box", Text: "seen from " + text.Time(b.FirstSeen) +
			" to " + text.Time(end)}}
	}
	answered := slices.IndexFunc(l.Probes, func(p reconcile.ProbeResult) bool { // they come newest first
		return p.Ref == b.Ref && p.Outcome == reconcile.Answered
	})
	worse := false // only the first of a row of failures is named
	for i := len(l.Probes) - 1; i >= 0; i-- {
		p := &l.Probes[i]
		if p.Ref != b.Ref {
			continue
		}
		class, label := "well", ""
		if i == answered {
			label = "last answered"
		}
		if p.Outcome.Failed() {
			class = "bad"
			if !worse {
				label = "probe fails"
			}
		}
		worse = p.Outcome.Failed()
		lane.Marks = append(lane.Marks, mark(p.At, class, "probe "+text.Plain(string(p.Outcome), 40), label))
	}
	return lane
}

// ownLane is what sandkeeper found and did.
func (l *life) ownLane() chart.Lane {
	lane := chart.Lane{Name: "sandkeeper", Clock: "its own clock"}
	for i := range l.Findings {
		f := &l.Findings[i]
		lane.Marks = append(lane.Marks, marked(
			mark(f.OpenedAt, "warn", ui.Name(f.Rule)+" opened", text.Plain(f.Rule, 40)),
			mark(f.ResolvedAt, "well", ui.Name(f.Rule)+" resolved", ""))...)
	}
	for i := range l.Verdicts {
		v := &l.Verdicts[i]
		lane.Marks = append(lane.Marks, marked(mark(v.At, "warn", "of "+ui.Name(v.Rule), "verdict"),
			mark(v.FalsePositiveAt, "bad", "of "+ui.Name(v.Rule), "false positive"))...)
	}
	for i := range l.Actions {
		a := &l.Actions[i]
		step := text.Plain(string(a.Step), 24)
		lane.Marks = append(lane.Marks, marked(mark(cmp.Or(a.FirstActed, a.ActedAt), "acted", "requested", step),
			mark(a.ClosedAt, "gone", "of "+step, outcomeWord(a)))...)
	}
	return lane
}
