package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// TestOnceToleratesAnOutage: with the flag a Job does not fail for its provider's outage, which is still said; it does
// fail where no pass was made.
func TestOnceToleratesAnOutage(t *testing.T) {
	a := newArena(t, settings{})
	a.must("migrate")
	a.working(3)
	a.cloud.Inject(simulated.Fault{On: simulated.List, Effect: simulated.Answer, Status: http.StatusInternalServerError})
	if code, _, errs := a.run("once", "--wait", "1s"); code != 1 {
		t.Errorf("without the flag: exit code %d, %s, want 1", code, errs)
	}
	code, out, errs := a.run("once", "--wait", "1s", "--tolerate-outage")
	if code != 0 || !strings.Contains(errs, "the pass is not complete") || out == "" {
		t.Errorf("with the flag: exit code %d, %q, %s, want 0, the result, and what it lacks", code, errs, out)
	}
	a.configure(settings{dsn: "postgres://127.0.0.1:1/none?connect_timeout=1"})
	if code, _, _ := a.run("once", "--wait", "1s", "--tolerate-outage"); code != 1 {
		t.Errorf("without its database: exit code %d, want 1", code)
	}
}
