package platform

import (
	"strconv"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// columnsOf are the columns that a write of ours may set, as text.
func columnsOf(r *row) map[string]*string {
	attempts := strconv.Itoa(r.Attempts)
	state, sandbox, session, text := string(r.State), r.Sandbox, r.Session, r.Error
	return map[string]*string{"status": &state, "sandbox": &sandbox, "session": &session, "error": &text,
		"attempts": &attempts}
}

func sameColumns(r *row, columns map[string]*string) bool {
	now := columnsOf(r)
	for name, value := range columns {
		if value == nil || *now[name] != *value {
			return false
		}
	}
	return true
}

func setColumns(r *row, columns map[string]*string) {
	was := func(name string) string {
		if v := columns[name]; v != nil {
			return *v
		}
		return ""
	}
	r.State, r.Error = reconcile.TaskState(was("status")), was("error")
	r.Sandbox, r.Session = was("sandbox"), was("session")
	r.Attempts, _ = strconv.Atoi(was("attempts")) // we wrote it
}

// markIn is the mark at the end of a reason, actionIn the action that it names.
func markIn(reason string) string {
	_, mark := reconcile.SplitMark(reason)
	return mark
}

func actionIn(reason string) string { return reconcile.MarkedAction(markIn(reason)) }

// events are the newest of the workers that a key names, as far as they are on record.
func (b *table) events(key string) reconcile.Events {
	var out reconcile.Events
	if key == "" {
		return out
	}
	for _, w := range b.keys[key] {
		b.add(&out, w)
	}
	return out
}

// add adds what is on record of one worker.
func (b *table) add(out *reconcile.Events, w *worker) {
	p := &b.platform.pipeline
	at := b.platform.now().Add(-p.lag(w))
	gaps := p.gaps(w)
	stamp := func(moment time.Time) time.Time {
		if moment.IsZero() {
			return moment
		}
		s := b.platform.clocks.then(domainTasks, moment)
		if w.ahead > 0 && !moment.Before(w.aheadAt) {
			s = s.Add(w.ahead)
		}
		return s
	}
	once := func(moment time.Time) time.Time {
		if moment.IsZero() || moment.After(at) || covered(gaps, moment) {
			return time.Time{}
		}
		return stamp(moment)
	}
	keep := func(to *time.Time, s time.Time) {
		if s.After(*to) {
			*to = s
		}
	}
	keep(&out.Started, once(w.began))
	keep(&out.Waiting, once(w.waits))
	keep(&out.Finished, once(w.done))
	// The newest stamp may be from before the clock was set back.
	for _, upTo := range append(b.platform.clocks.steps(domainTasks), at) {
		if upTo.After(at) {
			continue
		}
		keep(&out.Heartbeat, stamp(newest(w.beats, w.every, upTo, gaps)))
		keep(&out.Activity, stamp(newest(w.acts, w.act, upTo, gaps)))
	}
}

func covered(gaps []span, at time.Time) bool {
	for _, g := range gaps {
		if g.covers(at) {
			return true
		}
	}
	return false
}

// A pipeline carries the workers' events into the table. What is lost on the way never comes.
type pipeline struct {
	outs []outage
	lags time.Duration
}

// An outage swallows the events of a part of the workers.
type outage struct {
	span
	part int  // of ten workers; 0: of all
	many bool // at least three tasks ran when it began
}

func (o outage) hits(w *worker) bool { return o.part == 0 || w.number%10 < o.part }

func (p *pipeline) lag(*worker) time.Duration { return p.lags }

func (p *pipeline) gaps(w *worker) []span {
	if len(p.outs) == 0 {
		return w.mute
	}
	out := append([]span{}, w.mute...)
	for _, o := range p.outs {
		if o.hits(w) {
			out = append(out, o.span)
		}
	}
	return out
}

func (t mishaps) eventsEvent(a *args) {
	t.count("events " + a.word(0))
	t.tell("events: %s", strings.Join(a.words, " "))
	p, now := &t.pipeline, t.now()
	switch a.word(0) {
	case "down":
		o := outage{span: span{from: now}, part: a.num("part", 0), many: len(t.truth().running()) >= 3}
		if d := a.span(); d > 0 {
			o.to = now.Add(d)
		}
		p.outs = append(p.outs, o)
	case "late":
		p.lags = a.dur("by", time.Minute)
		if d := a.span(); d > 0 {
			t.later(d, func() { p.lags = 0 })
		}
	case "up":
		p.up(now)
	}
}

// up ends what is wrong with the pipeline.
func (p *pipeline) up(now time.Time) {
	p.lags = 0
	for i := range p.outs {
		if o := &p.outs[i]; o.open() || o.to.After(now) {
			o.to = now
		}
	}
}
