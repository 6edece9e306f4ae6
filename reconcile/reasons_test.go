package reconcile

import (
	"testing"
	"time"
)

// TestSourceReasons: what is asked of a reason that the ledger kept is what it was made to say.
func TestSourceReasons(t *testing.T) {
	clock, listing := ClockOf("updated_at"), ListingOf("daytona")
	type says struct{ ahead, stuck, unread, lost bool }
	for _, c := range []struct {
		name, reason, text, what, cause string
		says                            says
	}{
		{name: clock, reason: ClockAhead(time.Minute), text: "runs 1m ahead of the database's now", says: says{ahead: true}},
		{name: clock, reason: ClockStuck("t1", "running", "failed"),
			text: "did not move when task t1 went from running to failed", says: says{stuck: true}},
		{name: listing, reason: ListingFailed("500, later"), text: "the listing failed: 500, later",
			what: "failed", cause: " 500, later", says: says{unread: true}},
		{name: listing, reason: ListingCut([]string{"eu", "us"}), text: "the listing is not complete: eu, us not read",
			what: "is not complete", cause: " eu, us not read", says: says{unread: true}},
		{name: listing, reason: ListingLost(5, 9, "and sb-1 could not be looked at: 500"),
			text: "the listing lost 5 of 9 sandboxes, and sb-1 could not be looked at: 500", what: "lost 5 of 9 sandboxes",
			says: says{lost: true}},
		{name: listing, reason: ListingEmpty("while task t1 is running"),
			text: "the listing shows no sandbox of ours, while task t1 is running", what: "shows no sandbox of ours"},
		{name: SourceTasks, reason: "the listing of another"},
		{name: listing},
	} {
		s := SourceSeen{Name: c.name, Reason: c.reason}
		if c.text != "" && c.reason != c.text {
			t.Errorf("the reason is %q, want %q", c.reason, c.text)
		}
		if got := (says{s.RanAhead(), s.Stuck(), s.Unread(), s.LostSome()}); got != c.says {
			t.Errorf("%q says %+v, want %+v", c.reason, got, c.says)
		}
		if what, cause, is := s.Happened(); what != c.what || cause != c.cause || is != (c.what != "") {
			t.Errorf("%q happened: %q, %q, %t", c.reason, what, cause, is)
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
		if got := c.now.Another(c.by.Refused("401 key b2: no")); got != c.another {
			t.Errorf("refused with key %q, now %q: another %t", c.by.Key, c.now.Key, got)
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
