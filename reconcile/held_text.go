package reconcile

import "strings"

// heldFirst are the kinds that the first word or the first two words of a text tell.
var heldFirst = map[string]HeldKind{
	"off": HeldOff, "observe": HeldObserve, "pause:": HeldPause, "hold:": HeldHold, "veto:": HeldVeto,
	"breaker:": HeldBreaker, "budget:": HeldBudget, "incident:": HeldIncident, "rollout:": HeldRollout,
	"quarantine:": HeldQuarantine, "not-exclusive:": HeldNotExclusive, "unparsable:": HeldUnparsable,
	"refuted:":  HeldRefuted,
	"doubtful:": HeldDoubtful, "unproven:": HeldUnproven, "only silence:": HeldSilence, "cannot be": HeldUnended,
	"unmatched pair:": HeldUnmatched,
	"status":          HeldUnmapped, "unknown state": HeldUnknown, "its task": HeldUnread, "a row": HeldExplained,
	"sandbox": HeldUnlooked,
	// as versions before said it
	"unproven: its": HeldSilence, "unproven: no": HeldSilence,
	"no entry": HeldNoEntry, "it rests": HeldNoTasks, "the rule": HeldOnlyReports, "this pass": HeldUncalled,
	"tried again": HeldLater, "the planned": HeldWithdrawn, "in quarantine": HeldQuarantineEnd,
}

// heldPrefix begins the text of kinds that go on with what, or with the reason. The text of the
// others is the reason alone.
var heldPrefix = map[HeldKind]string{
	HeldObserve: "observe", HeldOff: "off", HeldPause: "pause: ", HeldHold: "hold: ", HeldVeto: "veto: ",
	HeldBreaker: "breaker: ", HeldBudget: "budget: ", HeldIncident: "incident: ", HeldRollout: "rollout: ",
	HeldQuarantine: "quarantine: ", HeldNotExclusive: "not-exclusive: ", HeldUnparsable: "unparsable: ",
	HeldRefuted:  "refuted: ",
	HeldDoubtful: "doubtful: ", HeldUnproven: "unproven: ", HeldSilence: "only silence: ",
	HeldUnended: "cannot be ended: ", HeldUnmatched: "unmatched pair: ",
}

// String is the text that people read and the ledger keeps.
func (h Held) String() string {
	switch h.Kind {
	case HeldFreeze:
		if h.Reason == "" {
			return FreezeName(h.What)
		}
		return FreezeName(h.What) + ": " + h.Reason
	case HeldPause, HeldHold:
		return heldPrefix[h.Kind] + h.What + because(h.Reason, h.By)
	case HeldBudget:
		return heldPrefix[h.Kind] + strings.Join(NonEmpty(h.What, h.Reason), ", ")
	}
	return heldPrefix[h.Kind] + h.What + h.Reason
}

// Label is the kind as metrics have it: a freeze is the source that is not trusted, whosever part of it. There
// are never more labels than kinds and sources.
func (h Held) Label() string {
	if h.Kind == HeldFreeze {
		whole, _ := SourceTenant(h.What)
		return whole
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
	if old, is := strings.CutPrefix(text, heldPrefix[HeldUnproven]); is && HeldKindOf(text) == HeldSilence {
		text = heldPrefix[HeldSilence] + old
	}
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
	case HeldDoubtful:
		if at := strings.Index(rest, doubtfulOf); at >= 0 {
			h.What, h.Reason = rest[:at], rest[at:]
		} else {
			h.What = rest
		}
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
	kind, is := strings.CutSuffix(strings.TrimSuffix(first, ":"), "-untrusted")
	switch {
	case !is:
	case kind == SourceTasks, kind == SourceLink, kind == SourceEvents, kind == SourceActivity:
		if !strings.HasPrefix(rest, tenantMark) {
			return kind, rest
		}
		which, more, _ := strings.Cut(rest, " ")
		return kind + strings.TrimSuffix(which, ":"), more
	case kind+":" == ListingOf(""), kind+":" == ProbesOf(""), kind+":" == ClockOf(""), kind+":" == CredentialOf(""):
		which, more, _ := strings.Cut(rest, " ")
		return kind + ":" + strings.TrimSuffix(which, ":"), more
	}
	return "", ""
}

// doubtfulOf parts what is doubtful from the sandbox that it is about.
const doubtfulOf = ", so sandbox "

// DoubtfulOf names the sandbox, behind what is doubtful.
func DoubtfulOf(sandbox string) string { return doubtfulOf + sandbox + " is not proven ours" }

// because is a reason with who gave it.
func because(reason, author string) string {
	out := ""
	if reason != "" {
		out = " (" + reason + ")"
	}
	if author != "" {
		out += " by " + author
	}
	return out
}

// cutBecause undoes because: "TARGET (REASON) by AUTHOR", where reason and author may be missing.
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

// HeldByOf reads the texts that the ledger keeps.
func HeldByOf(texts ...string) HeldBy {
	var out HeldBy
	for _, text := range texts {
		out = append(out, ParseHeld(text))
	}
	return out
}
