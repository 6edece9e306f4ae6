package decide

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// counts are the pass's totals, by name. What could not be measured is absent, not 0.
func counts(v *view.View, subs []reconcile.Subject) map[string]int {
	counts := map[reconcile.Count]int{}
	if !v.P.Tasks.None {
		for _, state := range []reconcile.TaskState{reconcile.TaskPending, reconcile.TaskAssigned, reconcile.TaskRunning} {
			counts[reconcile.Count{What: reconcile.CountTasks, State: string(state)}] = 0
		}
		for i := range v.S.Tasks {
			state := reconcile.FirstOf(string(v.S.Tasks[i].State), "unknown")
			counts[reconcile.Count{What: reconcile.CountTasks, State: state}]++
		}
		counts[reconcile.Count{What: reconcile.CountTasks, State: string(reconcile.TaskRunning)}] += v.S.Plain.Tasks
	}
	for name, seen := range v.S.Listings {
		if seen.Error == "" && seen.Complete && v.Trusted(reconcile.ListingOf(name)) {
			counts[reconcile.Count{What: reconcile.CountOwned, Provider: name}] = seen.Owned
			if !seen.OursOnly || seen.Foreign > 0 {
				counts[reconcile.Count{What: reconcile.CountForeign, Provider: name}] = seen.Foreign
			}
		}
	}
	for name, at := range v.S.Plain.At {
		if v.Trusted(reconcile.ListingOf(name)) {
			counts[reconcile.Count{What: reconcile.CountSandboxes, Provider: name,
				State: string(reconcile.SandboxRunning)}] += at.Sandboxes
		}
	}
	for i := range subs {
		for _, b := range subs[i].Boxes {
			if b.Here && v.S.Kind == reconcile.Full && v.Trusted(reconcile.ListingOf(b.Provider)) {
				counts[reconcile.Count{What: reconcile.CountSandboxes, Provider: b.Provider,
					State: reconcile.FirstOf(string(b.State), "unknown")}]++
			}
		}
	}
	countAges(v, subs, counts)
	countQuotas(v, counts)
	if v.S.Kind == reconcile.Full && !v.P.Tasks.None {
		counts[reconcile.Count{What: reconcile.CountBeyond}] = mostBeyond(subs)
	}
	named := make(map[string]int, len(counts))
	for c, n := range counts {
		named[c.String()] = n
	}
	return named
}

// countAges counts how old the sandboxes are of providers whose listing is whole.
func countAges(v *view.View, subs []reconcile.Subject, counts map[reconcile.Count]int) {
	of := func(provider, what, bound string, n int) {
		counts[reconcile.Count{What: what, Provider: provider, State: bound}] += n
	}
	for name, at := range v.S.Plain.At {
		if !v.Trusted(reconcile.ListingOf(name)) {
			continue
		}
		of(name, reconcile.CountAges, "", at.Seconds)
		of(name, reconcile.CountAge, "+Inf", at.Sandboxes)
		for i, n := range at.Aged {
			if n > 0 {
				of(name, reconcile.CountAge, strconv.FormatInt(reconcile.AgeBounds[i], 10), n)
			}
		}
	}
	for i := range subs {
		for j := range subs[i].Boxes {
			b := &subs[i].Boxes[j]
			if v.S.Kind != reconcile.Full || !b.Here || !b.Owned || !b.State.Exists() ||
				!v.Trusted(reconcile.ListingOf(b.Provider)) {
				continue
			}
			age := max(v.Born(*b), 0)
			of(b.Provider, reconcile.CountAges, "", int(age.Seconds()))
			of(b.Provider, reconcile.CountAge, "+Inf", 1)
			for _, bound := range reconcile.AgeBounds {
				if age <= time.Duration(bound)*time.Second {
					of(b.Provider, reconcile.CountAge, strconv.FormatInt(bound, 10), 1)
				}
			}
		}
	}
}

// countQuotas keeps what the providers said of their quotas.
func countQuotas(v *view.View, counts map[reconcile.Count]int) {
	for provider, quotas := range v.S.Quotas {
		for _, q := range quotas[:min(len(quotas), reconcile.MostQuotas)] {
			counts[reconcile.Count{What: reconcile.CountQuotaUsed, Provider: provider, State: q.Name}] = int(q.Used)
			counts[reconcile.Count{What: reconcile.CountQuotaLimit, Provider: provider, State: q.Name}] = int(q.Limit)
		}
	}
}

// mostBeyond is by how many the sandboxes of one task are more than is usual for it, of the task that has the most.
func mostBeyond(subs []reconcile.Subject) (most int) {
	for i := range subs {
		s := &subs[i]
		if s.Task == nil {
			continue
		}
		here := 0
		for j := range s.Boxes {
			if b := &s.Boxes[j]; b.Here && b.Owned && b.State.Exists() {
				here++
			}
		}
		most = max(most, here-max(s.Task.Sandboxes, 1))
	}
	return most
}

// templateFindings are the configured and used templates that are not usable, or will not
// be soon.
func templateFindings(v *view.View) []reconcile.Finding {
	p := v.P.Rules["template-unusable"]
	if p.Mode == reconcile.Off || p.Mode == "" || v.S.Kind != reconcile.Full {
		return nil // a quick pass only remembers how they were
	}
	var out []reconcile.Finding
	for _, t := range v.S.Templates {
		says := ""
		switch left := t.ExpiresAt.Sub(t.AsOf); {
		case !view.TemplateStateUsable(t.State):
			says = v.TemplateText(t)
		case t.State == reconcile.TemplateActive && !t.ExpiresAt.IsZero() && left < p.Ahead:
			says = fmt.Sprintf("%s %q %s, unless it is used",
				view.ProviderPolicyTemplateNoun(v.P.Providers[t.Provider]), t.Name, templateExpiry(&t))
		}
		if says == "" {
			continue
		}
		out = append(out, report(v, "template-unusable", reconcile.TemplateSubject(t.Provider, t.Name), says,
			reconcile.Evidence{Source: t.Provider, At: t.AsOf, Fact: "state " + t.Raw + ", last used " + text.Time(t.LastUsed)}))
		out[len(out)-1].Provider = t.Provider
	}
	return out
}

// templateExpiry says when the provider will deactivate the template. One whose time is over and that
// is active still was not looked at by the provider, or was activated and not used since.
func templateExpiry(t *reconcile.Template) string {
	left := t.ExpiresAt.Sub(t.AsOf)
	if left <= 0 {
		return "was due to be deactivated at " + text.Time(t.ExpiresAt) + " and may be at any moment"
	}
	return fmt.Sprintf("will be deactivated in %s, at %s", text.Duration(left), text.Time(t.ExpiresAt))
}

// clockFindings show the clocks that are not trusted.
func clockFindings(v *view.View) []reconcile.Finding {
	var out []reconcile.Finding
	for _, column := range view.ClockColumns {
		if seen, known := v.Sources[reconcile.ClockOf(column)]; known && !seen.Trusted {
			subject := reconcile.SubjectOf(reconcile.SubjectSource, seen.Name)
			why := seen.Reason.String()
			out = append(out, report(v, "clock-untrusted", subject, "clock "+column+" "+why+
				"; the ledger's clock is used for it", reconcile.Evidence{Source: "tasks", At: v.S.T0, Fact: why}))
		}
	}
	for _, provider := range v.P.ProviderNames() {
		if seen, known := v.Sources[reconcile.ProviderClockOf(provider)]; known && !seen.Trusted {
			subject := reconcile.SubjectOf(reconcile.SubjectSource, seen.Name)
			why := seen.Reason.String()
			out = append(out, report(v, "clock-untrusted", subject, "the clock of "+provider+" is "+why+
				"; its sandboxes are as old as the ledger has seen them",
				reconcile.Evidence{Source: provider, At: v.Now, Fact: why}))
		} else if says := datedAhead(v, provider); says != "" {
			out = append(out, report(v, "clock-untrusted", reconcile.SubjectOf(reconcile.SubjectSource,
				reconcile.ProviderClockOf(provider)), says, reconcile.Evidence{Source: provider, At: v.Now, Fact: says}))
		}
	}
	return out
}

// datedAhead says which of our sandboxes a provider whose clock is right dates in the future; "" when none, or in a
// quick pass, which lists none.
func datedAhead(v *view.View, provider string) string {
	if v.S.Kind != reconcile.Full {
		return ""
	}
	var first *reconcile.Sandbox
	n := 0
	for i := range v.S.Sandboxes {
		sb := &v.S.Sandboxes[i]
		if sb.Provider != provider || !sb.State.Exists() || !view.DatedAhead(sb) {
			continue
		}
		if n++; first == nil || sb.ID < first.ID {
			first = sb
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s dates %d of our sandboxes in the future, %s by %s; what is dated so is as old as the ledger "+
		"has seen it, and one whose date moves on at each look is taken for another each time", provider, n, first.ID,
		text.Duration(first.CreatedAt.Sub(first.AsOf)))
}

// report is a finding that is no subject's and has no remedy.
func report(v *view.View, rule, subject, reason string, e reconcile.Evidence) reconcile.Finding {
	f := reconcile.Finding{Rule: rule, Subject: subject, Reason: reason, Evidence: []reconcile.Evidence{e},
		FirstSeen: v.Now, SightedAt: v.Now, LastSeen: v.Now, Sightings: 1, Due: true}
	if before, open := v.S.Memory.Findings[f.Key()]; open {
		f.FirstSeen, f.Sightings = before.FirstSeen, before.Sightings+1
	}
	return f
}

// Sighting of tasks and sandboxes for the ledger.

// SeenTasks are the tasks whose memory changes with this pass.
func SeenTasks(v *view.View) []reconcile.TaskSeen {
	//guard:remember-wrong-rows P6
	if !v.Trusted(reconcile.SourceTasks) {
		return nil // what a wrong database shows must not become what the right one is compared with
	}
	var out []reconcile.TaskSeen
	for i := range v.S.Tasks {
		before := v.SeenTask(i)
		if seen, changed := taskSeen(v, &v.S.Tasks[i], &before); changed {
			out = append(out, seen)
		}
	}
	for id, kept := range v.S.OtherTasks() {
		if v.Live[id] != nil {
			continue
		}
		was := kept.Seen()
		before := &was
		row, found := v.S.Rows[id]
		switch {
		case !before.Live && found && row.State == reconcile.TaskStopped:
			if seen, changed := taskSeen(v, &row, &view.SeenTask{TaskSeen: *before, Known: true}); changed {
				out = append(out, seen)
			}
		case !before.Live:
		case found:
			seen, _ := taskSeen(v, &row, &view.SeenTask{TaskSeen: *before, Known: true})
			seen.Live = row.State.Live()
			out = append(out, seen)
		//guard:remember-wrong-tenant P6
		case v.S.Absent[id] && len(v.Frozen(reconcile.SourceTasks, before.Tenant)) == 0:
			gone := *before
			gone.Live = false
			out = append(out, gone)
		}
	}
	out = append(out, newlyOver(v)...)
	slices.SortFunc(out, func(a, b reconcile.TaskSeen) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// newlyOver are tasks that were over before any pass saw them, read because their sandboxes are still there: the
// stopped ones, for what works on in those counts as well, and those that a sandbox of ours names by itself. Where
// such a row is deleted later, that one names a task that was known here.
func newlyOver(v *view.View) []reconcile.TaskSeen {
	named := namedByOwn(v)
	var out []reconcile.TaskSeen
	for id, row := range v.S.Rows {
		known := v.S.Memory.Tasks.Has(id)
		if known || v.Live[id] != nil || row.Outside ||
			row.State != reconcile.TaskStopped && !(row.State.Terminal() && named[id]) {
			continue
		}
		seen, _ := taskSeen(v, &row, &view.SeenTask{})
		out = append(out, seen)
	}
	return out
}

// namedByOwn are the tasks that the listed sandboxes name which are ours without any row that says so.
func namedByOwn(v *view.View) map[string]bool {
	named := map[string]bool{}
	for i := range v.S.Sandboxes {
		sb := &v.S.Sandboxes[i]
		//guard:remember-over-owned P1
		if sb.Task != "" && !sb.BadLink && sb.Owned && sb.Unproven == "" && sb.State.Exists() &&
			!v.P.Providers[sb.Provider].ByRow(sb) {
			named[sb.Task] = true
		}
	}
	return named
}

// taskSeen is what the ledger keeps of a row, and whether that is news.
func taskSeen(v *view.View, t *reconcile.Task, was *view.SeenTask) (reconcile.TaskSeen, bool) {
	before, known := &was.TaskSeen, was.Known
	seen := *before
	if !known {
		seen = reconcile.TaskSeen{ID: t.ID, Status: t.Status, State: t.State, Since: v.Now, FirstSeen: v.Now}
	}
	if known && (view.TaskSeenMoved(&seen, t) || v.PerhapsEnded(&seen, t)) {
		seen = v.Entered(seen, t)
	} else if known && seen.ErrorSum != reconcile.Sum(t.Error) && t.Error != "" && !reconcile.Marked(t.Error) {
		seen.ErrorChanged = true
	}
	seen.Sandbox, seen.UpdatedAt, seen.StartedAt = t.Sandbox, t.UpdatedAt, t.StartedAt
	seen.EntrySum, seen.Tenant, seen.Trace = t.EntrySum(), t.Tenant, t.Trace
	rememberAhead(v, &seen, t)
	rememberBack(v, &seen, t)
	rememberLate(v, &seen, t)
	v.RememberBeat(&seen, t)
	v.RememberMark(&seen, t, known)
	seen.ErrorSum, seen.Live = reconcile.Sum(t.Error), t.State.Live()
	if seen.Live {
		seen.Named = t.Sandbox
	}
	return seen, !known || !taskSeenSame(&seen, before)
}

// rememberAhead keeps since when a sign of life from the future is known.
func rememberAhead(v *view.View, seen *reconcile.TaskSeen, t *reconcile.Task) {
	switch {
	case !view.TaskAhead(t) && !seen.AheadSign.Equal(t.LastSeen()):
		seen.AheadSign, seen.AheadSince = time.Time{}, time.Time{}
	//guard:remember-ahead P5
	case !seen.AheadSign.Equal(t.LastSeen()):
		seen.AheadSign, seen.AheadSince = t.LastSeen(), v.Now
	}
}

func taskSeenSame(s *reconcile.TaskSeen, o *reconcile.TaskSeen) bool {
	return s.Status == o.Status && s.State == o.State && s.Sandbox == o.Sandbox && s.Named == o.Named &&
		s.Since.Equal(o.Since) && s.UpdatedAt.Equal(o.UpdatedAt) &&
		s.StartedAt.Equal(o.StartedAt) && s.StaleStart.Equal(o.StaleStart) &&
		s.EntrySum == o.EntrySum && s.AheadSign.Equal(o.AheadSign) &&
		s.Recreated.Equal(o.Recreated) && s.LateSign.Equal(o.LateSign) &&
		s.MarkSum == o.MarkSum && s.MarkAt.Equal(o.MarkAt) && s.BeatAt.Equal(o.BeatAt) && s.BeatGap == o.BeatGap &&
		slices.EqualFunc(s.Attempts, o.Attempts, time.Time.Equal) &&
		s.ErrorSum == o.ErrorSum && s.ErrorChanged == o.ErrorChanged && s.Live == o.Live && s.Tenant == o.Tenant &&
		s.Trace == o.Trace
}

// SeenSandboxes are the sandboxes whose memory changes with this pass.
func SeenSandboxes(v *view.View, subs []Decision) []reconcile.SandboxSeen {
	var out []reconcile.SandboxSeen
	shown := map[reconcile.Ref]bool{}
	for i := range subs {
		s := subs[i].Subject
		for j := range s.Boxes {
			b := &s.Boxes[j]
			if len(v.S.Lookups) > 0 {
				shown[b.Ref] = b.Here
			}
			if seen, changed := rememberBox(v, s, b); changed {
				out = append(out, seen)
			}
		}
	}
	for ref, look := range v.S.Lookups {
		seen, known := v.S.Memory.Sandboxes.Get(ref)
		if known && look.Gone && seen.GoneAt.IsZero() && !shown[ref] && !inBoxes(v, seen) {
			seen.GoneAt, seen.StateSince = v.Now, v.Now
			out = append(out, seen)
		}
	}
	slices.SortFunc(out, func(a, b reconcile.SandboxSeen) int { return reconcile.CompareRefs(a.Ref, b.Ref) })
	return out
}

// inBoxes reports whether the sandbox is a remembered one of a live task, which
// rememberBox has settled already.
func inBoxes(v *view.View, seen reconcile.SandboxSeen) bool {
	return seen.Task != "" && v.Live[seen.Task] != nil
}

func rememberBox(v *view.View, s *reconcile.Subject, b *reconcile.SeenSandbox) (reconcile.SandboxSeen, bool) {
	before := b.Seen()
	seen := before
	switch {
	// One that was known is over by its id, also where only a row proved it ours.
	//guard:remember-ended live
	case b.Gone, b.Here && !b.Owned && b.Known && b.State == reconcile.SandboxEnded:
		if !b.Known || !seen.GoneAt.IsZero() {
			return seen, false
		}
		seen.GoneAt, seen.StateSince = v.Now, v.Now
		return seen, true
	//guard:remember-owned P1
	case !b.Here || !b.Owned:
		return seen, false
	//guard:remember-proven P1
	case b.Unproven != "":
		return seen, false // what the ledger knows of a task is proof from then on
	//guard:remember-listed P1
	case !b.Known && onlyListed(v, s, b):
		return seen, false
	}
	if !b.Known {
		seen = reconcile.SandboxSeen{Ref: b.Ref, CreatedAt: b.CreatedAt, FirstSeen: v.Now, StateSince: v.Now}
	}
	changeState(v, &seen, b)
	rememberWork(v, &seen, s, b)
	seen.Name, seen.Template = b.Name, b.Template
	rememberSize(&seen, b)
	seen.GoneAt = time.Time{}
	if v.S.Lookups[b.Ref].Gone {
		seen.GoneAt = b.Seen().GoneAt // a listing of long ago does not bring it back
	}
	if b.State == reconcile.SandboxEnded {
		seen.GoneAt = v.Now
		if b.Known && !b.Seen().GoneAt.IsZero() {
			seen.GoneAt = b.Seen().GoneAt
		}
	}
	if s.Task != nil {
		seen.Task = s.Task.ID
	} else if b.Task != "" && !b.BadLink && !v.S.Unparsable[b.Task] {
		seen.Task = b.Task
	} else if v.Contradicted(b) {
		//guard:remember-contradicted P1
		seen.Task = ""
	}
	return seen, !b.Known || seen != before
}

// onlyListed reports whether nothing but a label in a listing gives the sandbox to a task, where a task makes it ours:
// neither the row names it, nor does a direct look show that label. A listing that lies may be believed.
func onlyListed(v *view.View, s *reconcile.Subject, b *reconcile.SeenSandbox) bool {
	believed := b.Task == "" && v.Trusted(reconcile.ListingOf(b.Provider)) // it shows no label
	if believed || !v.P.Providers[b.Provider].ByRow(b.Sandbox) {
		return false
	}
	look, looked := v.S.Lookups[b.Ref]
	seen := looked && !look.Gone && look.Error == "" && look.Sandbox.Task == b.Task
	return !seen && (s.Task == nil || !v.Names(s.Task, b.Sandbox))
}

// rememberSize keeps what the price follows. An answer that does not say it takes nothing back: a provider may list
// less than it tells of one alone.
func rememberSize(seen *reconcile.SandboxSeen, b *reconcile.SeenSandbox) {
	if b.Region != "" {
		seen.Region = b.Region
	}
	if b.Size != (reconcile.Size{}) {
		seen.Size = b.Size
	}
}

func changeState(v *view.View, seen *reconcile.SandboxSeen, b *reconcile.SeenSandbox) {
	if b.Known && seen.State != b.State {
		same := sandboxSeenResuming(seen)
		seen.StateSince = v.Now
		back := seen.State == reconcile.SandboxSuspended || seen.State == reconcile.SandboxStopped ||
			seen.State == reconcile.SandboxCreating && !seen.RanAt.IsZero()
		if back && (b.State == reconcile.SandboxRunning || b.State == reconcile.SandboxCreating) {
			seen.ResumedAt = v.Now
			if !same {
				seen.WorkedAt = time.Time{}
			}
		}
	}
	seen.State, seen.Raw = b.State, b.Raw
	if b.State == reconcile.SandboxRunning && seen.RanAt.IsZero() {
		seen.RanAt = v.Now
	}
}
