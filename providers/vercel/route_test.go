package vercel

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A sandbox whose name is a path of the API cannot be asked for by it: the list shows it. That it
// is not listed proves nothing, and a delete by such a name is never tried.
func TestNamesOfRoutes(t *testing.T) {
	const stop = "POST " + path1 + "/stop"
	record := func(name string) string {
		one := strings.Replace(fmt.Sprintf(recordIs, "sbx_1", "running"), "task-1", name, 1)
		one = strings.TrimSuffix(strings.TrimPrefix(one, `{"sandbox":`), "}")
		return `{"sandboxes":[` + one + `],"pagination":{"count":1,"next":null}}`
	}
	for name, test := range map[string]struct {
		name, listed, ends string
		want               reconcile.Termination
	}{
		"sessions":            {"sessions", record("sessions"), "session", reconcile.TerminateDone},
		"snapshots":           {"snapshots", record("snapshots"), "session", reconcile.TerminateDone},
		"by record":           {"sessions", record("sessions"), "record", reconcile.TerminateRefused},
		"another is listed":   {"sessions", record("sessions-2"), "session", ""},
		"none is listed":      {"sessions", `{"sandboxes":[],"pagination":{"count":0,"next":null}}`, "session", ""},
		"a name with a route": {"sessions-2", record("sessions-2"), "session", ""}, // asked for as all others
	} {
		s := world("running", "sbx_1", stop, fmt.Sprintf(sessionIs, "stopped"), "GET /v2/sandboxes", test.listed,
			"GET "+path1, strings.Replace(fmt.Sprintf(sessionIs, "running"), "task-1", test.name, 1))
		expected := mine(reconcile.SandboxRunning)
		expected.Name = test.name
		how, err := s.provider(t, "terminate", test.ends).Terminate(t.Context(), expected)
		if how != test.want || (err != nil) != (how != reconcile.TerminateDone) {
			t.Errorf("%s: Terminate = %q, %v after %q; want %q", name, how, err, s.asked, test.want)
		}
		for _, asked := range s.asked {
			if strings.HasPrefix(asked, "DELETE") || strings.HasPrefix(asked, "GET /v2/sandboxes/"+test.name+"?") &&
				test.name != "sessions-2" {
				t.Errorf("%s: asked %s", name, asked)
			}
			if list, ok := strings.CutPrefix(asked, "GET /v2/sandboxes?"); ok && !strings.Contains(list,
				"namePrefix="+test.name+"&project=prj_1&sortBy=name&sortOrder=asc") {
				t.Errorf("%s: asked %s", name, asked)
			}
		}
	}
}
