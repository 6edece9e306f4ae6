package reconcile

import (
	"fmt"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A DistrustKind is what was found of a source that is not trusted, where somebody asks for it later.
type DistrustKind string

// What is found.
const (
	DistrustClockAhead    DistrustKind = "clock-ahead"
	DistrustClockStuck    DistrustKind = "clock-stuck"
	DistrustListingFailed DistrustKind = "listing-failed"
	DistrustListingCut    DistrustKind = "listing-cut"
	DistrustListingLost   DistrustKind = "listing-lost"
	DistrustListingEmpty  DistrustKind = "listing-empty"
	DistrustTasksEmpty    DistrustKind = "tasks-empty"
	DistrustTasksLost     DistrustKind = "tasks-lost"
	DistrustTasksRestored DistrustKind = "tasks-restored"
	DistrustKeyRefused    DistrustKind = "key-refused"
)

// A Distrust is why a source is not trusted: what was found, with its figures. The zero value is none. What is asked of
// it later is asked of these, and its sentence is made where it is shown.
type Distrust struct {
	Kind DistrustKind `json:"kind,omitempty"` // "" where nobody asks for more than what is said

	Ahead       time.Duration `json:"ahead,omitempty"`        // of a clock
	Task        string        `json:"task,omitempty"`         // with which a clock did not move
	From        string        `json:"from,omitempty"`         // its status then,
	To          string        `json:"to,omitempty"`           // and now
	Lost        int           `json:"lost,omitempty"`         // sandboxes or rows
	Of          int           `json:"of,omitempty"`           // of so many
	Back        int           `json:"back,omitempty"`         // rows that became older
	Key         string        `json:"key,omitempty"`          // that was refused, as [ProviderPolicy] names it
	ShowedNone  bool          `json:"showed_none,omitempty"`  // so did the last listing that was read
	Said        string        `json:"said,omitempty"`         // what shows it, mostly in the words of others
	OldSentence string        `json:"old_sentence,omitempty"` // the words of a version that kept no figures
}

// Said is a distrust of which nobody asks for more than its words; none where there are none.
func Said(words string) Distrust { return Distrust{Said: words} }

// None reports whether nothing speaks against the source.
func (d Distrust) None() bool { return d == Distrust{} }

const listingEmptyBefore = ", and the last that was read showed no sandbox of ours"

// String is the distrust in words.
func (d Distrust) String() string {
	words := d.OldSentence
	if words == "" {
		words = d.words()
	}
	if d.ShowedNone {
		words += listingEmptyBefore
	}
	return words
}

func (d Distrust) words() string {
	const ifRight = "if it is the right one, accept it with: sandkeeper release tasks"
	switch d.Kind {
	case DistrustClockAhead:
		return "runs " + text.Duration(d.Ahead) + " ahead of the database's now"
	case DistrustClockStuck:
		return fmt.Sprintf("did not move when task %s went from %s to %s", d.Task, d.From, d.To)
	case DistrustListingFailed, DistrustListingCut:
		return "the listing " + d.listing() + ": " + d.cause()
	case DistrustListingLost, DistrustListingEmpty:
		return "the listing " + d.listing() + ", " + d.Said
	case DistrustTasksEmpty:
		return "the task table is empty while sandboxes of ours exist: a wrong or emptied database"
	case DistrustTasksLost:
		return fmt.Sprintf("%d of the %d rows that were live at the last trusted pass are not there: "+
			"a wrong, emptied or restored database; "+ifRight, d.Lost, d.Of)
	case DistrustTasksRestored:
		return fmt.Sprintf("%d of the %d rows that were live are not there, and %d others are older than they were: "+
			"a restored database; "+ifRight, d.Lost, d.Of, d.Back)
	case DistrustKeyRefused:
		return "key " + d.Key + ": " + d.Said
	}
	return d.Said
}

// listing is what happened to a listing, "" of what is none.
func (d Distrust) listing() string {
	switch d.Kind {
	case DistrustListingFailed:
		return "failed"
	case DistrustListingCut:
		return "is not complete"
	case DistrustListingLost:
		return fmt.Sprintf("lost %d of %d sandboxes", d.Lost, d.Of)
	case DistrustListingEmpty:
		return "shows no sandbox of ours"
	}
	return ""
}

// cause is what kept a listing from being read, "" where it was.
func (d Distrust) cause() string {
	switch d.Kind {
	case DistrustListingFailed:
		return d.Said
	case DistrustListingCut:
		return d.Said + " not read"
	}
	return ""
}

// ClockAhead is why a clock is not trusted that runs ahead. It is believed again by itself.
func ClockAhead(by time.Duration) Distrust { return Distrust{Kind: DistrustClockAhead, Ahead: by} }

// Reason is why the clock of a provider is not trusted. It is believed again by itself.
func (c ClockSeen) Reason() Distrust {
	switch {
	case max(c.Off, -c.Off) <= ProviderSkew:
		return Said("not known: an answer told no time (header Date)")
	case c.Off < 0:
		return Said(text.Duration(-c.Off) + " behind our own clock")
	}
	return Said(text.Duration(c.Off) + " ahead of our own clock")
}

// ClockStuck is why a clock is not trusted that does not move. A person has to release it.
func ClockStuck(task, before, now string) Distrust {
	return Distrust{Kind: DistrustClockStuck, Task: task, From: before, To: now}
}

// RanAhead reports whether the source is a clock that ran ahead.
func (s *SourceSeen) RanAhead() bool { return s.Reason.Kind == DistrustClockAhead }

// Stuck reports whether the source is a clock that did not move.
func (s *SourceSeen) Stuck() bool { return s.Reason.Kind == DistrustClockStuck }

// ListingFailed is why a listing is not trusted that could not be made.
func ListingFailed(cause string) Distrust {
	return Distrust{Kind: DistrustListingFailed, Said: cause}
}

// ListingCut is why a listing is not trusted of which parts are missing.
func ListingCut(missing []string) Distrust {
	return Distrust{Kind: DistrustListingCut, Said: strings.Join(missing, ", ")}
}

// ListingLost is why a listing is not trusted that lost sandboxes, with what shows that it is wrong.
func ListingLost(lost, of int, but string) Distrust {
	return Distrust{Kind: DistrustListingLost, Lost: lost, Of: of, Said: but}
}

// ListingEmpty is why a listing is not trusted that shows nothing, with what shows that it is wrong.
func ListingEmpty(but string) Distrust { return Distrust{Kind: DistrustListingEmpty, Said: but} }

// Unread reports whether the source is a listing that failed or was cut: what is wrong is between
// here and the provider.
func (s *SourceSeen) Unread() bool { return s.Unlisted() || s.Reason.Kind == DistrustListingCut }

// Unlisted reports whether the source is a listing that failed.
func (s *SourceSeen) Unlisted() bool { return s.Reason.Kind == DistrustListingFailed }

// LostSome reports whether the source is a listing that lost sandboxes.
func (s *SourceSeen) LostSome() bool { return s.Reason.Kind == DistrustListingLost }

// ShowedNone reports whether the source is a listing that showed nothing while somebody was at work, also where it
// could not be read since.
func (s *SourceSeen) ShowedNone() bool {
	return s.Reason.Kind == DistrustListingEmpty || s.Reason.ShowedNone
}

// AfterShowingNone is why a listing is not trusted that cannot be read, and showed nothing while somebody was at work
// before.
func AfterShowingNone(why Distrust) Distrust {
	why.ShowedNone = true
	return why
}

// TasksEmpty is why the tasks are not trusted when there is no row.
func TasksEmpty() Distrust { return Distrust{Kind: DistrustTasksEmpty} }

// TasksLost is why the tasks are not trusted when rows are gone that were live.
func TasksLost(lost, of int) Distrust {
	return Distrust{Kind: DistrustTasksLost, Lost: lost, Of: of}
}

// TasksRestored is why the tasks are not trusted when some rows are gone and most of the others became older.
func TasksRestored(lost, back, of int) Distrust {
	return Distrust{Kind: DistrustTasksRestored, Lost: lost, Back: back, Of: of}
}

// Restored reports whether the source is a task table that became an older one.
func (s *SourceSeen) Restored() bool { return s.Reason.Kind == DistrustTasksRestored }

// LostRows reports whether the source is a task table that lost rows, or all.
func (s *SourceSeen) LostRows() bool {
	switch s.Reason.Kind {
	case DistrustTasksEmpty, DistrustTasksLost, DistrustTasksRestored:
		return true
	}
	return false
}

// Happened is what happened to a listing, without what shows it, and its cause where it has one.
func (s *SourceSeen) Happened() (what, cause string, is bool) {
	d := s.Reason
	if d.OldSentence != "" {
		return d.happenedOf()
	}
	what, cause = d.listing(), d.cause()
	if d.ShowedNone && cause != "" {
		cause += listingEmptyBefore
	}
	return what, cause, what != ""
}

// passListing begins why a pass is not complete that has no whole listing.
const passListing = "listing of "

// PassUnlisted is why a pass is not complete that has no whole listing of a provider.
func PassUnlisted(provider, cause string) string {
	return passListing + provider + ": " + FirstOf(cause, "not complete")
}

// Unlisted reports whether that is why the pass is not complete.
func (p *PassSeen) Unlisted() bool { return strings.HasPrefix(p.Error, passListing) }
