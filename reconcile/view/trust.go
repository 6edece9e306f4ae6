package view

import (
	"cmp"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Fleet is how many owned sandboxes exist: what share and breaker are percent of. Where
// the listing is not trusted, the last trusted inventory counts.
func (v *View) Fleet() int { return v.Owned(reconcile.SandboxState.Exists) }

// Owned is how many owned sandboxes are in such a state. Where the listing is not trusted, or
// was not made, the last trusted inventory counts. One look at a provider does for all that
// stand side by side: this goes over everything in every pass.
func (v *View) Owned(such func(reconcile.SandboxState) bool) int {
	n, provider, listed := 0, "", false
	for i := range v.S.Sandboxes {
		s := &v.S.Sandboxes[i]
		if s.Provider != provider {
			provider, listed = s.Provider, v.counted(s.Provider)
		}
		//guard:fleet-owned P7
		if listed && s.Owned && such(s.State) {
			n++
		}
	}
	for name, at := range v.S.Plain.At {
		if v.counted(name) && such(reconcile.SandboxRunning) {
			n += at.Sandboxes
		}
	}
	dark := map[string]bool{} // an entry that left the config is not among them: nothing of it is ever touched
	for name := range v.P.Providers {
		if !v.counted(name) {
			dark[name] = true
		}
	}
	if len(dark) == 0 {
		return n
	}
	provider, listed = "", true
	for ref, kept := range v.S.Memory.Sandboxes.Kept() {
		if ref.Provider != provider {
			provider, listed = ref.Provider, !dark[ref.Provider]
		}
		if !listed && !kept.Gone() && such(kept.State()) {
			n++
		}
	}
	return n
}

// counted reports whether this pass listed the provider, and the listing is trusted.
func (v *View) counted(provider string) bool {
	return v.S.Kind == reconcile.Full && v.Trusted(reconcile.ListingOf(provider))
}

// Assess settles which sources can be trusted in this pass. The order matters: the link
// is not judged while a listing is untrusted, silence needs the link.
func (v *View) Assess(subjects func() []reconcile.Subject) []reconcile.Subject {
	a := v.assessor()
	for name, seen := range v.S.Memory.Sources {
		if v.P.Has(name) {
			v.Sources[name] = seen // what this pass cannot measure stays as it was
		}
	}
	a.assessTasks()
	a.assessClocks()
	for _, name := range v.P.ProviderNames() {
		a.assessListing(name)
		a.assessProviderClock(name)
	}
	subs := subjects()
	a.believeTasks(subs)
	a.assessEmptyListings(subs)
	a.assessLink(subs)
	for _, name := range v.P.ProviderNames() {
		a.assessProbes(name, subs) // before the events: what a probe says of the silent rests on it
	}
	a.assessEvents(subs)
	a.assessActivity()
	a.pair(subs)
	return subs
}

// trust records this pass's verdict on a source: none means trusted. When trust comes back
// the source's timers of silence and absence start again.
func (v *View) trust(name string, why reconcile.Distrust) {
	seen, known := v.Sources[name]
	switch {
	case !why.None() && (!known || seen.Trusted):
		seen = reconcile.SourceSeen{Name: name, Since: v.Now, LastTrusted: seen.LastTrusted, RecoveredAt: seen.RecoveredAt,
			Clock: seen.Clock, SetBack: seen.SetBack, Beat: seen.Beat}
	case why.None() && known && !seen.Trusted:
		seen.Since, seen.RecoveredAt = v.Now, v.Now
	case !known:
		seen = reconcile.SourceSeen{Name: name, Since: v.Now}
	}
	seen.Trusted, seen.Reason = why.None(), why
	if seen.Trusted {
		seen.LastTrusted = v.Now
	}
	v.Sources[name] = seen
}

// believe records that nothing speaks against a source in this pass.
func (v *View) believe(name string) { v.trust(name, reconcile.Distrust{}) }

// revert takes back what this pass settled of a source, to be settled again.
func (v *View) revert(name string) {
	if before, known := v.S.Memory.Sources[name]; known {
		v.Sources[name] = before
		return
	}
	delete(v.Sources, name)
}

// Trusted reports whether a source is trusted now.
func (v *View) Trusted(name string) bool {
	seen, known := v.Sources[name]
	return !known || seen.Trusted
}

// accepted reports whether a person released the source since it lost trust: what it shows
// is the new baseline.
func (v *View) accepted(name string) bool {
	before, known := v.S.Memory.Sources[name]
	return known && !before.Trusted && v.released(name, before.Since)
}

// assessClocks: a clock that did not move with a change of status cannot time the state,
// and stays untrusted until a person releases it; one that runs ahead of the database is
// untrusted while it does.
func (v assessor) assessClocks() {
	clocks := map[string]*clockSeen{}
	for i, column := range ClockColumns {
		clocks[column] = &clockSeen{rows: tallies{}, ahead: map[string]time.Duration{},
			stuck: map[string]reconcile.Distrust{}}
		if n := v.S.Plain.Clocks[i]; n > 0 {
			clocks[column].rows[""] = tally{of: n}
		}
	}
	for i := range v.S.Tasks {
		seen := v.SeenTask(i)
		v.readClocks(&v.S.Tasks[i], &seen, clocks)
	}
	for _, column := range ClockColumns {
		v.assessClock(column, clocks[column])
	}
}

// A clockSeen is what the rows of each tenant show of one column.
type clockSeen struct {
	rows  tallies
	ahead map[string]time.Duration
	stuck map[string]reconcile.Distrust
}

// readClocks notes what a row shows of its clocks.
func (v assessor) readClocks(t *reconcile.Task, seen *SeenTask, clocks map[string]*clockSeen) {
	for _, c := range taskClocks(t) {
		if c.at.IsZero() {
			continue
		}
		of := clocks[c.column]
		over := c.at.Sub(t.AsOf)
		//guard:clock-ahead P5
		isAhead := over > reconcile.Skew
		if isAhead {
			of.ahead[t.Tenant] = max(of.ahead[t.Tenant], over)
		}
		isStuck := c.column == "updated_at" && seen.Known && seen.Live && seen.Status != t.Status &&
			t.UpdatedAt.Equal(seen.UpdatedAt) && !reconcile.Marked(t.Error)
		if isStuck {
			of.stuck[t.Tenant] = reconcile.ClockStuck(t.ID, seen.Status, t.Status)
		}
		of.rows.add(t.Tenant, isAhead || isStuck)
	}
}

// assessClock settles one column: for all, or for the tenants whose rows alone show that it cannot be believed.
func (v assessor) assessClock(column string, seen *clockSeen) {
	name := reconcile.ClockOf(column)
	any := doubt{tallies: seen.rows, is: func(t tally) bool { return t.against > 0 }, own: true}
	blamed := any.blames()
	var ahead time.Duration
	var stuck reconcile.Distrust
	for tenant := range seen.rows {
		if !slices.Contains(blamed, tenant) {
			ahead, stuck = max(ahead, seen.ahead[tenant]), cmp.Or(stuck, seen.stuck[tenant])
		}
	}
	v.trustClock(column, name, ahead, stuck)
	parts := map[string]bool{}
	for _, tenant := range blamed {
		part := reconcile.OfTenant(name, tenant)
		parts[part] = true
		v.trustClock(column, part, seen.ahead[tenant], seen.stuck[tenant])
	}
	for known := range v.Sources {
		if of, tenant := reconcile.SourceTenant(known); of == name && tenant != "" && !parts[known] {
			v.trustClock(column, known, 0, reconcile.Distrust{})
		}
	}
}

func (v assessor) trustClock(column, name string, ahead time.Duration, stuck reconcile.Distrust) {
	before, known := v.S.Memory.Sources[name]
	sticky := known && !before.Trusted && !v.released(name, before.Since)
	switch {
	//guard:clock-stuck P5
	case !stuck.None():
		v.trust(name, stuck)
	case ahead > 0:
		v.trust(name, reconcile.ClockAhead(ahead))
	//guard:clock-sticky P5
	case sticky && column == "updated_at" && !before.RanAhead():
		v.trust(name, before.Reason)
	case known:
		v.believe(name)
	}
}

// released reports whether a person released the source after it lost trust: itself, not only some of what it holds.
func (v *View) released(name string, since time.Time) bool {
	whole := reconcile.SubjectOf(reconcile.SubjectSource, name)
	return slices.ContainsFunc(v.S.Memory.Controls.Releases, func(r reconcile.Release) bool {
		//guard:released-whole P3
		return r.What == name && r.At.After(since) && slices.Contains(r.Subjects, whole)
	})
}

// ClockColumns are the columns of a row whose times are compared with the clock of their database.
var ClockColumns = []string{
	"created_at",
	"assigned_at",
	"started_at",
	"heartbeat_at",
	"activity_at",
	"updated_at",
	"state_since",
	"ended_at",
	"events",
}

type columnClock struct {
	column string
	at     time.Time
}

func taskClocks(t *reconcile.Task) [9]columnClock {
	return [9]columnClock{
		{"created_at", t.CreatedAt}, {"assigned_at", t.AssignedAt}, {"started_at", t.StartedAt},
		{"heartbeat_at", t.HeartbeatAt}, {"activity_at", t.ActivityAt}, {"updated_at", t.UpdatedAt},
		{"state_since", t.StateSince}, {"ended_at", t.EndedAt}, {"events", t.Events.Newest()},
	}
}

// RemembersWorking are the tasks that no row shows and that lived when the rows were believed
// last: while the task database is not trusted, that it does not show one proves nothing.
func (v *View) RemembersWorking(ids []string, shown []reconcile.Task) (out []reconcile.Task) {
	for _, id := range ids {
		seen := v.S.Memory.Tasks.Of(id)
		if !seen.Live || v.Trusted(reconcile.SourceTasks) || slices.ContainsFunc(shown,
			func(t reconcile.Task) bool { return t.ID == id }) {
			continue
		}
		out = append(out, reconcile.Task{ID: id, Status: seen.Status, State: seen.State})
	}
	return out
}

// FrozenFor are the freezes of what tells who works in a sandbox of the provider, but for
// those that a person released the subject from. Rows are those that name the sandbox.
func (v *View) FrozenFor(provider, subject string, rows ...reconcile.Task) reconcile.HeldBy {
	var holds reconcile.HeldBy
	tenant := v.TenantOfSubject(subject)
	for i := range rows { // read right before, of a task that nobody remembers
		tenant = reconcile.FirstOf(tenant, rows[i].Tenant)
	}
	for _, source := range []string{reconcile.ListingOf(provider), reconcile.SourceTasks, reconcile.SourceLink} {
		for _, name := range v.Frozen(source, tenant) {
			if v.P.Has(name) && !v.ReleasedSubject(name, subject) {
				holds = append(holds, reconcile.HeldFrozen(name))
			}
		}
	}
	return holds
}

// ReleasedSubject reports whether a person released the subject from a freeze or a breaker.
func (v *View) ReleasedSubject(what, subject string) bool {
	for _, r := range v.S.Memory.Controls.Releases {
		if r.What == what && slices.Contains(r.Subjects, subject) {
			return true
		}
	}
	return false
}

// assessor is the part of a [View] that settles, while it is made, which sources can be trusted.
type assessor struct{ *View }

func (v *View) assessor() assessor { return assessor{v} }
