package reconcile

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A Held is one thing that keeps a due finding from being repaired, or a step from being taken.
// Its text is what the ledger keeps and people read: [Held.String] says it, [ParseHeld] reads it.
// Its JSON is a public contract: held_by of plan, once and explain.
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
	HeldUnproven      HeldKind = "unproven"     // the rule has not shown here that it is right often enough
	HeldSilence       HeldKind = "only-silence" // nothing but silence speaks for the finding
	HeldRefuted       HeldKind = "refuted"      // the rule was wrong about other tasks of the tenant
	HeldDoubtful      HeldKind = "doubtful"     // a row names it, which does not prove that it is ours
	HeldUnended       HeldKind = "cannot-be-ended"
	HeldUnmatched     HeldKind = "unmatched-pair"
	HeldUnmapped      HeldKind = "unmapped-status"
	HeldUnknown       HeldKind = "unknown-state"
	HeldUnread        HeldKind = "unread-task"
	HeldExplained     HeldKind = "explained" // by a row of a further table
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

// UnseenLive is why the row of a task that no pass has seen live does not prove that a sandbox is ours.
const UnseenLive = "no pass saw the row that names it while its task was live"

// UnbelievedClock is why no row proves that a sandbox is ours whose provider's clock is off.
const UnbelievedClock = "the clock of its provider is not believed, so that nobody knows which of the two is older"

// OlderThanRow is why a row does not prove that a sandbox is ours which was there before it.
const OlderThanRow = "it is older than the row that names it"

// NamesNobodys is why a row does not prove that a sandbox is ours which carries the label of another task.
const NamesNobodys = "it names a task that has no row"

// NamesAnother is why a sandbox may not be that of the live task whose row names it: the look before the act would not
// take it for that task's.
const NamesAnother = "its label names another task than the row that names it"

// NamedAlike is the same where the row holds its name: nothing shows that it means another one of that name, as the
// task's own would, which its label shows.
const NamedAlike = NamesAnother + " by a name, and no sandbox labelled as that task's own has that name"

// OnlyRemembered is why a sandbox may not be the task's that it is judged with: what made it that one's is not shown.
const OnlyRemembered = "it shows no task and no row names it, only the ledger remembers that it showed this one"

// Unprovable reports whether a step is held because nothing can prove that the sandbox is ours: no pass was there
// while its row could, or its provider's clock is off.
func (h HeldBy) Unprovable() bool {
	return h.Doubtful(UnseenLive) || h.Doubtful(UnbelievedClock)
}

// Doubtful reports whether a step is held because a row does not prove that the sandbox is ours, for this reason.
func (h HeldBy) Doubtful(why string) bool {
	return slices.ContainsFunc(h, func(one Held) bool {
		return one.Kind == HeldDoubtful && one.What == why
	})
}

// mostBecause is how much of an operator's reason is repeated where it holds something.
const mostBecause = 120

// Held is what the pause holds, as a hold.
func (p Pause) Held() Held {
	return Held{Kind: HeldPause, What: p.Scope, Reason: text.Clip(p.Reason, mostBecause), By: p.Author}
}

// Held is what the hold holds.
func (h Hold) Held() Held {
	return Held{Kind: HeldHold, What: h.Target, Reason: text.Clip(h.Reason, mostBecause), By: h.Author}
}

// Held is what a mode that only looks holds. One that nobody set is off.
func (m Mode) Held() Held {
	if m == Observe {
		return Held{Kind: HeldObserve}
	}
	return Held{Kind: HeldOff}
}

// HeldFrozen is what a source that is not trusted holds.
func HeldFrozen(source string) Held { return Held{Kind: HeldFreeze, What: source} }

// HeldUnwitnessed holds what failed probes say, while no other sandbox of the provider answers.
func HeldUnwitnessed(provider string) Held {
	return Held{Kind: HeldFreeze, What: ProbesOf(provider), Reason: "no other sandbox has answered since its probes fail"}
}

// HeldByRefuted is what a rule's false positives hold for the tenants whose they are.
func HeldByRefuted(rule string, tenants []string) Held {
	return Held{Kind: HeldRefuted, Reason: fmt.Sprintf("tasks of %s that it marked failed came back to life; raise its "+
		"threshold, then arm it again with: sandkeeper mode %s clear", strings.Join(tenants, " and "), rule)}
}

// HeldByRollout is what the rollout of a rule holds.
func HeldByRollout(percent int) Held {
	return Held{Kind: HeldRollout, What: fmt.Sprintf("%d%%", percent)}
}

// HeldBy are all that holds one thing; none when it may be done.
type HeldBy []Held

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
		if !h.Has(one) {
			h = append(h, one)
		}
	}
	return h
}

// Has reports whether one of them says the same.
func (h HeldBy) Has(what Held) bool {
	said := what.String()
	return slices.ContainsFunc(h, func(one Held) bool { return one.String() == said })
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
