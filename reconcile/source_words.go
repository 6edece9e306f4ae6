package reconcile

import "strings"

// Ledgers of a version before this one kept why a source is not trusted as a sentence and nothing else. Those sentences
// are known again here, until the next pass writes what it finds.

// oldReasons are how those sentences began.
var oldReasons = []struct {
	begins string
	kind   DistrustKind
}{
	{"runs ", DistrustClockAhead},
	{"did not move when ", DistrustClockStuck},
	{"the listing failed", DistrustListingFailed},
	{"the listing is not complete", DistrustListingCut},
	{"the listing lost ", DistrustListingLost},
	{"the listing shows no sandbox of ours", DistrustListingEmpty},
	{"the task table is empty", DistrustTasksEmpty},
}

// OldReason is what an earlier version meant that kept only the sentence.
func OldReason(reason string) Distrust {
	words, showedNone := strings.CutSuffix(reason, listingEmptyBefore)
	d := Distrust{OldSentence: words, ShowedNone: showedNone}
	for _, old := range oldReasons {
		if strings.HasPrefix(words, old.begins) {
			d.Kind = old.kind
			return d
		}
	}
	key, _, refused := strings.Cut(strings.TrimPrefix(words, "key "), ": ")
	switch {
	case strings.Contains(words, " rows that were live at the last trusted pass are not there"):
		d.Kind = DistrustTasksLost
	case strings.Contains(words, " rows that were live are not there, and "):
		d.Kind = DistrustTasksRestored
	case refused && strings.HasPrefix(words, "key "):
		d.Kind, d.Key = DistrustKeyRefused, key
	}
	return d
}

// happenedOf is [SourceSeen.Happened] of such a sentence.
func (d Distrust) happenedOf() (what, cause string, is bool) {
	if d.listing() == "" {
		return "", "", false
	}
	what = strings.TrimPrefix(d.String(), "the listing ")
	if at := strings.IndexAny(what, ",:"); at >= 0 {
		if what[at] == ':' {
			cause = strings.TrimSpace(what[at+1:])
		}
		what = what[:at]
	}
	return what, cause, true
}
