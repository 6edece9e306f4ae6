package web

import (
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/web/webtest"
)

// TestOperatorsRequestIsOneRow: what was asked for of many subjects at once is one row with all of them under it.
func TestOperatorsRequestIsOneRow(t *testing.T) {
	same := func(subject string) reconcile.TimelineEvent {
		return reconcile.TimelineEvent{At: webtest.Noon, Subject: subject, What: "released by ana: seen"}
	}
	later := same("sandbox:daytona/box-cccc")
	later.What = "held by ben: no"
	found := Part[reconcile.TimelineEvent]{Rows: []reconcile.TimelineEvent{
		same("sandbox:daytona/box-aaaa"), same("sandbox:daytona/box-bbbb"), later,
	}}
	r := Reading{Overview: webtest.Healthy()}
	text := rendered(t, OperatorsPage(&Asked{Reading: &r, Process: process()}, found))
	for said, times := range map[string]int{
		"released by ana: seen": 1, "2 subjects": 1, "Each of them": 1, "held by ben: no": 1,
		`href="sandboxes/daytona/box-aaaa"`: 1, `href="sandboxes/daytona/box-bbbb"`: 1, `href="sandboxes/daytona/box-cccc"`: 1,
	} {
		if got := strings.Count(text, said); got != times {
			t.Errorf("%q is there %d times, want %d", said, got, times)
		}
	}
}
