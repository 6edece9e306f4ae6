package reconcile

import (
	"strings"
	"time"
)

// A Held is one thing that keeps a due finding from being repaired, or a step from being taken.
// Its text is what the ledger keeps and people read: [Held.String] says it, [ParseHeld] reads it.
type Held struct {
	Kind   HeldKind  `json:"kind"`
	What   string    `json:"what,omitempty"`   // the source, the target, the incident, the limit
	Reason string    `json:"reason,omitempty"` // for people
	By     string    `json:"by,omitempty"`     // the operator who asked for it
	Since  time.Time `json:"since,omitzero"`   // like Until: of pauses and holds; no text says it
	Until  time.Time `json:"until,omitzero"`
}

// A HeldKind says what kind of thing holds.
type HeldKind string

// The kinds of what holds.
const (
	HeldObserve       HeldKind = "observe"
	HeldOff           HeldKind = "off"
	HeldFreeze        HeldKind = "freeze" // What is the source that is not trusted
	HeldPause         HeldKind = "pause"
	HeldHold          HeldKind = "hold"
	HeldVeto          HeldKind = "veto" // of another rule's finding
	HeldBreaker       HeldKind = "breaker"
	HeldBudget        HeldKind = "budget"
	HeldIncident      HeldKind = "incident"
	HeldRollout       HeldKind = "rollout"
	HeldQuarantine    HeldKind = "quarantine" // the provider has no way to stop or pause
	HeldNotExclusive  HeldKind = "not-exclusive"
	HeldUnparsable    HeldKind = "unparsable"
	HeldUnproven      HeldKind = "unproven" // only silence speaks for the finding
	HeldUnended       HeldKind = "cannot-be-ended"
	HeldUnmatched     HeldKind = "unmatched-pair"
	HeldUnmapped      HeldKind = "unmapped-status"
	HeldUnknown       HeldKind = "unknown-state"
	HeldUnread        HeldKind = "unread-task"
	HeldUnlooked      HeldKind = "not-looked-at"
	HeldNoEntry       HeldKind = "no-entry"
	HeldNoTasks       HeldKind = "no-tasks"
	HeldOnlyReports   HeldKind = "report"
	HeldUncalled      HeldKind = "not-called-for"
	HeldLater         HeldKind = "tried-later"
	HeldWithdrawn     HeldKind = "withdrawn-first"
	HeldQuarantineEnd HeldKind = "in-quarantine"
	HeldOther         HeldKind = "other" // words that nobody here knows
)

// heldFirst are the kinds that the first word or the first two words of a text tell.
var heldFirst = map[string]HeldKind{
	"off": HeldOff, "observe": HeldObserve, "pause:": HeldPause, "hold:": HeldHold, "veto:": HeldVeto,
	"breaker:": HeldBreaker, "budget:": HeldBudget, "incident:": HeldIncident, "rollout:": HeldRollout,
	"quarantine:": HeldQuarantine, "not-exclusive:": HeldNotExclusive, "unparsable:": HeldUnparsable,
	"unproven:": HeldUnproven, "cannot be": HeldUnended, "unmatched pair:": HeldUnmatched,
	"status": HeldUnmapped, "unknown state": HeldUnknown, "its task": HeldUnread, "sandbox": HeldUnlooked,
	"no entry": HeldNoEntry, "it rests": HeldNoTasks, "the rule": HeldOnlyReports, "this pass": HeldUncalled,
	"tried again": HeldLater, "the planned": HeldWithdrawn, "in quarantine": HeldQuarantineEnd,
}

// heldPrefix begins the text of kinds that go on with what, or with the reason. The text of the
// others is the reason alone.
var heldPrefix = map[HeldKind]string{
	HeldObserve: "observe", HeldOff: "off", HeldPause: "pause: ", HeldHold: "hold: ", HeldVeto: "veto: ",
	HeldBreaker: "breaker: ", HeldBudget: "budget: ", HeldIncident: "incident: ", HeldRollout: "rollout: ",
	HeldQuarantine: "quarantine: ", HeldNotExclusive: "not-exclusive: ", HeldUnparsable: "unparsable: ",
	HeldUnproven: "unproven: ", HeldUnended: "cannot be ended: ", HeldUnmatched: "unmatched pair: ",
}

// String is the text that people read and the ledger keeps.
func (h Held) String() string {
	switch h.Kind {
	case HeldFreeze:
		return strings.TrimSpace(FreezeName(h.What) + " " + h.Reason)
	case HeldPause, HeldHold:
		return heldPrefix[h.Kind] + h.What + Because(h.Reason, h.By)
	case HeldBudget:
		return heldPrefix[h.Kind] + strings.Join(NonEmpty(h.What, h.Reason), ", ")
	}
	return heldPrefix[h.Kind] + h.What + h.Reason
}

// Label is the kind as metrics have it: a freeze is the source that is not trusted. There are never
// more labels than kinds and sources.
func (h Held) Label() string {
	if h.Kind == HeldFreeze {
		return h.What
	}
	return string(h.Kind)
}

// HeldLabel is the label of a text of which only the first two words need be there.
func HeldLabel(text string) string {
	source, _ := frozenSource(text)
	return Held{Kind: HeldKindOf(text), What: source}.Label()
}

// ParseHeld reads what String said. What it does not say in the same words again is of the kind other.
func ParseHeld(text string) Held {
	h := Held{Kind: HeldKindOf(text)}
	rest := strings.TrimPrefix(text, heldPrefix[h.Kind])
	switch h.Kind {
	case HeldFreeze:
		h.What, h.Reason = frozenSource(text)
	case HeldPause, HeldHold:
		h.What, h.Reason, h.By = cutBecause(rest)
	case HeldBudget:
		h.What, h.Reason, _ = strings.Cut(rest, ", ")
	case HeldIncident:
		end := strings.IndexAny(rest+" ", " :,;")
		h.What, h.Reason = rest[:end], rest[end:]
	case HeldRollout, HeldVeto:
		h.What = rest
	default:
		h.Reason = rest
	}
	if h.String() != text {
		return Held{Kind: HeldOther, Reason: text}
	}
	return h
}

// HeldKindOf is the kind that the first words of a text tell, whatever it says further on.
func HeldKindOf(text string) HeldKind {
	first, rest, _ := strings.Cut(text, " ")
	if source, _ := frozenSource(text); source != "" {
		return HeldFreeze
	}
	second, _, _ := strings.Cut(rest, " ")
	if kind, ok := heldFirst[first+" "+second]; ok {
		return kind
	}
	if kind, ok := heldFirst[first]; ok {
		return kind
	}
	return HeldOther
}

// frozenSource is the source whose freeze the text names, and what it says further on. Listings,
// probes, clocks and credentials have one for each provider or column, the others have one.
func frozenSource(text string) (source, more string) {
	first, rest, _ := strings.Cut(text, " ")
	kind, is := strings.CutSuffix(first, "-untrusted")
	switch {
	case !is:
	case kind == SourceTasks, kind == SourceLink, kind == SourceEvents, kind == SourceActivity:
		return kind, rest
	case kind+":" == ListingOf(""), kind+":" == ProbesOf(""), kind+":" == ClockOf(""), kind+":" == CredentialOf(""):
		which, more, _ := strings.Cut(rest, " ")
		return kind + ":" + which, more
	}
	return "", ""
}

// cutBecause undoes [Because]: "TARGET (REASON) by AUTHOR", where reason and author may be missing.
func cutBecause(text string) (what, reason, by string) {
	what, rest, because := strings.Cut(text, " (")
	if !because {
		what, by, _ = strings.Cut(text, " by ")
		return what, "", by
	}
	if i := strings.LastIndex(rest, ") by "); i >= 0 {
		return what, rest[:i], rest[i+len(") by "):]
	}
	return what, strings.TrimSuffix(rest, ")"), ""
}

// HeldBy are all that holds one thing; none when it may be done.
type HeldBy []Held

// HeldByOf reads the texts that the ledger keeps.
func HeldByOf(texts ...string) HeldBy {
	var out HeldBy
	for _, text := range texts {
		out = append(out, ParseHeld(text))
	}
	return out
}

// HeldByIn reads a line that String of several made: a new one begins where its first words tell a kind.
func HeldByIn(line string) HeldBy {
	var texts []string
	for _, part := range strings.Split(line, "; ") {
		if n := len(texts); n > 0 && HeldKindOf(part) == HeldOther {
			texts[n-1] += "; " + part
			continue
		}
		texts = append(texts, part)
	}
	return HeldByOf(texts...)
}

// Texts are the texts of all of them.
func (h HeldBy) Texts() []string {
	var out []string
	for _, one := range h {
		out = append(out, one.String())
	}
	return out
}

// String is all of them in one line.
func (h HeldBy) String() string { return strings.Join(h.Texts(), "; ") }

// With adds those that it does not say yet.
func (h HeldBy) With(more ...Held) HeldBy {
	for _, one := range more {
		if !h.Say(one.String()) {
			h = append(h, one)
		}
	}
	return h
}

// Say reports whether one of them has this text.
func (h HeldBy) Say(text string) bool {
	for _, one := range h {
		if one.String() == text {
			return true
		}
	}
	return false
}

// Of is the first of one of the kinds.
func (h HeldBy) Of(kinds ...HeldKind) (Held, bool) {
	for _, one := range h {
		for _, kind := range kinds {
			if one.Kind == kind {
				return one, true
			}
		}
	}
	return Held{}, false
}
