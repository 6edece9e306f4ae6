package tasks

import (
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A taskClock is a mapped time of a task, and of which rows it is asked.
type taskClock struct {
	name  string
	at    func(*reconcile.Task) time.Time
	beats bool // it moves while the task runs
	of    func(reconcile.TaskState) bool
}

func running(s reconcile.TaskState) bool { return s == reconcile.TaskRunning }

// taskClocks are the clocks that rules are timed by.
var taskClocks = []taskClock{
	{"created_at", func(t *reconcile.Task) time.Time { return t.CreatedAt }, false, reconcile.TaskState.Live},
	{"assigned_at", func(t *reconcile.Task) time.Time { return t.AssignedAt }, false,
		func(s reconcile.TaskState) bool { return s == reconcile.TaskAssigned || running(s) }},
	{"started_at", func(t *reconcile.Task) time.Time { return t.StartedAt }, false, running},
	{"state_since", func(t *reconcile.Task) time.Time { return t.StateSince }, false, reconcile.TaskState.Live},
	{"updated_at", func(t *reconcile.Task) time.Time { return t.UpdatedAt }, false, reconcile.TaskState.Live},
	{"heartbeat_at", func(t *reconcile.Task) time.Time { return t.HeartbeatAt }, true, running},
	{"activity_at", func(t *reconcile.Task) time.Time { return t.ActivityAt }, true, running},
}

const (
	atStart    = time.Second           // what is written with a start comes within it
	sameMoment = 10 * time.Millisecond // what one statement writes; workers that beat each second differ by more
	longRun    = 5 * time.Minute       // a worker that beats has beaten again by then
	fewRows    = 3                     // that agree prove more than chance
)

// A clockHealth is what live rows show of one clock at one look.
type clockHealth struct {
	clock    taskClock
	rows     int             // that should have it
	none     []string        // ids of those that have none
	ages     []time.Duration // of the others, the youngest first
	newest   time.Time
	oldest   string // id of the oldest
	still    []string
	long     int      // rows that run for longer than longRun
	ahead    []string // ids of those that lie in the future
	together bool     // all are of one moment, though the tasks are not
	asRow    bool     // all are the moment at which their row was written last
}

// healthOf looks at one clock in the live rows.
func healthOf(c taskClock, rows *reconcile.Rows) clockHealth {
	h := clockHealth{clock: c}
	var first, last, born, youngest, age time.Time
	asRow := 0
	for i := range rows.Tasks {
		t := &rows.Tasks[i]
		if !c.of(t.State) {
			continue
		}
		h.rows++
		at := c.at(t)
		if at.IsZero() {
			h.none = append(h.none, t.ID)
			continue
		}
		h.ages = append(h.ages, max(rows.Now.Sub(at), 0))
		if at.Sub(rows.Now) > maxAhead {
			h.ahead = append(h.ahead, t.ID)
		}
		if age.IsZero() || at.Before(age) {
			age, h.oldest = at, t.ID
		}
		first, last = earliest(first, at), reconcile.Latest(last, at)
		start := reconcile.Latest(t.CreatedAt, t.AssignedAt, t.StartedAt)
		born, youngest = earliest(born, start), reconcile.Latest(youngest, start)
		if !start.IsZero() && rows.Now.Sub(start) > longRun {
			h.long++
			if at.Sub(start) <= atStart {
				h.still = append(h.still, t.ID)
			}
		}
		if at.Equal(t.UpdatedAt) {
			asRow++
		}
	}
	h.newest = last
	h.together = len(h.ages) >= fewRows && last.Sub(first) <= sameMoment && youngest.Sub(born) > sameMoment
	h.asRow = asRow >= fewRows && asRow == len(h.ages)
	slices.Sort(h.ages)
	return h
}

func earliest(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// quantile is the value that the share of the sorted ones does not exceed.
func quantile(sorted []time.Duration, share float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}

// said is what was seen, with the numbers.
func (h *clockHealth) said() string {
	out := fmt.Sprintf("%d of %d live tasks have it", h.rows-len(h.none), h.rows)
	if h.clock.beats && len(h.ages) > 0 {
		out += fmt.Sprintf(": half within %s, 19 of 20 within %s, the oldest %s ago (%s)",
			text.Duration(quantile(h.ages, 0.5)), text.Duration(quantile(h.ages, 0.95)),
			text.Duration(h.ages[len(h.ages)-1]), named(h.oldest))
	}
	return out
}

// named is an id that is fit for a line.
func named(id string) string { return text.Clip(id, 60) }

// ill is what is wrong with a clock, and the line to write; "" where nothing is. after is how long a silence may be.
func (h *clockHealth) ill(after time.Duration) (said, fix string) {
	column := "tasks.columns." + h.clock.name
	unmap := fmt.Sprintf("map what the worker itself writes while it works, or remove %s", column)
	switch {
	case h.rows > 0 && len(h.none) == h.rows:
		said = fmt.Sprintf("none of the %d live tasks that should has one, as %s: it is not used", h.rows, named(h.none[0]))
		if !h.clock.beats {
			unmap = "map the column that is written, or remove " + column
		}
		return said, unmap
	case !h.clock.beats:
		return "", ""
	case h.long > 0 && len(h.still) == h.long && h.long == len(h.ages):
		return fmt.Sprintf("it stands still since the start in all %d, as %s: it does not beat, and is not used",
			h.long, named(h.still[0])), unmap
	case h.together:
		return fmt.Sprintf("all %d are of one moment: a loop of the platform writes them, and no worker", len(h.ages)), unmap
	case h.asRow:
		return fmt.Sprintf("it is updated_at in all %d: whoever writes to a row moves it, a stuck task's too", len(h.ages)),
			unmap
	}
	if after > 0 && h.clock.name == "heartbeat_at" && len(h.ages) >= fewRows {
		return h.seldom(after)
	}
	return "", ""
}

// seldom is what is wrong where heartbeats come too seldom for the limit. The oldest alone proves nothing: its worker
// may be dead, and the limit is there to find it.
func (h *clockHealth) seldom(after time.Duration) (said, fix string) {
	n := len(h.ages)
	i := min(n*19/20, n-2)
	if late := h.ages[i]; late > after/2 {
		return fmt.Sprintf("%d of %d are %s old or older, and %s without one is called silent", n-i, n, text.Duration(late),
			text.Duration(after)), "rules: {heartbeat-lost: {after: " + text.Exact(roundUp(3*late)) + "}}"
	}
	return "", ""
}

// roundUp is the next multiple of 10 seconds.
func roundUp(d time.Duration) time.Duration {
	const step = 10 * time.Second
	return (d + step - 1) / step * step
}
