package reconcile

import (
	"testing"
	"time"
)

// TestSourceReasons: what is asked of why a source is not trusted is what was found, and so it is of the sentence alone,
// which is all that a version before kept.
func TestSourceReasons(t *testing.T) {
	type says struct{ ahead, stuck, unread, unlisted, lost, showedNone, restored, lostRows bool }
	const none = ", and the last that was read showed no sandbox of ours"
	for _, c := range []struct {
		reason      Distrust
		text        string
		what, cause string
		says        says
	}{
		{reason: ClockAhead(time.Minute), text: "runs 1m ahead of the database's now", says: says{ahead: true}},
		{reason: ClockStuck("t1", "running", "failed"),
			text: "did not move when task t1 went from running to failed", says: says{stuck: true}},
		{reason: ListingFailed("500, later"), text: "the listing failed: 500, later",
			what: "failed", cause: "500, later", says: says{unread: true, unlisted: true}},
		{reason: ListingCut([]string{"eu", "us"}), text: "the listing is not complete: eu, us not read",
			what: "is not complete", cause: "eu, us not read", says: says{unread: true}},
		{reason: ListingLost(5, 9, "and sb-1 could not be looked at: 500"),
			text: "the listing lost 5 of 9 sandboxes, and sb-1 could not be looked at: 500", what: "lost 5 of 9 sandboxes",
			says: says{lost: true}},
		{reason: ListingEmpty("while task t1 is running"),
			text: "the listing shows no sandbox of ours, while task t1 is running", what: "shows no sandbox of ours",
			says: says{showedNone: true}},
		{reason: AfterShowingNone(AfterShowingNone(ListingFailed("503"))), text: "the listing failed: 503" + none,
			what: "failed", cause: "503" + none, says: says{unread: true, unlisted: true, showedNone: true}},
		{reason: AfterShowingNone(ListingCut([]string{"eu"})), text: "the listing is not complete: eu not read" + none,
			what: "is not complete", cause: "eu not read" + none, says: says{unread: true, showedNone: true}},
		{reason: TasksEmpty(), text: "the task table is empty while sandboxes of ours exist: a wrong or emptied database",
			says: says{lostRows: true}},
		{reason: TasksLost(3, 4), text: "3 of the 4 rows that were live at the last trusted pass are not there: a wrong, " +
			"emptied or restored database; if it is the right one, accept it with: sandkeeper release tasks",
			says: says{lostRows: true}},
		{reason: TasksRestored(1, 2, 4), text: "1 of the 4 rows that were live are not there, and 2 others are older than " +
			"they were: a restored database; if it is the right one, accept it with: sandkeeper release tasks",
			says: says{restored: true, lostRows: true}},
		{reason: ProviderPolicy{Key: "a1"}.Refused("401: no"), text: "key a1: 401: no"},
		{reason: ClockSeen{Off: time.Hour}.Reason(), text: "1h ahead of our own clock"},
		{reason: Said("the task database is a standby"), text: "the task database is a standby"},
		{},
	} {
		for _, reason := range []Distrust{c.reason, OldReason(c.text)} {
			s := SourceSeen{Reason: reason}
			if reason.String() != c.text {
				t.Errorf("%+v says %q, want %q", reason, reason, c.text)
			}
			if got := (says{s.RanAhead(), s.Stuck(), s.Unread(), s.Unlisted(), s.LostSome(), s.ShowedNone(), s.Restored(),
				s.LostRows()}); got != c.says {
				t.Errorf("%+v says %+v, want %+v", reason, got, c.says)
			}
			if what, cause, is := s.Happened(); what != c.what || cause != c.cause || is != (c.what != "") {
				t.Errorf("%+v happened: %q, %q, %t", reason, what, cause, is)
			}
			if reason.Key != c.reason.Key || reason.None() != (c.text == "") {
				t.Errorf("%+v: key %q, none %t", reason, reason.Key, reason.None())
			}
		}
	}
}

func TestPassUnlisted(t *testing.T) {
	p := PassSeen{Error: PassUnlisted("daytona", "")}
	if p.Error != "listing of daytona: not complete" || !p.Unlisted() || (&PassSeen{Error: "read the tasks: gone"}).Unlisted() {
		t.Errorf("%q: unlisted %t", p.Error, p.Unlisted())
	}
}

// TestRefusedKey: a key that was corrected is known from the one that was refused, whichever words.
func TestRefusedKey(t *testing.T) {
	old, corrected, unknown := ProviderPolicy{Key: "a1"}, ProviderPolicy{Key: "b2"}, ProviderPolicy{}
	for _, c := range []struct {
		by, now ProviderPolicy
		another bool
	}{{old, old, false}, {old, corrected, true}, {unknown, corrected, false}, {old, unknown, false}} {
		refused := c.by.Refused("401 key b2: no")
		for _, r := range []Distrust{refused, OldReason(refused.String())} {
			if got := c.now.Another(r); got != c.another {
				t.Errorf("refused with key %q, now %q: another %t of %+v", c.by.Key, c.now.Key, got, r)
			}
		}
	}
}

// TestCutLog: the log that was saved with a text is parted from it again.
func TestCutLog(t *testing.T) {
	for said, want := range map[string][2]string{
		SavedLog("boom"): {"", "boom"}, "deleted: " + SavedLog("a: b"): {"deleted", "a: b"}, "deleted": {"deleted", ""}, "by: ": {"by: ", ""},
	} {
		if rest, log := CutLog(said); rest != want[0] || log != want[1] {
			t.Errorf("CutLog(%q) = %q, %q", said, rest, log)
		}
	}
}

func TestActionInQuarantine(t *testing.T) {
	a := Action{Step: StepTerminate, Seq: 1, Evidence: []Evidence{{Source: "daytona"}}}
	if a.InQuarantine() {
		t.Errorf("%+v is in quarantine", a)
	}
	if a.Evidence = append(a.Evidence, AfterQuarantine(time.Now(), time.Hour)); !a.InQuarantine() {
		t.Errorf("%+v is not in quarantine", a)
	}
}

func TestMarks(t *testing.T) {
	for said, want := range map[string][2]string{
		"its worker is gone " + Mark("a1"): {"its worker is gone ", "a1"},
		Mark("a1") + " " + Mark("a2"):      {Mark("a1") + " ", "a2"},
		Mark("a1") + " and more":           {Mark("a1") + " and more", ""},
		"its worker is gone":               {"its worker is gone", ""},
	} {
		rest, mark := SplitMark(said)
		if rest != want[0] || MarkedAction(mark) != want[1] || Marked(said+" ") != (mark != "") {
			t.Errorf("SplitMark(%q) = %q, %q", said, rest, mark)
		}
	}
	if said := "late " + Mark("a1"); !MarkedBy(said, "a1") || MarkedBy(said, "a2") {
		t.Errorf("%q is marked by another", said)
	}
}
