package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// Locate says where the task's sandbox is. It is proven only when every sandbox that
// the task had was looked at directly and, when none of this attempt is known or the row
// names yet another, the providers were asked by link or by the id that the row names.
// Absence from a listing is never enough.
func (v *places) Locate(s *reconcile.Subject) (where string, proven bool) {
	var seen []string
	for i := range s.Boxes {
		b := &s.Boxes[i]
		switch {
		case b.Gone && b.Known && b.Seen().GoneByUs:
			seen = append(seen, fmt.Sprintf("sandbox %s at %s is gone, ended by sandkeeper", b.ID, b.Provider))
		case b.Gone:
			seen = append(seen, fmt.Sprintf("sandbox %s at %s is gone", b.ID, b.Provider))
		//guard:where-another live
		case b.Here && !b.Lost() && b.Task != "" && b.Task != s.Task.ID:
			return fmt.Sprintf("sandbox %s at %s is %s, and names task %s", b.ID, b.Provider, b.Raw,
				text.Clip(b.Task, 60)), false
		case b.Here:
			seen = append(
				seen,
				fmt.Sprintf("sandbox %s at %s is %s", b.ID, b.Provider, reconcile.FirstOf(b.Raw, "in no known state")),
			)
		default:
			//guard:where-unlooked P4
			return v.Unlooked(b.Ref), false
		}
	}
	present := s.HasBox(func(b *reconcile.SeenSandbox) bool { return !v.Past(s, b) })
	for _, provider := range v.P.Candidates(s.Task) {
		if p := v.P.Providers[provider]; p.SandboxIsID && !p.LinkTask && v.anothers(s.Task, provider) {
			continue
		}
		//guard:where-names-another P4
		if v.S.Kind == reconcile.Full && present && !v.namesAnother(provider, s) {
			continue
		}
		where, proven := v.absentAt(provider, s)
		if !proven {
			return where, false
		}
		if !present {
			seen = append(seen, where)
		}
	}
	if len(seen) == 0 {
		return fmt.Sprintf("its provider %q is not configured here", s.Task.Provider), false
	}
	return strings.Join(seen, ", "), true
}

// namesAnother reports whether the row names a sandbox that is not among those that the task is
// known to have.
func (v *places) namesAnother(provider string, s *reconcile.Subject) bool {
	id, p := s.Task.Sandbox, v.P.Providers[provider]
	if p.ByKey(s.Task) { // a name outlives the sandbox that had it
		return !s.HasBox(func(b *reconcile.SeenSandbox) bool { return b.Here && b.CalledBy(id) })
	}
	return p.SandboxIsID && id != "" && !s.HasBox(func(b *reconcile.SeenSandbox) bool {
		return b.ID == id || b.Here &&
			b.CalledBy(id)
	})
}

// NamesAnother reports whether a provider has to be searched although a sandbox of the task is there: its row
// names yet another one.
func (v *places) NamesAnother(s *reconcile.Subject) bool {
	return slices.ContainsFunc(v.P.Candidates(s.Task), func(provider string) bool { return v.namesAnother(provider, s) })
}

// CanLook reports whether there is anybody to ask for the task's sandbox.
func (v *places) CanLook(t *reconcile.Task) bool { return len(v.P.Candidates(t)) > 0 }

// Past reports whether the sandbox was over before the task's present state began, as the
// ledger saw both: it is of an earlier attempt and says nothing of this one. Of a task that no pass saw in another
// state its row tells how long it is in this one.
func (v *places) Past(s *reconcile.Subject, b *reconcile.SeenSandbox) bool {
	if !b.Known || !b.Lost() || s.Known && s.Seen().Status != s.Task.Status {
		return false
	}
	over := b.Seen().GoneAt
	if over.IsZero() && b.Here && b.Seen().State == b.State {
		over = b.Seen().StateSince
	}
	if over.IsZero() {
		return false
	}
	//guard:past-unseen harm
	if age, by := v.StateAge(s); firstSeenSo(s) && by != "" {
		return v.Since(over) > age
	}
	return s.Known && v.earlierThan(over, s.Seen().Since)
}

// firstSeenSo reports whether no pass remembers the task in another state: it was not seen before, or not in one that
// was believed, as while its database was a standby.
func firstSeenSo(s *reconcile.Subject) bool {
	return !s.Known || !s.Seen().FirstSeen.Before(s.Seen().Since)
}

func (v *places) Unlooked(ref reconcile.Ref) string {
	if look, ok := v.S.Lookups[ref]; ok && look.Error != "" {
		return fmt.Sprintf("sandbox %s could not be looked at: %s", ref, look.Error)
	}
	return fmt.Sprintf("sandbox %s is not listed and was not looked at yet", ref)
}

// absentAt proves by direct look-ups that a provider has no sandbox for the task, but for those of
// it that are known to be over.
func (v *places) absentAt(provider string, s *reconcile.Subject) (string, bool) {
	p, t := v.P.Providers[provider], s.Task
	//guard:where-listed P3
	if !v.Listed(provider) {
		return "no complete listing of " + provider + " to rest on", false
	}
	ref := reconcile.Ref{Provider: provider, ID: t.Sandbox}
	if p.SandboxIsID && t.Sandbox != "" && !v.anothers(t, provider) && !isOver(s, ref) {
		look, ok := v.S.Lookups[ref]
		switch found := ok && !look.Gone && look.Error == ""; {
		//guard:where-look-failed P3
		case !ok, look.Error != "":
			return v.Unlooked(ref), false
		//guard:where-elsewhere harm
		case found && !(&reconcile.SeenSandbox{Sandbox: &look.Sandbox, Here: true}).Lost() && !v.reused(t, &look.Sandbox):
			return fmt.Sprintf("sandbox %s at %s is %s, and is linked elsewhere", ref.ID, provider, look.Sandbox.Raw), false
		}
	}
	// A row of another may name it too, and count as its user: a search that leaves it out says nothing then.
	//guard:where-named-elsewhere harm
	if sb := v.shownByName(provider, s); sb != nil {
		return fmt.Sprintf("sandbox %s at %s is %s, and another row names it too", sb.ID, provider, sb.Raw), false
	}
	// A task gets another's sandbox where the platform hands it on: its label is of the one before.
	//guard:where-handed-on harm
	if sb := v.handedOn(provider, s); sb != nil {
		whose := "no label links it to a task"
		if sb.Task != "" {
			whose = "its label names task " + text.Clip(sb.Task, 60)
		}
		return fmt.Sprintf("sandbox %s at %s is %s and the row names it, while %s", sb.ID, provider, sb.Raw, whose), false
	}
	if p.LinkTask || p.ByKey(t) {
		find, ok := v.S.Finds[t.ID]
		switch {
		//guard:where-unsearched P4
		case !ok:
			return "its sandbox was not searched by link at " + provider + " yet", false
		//guard:where-found harm
		case v.FindsSome(s, provider, find):
			return "a sandbox was found by link, and does not belong to it alone", false
		//guard:where-search-failed P3
		case find.Error != "":
			return "its sandbox could not be searched by link: " + find.Error, false
		}
	}
	return "no sandbox at " + provider, true
}

// shownByName is a sandbox that this pass saw at the provider, that is there, and that the row names, though it counts
// as another's.
func (v *places) shownByName(provider string, s *reconcile.Subject) *reconcile.Sandbox {
	for i := range v.S.Sandboxes {
		sb := &v.S.Sandboxes[i]
		if sb.Provider != provider || !sb.CalledBy(s.Task.Sandbox) || v.S.Lookups[sb.Ref].Gone || sb.Task != "" ||
			(&reconcile.SeenSandbox{Sandbox: sb, Here: true}).Lost() {
			continue
		}
		if !s.HasBox(func(b *reconcile.SeenSandbox) bool { return b.Ref == sb.Ref }) {
			return sb
		}
	}
	return nil
}

// handedOn is a sandbox that this pass saw at the provider, that is there, and that the row names by its id or its
// name, though labels alone link it, and that of another task or of none.
func (v *places) handedOn(provider string, s *reconcile.Subject) *reconcile.Sandbox {
	i := slices.IndexFunc(v.S.Sandboxes, func(sb reconcile.Sandbox) bool {
		return sb.Provider == provider && len(sb.Keys()) == 0 && sb.Task != s.Task.ID && s.Task.Sandbox != "" &&
			slices.Contains(sb.Called(), s.Task.Sandbox) && !v.S.Lookups[sb.Ref].Gone &&
			!(&reconcile.SeenSandbox{Sandbox: &sb, Here: true}).Lost()
	})
	if i < 0 {
		return nil
	}
	return &v.S.Sandboxes[i]
}

// FindsSome reports whether a search found a sandbox, for what is asked of a provider, that a direct look does not know
// to be gone or over, and that is not one of the task's that are over: an index may show for long what is not there any
// more.
func (v *places) FindsSome(s *reconcile.Subject, provider string, find reconcile.FindLookup) bool {
	return slices.ContainsFunc(find.Sandboxes, func(sb reconcile.Sandbox) bool {
		//guard:where-found-gone live
		if v.S.Lookups[sb.Ref].Gone {
			return false
		}
		own := func(b *reconcile.SeenSandbox) bool { return b.Ref == sb.Ref && b.Here }
		//guard:where-found-own live
		if sb.Provider != provider && s.HasBox(own) {
			return false // all providers are searched at once: the task's own at one of them says nothing of this one
		}
		// What is on record as over may not show the label any more that made it the task's.
		//guard:where-found-over live
		if look := v.S.Lookups[sb.Ref]; (&reconcile.SeenSandbox{Sandbox: &look.Sandbox, Here: look.Error == ""}).Lost() {
			return false
		}
		return !isOver(s, sb.Ref)
	})
}

// isOver reports whether the sandbox is seen, as one of the subject, and neither runs nor rests.
func isOver(s *reconcile.Subject, ref reconcile.Ref) bool {
	for i := range s.Boxes {
		//guard:where-over live
		if b := &s.Boxes[i]; b.Ref == ref && b.Here && b.Lost() {
			return true
		}
	}
	return false
}

// reused reports whether the id that the row names was its sandbox's, and is another's by now.
func (v *places) reused(t *reconcile.Task, s *reconcile.Sandbox) bool {
	seen, known := v.S.Memory.Sandboxes.Get(s.Ref)
	return known && seen.Task == t.ID && seen.Another(s, v.Now) && s.Task != t.ID
}

// Listed reports whether a complete listing of the provider stands: this pass's, or the
// last one, not older than two full passes, in a quick pass. Whether a complete one is believed
// is the freeze's to say, which a person may release.
func (v *places) Listed(provider string) bool {
	if seen, ok := v.S.Listings[provider]; ok {
		return seen.Complete && seen.Error == ""
	}
	seen, known := v.S.Memory.Sources[reconcile.ListingOf(provider)]
	last := v.S.Memory.LastFull
	if seen.Trusted {
		last = reconcile.Latest(last, seen.LastTrusted)
	}
	return known && v.Now.Sub(last) <= 2*v.P.Full+time.Minute
}

// State names the states of the subject's sandboxes.
func (v *places) State(s *reconcile.Subject) string {
	var seen []string
	for _, b := range s.Boxes {
		switch {
		case b.Gone:
			seen = append(seen, "sandbox "+b.ID+" is gone")
		case b.Here:
			seen = append(seen, "sandbox "+b.ID+" is "+b.Raw)
		}
	}
	return strings.Join(seen, ", ")
}

// Cause names the unusable template that explains why nothing comes up: the subject's
// own, or, while that is not known, those that the config names.
func (v *places) Cause(s *reconcile.Subject) (string, []reconcile.Evidence) {
	var texts []string
	var because []reconcile.Evidence
	own := s.Template()
	for _, t := range v.S.Templates {
		if TemplateStateUsable(t.State) || own != "" && own != t.Name && own != t.ID || !v.MayUse(s, t.Provider) {
			continue
		}
		text := v.TemplateText(t)
		texts = append(texts, text)
		because = append(because, reconcile.Evidence{Source: t.Provider, At: t.AsOf, Fact: text})
	}
	return strings.Join(texts, "; "), because
}

// Templates are the templates as this pass saw them.
func (v *View) Templates() []reconcile.TemplateSeen {
	var out []reconcile.TemplateSeen
	for _, t := range v.S.Templates {
		at := t.AsOf
		if v.S.Kind == reconcile.Full {
			at = v.Now // as the ledger will have it; a quick pass recalls what it has
		}
		out = append(out, reconcile.TemplateSeen{Provider: t.Provider, Name: t.Name, State: t.State, LookedAt: at})
	}
	return out
}

// TemplateStateUsable is false only for what is known not to be; a failed measurement accuses nobody.
func TemplateStateUsable(s reconcile.TemplateState) bool {
	return s == reconcile.TemplateActive || s == reconcile.TemplateUnknown
}

func (v *places) MayUse(s *reconcile.Subject, provider string) bool {
	for _, b := range s.Boxes {
		if b.Provider == provider {
			return true
		}
	}
	if s.Task == nil {
		return false
	}
	for _, name := range v.P.Candidates(s.Task) {
		if name == provider {
			return true
		}
	}
	return false
}

func (v *places) TemplateText(t reconcile.Template) string {
	out := fmt.Sprintf(
		"%s %q is %s",
		ProviderPolicyTemplateNoun(v.P.Providers[t.Provider]),
		t.Name,
		reconcile.FirstOf(string(t.State), t.Raw),
	)
	if t.Error != "" {
		out += " (" + text.Clip(t.Error, 120) + ")"
	}
	if at := v.S.Memory.Templates[reconcile.Ref{Provider: t.Provider, ID: t.Name}].LastStart; !at.IsZero() {
		out += ", " + reconcile.LastStartWords + " " + text.Time(at)
	} else if !t.LastUsed.IsZero() {
		out += ", last used " + text.Time(t.LastUsed)
	}
	return out
}

// ProviderPolicyTemplateNoun is the vendor's word for a template.
func ProviderPolicyTemplateNoun(p reconcile.ProviderPolicy) string {
	switch p.Kind {
	case "daytona", "simulated", "vercel", "agentuity":
		return "snapshot"
	case "cloudflare", "docker", "kubernetes":
		return "image"
	}
	return "template"
}
