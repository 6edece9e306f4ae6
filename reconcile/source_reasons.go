package reconcile

import (
	"fmt"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// The ledger keeps why a source is not trusted as a text. What somebody asks of that text later is
// answered here, beside what made it.
const (
	clockAhead    = "runs "
	clockStuck    = "did not move when "
	ofListing     = "the listing "
	listingFailed = ofListing + "failed"
	listingCut    = ofListing + "is not complete"
	listingLost   = ofListing + "lost "
	listingEmpty  = ofListing + "shows no sandbox of ours"

	listingEmptyBefore = ", and the last that was read showed no sandbox of ours"
	passListing        = "listing of "
	tasksEmpty         = "the task table is empty"
	tasksLost          = " rows that were live at the last trusted pass are not there"
	tasksRestored      = " rows that were live are not there, and "
)

// ClockAhead is why a clock is not trusted that runs ahead. It is believed again by itself.
func ClockAhead(by time.Duration) string {
	return clockAhead + text.Duration(by) + " ahead of the database's now"
}

// Reason is why the clock of a provider is not trusted. It is believed again by itself.
func (c ClockSeen) Reason() string {
	switch {
	case max(c.Off, -c.Off) <= ProviderSkew:
		return "not known: an answer told no time (header Date)"
	case c.Off < 0:
		return text.Duration(-c.Off) + " behind our own clock"
	}
	return text.Duration(c.Off) + " ahead of our own clock"
}

// ClockStuck is why a clock is not trusted that does not move. A person has to release it.
func ClockStuck(task, before, now string) string {
	return fmt.Sprintf(clockStuck+"task %s went from %s to %s", task, before, now)
}

// RanAhead reports whether the source is a clock that ran ahead.
func (s *SourceSeen) RanAhead() bool { return strings.HasPrefix(s.Reason, clockAhead) }

// Stuck reports whether the source is a clock that did not move.
func (s *SourceSeen) Stuck() bool { return strings.HasPrefix(s.Reason, clockStuck) }

// ListingFailed is why a listing is not trusted that could not be made.
func ListingFailed(cause string) string { return listingFailed + ": " + cause }

// ListingCut is why a listing is not trusted of which parts are missing.
func ListingCut(missing []string) string {
	return listingCut + ": " + strings.Join(missing, ", ") + " not read"
}

// ListingLost is why a listing is not trusted that lost sandboxes, with what shows that it is wrong.
func ListingLost(lost, of int, but string) string {
	return fmt.Sprintf(listingLost+"%d of %d sandboxes, %s", lost, of, but)
}

// ListingEmpty is why a listing is not trusted that shows nothing, with what shows that it is wrong.
func ListingEmpty(but string) string { return listingEmpty + ", " + but }

// Unread reports whether the source is a listing that failed or was cut: what is wrong is between
// here and the provider.
func (s *SourceSeen) Unread() bool {
	return strings.HasPrefix(s.Reason, listingFailed) || strings.HasPrefix(s.Reason, listingCut)
}

// Unlisted reports whether the source is a listing that failed.
func (s *SourceSeen) Unlisted() bool { return strings.HasPrefix(s.Reason, listingFailed) }

// LostSome reports whether the source is a listing that lost sandboxes.
func (s *SourceSeen) LostSome() bool { return strings.HasPrefix(s.Reason, listingLost) }

// ShowedNone reports whether the source is a listing that showed nothing while somebody was at work, also where it
// could not be read since.
func (s *SourceSeen) ShowedNone() bool {
	return strings.HasPrefix(s.Reason, listingEmpty) || strings.HasSuffix(s.Reason, listingEmptyBefore)
}

// AfterShowingNone is why a listing is not trusted that cannot be read, and showed nothing while somebody was at work
// before.
func AfterShowingNone(why string) string {
	return strings.TrimSuffix(why, listingEmptyBefore) + listingEmptyBefore
}

// TasksEmpty is why the tasks are not trusted when there is no row.
func TasksEmpty() string {
	return tasksEmpty + " while sandboxes of ours exist: a wrong or emptied database"
}

// TasksLost is why the tasks are not trusted when rows are gone that were live.
func TasksLost(lost, of int) string {
	return fmt.Sprintf("%d of the %d"+tasksLost+": a wrong, emptied or restored database; "+
		"if it is the right one, accept it with: sandkeeper release tasks", lost, of)
}

// TasksRestored is why the tasks are not trusted when some rows are gone and most of the others became older.
func TasksRestored(lost, back, of int) string {
	return fmt.Sprintf("%d of the %d"+tasksRestored+"%d others are older than they were: a restored database; "+
		"if it is the right one, accept it with: sandkeeper release tasks", lost, of, back)
}

// Restored reports whether the source is a task table that became an older one.
func (s *SourceSeen) Restored() bool { return strings.Contains(s.Reason, tasksRestored) }

// LostRows reports whether the source is a task table that lost rows, or all.
func (s *SourceSeen) LostRows() bool {
	return strings.HasPrefix(s.Reason, tasksEmpty) || strings.Contains(s.Reason, tasksLost) || s.Restored()
}

// Happened is what happened to a listing, without what shows it, and its cause where it has one.
func (s *SourceSeen) Happened() (what, cause string, is bool) {
	what, is = strings.CutPrefix(s.Reason, ofListing)
	if _, listing := OfKind(SourceListing, s.Name); !is || !listing {
		return "", "", false
	}
	if at := strings.IndexAny(what, ",:"); at >= 0 {
		if what[at] == ':' {
			cause = what[at+1:]
		}
		what = what[:at]
	}
	return what, cause, true
}

// PassUnlisted is why a pass is not complete that has no whole listing of a provider.
func PassUnlisted(provider, cause string) string {
	return passListing + provider + ": " + FirstOf(cause, "not complete")
}

// Unlisted reports whether that is why the pass is not complete.
func (p *PassSeen) Unlisted() bool { return strings.HasPrefix(p.Error, passListing) }
