package main

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestAuditVerify: the record is whole after all that a daemon and operators do; the first line that somebody
// changed is named, and an end that was cut off is known by the head that was kept.
func TestAuditVerify(t *testing.T) {
	a := newArena(t, settings{mode: "observe", more: quickly})
	a.beat(a.working(4))
	b := a.box(nobody, time.Second)
	d := a.daemon("run", "--migrate")
	a.reaches("a full pass", func() bool { return a.passes("full") > 0 })
	a.must("terminate", b.ID, "--reason", "ticket 4711", "--author", "ana")
	a.reaches("it is ended", func() bool { return a.ended(b.ID) })
	a.reaches("it is told", func() bool {
		return a.count("SELECT count(*) FROM sandkeeper.timeline WHERE what LIKE '%confirmed%'") > 0
	})
	d.stop()
	said := a.must("audit", "verify")
	head := regexp.MustCompile(`head (\d+:[0-9a-f]{64})`).FindStringSubmatch(said)
	if !strings.Contains(said, "the record is whole") || head == nil {
		t.Fatalf("audit verify says: %s", said)
	}
	a.must("hold", b.ID, "--reason", "x")
	a.must("audit", "verify", "--head", head[1])
	a.sql("UPDATE sandkeeper.timeline SET what = replace(what, 'ana', 'bob') WHERE what LIKE '%ticket 4711%'")
	a.refuses("bob: ticket 4711\", is not what was written", "audit", "verify")
	a.sql("UPDATE sandkeeper.timeline SET what = replace(what, 'bob', 'ana') WHERE what LIKE '%ticket 4711%'")
	a.must("audit", "verify", "--head", head[1])
	a.sql(`DELETE FROM sandkeeper.timeline WHERE number > 1; DELETE FROM sandkeeper.timeline_links WHERE NOT 1 = ANY (numbers);
		DELETE FROM sandkeeper.timeline WHERE number NOT IN (SELECT unnest(numbers) FROM sandkeeper.timeline_links)`)
	a.refuses("the record is broken", "audit", "verify", "--head", head[1])
}
