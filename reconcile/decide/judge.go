package decide

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/rules"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// Judge comes to one decision on every subject of the snapshot. It is pure: no clock, no
// I/O, and the same snapshot and policy give the same bytes.
func Judge(s *reconcile.Snapshot, p *reconcile.Policy) *Judgement {
	v := view.New(s, p)
	subs := v.Assess(v.Subjects)
	j := &Judgement{Counts: counts(v, subs), Fleet: v.Fleet(), View: v}
	v.Alike, v.Strangers = alike(v, subs), strangers(v, subs)
	j.Decisions = make([]Decision, len(subs))
	for i := range subs {
		j.Decisions[i] = Decide(v, &subs[i])
	}
	j.drafts = drafts(v, j.Decisions)
	j.Verdicts = verdicts(v, j.drafts)
	falsePositive(v, j)
	j.Incidents = incidents(v, j)
	j.Reports = slices.Concat(templateFindings(v), clockFindings(v), capacityFindings(v),
		incidentFindings(v, j.Incidents))
	j.Resolved = resolved(v, j)
	for _, name := range reconcile.SortedKeys(v.Sources) {
		j.Sources = append(j.Sources, v.Sources[name])
	}
	return j
}

// finds are those of [rules.Finds], by the row of the table: each row is asked of each subject.
var finds = func() (all []func(*view.View, *reconcile.Subject) rules.Result) {
	for i := range reconcile.Rules {
		all = append(all, rules.Finds[reconcile.Rules[i].Name])
	}
	return all
}()

// Decide judges one subject by every rule, in the order of the table.
func Decide(v *view.View, s *reconcile.Subject) Decision {
	d := Decision{Subject: s, Unlooked: v.S.Unlooked[s.ID]}
	//guard:resting harm
	if kept, by := v.Quarantined(s); kept != "" {
		d.Kept, d.KeptBy = kept, by
		return d
	}
	var veto reconcile.Held
	for i := range v.Rules {
		r, find := v.Rules[i].Rule, finds[v.Rules[i].Nth]
		if find == nil || isCanary(v, s) && r.Name != reconcile.CanaryRule {
			continue // it is about the whole fleet, or not about what we made to be found
		}
		out := find(v, s)
		d.Look = d.Look || out.NeedsLookup
		d.Probe = d.Probe || out.NeedsProbe
		if !out.Found {
			if d.Kept == "" && out.Suspect != "" {
				d.Kept, d.KeptBy = out.Suspect, r.Name
			}
			continue
		}
		f, remedy := finding(v, r, s, out)
		//guard:unrecorded-veto harm
		if veto.Kind != "" && (remedy == reconcile.Fail || remedy == reconcile.Requeue) {
			f.HeldBy = append(f.HeldBy, veto)
		}
		if out.Veto {
			veto = reconcile.Held{Kind: reconcile.HeldVeto, What: r.Name}
		}
		d.Findings = append(d.Findings, f)
		d.Remedies = append(d.Remedies, remedy)
		//guard:due-looked live
		d.Look = d.Look || f.Due && remedy != reconcile.Report && rules.Unseen(v, s)
	}
	d.Blind = d.Look && len(d.Findings) == 0 && blind(v, s)
	return d
}

// blind reports whether the subject could not be looked at, and no sign of life says that it is well.
func blind(v *view.View, s *reconcile.Subject) bool {
	if s.Task != nil {
		if _, alive := v.Alive(s.Task); alive {
			return false
		}
	}
	_, why := rules.LookFailed(v, s)
	return why != ""
}

// finding turns a rule's verdict into a finding: how often it was seen, whether it is due,
// and which freezes hold it.
func finding(v *view.View, r *reconcile.Rule, s *reconcile.Subject, out rules.Result,
) (reconcile.Finding, reconcile.Remedy) {
	b := out.Sandbox
	if b == nil && len(s.Boxes) > 0 {
		b = &s.Boxes[0]
	}
	f := described(r, s, b, &out)
	if out.Since > 0 {
		f.Began = v.Now.Add(-out.Since)
	}
	sight(v, &f, r, s, out.Anew)
	//guard:sightings P6
	//guard:missing-ripe P3
	f.Due = out.Due || out.Sightings > 0 && f.Sightings >= out.Sightings && ripe(v, &f, r, s)
	f.HeldBy = f.HeldBy.With(freezes(v, r, s, out.Conclusive)...)
	//guard:unmapped-status harm
	f.HeldBy = append(f.HeldBy, meaningless(v, s)...)
	remedy := lowered(v, s, b, &out, &f)
	if remedy != reconcile.Report {
		f.HeldBy = append(f.HeldBy, doubts(s, out.Sandbox, remedy)...)
	}
	f.HeldBy = append(f.HeldBy, unendable(v, s, b, remedy)...)
	return f, remedy
}

// described is the finding as its rule and its subject tell it.
func described(r *reconcile.Rule, s *reconcile.Subject, b *reconcile.SeenSandbox, out *rules.Result) reconcile.Finding {
	for i := range out.Evidence {
		out.Evidence[i].Fact = text.Clip(out.Evidence[i].Fact, 1000)
	}
	f := reconcile.Finding{
		Rule: r.Name, Subject: s.ID, Reason: text.Clip(out.Reason, 2000), Evidence: out.Evidence, HeldBy: out.Holds,
	}
	if b != nil {
		f.Provider, f.Sandbox = b.Provider, b.ID
	}
	switch {
	case s.Task != nil:
		f.Task = s.Task.ID
	case b != nil:
		f.Task = reconcile.FirstOf(b.Task, b.Seen().Task) // also what a hold on a lost label's task goes by
	}
	if s.Task != nil && s.Task.Trace != "" {
		f.Evidence = append(slices.Clip(f.Evidence), reconcile.TraceEvidence(s.Task))
	}
	return f
}

// lowered is the remedy of the finding's rule, or that it is only reported: the finding says why.
func lowered(v *view.View, s *reconcile.Subject, b *reconcile.SeenSandbox, out *rules.Result, f *reconcile.Finding,
) reconcile.Remedy {
	remedy := v.P.Rules[f.Rule].Remedy
	kept := keptForTask(v, s) && endsSandbox(remedy) && remedy != reconcile.Stop
	if kept && !out.Report {
		f.Reason = reconcile.Joined(f.Reason, "reported only: the config keeps what a task explains (sandboxes: keep)")
	}
	//guard:report-only harm
	if out.Report || readOnly(v, s, remedy) || kept {
		remedy = reconcile.Report
	}
	if why := stoppedAlready(b, remedy); why != "" {
		f.Reason, remedy = reconcile.Joined(f.Reason, why), reconcile.Report
		f.Due = f.Due && !b.State.AtRest() // it is as its rule wants it
	}
	//guard:plan-used live
	if user := anothersBox(v, s, b, remedy); user != "" {
		f.Reason = reconcile.Joined(f.Reason, "reported only: the row of task "+text.Clip(user, 60)+" names it")
		remedy = reconcile.Report
	}
	return remedy
}

// unendable are what holds a remedy that ends or stops a sandbox which may not be the task's, or cannot be ended so.
func unendable(v *view.View, s *reconcile.Subject, b *reconcile.SeenSandbox, remedy reconcile.Remedy,
) (holds reconcile.HeldBy) {
	//guard:judge-unlinked P1
	//guard:judge-ends-alone live
	if (endsSandbox(remedy) || endsAlone(s, remedy)) && v.OnlyRemembered(s, b) {
		holds = append(holds, reconcile.Held{Kind: reconcile.HeldDoubtful, What: reconcile.OnlyRemembered,
			Reason: reconcile.DoubtfulOf(text.Clip(b.ID, 60))})
	}
	//guard:judge-anothers harm
	if endsSandbox(remedy) && b != nil && b.Here && s.LinkState == reconcile.LinkLive && view.BoxAnothers(b, s.Task) {
		holds = append(holds, reconcile.Held{Kind: reconcile.HeldDoubtful, What: reconcile.NamesAnother,
			Reason: reconcile.DoubtfulOf(text.Clip(b.ID, 60))})
	}
	//guard:judge-handed-on harm
	if user := handedOn(v, s, b, remedy); user != "" {
		holds = append(holds, heldForUser(v, b, user))
	}
	//guard:quarantine-way lost
	if remedy == reconcile.Quarantine || remedy == reconcile.Stop {
		holds = append(holds, cannotQuarantine(v, s)...)
		holds = append(holds, wouldDelete(s, b)...)
	}
	//guard:no-end live
	if endsSandbox(remedy) && b != nil && b.NotTerminable != "" {
		holds = append(holds, reconcile.Held{Kind: reconcile.HeldUnended, Reason: text.Clip(b.NotTerminable, 200)})
	}
	return holds
}

// meaningless are what holds all that is found of a live row which says what the config does not know: its status,
// or the engine that its sandbox is at.
func meaningless(v *view.View, s *reconcile.Subject) (holds reconcile.HeldBy) {
	t := s.Task
	if t == nil || s.LinkState != reconcile.LinkLive {
		return nil
	}
	if t.State == reconcile.TaskUnknown {
		holds = append(holds, reconcile.Held{Kind: reconcile.HeldUnmapped,
			Reason: fmt.Sprintf("status %q is not mapped", text.Clip(t.Status, 60))})
	}
	if v.P.Unplaced(t) {
		holds = append(holds, reconcile.Held{Kind: reconcile.HeldNoEntry,
			Reason: fmt.Sprintf("no entry of the config is for %q, where its row says that its sandbox is",
				text.Clip(t.Provider, 60))})
	}
	return holds
}

// doubts hold what would end a sandbox that a row names and does not prove to be ours. A task with such a one
// waits as well: where failing it takes the sandbox's name out of the row, nobody would see the sandbox any more.
func doubts(s *reconcile.Subject, of *reconcile.SeenSandbox, remedy reconcile.Remedy) (holds reconcile.HeldBy) {
	for i := range s.Boxes {
		b := &s.Boxes[i]
		other := of != nil && of.Ref != b.Ref && endsSandbox(remedy)
		//guard:row-no-proof-over live
		if b.State == reconcile.SandboxEnded && !endsSandbox(remedy) {
			continue // its name in the row leads to nothing that is there
		}
		//guard:row-no-proof P1
		if b.Unproven != "" && b.Here && !other {
			holds = append(holds, reconcile.Held{Kind: reconcile.HeldDoubtful, What: b.Unproven,
				Reason: reconcile.DoubtfulOf(text.Clip(b.ID, 60))})
		}
	}
	return holds
}

// readOnly reports whether the remedy would write a row of a platform whose config does not say what a
// failed row looks like: the row could not be failed, and its sandbox must not go without it.
func readOnly(v *view.View, s *reconcile.Subject, remedy reconcile.Remedy) bool {
	if remedy == reconcile.Requeue && v.P.Tasks.Requeues && s.Task != nil && mayRequeue(v, s) {
		return false // it is handed out again, and not failed
	}
	//guard:row-read-only harm
	return (remedy == reconcile.Fail || remedy == reconcile.Requeue) && s.Task != nil &&
		s.LinkState == reconcile.LinkLive &&
		!v.P.Tasks.FailsRows
}

// keptForTask reports whether the config keeps what tasks explain.
func keptForTask(v *view.View, s *reconcile.Subject) bool {
	//guard:sandboxes-kept harm
	return v.P.Tasks.KeepSandboxes && s.Task != nil
}

// anothersBox is the task whose row names the sandbox that the remedy would end, where that is another one than the
// label's.
func anothersBox(v *view.View, s *reconcile.Subject, b *reconcile.SeenSandbox, remedy reconcile.Remedy) string {
	if !endsSandbox(remedy) || b == nil || s.LinkState != reconcile.LinkLive {
		return ""
	}
	return rules.UsedBy(v, s.Task, b)
}

// endsSandbox reports whether the remedy takes a sandbox from whoever may work in it: for good, or until it is started
// again.
func endsSandbox(remedy reconcile.Remedy) bool {
	return remedy == reconcile.Terminate || remedy == reconcile.Quarantine || remedy == reconcile.Stop
}

// endsAlone reports whether a remedy for a row has only the sandbox left to end: that of a task which is over, say.
func endsAlone(s *reconcile.Subject, remedy reconcile.Remedy) bool {
	return (remedy == reconcile.Fail || remedy == reconcile.Requeue) && s.LinkState != reconcile.LinkLive
}

// stoppedAlready says why a sandbox that is only to be stopped is left: it does not run.
func stoppedAlready(b *reconcile.SeenSandbox, remedy reconcile.Remedy) string {
	switch {
	case remedy != reconcile.Stop || b == nil:
	case b.State.AtRest():
		return "it does not run, and its rule only stops: nothing is to be done"
	case b.State == reconcile.SandboxFailed:
		return "reported only: it has failed, so that nothing runs in it that could be stopped"
	}
	return ""
}

// ripe is the part of a threshold that counts from the first sighting.
func ripe(v *view.View, f *reconcile.Finding, r *reconcile.Rule, s *reconcile.Subject) bool {
	return !r.FromSighting || v.Now.Sub(f.FirstSeen) >= rules.After(v, r.Name, s)
}

// sight counts the look. A sighting counts when the one before it is far enough back, and
// all restart when a source that the rule rests on was out in between, and when the rule finds something else by now.
func sight(v *view.View, f *reconcile.Finding, r *reconcile.Rule, s *reconcile.Subject, anew bool) {
	before, open := v.S.Memory.Findings[f.Key()]
	//guard:sightings-anew P6
	if !open || anew || before.LastSeen.Before(v.FreshSightings(restsOn(v, r, s)...)) {
		f.FirstSeen, f.SightedAt, f.LastSeen, f.Sightings = v.Now, v.Now, v.Now, 1
		return
	}
	f.FirstSeen, f.SightedAt, f.Sightings, f.LastSeen = before.FirstSeen, before.SightedAt, before.Sightings, v.Now
	//guard:sightings-apart P3
	if v.Now.Sub(before.SightedAt) >= v.P.Rules[r.Name].Apart && v.Now.After(before.SightedAt) {
		f.SightedAt = v.Now
		f.Sightings++
	}
}

// restsOn are the sources that the rule's verdict on this subject rests on.
func restsOn(v *view.View, r *reconcile.Rule, s *reconcile.Subject) []string {
	var names []string
	on := r.RestsOn
	if v.P.Tasks.None {
		on &= reconcile.OnListing | reconcile.OnProbes
	}
	//guard:freeze-tasks P3
	if on&reconcile.OnTasks != 0 {
		names = append(names, reconcile.SourceTasks)
	}
	//guard:freeze-link P3
	if on&reconcile.OnLink != 0 {
		names = append(names, reconcile.SourceLink)
	}
	//guard:freeze-events harm
	if on&reconcile.OnEvents != 0 {
		names = append(names, reconcile.SourceEvents)
	}
	//guard:freeze-activity P6
	if on&reconcile.OnActivity != 0 {
		names = append(names, reconcile.SourceActivity)
	}
	for _, provider := range providersOf(v, s) {
		//guard:freeze-listing harm
		if on&reconcile.OnListing != 0 {
			names = append(names, reconcile.ListingOf(provider))
		}
		//guard:freeze-probes harm
		if on&reconcile.OnProbes != 0 {
			names = append(names, reconcile.ProbesOf(provider))
		}
	}
	return names
}

// providersOf are the provider entries that the subject's sandboxes are at, or may be at.
func providersOf(v *view.View, s *reconcile.Subject) []string {
	if len(s.Boxes) == 0 {
		if s.Task == nil {
			return nil
		}
		return v.P.Candidates(s.Task)
	}
	var names []string
	for _, b := range s.Boxes {
		if !slices.Contains(names, b.Provider) {
			names = append(names, b.Provider)
		}
	}
	return names
}

// freezes are the untrusted sources that hold the rule on this subject, unless a person
// released it. A heading like "listing-untrusted" is followed by which one.
func freezes(v *view.View, r *reconcile.Rule, s *reconcile.Subject, conclusive bool) reconcile.HeldBy {
	var holds reconcile.HeldBy
	tenant := v.TenantOf(s)
	for _, source := range restsOn(v, r, s) {
		if source == reconcile.SourceEvents && conclusive {
			continue
		}
		//guard:freeze-tenant P3
		for _, name := range v.Frozen(source, tenant) {
			if !v.ReleasedSubject(name, s.ID) {
				holds = append(holds, reconcile.HeldFrozen(name))
			}
		}
	}
	return holds
}

// resolved are the open findings that were not seen again although they could have been:
// a source that is not trusted, or a quick pass, resolves nothing that it cannot see.
func resolved(v *view.View, j *Judgement) []reconcile.FindingKey {
	seen := map[reconcile.FindingKey]bool{}
	for i := range j.Decisions {
		d := &j.Decisions[i]
		for _, f := range d.Findings {
			seen[f.Key()] = true
		}
	}
	for _, f := range j.Reports {
		seen[f.Key()] = true
	}
	var out []reconcile.FindingKey
	for key, f := range v.S.Memory.Findings {
		//guard:resolve-seen live
		if !seen[key] && couldSee(v, f, j) {
			out = append(out, key)
		}
	}
	slices.SortFunc(out, func(a, b reconcile.FindingKey) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Subject, b.Subject))
	})
	return out
}

func couldSee(v *view.View, f reconcile.Finding, j *Judgement) bool {
	at, judged := j.place(f.Subject)
	if judged && j.Decisions[at].Look {
		return false
	}
	r := reconcile.RuleNamed(f.Rule)
	if rules.Finds[r.Name] == nil {
		return v.S.Kind == reconcile.Full && measured(v, f) // templates, clocks and quotas are looked at by full passes
	}
	if v.S.Kind != reconcile.Full && (r.FullOnly || !judged) {
		return false
	}
	frozen := func(source string) bool { return len(v.FrozenOf(source, f.Subject)) > 0 }
	if r.RestsOn&reconcile.OnTasks != 0 && frozen(reconcile.SourceTasks) ||
		r.RestsOn&reconcile.OnLink != 0 && frozen(reconcile.SourceLink) {
		return false
	}
	return f.Provider == "" || r.RestsOn&reconcile.OnListing == 0 && judged ||
		v.Trusted(reconcile.ListingOf(f.Provider))
}
