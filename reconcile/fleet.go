package reconcile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

func (p *Policy) providerNames() []string { return sortedKeys(p.Providers) }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func sortRefs(refs []Ref) { slices.SortFunc(refs, compareRefs) }

func compareRefs(a, b Ref) int {
	return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.ID, b.ID))
}

// fleet is how many owned sandboxes exist: what share and breaker are percent of. Where
// the listing is not trusted, the last trusted inventory counts.
func (v *view) fleet() int { return v.owned(SandboxState.Exists) }

// owned is how many owned sandboxes are in such a state. Where the listing is not trusted, or
// was not made, the last trusted inventory counts. One look at a provider does for all that
// stand side by side: this goes over everything in every pass.
func (v *view) owned(such func(SandboxState) bool) int {
	n, provider, listed := 0, "", false
	for i := range v.s.Sandboxes {
		s := &v.s.Sandboxes[i]
		if s.Provider != provider {
			provider, listed = s.Provider, v.counted(s.Provider)
		}
		//guard:fleet-owned P7
		if listed && s.Owned && such(s.State) {
			n++
		}
	}
	dark := map[string]bool{} // an entry that left the config is not among them: nothing of it is ever touched
	for name := range v.p.Providers {
		if !v.counted(name) {
			dark[name] = true
		}
	}
	if len(dark) == 0 {
		return n
	}
	for ref, seen := range v.s.Memory.Sandboxes {
		if dark[ref.Provider] && seen.GoneAt.IsZero() && such(seen.State) {
			n++
		}
	}
	return n
}

// counted reports whether this pass listed the provider, and the listing is trusted.
func (v *view) counted(provider string) bool {
	return v.s.Kind == Full && v.trusted(listingOf(provider))
}

// counts are the pass's totals, by name. What could not be measured is absent, not 0.
func (v *view) counts(subs []Subject) map[string]int {
	counts := map[string]int{}
	if !v.p.Tasks.None {
		counts["tasks:pending"], counts["tasks:assigned"], counts["tasks:running"] = 0, 0, 0
		for i := range v.s.Tasks {
			counts["tasks:"+firstOf(string(v.s.Tasks[i].State), "unknown")]++
		}
	}
	for name, seen := range v.s.Listings {
		if seen.Error == "" && seen.Complete {
			counts["owned:"+name], counts["foreign:"+name] = seen.Owned, seen.Foreign
		}
	}
	for i := range subs {
		for _, b := range subs[i].Boxes {
			if b.Here && v.s.Kind == Full && v.trusted(listingOf(b.Provider)) {
				counts["sandboxes:"+b.Provider+":"+firstOf(string(b.State), "unknown")]++
			}
		}
	}
	return counts
}

// templateFindings are the configured and used templates that are not usable, or will not
// be soon.
func (v *view) templateFindings() []Finding {
	p := v.p.Rules["template-unusable"]
	if p.Mode == Off || p.Mode == "" || v.s.Kind != Full {
		return nil // a quick pass only remembers how they were
	}
	var out []Finding
	for i, t := range v.s.Templates {
		provider := v.s.TemplateOf[i]
		says := ""
		switch left := t.ExpiresAt.Sub(t.AsOf); {
		case !t.State.usable():
			says = v.templateText(provider, t)
		case t.State == TemplateActive && !t.ExpiresAt.IsZero() && left < p.Ahead:
			says = fmt.Sprintf("%s %q %s, unless it is used",
				v.p.Providers[provider].templateNoun(), t.Name, t.expiry())
		}
		if says == "" {
			continue
		}
		out = append(out, v.report("template-unusable", "template:"+provider+"/"+t.Name, says,
			Evidence{Source: provider, At: t.AsOf, Fact: "state " + t.Raw + ", last used " + text.Time(t.LastUsed)}))
		out[len(out)-1].Provider = provider
	}
	return out
}

// expiry says when the provider will deactivate the template. One whose time is over and that
// is active still was not looked at by the provider, or was activated and not used since.
func (t *Template) expiry() string {
	left := t.ExpiresAt.Sub(t.AsOf)
	if left <= 0 {
		return "was due to be deactivated at " + text.Time(t.ExpiresAt) + " and may be at any moment"
	}
	return fmt.Sprintf("will be deactivated in %s, at %s", text.Duration(left), text.Time(t.ExpiresAt))
}

// clockFindings show the clocks that are not trusted.
func (v *view) clockFindings() []Finding {
	var out []Finding
	for _, column := range clockColumns {
		if seen, known := v.sources[clockOf(column)]; known && !seen.Trusted {
			out = append(out, v.report("clock-untrusted", "source:"+seen.Name, "clock "+column+" "+seen.Reason+
				"; the ledger's clock is used for it", Evidence{Source: "tasks", At: v.s.T0, Fact: seen.Reason}))
		}
	}
	return out
}

// report is a finding that is no subject's and has no remedy.
func (v *view) report(rule, subject, reason string, e Evidence) Finding {
	f := Finding{Rule: rule, Subject: subject, Reason: reason, Evidence: []Evidence{e},
		FirstSeen: v.now, SightedAt: v.now, LastSeen: v.now, Sightings: 1, Due: true}
	if before, open := v.s.Memory.Findings[f.Key()]; open {
		f.FirstSeen, f.Sightings = before.FirstSeen, before.Sightings+1
	}
	return f
}

// Sighting of tasks and sandboxes for the ledger.

// seenTasks are the tasks whose memory changes with this pass.
func (v *view) seenTasks() []TaskSeen {
	//guard:remember-wrong-rows P6
	if !v.trusted(sourceTasks) {
		return nil // what a wrong database shows must not become what the right one is compared with
	}
	var out []TaskSeen
	for i := range v.s.Tasks {
		if seen, changed := v.remember(&v.s.Tasks[i], &v.seen[i]); changed {
			out = append(out, seen)
		}
	}
	for id, before := range v.s.Memory.Tasks {
		if v.live[id] != nil {
			continue
		}
		row, found := v.s.Rows[id]
		switch {
		case !before.Live && found && row.State == TaskStopped:
			if seen, changed := v.remember(&row, &seenTask{before, true}); changed {
				out = append(out, seen)
			}
		case !before.Live:
		case found:
			seen, _ := v.remember(&row, &seenTask{before, true})
			seen.Live = row.State.Live()
			out = append(out, seen)
		case v.s.Absent[id] && v.trusted(sourceTasks):
			before.Live = false
			out = append(out, before)
		}
	}
	out = append(out, v.newlyStopped()...)
	slices.SortFunc(out, func(a, b TaskSeen) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// newlyStopped are the stopped tasks, read because their sandboxes are still there, that were
// over before any pass saw them: what works on in those counts as well.
func (v *view) newlyStopped() []TaskSeen {
	var out []TaskSeen
	for id, row := range v.s.Rows {
		_, known := v.s.Memory.Tasks[id]
		if known || v.live[id] != nil || row.State != TaskStopped || row.Outside {
			continue
		}
		seen, _ := v.remember(&row, &seenTask{})
		out = append(out, seen)
	}
	return out
}

// remember is what the ledger keeps of a row, and whether that is news.
func (v *view) remember(t *Task, was *seenTask) (TaskSeen, bool) {
	before, known := &was.TaskSeen, was.known
	seen := *before
	if !known {
		seen = TaskSeen{ID: t.ID, Status: t.Status, State: t.State, Since: v.now, FirstSeen: v.now}
	}
	if known && (seen.moved(t) || v.perhapsEnded(&seen, t)) {
		seen = v.entered(seen, t)
	} else if known && seen.ErrorSum != sum(t.Error) && t.Error != "" && !marked(t.Error) {
		seen.ErrorChanged = true
	}
	seen.Sandbox, seen.UpdatedAt, seen.StartedAt = t.Sandbox, t.UpdatedAt, t.StartedAt
	seen.EntrySum = t.entrySum()
	v.rememberAhead(&seen, t)
	v.rememberBack(&seen, t)
	v.rememberLate(&seen, t)
	v.rememberBeat(&seen, t)
	v.rememberMark(&seen, t, known)
	seen.ErrorSum, seen.Live = sum(t.Error), t.State.Live()
	return seen, !known || !seen.same(before)
}

// rememberAhead keeps since when a life sign from the future is known.
func (v *view) rememberAhead(seen *TaskSeen, t *Task) {
	switch {
	case !t.ahead():
		seen.AheadSign, seen.AheadSince = time.Time{}, time.Time{}
	//guard:remember-ahead P5
	case !seen.AheadSign.Equal(t.LifeSign()):
		seen.AheadSign, seen.AheadSince = t.LifeSign(), v.now
	}
}

func (s *TaskSeen) same(o *TaskSeen) bool {
	return s.Status == o.Status && s.State == o.State && s.Sandbox == o.Sandbox && s.Since.Equal(o.Since) &&
		s.UpdatedAt.Equal(o.UpdatedAt) && s.StartedAt.Equal(o.StartedAt) && s.StaleStart.Equal(o.StaleStart) &&
		s.EntrySum == o.EntrySum && s.AheadSign.Equal(o.AheadSign) &&
		s.Recreated.Equal(o.Recreated) && s.LateSign.Equal(o.LateSign) &&
		s.MarkSum == o.MarkSum && s.MarkAt.Equal(o.MarkAt) && s.BeatAt.Equal(o.BeatAt) && s.BeatGap == o.BeatGap &&
		slices.EqualFunc(s.Turns, o.Turns, time.Time.Equal) &&
		s.ErrorSum == o.ErrorSum && s.ErrorChanged == o.ErrorChanged && s.Live == o.Live
}

// seenSandboxes are the sandboxes whose memory changes with this pass.
func (v *view) seenSandboxes(subs []Decision) []SandboxSeen {
	var out []SandboxSeen
	shown := map[Ref]bool{}
	for i := range subs {
		s := subs[i].Subject
		for j := range s.Boxes {
			b := &s.Boxes[j]
			if len(v.s.Looks) > 0 {
				shown[b.Ref] = b.Here
			}
			if seen, changed := v.rememberBox(s, b); changed {
				out = append(out, seen)
			}
		}
	}
	for ref, look := range v.s.Looks {
		seen, known := v.s.Memory.Sandboxes[ref]
		if known && look.Gone && seen.GoneAt.IsZero() && !shown[ref] && !v.inBoxes(seen) {
			seen.GoneAt, seen.StateSince = v.now, v.now
			out = append(out, seen)
		}
	}
	slices.SortFunc(out, func(a, b SandboxSeen) int { return compareRefs(a.Ref, b.Ref) })
	return out
}

// inBoxes reports whether the sandbox is a remembered one of a live task, which
// rememberBox has settled already.
func (v *view) inBoxes(seen SandboxSeen) bool { return seen.Task != "" && v.live[seen.Task] != nil }

func (v *view) rememberBox(s *Subject, b *Box) (SandboxSeen, bool) {
	seen := b.Seen
	switch {
	case b.Gone:
		if !b.Known || !seen.GoneAt.IsZero() {
			return seen, false
		}
		seen.GoneAt, seen.StateSince = v.now, v.now
		return seen, true
	//guard:remember-owned P1
	case !b.Here || !b.Owned:
		return seen, false
	}
	if !b.Known {
		seen = SandboxSeen{Ref: b.Ref, CreatedAt: b.CreatedAt, FirstSeen: v.now, StateSince: v.now}
	}
	v.changeState(&seen, b)
	v.rememberWork(&seen, s, b)
	seen.Name, seen.Template = b.Name, b.Template
	seen.GoneAt = time.Time{}
	if b.State == SandboxEnded {
		seen.GoneAt = v.now
		if b.Known && !b.Seen.GoneAt.IsZero() {
			seen.GoneAt = b.Seen.GoneAt
		}
	}
	if s.Task != nil {
		seen.Task = s.Task.ID
	} else if b.Task != "" && !b.OddLink && !v.s.Unparsable[b.Task] {
		seen.Task = b.Task
	}
	return seen, !b.Known || seen != b.Seen
}

func (v *view) changeState(seen *SandboxSeen, b *Box) {
	if b.Known && seen.State != b.State {
		same := seen.resuming()
		seen.StateSince = v.now
		back := seen.State == SandboxSuspended || seen.State == SandboxStopped ||
			seen.State == SandboxCreating && !seen.RanAt.IsZero()
		if back && (b.State == SandboxRunning || b.State == SandboxCreating) {
			seen.ResumedAt = v.now
			if !same {
				seen.WorkedAt = time.Time{}
			}
		}
	}
	seen.State, seen.Raw = b.State, b.Raw
	if b.State == SandboxRunning && seen.RanAt.IsZero() {
		seen.RanAt = v.now
	}
}
