package view

import (
	"maps"
	"reflect"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// hearPlain takes the signs of the rows that were counted and not kept.
func (v listener) hearPlain(p *reconcile.Plain) {
	v.Running, v.Actors = v.Running+p.Tasks, v.Actors+p.Actors
	v.Newest, v.LastActive = reconcile.Latest(v.Newest, p.Newest), reconcile.Latest(v.LastActive, p.Active)
	v.Beats = v.Beats || p.Beats
}

// Before is the view of a pass that has not read the live rows yet: by the sources as the last pass left them,
// and, as nobody else is known, each row's silence is its own. A rule that finds nothing of a running task whose worker
// lives by it finds nothing by the view of them all.
func Before(s *reconcile.Snapshot, p *reconcile.Policy) *View {
	v := New(s, p)
	v.Sources, v.Beats = maps.Clone(s.Memory.Sources), true
	return v
}

// Later is the view before the rows as it will be after a while, where passes go on as they did and nothing changes.
func Later(s *reconcile.Snapshot, p *reconcile.Policy, by time.Duration) *View {
	later := *s
	m := &later.Memory
	for _, at := range []*time.Time{&later.T0, &later.Clock.Now, &m.Now, &m.LastPass, &m.LastFull} {
		if !at.IsZero() {
			*at = at.Add(by)
		}
	}
	m.Sources = make(map[string]reconcile.SourceSeen, len(s.Memory.Sources))
	for name, seen := range s.Memory.Sources {
		for _, at := range []*time.Time{&seen.LastTrusted, &seen.Clock} {
			if !at.IsZero() {
				*at = at.Add(by)
			}
		}
		m.Sources[name] = seen
	}
	return Before(&later, p)
}

// A JudgedBy is all that a row is judged by besides itself, what is remembered of it, and the time.
type JudgedBy struct {
	policy    reconcile.Policy
	controls  reconcile.Controls
	sources   map[string]reconcile.SourceSeen
	templates map[reconcile.Ref]reconcile.TemplateSeen
	known     map[string]bool
	canaries  []reconcile.Canary
	watch     time.Time
	setBack   time.Time
	limit     time.Duration
	workers   map[string]bool // providers some of whose probes found a worker
}

// JudgedBy is what rows are judged by in this view. Times that each pass sets are left out, and how often rules were
// wrong, which each verdict changes: that only holds what is found, and of a plain row nothing is.
func (v *View) JudgedBy() *JudgedBy {
	m := &v.S.Memory
	by := &JudgedBy{policy: *v.P, controls: m.Controls, known: m.Known, canaries: m.Canaries,
		watch: m.WatchSince, setBack: v.setBack, limit: v.Limit,
		sources: map[string]reconcile.SourceSeen{}, templates: map[reconcile.Ref]reconcile.TemplateSeen{},
		workers: map[string]bool{}}
	by.controls.Proofs = nil
	for name, seen := range m.Sources {
		seen.LastTrusted, seen.Clock, seen.Beat = time.Time{}, time.Time{}, 0 // setBack and limit tell of them
		by.sources[name] = seen
	}
	for ref, seen := range m.Templates {
		seen.LastStart, seen.LastUsed, seen.LookedAt = time.Time{}, time.Time{}, time.Time{}
		by.templates[ref] = seen
	}
	for name := range v.P.Providers {
		by.workers[name] = v.WorkersSeen(name)
	}
	return by
}

// Same reports whether rows are judged by the same.
func (by *JudgedBy) Same(other *JudgedBy) bool { return reflect.DeepEqual(by, other) }

// Like reports whether a view of the rows judges by what the view before them took for granted: each source is trusted,
// and for as long, and the task database's clock has come as far.
func (v *View) Like(of *View) bool {
	for name, seen := range of.Sources {
		if !seen.Trusted || !seen.RecoveredAt.Equal(v.Sources[name].RecoveredAt) {
			return false
		}
	}
	return v.setBack.Equal(of.setBack)
}

// InTime reports whether no time that the row holds lies in the future.
func InTime(t *reconcile.Task) bool {
	for _, c := range taskClocks(t) {
		if c.at.Sub(t.AsOf) > reconcile.Skew {
			return false
		}
	}
	return true
}

// Count adds a row to those that are not kept, with what is remembered of it; nil where nothing is.
func (v *View) Count(t *reconcile.Task, before *SeenTask, was *reconcile.CompactTask, to *reconcile.Plain) {
	to.Add(was)
	to.AsOf = t.AsOf
	to.BeatGap = max(to.BeatGap, v.beatKept(t, before, v.Now.Sub(v.S.Memory.LastPass)))
	to.Newest, to.Active = reconcile.Latest(to.Newest, v.Sign(t)), reconcile.Latest(to.Active, v.Activity(t))
	to.Made = reconcile.Latest(to.Made, t.CreatedAt)
	to.Beats = to.Beats || hasBeaten(t)
	if taskActing(t) {
		to.Actors++
	}
	for i, c := range taskClocks(t) {
		if !c.at.IsZero() {
			to.Clocks[i]++
		}
	}
}

// CountBox adds the sandbox of such a row.
func (v *View) CountBox(b *reconcile.SeenSandbox, to *reconcile.Plain) {
	at := to.At[b.Provider]
	if at == nil {
		at = &reconcile.PlainAt{Aged: make([]int, len(reconcile.AgeBounds)), Templates: map[string]time.Time{}}
		to.At[b.Provider] = at
	}
	to.AddSandbox(b.Was)
	age := max(v.Born(*b), 0)
	at.Sandboxes, at.Seconds = at.Sandboxes+1, at.Seconds+int(age.Seconds())
	for i, bound := range reconcile.AgeBounds {
		if age <= time.Duration(bound)*time.Second {
			at.Aged[i]++
		}
	}
	if b.Template != "" {
		at.Templates[b.Template] = reconcile.Latest(at.Templates[b.Template], b.CreatedAt)
	}
}
