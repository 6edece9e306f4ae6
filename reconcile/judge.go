package reconcile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// Judge comes to one decision on every subject of the snapshot. It is pure: no clock, no
// I/O, and the same snapshot and policy give the same bytes.
func Judge(s *Snapshot, p *Policy) *Judgement {
	v := newView(s, p)
	subs := v.assess(v.subjects)
	j := &Judgement{Counts: v.counts(subs), Fleet: v.fleet(), view: v}
	j.Decisions = make([]Decision, len(subs))
	for i := range subs {
		j.Decisions[i] = v.decide(&subs[i])
	}
	j.drafts = v.drafts(j.Decisions)
	j.Verdicts = v.verdicts(j.drafts)
	v.regret(j)
	j.Incidents = v.incidents(j)
	j.Reports = slices.Concat(v.templateFindings(), v.clockFindings(), v.capacityFindings(),
		v.incidentFindings(j.Incidents))
	j.Resolved = v.resolved(j)
	for _, name := range sortedKeys(v.sources) {
		j.Sources = append(j.Sources, v.sources[name])
	}
	return j
}

// decide judges one subject by every rule, in the order of the table.
func (v *view) decide(s *Subject) Decision {
	d := Decision{Subject: s, Unlooked: v.s.Unlooked[s.ID]}
	//guard:resting harm
	if kept, by := v.resting(s); kept != "" {
		d.Kept, d.KeptBy = kept, by
		return d
	}
	veto := ""
	for i := range v.rules {
		r := v.rules[i].rule
		out := r.find(v, s)
		d.Look = d.Look || out.look
		d.Probe = d.Probe || out.probe
		if !out.found {
			if d.Kept == "" && out.kept != "" {
				d.Kept, d.KeptBy = out.kept, r.Name
			}
			continue
		}
		f, remedy := v.finding(r, s, out)
		//guard:unrecorded-veto harm
		if veto != "" && (remedy == Fail || remedy == Requeue) {
			f.HeldBy = append(f.HeldBy, veto)
		}
		if out.veto {
			veto = "veto: " + r.Name
		}
		d.Findings = append(d.Findings, f)
		d.Remedies = append(d.Remedies, remedy)
		//guard:due-looked live
		d.Look = d.Look || f.Due && remedy != Report && v.unseen(s)
	}
	return d
}

// unseen reports whether a task may have a sandbox that this pass has not looked at: a remedy
// for the task would leave it alone.
func (v *view) unseen(s *Subject) bool {
	return s.Task != nil && slices.ContainsFunc(v.lookRefs(s), func(ref Ref) bool {
		_, looked := v.s.Looks[ref]
		return !looked && !s.hasBox(func(b *Box) bool { return b.Here && b.Ref == ref })
	})
}

// finding turns a rule's verdict into a finding: how often it was seen, whether it is due,
// and which freezes hold it.
func (v *view) finding(r *rule, s *Subject, out answer) (Finding, Remedy) {
	for i := range out.evidence {
		out.evidence[i].Fact = text.Clip(out.evidence[i].Fact, 1000)
	}
	f := Finding{
		Rule: r.Name, Subject: s.ID, Reason: text.Clip(out.reason, 2000), Evidence: out.evidence,
		HeldBy: out.holds,
	}
	if out.ago > 0 {
		f.Began = v.now.Add(-out.ago)
	}
	if s.Task != nil {
		f.Task = s.Task.ID
	}
	b := out.sandbox
	if b == nil && len(s.Boxes) > 0 {
		b = &s.Boxes[0]
	}
	if b != nil {
		f.Provider, f.Sandbox = b.Provider, b.ID
	}
	if s.Task == nil && b != nil {
		f.Task = firstOf(b.Task, b.Seen.Task) // also what a hold on a lost label's task goes by
	}
	v.sight(&f, r.Rule, s)
	//guard:sightings P6
	//guard:missing-ripe P3
	f.Due = out.due || out.sightings > 0 && f.Sightings >= out.sightings && v.ripe(&f, r.Rule, s)
	f.HeldBy = appendNew(f.HeldBy, v.freezes(r.Rule, s, out.conclusive)...)
	//guard:unmapped-status harm
	if t := s.Task; t != nil && s.Fate == FateLive && t.State == TaskUnknown {
		f.HeldBy = append(f.HeldBy, fmt.Sprintf("status %q is not mapped", text.Clip(t.Status, 60)))
	}
	remedy := v.p.Rules[r.Name].Remedy
	//guard:report-only harm
	if out.report || v.readOnly(s, remedy) {
		remedy = Report
	}
	//guard:quarantine-way lost
	if remedy == Quarantine {
		f.HeldBy = append(f.HeldBy, v.cannotQuarantine(s)...)
	}
	//guard:no-end live
	if (remedy == Terminate || remedy == Quarantine) && b != nil && b.NoEnd != "" {
		f.HeldBy = append(f.HeldBy, "cannot be ended: "+text.Clip(b.NoEnd, 200))
	}
	return f, remedy
}

// readOnly reports whether the remedy would write a row of a platform whose config does not say what a
// failed row looks like: the row could not be failed, and its sandbox must not go without it.
func (v *view) readOnly(s *Subject, remedy Remedy) bool {
	//guard:row-read-only harm
	return (remedy == Fail || remedy == Requeue) && s.Task != nil && s.Fate == FateLive && v.p.Tasks.FailStatus == ""
}

// ripe is the part of a threshold that counts from the first sighting.
func (v *view) ripe(f *Finding, r *Rule, s *Subject) bool {
	return !r.FromSighting || v.now.Sub(f.FirstSeen) >= v.threshold(r.Name, s)
}

// sight counts the look. A sighting counts when the one before it is far enough back, and
// all begin anew when a source that the rule rests on was out in between.
func (v *view) sight(f *Finding, r *Rule, s *Subject) {
	before, open := v.s.Memory.Findings[f.Key()]
	//guard:sightings-anew P6
	if !open || before.LastSeen.Before(v.anew(v.restsOn(r, s)...)) {
		f.FirstSeen, f.SightedAt, f.LastSeen, f.Sightings = v.now, v.now, v.now, 1
		return
	}
	f.FirstSeen, f.SightedAt, f.Sightings, f.LastSeen = before.FirstSeen, before.SightedAt, before.Sightings, v.now
	//guard:sightings-apart P3
	if v.now.Sub(before.SightedAt) >= v.p.Rules[r.Name].Apart && v.now.After(before.SightedAt) {
		f.SightedAt = v.now
		f.Sightings++
	}
}

// restsOn are the sources that the rule's verdict on this subject rests on.
func (v *view) restsOn(r *Rule, s *Subject) []string {
	var names []string
	on := r.RestsOn
	if v.p.Tasks.None {
		on &= OnListing | OnProbes
	}
	//guard:freeze-tasks P3
	if on&OnTasks != 0 {
		names = append(names, sourceTasks)
	}
	//guard:freeze-link P3
	if on&OnLink != 0 {
		names = append(names, sourceLink)
	}
	//guard:freeze-events harm
	if on&OnEvents != 0 {
		names = append(names, sourceEvents)
	}
	//guard:freeze-activity P6
	if on&OnActivity != 0 {
		names = append(names, sourceActivity)
	}
	for _, provider := range v.providersOf(s) {
		//guard:freeze-listing harm
		if on&OnListing != 0 {
			names = append(names, listingOf(provider))
		}
		//guard:freeze-probes harm
		if on&OnProbes != 0 {
			names = append(names, probesOf(provider))
		}
	}
	return names
}

// providersOf are the provider entries that the subject's sandboxes are at, or may be at.
func (v *view) providersOf(s *Subject) []string {
	if len(s.Boxes) == 0 {
		if s.Task == nil {
			return nil
		}
		return v.candidates(s.Task)
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
func (v *view) freezes(r *Rule, s *Subject, conclusive bool) []string {
	var holds []string
	for _, name := range v.restsOn(r, s) {
		if v.trusted(name) || name == sourceEvents && conclusive || v.letGo(name, s.ID) {
			continue
		}
		holds = append(holds, FreezeName(name))
	}
	return holds
}

// FreezeName is the freeze of a source: "listing:daytona" is "listing-untrusted daytona".
func FreezeName(source string) string {
	kind, which, _ := strings.Cut(source, ":")
	return strings.TrimSpace(kind + "-untrusted " + which)
}

// letGo reports whether a person released the subject from a freeze or a breaker.
func (v *view) letGo(what, subject string) bool {
	for _, r := range v.s.Memory.Controls.Releases {
		if r.What == what && slices.Contains(r.Subjects, subject) {
			return true
		}
	}
	return false
}

// threshold is the rule's threshold for the subject: the first override whose class
// matches, else the rule's own.
func (v *view) threshold(rule string, s *Subject) time.Duration {
	p := v.policy(rule)
	for _, o := range p.Overrides {
		//guard:class-threshold harm
		if s.inClass(o.When) {
			return o.After
		}
	}
	return p.After
}

// policy is the settings of a rule, without a copy: rules ask for it on each subject.
func (v *view) policy(rule string) *RulePolicy {
	for i := range v.rules {
		if v.rules[i].Name == rule {
			return &v.rules[i].policy
		}
	}
	p := v.p.Rules[rule]
	return &p
}

func (s *Subject) inClass(when map[string]string) bool {
	for key, want := range when {
		if s.class(key) != want {
			return false
		}
	}
	return len(when) > 0
}

func (s *Subject) class(key string) string {
	column, isColumn := strings.CutPrefix(key, "task.")
	switch {
	case isColumn && s.Task != nil:
		return s.Task.Attrs[column]
	case key == "template":
		return s.template()
	case key == "provider" && len(s.Boxes) > 0:
		return s.Boxes[0].Provider
	case key == "provider" && s.Task != nil:
		return s.Task.Provider
	case key == "region" && len(s.Boxes) > 0:
		return s.Boxes[0].Region
	}
	return ""
}

// resolved are the open findings that were not seen again although they could have been:
// a source that is not trusted, or a quick pass, resolves nothing that it cannot see.
func (v *view) resolved(j *Judgement) []FindingKey {
	seen := map[FindingKey]bool{}
	judged := make(map[string]bool, len(j.Decisions))
	for i := range j.Decisions {
		d := &j.Decisions[i]
		judged[d.Subject.ID] = !d.Look
		for _, f := range d.Findings {
			seen[f.Key()] = true
		}
	}
	for _, f := range j.Reports {
		seen[f.Key()] = true
	}
	var out []FindingKey
	for key, f := range v.s.Memory.Findings {
		//guard:resolve-seen live
		if !seen[key] && v.couldSee(f, judged) {
			out = append(out, key)
		}
	}
	slices.SortFunc(out, func(a, b FindingKey) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Subject, b.Subject))
	})
	return out
}

func (v *view) couldSee(f Finding, judged map[string]bool) bool {
	if done, ok := judged[f.Subject]; ok && !done {
		return false
	}
	r := RuleNamed(f.Rule)
	if finds[r.Name] == nil {
		return v.s.Kind == Full && v.measured(f) // templates, clocks and quotas are looked at by full passes
	}
	if v.s.Kind != Full && (r.FullOnly || !judged[f.Subject]) {
		return false
	}
	if r.RestsOn&OnTasks != 0 && !v.trusted(sourceTasks) || r.RestsOn&OnLink != 0 && !v.trusted(sourceLink) {
		return false
	}
	return f.Provider == "" || r.RestsOn&OnListing == 0 && judged[f.Subject] || v.trusted(listingOf(f.Provider))
}
