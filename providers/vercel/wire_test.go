package vercel

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// What each answer to a get means. Only certain words mean gone.
func TestGet(t *testing.T) {
	const unknown = "unknown"
	for name, test := range map[string]struct {
		id     string
		script *script
		want   string // a state, gone or unknown
	}{
		"it runs":                     {"sbx_1", world("running", "sbx_1"), "running"},
		"it is over":                  {"sbx_1", world("stopped", "sbx_1"), "ended"},
		"it is over, and was resumed": {"sbx_1", world("stopped", "sbx_2"), "ended"},
		"over without a record": {"sbx_1", world("stopped", "", "GET "+path2,
			"404 not_found Named sandbox 'task-1' not found for this project."), "gone"},
		"it runs without a record": {"sbx_1", world("running", "", "GET "+path2,
			"404 not_found Named sandbox 'task-1' not found for this project."), "running"},
		"no session, no record": {"sbx_1", world("", "", "GET "+path1, "404 not_found Session not found.",
			"GET /v2/sandboxes/sbx_1", "404 not_found Named sandbox 'sbx_1' not found for this project."), "gone"},
		"no session, and nobody says whether there is a record": {"sbx_1", world("", "", "GET "+path1,
			"404 not_found Session not found.", "GET /v2/sandboxes/sbx_1", "500 internal oops"), unknown},
		"410 of the session":      {"sbx_1", world("", "", "GET "+path1, "410 sandbox_stopped It is over"), "gone"},
		"410 of a snapshot":       {"sbx_1", world("", "", "GET "+path1, "410 snapshot_not_found Snapshot not found"), unknown},
		"404 of no route":         {"sbx_1", &script{}, unknown},
		"404 of the project":      {"sbx_1", world("", "", "GET "+path1, "404 not_found Project not found."), unknown},
		"401":                     {"sbx_1", world("", "", "GET "+path1, "401 unauthorized no"), unknown},
		"403":                     {"sbx_1", world("", "", "GET "+path1, "403 forbidden Not authorized"), unknown},
		"402":                     {"sbx_1", world("", "", "GET "+path1, "402 payment_required limit"), unknown},
		"500":                     {"sbx_1", world("", "", "GET "+path1, "500 internal oops"), unknown},
		"the record is a 500":     {"sbx_1", world("stopped", "", "GET "+path2, "500 internal oops"), unknown},
		"the record is another":   {"sbx_1", world("running", "sbx_1", "GET "+path2, `{"sandbox":{"name":"x"}}`), unknown},
		"another session":         {"sbx_1", world("", "", "GET "+path1, `{"session":{"id":"sbx_2","status":"running"}}`), "gone"},
		"no session in it":        {"sbx_1", world("", "", "GET "+path1, `{"session":{}}`), unknown},
		"no name, and it runs":    {"sbx_1", world("", "", "GET "+path1, `{"session":{"id":"sbx_1","status":"running"}}`), unknown},
		"no name, and it is over": {"sbx_1", world("", "", "GET "+path1, `{"session":{"id":"sbx_1","status":"failed"}}`), "ended"},
		"a page":                  {"sbx_1", world("", "", "GET "+path1, "text/html: <html>"), unknown},
		"a name that runs":        {"task-1", world("running", "sbx_1"), unknown},
		"a name that stopped":     {"task-1", world("stopped", "sbx_1"), "gone"},
		"a name in an odd state":  {"task-1", world("hibernating", "sbx_1"), unknown},
		"a former id, as a name": {"sbx_0", world("", "", "GET /v2/sandboxes/sessions/sbx_0", "404 not_found Session not found.",
			"GET /v2/sandboxes/sbx_0", `{"sandbox":{"name":"sbx_0","currentSessionId":"sbx_1","status":"running"}}`), unknown},
		"no id at all": {"..", &script{}, unknown},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, err := test.script.provider(t).Get(t.Context(), test.id)
				says := string(got.State)
				switch {
				case errors.Is(err, reconcile.ErrNotFound):
					says = "gone"
				case err != nil:
					says = unknown
				}
				if says != test.want {
					t.Errorf("Get = %+v, %v; want %s", got, err, test.want)
				}
				for _, asked := range test.script.asked {
					if strings.HasPrefix(asked, "GET /v2/sandboxes/sessions") != !strings.Contains(asked, "resume=false") {
						t.Errorf("asked %s, want a record always without resuming", asked)
					}
				}
			})
		})
	}
}

// A session of another project of the team is not ours, even where our project has a
// sandbox of the same name with our tags.
func TestForeignProject(t *testing.T) {
	s := world("running", "sbx_1", "GET "+path1,
		`{"session":{"id":"sbx_1","sourceSandboxName":"task-1","projectId":"prj_2","status":"running"}}`)
	got, err := s.provider(t).Get(t.Context(), "sbx_1")
	if err != nil || got.Owned || got.Name != "" || len(s.asked) != 1 {
		t.Errorf("Get of a session of another project = %+v, %v after %v; want it foreign", got, err, s.asked)
	}
	how, err := s.provider(t).Terminate(t.Context(), mine(reconcile.SandboxRunning))
	if err != nil || how != reconcile.TerminateChanged {
		t.Errorf("Terminate of it = %q, %v; want changed", how, err)
	}
}

// What each answer to a stop means.
func TestStop(t *testing.T) {
	const post = "POST " + path1 + "/stop"
	busy := "422 sandbox_snapshotting Sandbox is being snapshotted"
	for name, test := range map[string]struct {
		before, says string
		want         reconcile.Termination
		err          error // a sentinel, or nil with want "" for another one
	}{
		"stopped":             {"running", fmt.Sprintf(sessionIs, "stopped"), reconcile.TerminateDone, nil},
		"aborted":             {"running", fmt.Sprintf(sessionIs, "aborted"), reconcile.TerminateDone, nil},
		"stopping":            {"running", fmt.Sprintf(sessionIs, "stopping"), reconcile.TerminateAccepted, nil},
		"still running":       {"running", fmt.Sprintf(sessionIs, "running"), reconcile.TerminateAccepted, nil},
		"an odd state":        {"running", fmt.Sprintf(sessionIs, "melting"), reconcile.TerminateAccepted, nil},
		"coming up":           {"pending", fmt.Sprintf(sessionIs, "stopped"), reconcile.TerminateDone, nil},
		"410":                 {"running", "410 sandbox_stopped over", reconcile.TerminateGone, nil},
		"404":                 {"running", "404 not_found Session not found.", reconcile.TerminateGone, nil},
		"404 of no route":     {"running", "404 not_found No route for POST", "", nil},
		"422 on its way":      {"running", "422 sandbox_stopping Sandbox is stopping", reconcile.TerminateAccepted, nil},
		"422 in a snapshot":   {"running", busy, "", reconcile.ErrHeld},
		"422 otherwise":       {"running", "422 sandbox_pending not yet", "", reconcile.ErrHeld},
		"409":                 {"running", "409 conflict busy", "", reconcile.ErrHeld},
		"400":                 {"running", "400 bad_request protected", reconcile.TerminateRefused, nil},
		"402":                 {"running", "402 payment_required limit", "", nil},
		"403":                 {"running", "403 forbidden Not authorized", "", reconcile.ErrUnauthorized},
		"500":                 {"running", "500 internal oops", "", nil},
		"a page":              {"running", "text/html: <html>", "", nil},
		"another session":     {"running", `{"session":{"id":"sbx_2","status":"stopped"}}`, "", nil},
		"nothing":             {"running", `{}`, "", nil},
		"it was over":         {"stopped", "", reconcile.TerminateGone, nil},
		"it was on its way":   {"stopping", "", reconcile.TerminateAccepted, nil},
		"it is snapshotted":   {"snapshotting", "", reconcile.TerminateAccepted, nil},
		"in an unknown state": {"hibernating", fmt.Sprintf(sessionIs, "stopped"), reconcile.TerminateDone, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := world(test.before, "sbx_1", post, test.says)
				how, err := s.provider(t).Terminate(t.Context(), mine(reconcile.SandboxRunning))
				refused := how == reconcile.TerminateRefused
				if how != test.want || test.err != nil && !errors.Is(err, test.err) || (err != nil) != (how == "" || refused) {
					t.Errorf("Terminate = %q, %v; want %q", how, err, test.want)
				}
				stops := 0
				for _, asked := range s.asked {
					if strings.HasPrefix(asked, post) {
						stops++
					}
				}
				if stops > 0 != (test.says != "") || stops > 1 && !errors.Is(test.err, reconcile.ErrHeld) {
					t.Errorf("it asked to stop %d times: %v", stops, s.asked)
				}
			})
		})
	}
}

// Another session of the same name is never met by a terminate.
func TestStopOfAFormerSession(t *testing.T) {
	for _, ends := range []string{"session", "record"} {
		s := world("stopped", "sbx_2")
		how, err := s.provider(t, "terminate", ends).Terminate(t.Context(), mine(reconcile.SandboxRunning))
		if err != nil || how != reconcile.TerminateGone || len(s.asked) != 2 {
			t.Errorf("terminate: %s of a session that was resumed = %q, %v after %v; want it gone, and nothing done",
				ends, how, err, s.asked)
		}
	}
}

// A delete goes by name, so it is made only while the session is the record's present one.
func TestDeleteOfARecord(t *testing.T) {
	stop, del := "POST "+path1+"/stop", "DELETE "+path2
	const noRecord = "404 not_found Named sandbox 'task-1' not found for this project."
	for name, test := range map[string]struct {
		record, says string
		expected     reconcile.SandboxState
		want         reconcile.Termination
		made         string // the last call
	}{
		"its present session": {fmt.Sprintf(recordIs, "sbx_1", "running"), fmt.Sprintf(recordIs, "sbx_1", "stopped"),
			reconcile.SandboxRunning, reconcile.TerminateDone, del},
		"it was resumed, and the former session still runs": {fmt.Sprintf(recordIs, "sbx_2", "running"), "",
			reconcile.SandboxRunning, reconcile.TerminateChanged, "GET " + path2},
		"it was resumed while the former session stops": {fmt.Sprintf(recordIs, "sbx_2", "running"), "",
			reconcile.SandboxDeleting, reconcile.TerminateChanged, "GET " + path2},
		"its record went before it": {noRecord, "", reconcile.SandboxRunning, reconcile.TerminateDone, stop},
		"nobody says whose it is":   {noRecord, "", reconcile.SandboxRunning, reconcile.TerminateChanged, "GET " + path2},
		"nobody knows its record":   {"500 internal oops", "", reconcile.SandboxRunning, "", "GET " + path2},
		"another change is under way": {fmt.Sprintf(recordIs, "sbx_1", "running"), "409 conflict busy",
			reconcile.SandboxRunning, "", del},
	} {
		status := "running"
		if test.expected == reconcile.SandboxDeleting {
			status = "stopping"
		}
		s := world(status, "sbx_1", "GET "+path2, test.record, del, test.says, stop, fmt.Sprintf(sessionIs, "stopped"))
		if name != "nobody says whose it is" {
			s.says["GET "+path1] = strings.Replace(s.says["GET "+path1], `"id":`, `"projectId":"prj_1","id":`, 1)
		}
		p := s.provider(t, "terminate", "record")
		p.entry.Owns = entry.Owns{NamePrefix: "task-"}
		p.base.Entry.Owns = p.entry.Owns
		how, err := p.Terminate(t.Context(), mine(test.expected))
		made := 0
		for _, asked := range s.asked {
			if strings.HasPrefix(asked, stop) || strings.HasPrefix(asked, del) {
				made++
			}
		}
		if how != test.want || (err != nil) != (how == "") || made > 1 ||
			!strings.HasPrefix(s.asked[len(s.asked)-1], test.made+"?") {
			t.Errorf("%s: Terminate = %q, %v after %q; want %q", name, how, err, s.asked, test.want)
		}
	}
}

// Requests are as the vendor's client makes them.
func TestRequests(t *testing.T) {
	s := world("running", "sbx_1", "POST "+path1+"/stop", fmt.Sprintf(sessionIs, "stopped"),
		"DELETE "+path2, fmt.Sprintf(recordIs, "sbx_1", "stopped"), "POST "+path1+"/fs/read", "application/octet-stream: x",
		"POST "+path1+"/cmd", "application/x-ndjson: "+`{"command":{"exitCode":0}}`,
		"GET /v2/sandboxes", `{"sandboxes":[],"pagination":{"count":0,"next":null}}`,
		"GET /v2/sandboxes/snapshots/snap_1", `{"snapshot":{"id":"snap_1","status":"created"}}`)
	p := s.provider(t)
	for _, do := range []func() error{
		func() error {
			_, err := p.List(t.Context(), func([]reconcile.Sandbox) error { return nil })
			return err
		},
		func() error { _, err := p.Find(t.Context(), "t-1"); return err },
		func() error { _, err := p.Terminate(t.Context(), mine(reconcile.SandboxRunning)); return err },
		func() error { _, err := p.Template(t.Context(), "snap_1"); return err },
		func() error {
			p.Probe(t.Context(), mine(reconcile.SandboxRunning), reconcile.ProbePolicy{Exec: "true", Timeout: time.Second})
			p.Probe(t.Context(), mine(reconcile.SandboxRunning), reconcile.ProbePolicy{Exec: "test -e /x", Timeout: time.Second})
			p.Probe(t.Context(), mine(reconcile.SandboxRunning), reconcile.ProbePolicy{Path: "/", Timeout: time.Second})
			return nil
		},
		func() error {
			_, err := s.provider(t, "terminate", "record").Terminate(t.Context(), mine(reconcile.SandboxRunning))
			return err
		},
	} {
		if err := do(); err != nil {
			t.Error(err)
		}
	}
	const list, team, project = "GET /v2/sandboxes?", "teamId=team_1", "&project=prj_1"
	const oldest = "&sortBy=createdAt&sortOrder=asc"
	get := []string{"GET " + path1 + "?" + team, "GET " + path2 + "?projectId=prj_1&resume=false&" + team}
	cmd := "POST " + path1 + "/cmd?" + team + ` {"args":%s,"command":"%s","env":{},"sudo":false,"timeout":1000,"wait":true}`
	want := append([]string{
		list + "limit=50" + project + oldest + "&status=running&" + team,
		list + "limit=50" + project + oldest + "&status=stopping&" + team,
		list + "limit=50" + project + "&sortBy=statusUpdatedAt&sortOrder=desc&" + team,
		list + "limit=50" + project + oldest + "&tags=task%3At-1&" + team,
	}, get...)
	want = append(want, "POST "+path1+"/stop?"+team, "GET /v2/sandboxes/snapshots/snap_1?"+team,
		fmt.Sprintf(cmd, "[]", "true"), fmt.Sprintf(cmd, `["-c","test -e /x"]`, "sh"),
		"POST "+path1+"/fs/read?"+team+` {"path":"/etc/hostname"}`)
	want = append(append(want, get...), get[1], "DELETE "+path2+"?projectId=prj_1&"+team)
	if diff := cmp.Diff(want, s.asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}
