package fleet

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/web/webtest"
)

// TestSandboxFacts: what an untrusted listing counted is not shown as if it were true.
func TestSandboxFacts(t *testing.T) {
	two := webtest.With(webtest.Healthy(), func(o *reconcile.Overview) {
		o.Counts["owned:e2b"], o.Counts["foreign:e2b"], o.Counts["sandboxes:e2b:running"] = 7, 40, 7
		o.Sources = append(o.Sources, reconcile.SourceSeen{Name: "listing:e2b", Trusted: true})
	})
	cases := map[string]struct {
		o    reconcile.Overview
		want string
	}{
		"both are trusted": {two, "Sandboxes: 221 (daytona: 4 creating, 210 running; e2b: 7 running) | Sandboxes of others: 45 (never touched)"},
		"one is not": {webtest.With(two, func(o *reconcile.Overview) {
			o.Sources = slices.Clone(o.Sources)
			o.Sources[2].Trusted = false
		}),
			"Sandboxes: 7 + daytona unknown (e2b: 7 running; daytona: its listing is not trusted) | Sandboxes of others: 40 (never touched)"},
		"none is": {webtest.With(webtest.Healthy(), webtest.FailListing), "Sandboxes: daytona unknown (daytona: its listing is not trusted)"},
		"its last number is known": {webtest.With(webtest.With(webtest.Healthy(), webtest.FailListing), func(o *reconcile.Overview) {
			o.Passes = append(o.Passes, reconcile.PassSeen{ID: 80, Kind: reconcile.Full, BeganAt: webtest.Ago(3 * time.Minute), Counts: map[string]int{"owned:daytona": 55}})
		}), "Sandboxes: daytona unknown, last 55 (daytona: its listing is not trusted)"},
		"what came later is not the last trusted": {webtest.With(webtest.With(webtest.Healthy(), webtest.FailListing), func(o *reconcile.Overview) {
			o.Passes = append(o.Passes, reconcile.PassSeen{ID: 95, Kind: reconcile.Full, BeganAt: webtest.Ago(time.Second), Counts: map[string]int{"owned:daytona": 5}})
		}), "Sandboxes: daytona unknown (daytona: its listing is not trusted)"},
		"none is listed yet": {webtest.With(webtest.Healthy(), func(o *reconcile.Overview) { o.Counts = nil }), ""},
		"nobody else is there": {webtest.With(webtest.Healthy(), func(o *reconcile.Overview) { o.Counts["foreign:daytona"] = 0 }),
			"Sandboxes: 214 (daytona: 4 creating, 210 running)"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var facts []string
			c.o.Counts = Trusted(&c.o)
			p := webtest.Policy()
			for _, f := range (&Fleet{Overview: &c.o, Policy: &p, Trends: &Trend{}}).sandboxes() {
				facts = append(facts, fmt.Sprintf("%s: %s (%s)", f.Name, f.Value, f.Sub))
			}
			if got := strings.Join(facts, " | "); got != c.want {
				t.Errorf("facts %q, want %q", got, c.want)
			}
		})
	}
}
