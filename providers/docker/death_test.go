package docker

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// The last end among the events counts, unless the container was started again; what was cut short tells nothing.
func TestLastWordOfTheEngine(t *testing.T) {
	line := func(action, id string) string {
		return `{"Type":"container","Action":"` + action + `","Actor":{"ID":"` + id + `","Attributes":{"exitCode":"137"}},"timeNano":7000000000}`
	}
	for name, c := range map[string]struct{ events, reason string }{
		"out of memory":        {line("oom", "c1") + line("die", "c1") + line("destroy", "c1"), "out of memory, exit 137"},
		"killed":               {line("kill", "c1") + line("die", "c1"), "exit 137"},
		"started again":        {line("die", "c1") + line("start", "c1"), ""},
		"the memory of before": {line("oom", "c1") + line("die", "c1") + line("start", "c1") + line("die", "c1"), "exit 137"},
		"of another":           {line("die", "c2"), ""},
		"removed, and no more": {line("destroy", "c1"), ""},
		"nothing":              {"", ""},
	} {
		got, err := died(json.NewDecoder(strings.NewReader(c.events)), "c1", time.Time{})
		if got.Reason != c.reason || (c.reason == "") != errors.Is(err, reconcile.ErrNotFound) {
			t.Errorf("%s: %+v, %v; want %q", name, got, err, c.reason)
		}
	}
	_, err := died(json.NewDecoder(strings.NewReader(line("die", "c1")+`{"Type":"con`)), "c1", time.Time{})
	if err == nil || errors.Is(err, reconcile.ErrNotFound) {
		t.Errorf("half an answer: %v, want an error that is not ErrNotFound", err)
	}
}
