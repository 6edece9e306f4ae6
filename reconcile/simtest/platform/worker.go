package platform

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A worker is the process that works at a task inside a sandbox. What it does is computed
// when somebody looks: nothing runs by itself.
type worker struct {
	platform *Platform
	task     *task
	box      *box
	key      string
	number   int
	began    time.Time
	ended    time.Time // the process is no more
	every    time.Duration
	act      time.Duration
	beats    []span // when it sends heartbeats
	acts     []span // when it does something
	mute     []span // when nobody hears it, although it lives
	waits    time.Time
	waiting  bool
	resting  bool      // it has completed an iteration and waits for its next message
	stuck    time.Time // it does nothing any more since then, and lives
	done     time.Time // it finished its work
	commands time.Time // until when it runs one long command
	ahead    time.Duration
	aheadAt  time.Time
}

// A span is a time from a moment to another, or until further notice.
type span struct{ from, to time.Time }

func (s span) open() bool { return s.to.IsZero() }

func (s span) covers(at time.Time) bool {
	return !at.Before(s.from) && (s.to.IsZero() || at.Before(s.to))
}

func closeSpan(spans []span, at time.Time) {
	if n := len(spans); n > 0 && spans[n-1].open() {
		spans[n-1].to = at
	}
}

// beginWorker makes a worker that beats and acts from now on.
func beginWorker(t *Platform, k *task, b *box) *worker {
	now := t.now()
	t.made++
	w := &worker{platform: t, task: k, box: b, key: b.key, number: t.made, began: now, every: k.beat, act: k.act}
	w.acts = []span{{from: now}}
	if !t.kind.beatless {
		w.beats = []span{{from: now}}
	}
	b.endWork(now)
	b.worker, b.used = w, now
	k.workers = append(k.workers, w)
	return w
}

func (w *worker) end(at time.Time) {
	if w.ended.IsZero() {
		w.ended = at
		closeSpan(w.beats, at)
		closeSpan(w.acts, at)
		w.platform.tell("worker of %s is no more", w.task.id)
		w.task.changed(w.platform)
	}
}

// pause and resume are those of its sandbox.
func (w *worker) pause(at time.Time) {
	closeSpan(w.beats, at)
	closeSpan(w.acts, at)
}

func (w *worker) resume(at time.Time) {
	if !w.ended.IsZero() || !w.done.IsZero() {
		return
	}
	if n := len(w.beats); (w.idles() || !w.platform.kind.beatless) && (n == 0 || !w.beats[n-1].open()) {
		w.beats = append(w.beats, span{from: at})
	}
	if n := len(w.acts); w.stuck.IsZero() && !w.idles() && (n == 0 || !w.acts[n-1].open()) {
		w.acts = append(w.acts, span{from: at})
	}
	w.task.changed(w.platform)
}

// idles reports whether it waits: for a person, or, an iteration done, for its next message.
func (w *worker) idles() bool { return w.waiting || w.resting }

// speaks reports whether the agent writes down what it does while it works.
func (w *worker) speaks() bool { return w.number%2 == 0 }

// rest lets it wait, with heartbeats.
func (w *worker) rest(at time.Time) {
	closeSpan(w.acts, at)
	if n := len(w.beats); n == 0 || !w.beats[n-1].open() {
		w.beats = append(w.beats, span{from: at})
	}
}

// work lets it go on after it waited.
func (w *worker) work(at time.Time) {
	if w.platform.kind.beatless {
		closeSpan(w.beats, at)
	}
	w.waiting, w.resting = false, false
	w.resume(at)
}

// lastAct is the newest thing that it did by a moment.
func (w *worker) lastAct(at time.Time) time.Time { return newest(w.acts, w.act, at, nil) }

// newest is the last beat of a period within spans, by a moment, that no gap swallows.
func newest(spans []span, period time.Duration, at time.Time, gaps []span) time.Time {
	for i := len(spans) - 1; i >= 0; i-- {
		s := spans[i]
		until := at
		if !s.open() && s.to.Before(until) {
			until = s.to
		}
		if until.Before(s.from) || period <= 0 {
			continue
		}
		tick := s.from.Add(until.Sub(s.from).Truncate(period))
		tick = before(tick, s.from, period, gaps)
		if !tick.IsZero() {
			return tick
		}
	}
	return time.Time{}
}

// before is the last tick, not later than this one, that no gap swallows; zero when there is none.
func before(tick, from time.Time, period time.Duration, gaps []span) time.Time {
	for again := true; again; {
		again = false
		for _, g := range gaps {
			if !g.covers(tick) {
				continue
			}
			tick = tick.Add(-(tick.Sub(g.from)/period + 1) * period)
			if tick.Before(from) {
				return time.Time{}
			}
			again = true
		}
	}
	return tick
}

// well reports whether it does its work, or would as soon as a person answers.
func (w *worker) well() bool {
	return w != nil && w.ended.IsZero() && w.stuck.IsZero() && w.done.IsZero() && w.box.there() &&
		(w.box.broken.IsZero() || w.idles())
}

// workerEvent is what happens to the worker of a task.
func (t orchestrator) workerEvent(a *args) {
	k := t.tasks[a.word(0)]
	if k == nil {
		return
	}
	what, now := a.word(1), t.now()
	if what == "never" {
		k.never = true
		return
	}
	w := k.worker()
	if w == nil || !w.ended.IsZero() {
		return
	}
	t.count("worker " + what)
	t.tell("worker of %s: %s", k.id, what)
	switch what {
	case "die":
		w.end(now)
	case "hang":
		w.stuck = now
		closeSpan(w.acts, now)
	case "wake":
		w.stuck = time.Time{}
		w.resume(now)
	case "wait":
		if !w.done.IsZero() {
			return // it does nothing any more
		}
		w.waits, w.waiting = now, true
		w.rest(now)
	case "rest":
		if !w.done.IsZero() || !w.stuck.IsZero() {
			return
		}
		w.resting = true
		w.rest(now)
	case "command":
		command(t.Platform, w, a.span())
	case "silent":
		w.silence(now, a.span())
	case "slow":
		if !w.done.IsZero() {
			return // it does nothing any more
		}
		closeSpan(w.acts, now)
		w.act = a.dur("act", 20*time.Minute)
		w.acts = append(w.acts, span{from: now})
	case "ahead":
		w.ahead, w.aheadAt = a.dur("by", time.Hour), now
	case "finish":
		t.finish(k, w, "row")
	case "lose":
		t.finish(k, w, "lost")
	}
	k.changed(t.Platform)
}

// command is one long command that it runs: it shows nothing until that is over.
func command(t *Platform, w *worker, lasts time.Duration) {
	if !w.done.IsZero() || !w.stuck.IsZero() || w.idles() {
		return
	}
	closeSpan(w.acts, t.now())
	w.commands = t.now().Add(lasts)
	t.later(lasts, func() {
		if w.ended.IsZero() && w.stuck.IsZero() && !w.idles() && w.box.state == reconcile.SandboxRunning {
			w.resume(t.now())
		}
	})
}

// silence makes nobody hear it, for a while or for good.
func (w *worker) silence(now time.Time, lasts time.Duration) {
	s := span{from: now}
	if lasts > 0 {
		s.to = now.Add(lasts)
	}
	w.mute = append(w.mute, s)
}
