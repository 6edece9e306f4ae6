package vercel

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func at(t time.Time) stamp { return stamp(t.UnixMilli()) }

func TestStates(t *testing.T) {
	for status, want := range map[string][2]reconcile.SandboxState{ // ending sessions; deleting records
		"pending":      {reconcile.SandboxCreating, reconcile.SandboxCreating},
		"running":      {reconcile.SandboxRunning, reconcile.SandboxRunning},
		"stopping":     {reconcile.SandboxDeleting, reconcile.SandboxDeleting},
		"snapshotting": {reconcile.SandboxDeleting, reconcile.SandboxDeleting},
		"stopped":      {reconcile.SandboxEnded, reconcile.SandboxStopped},
		"failed":       {reconcile.SandboxEnded, reconcile.SandboxFailed},
		"aborted":      {reconcile.SandboxEnded, reconcile.SandboxFailed},
		"hibernating":  {reconcile.SandboxUnknown, reconcile.SandboxUnknown},
		"Running":      {reconcile.SandboxUnknown, reconcile.SandboxUnknown},
		"":             {reconcile.SandboxUnknown, reconcile.SandboxUnknown},
	} {
		for i, p := range []*Provider{{}, {deletes: true}} {
			if got := p.state(status, true); got != want[i] {
				t.Errorf("state(%q) with deletes %t = %q, want %q", status, p.deletes, got, want[i])
			}
		}
		old := (&Provider{deletes: true}).state(status, false)
		if over(status) && old != reconcile.SandboxEnded {
			t.Errorf("a former session that is %s = %q, want it ended: it never comes back", status, old)
		}
	}
}

// The age of a sandbox is that of its session, and the same in a listing and in a get: one
// that seems to begin again would be taken for another.
func TestAge(t *testing.T) {
	made, ran := noon.Add(-700*time.Hour), noon.Add(-time.Minute)
	r := record{Name: "w", Session: "sbx_1", Status: "running", CreatedAt: at(made), UpdatedAt: at(noon), Since: at(ran),
		ExpiresAt: at(noon.Add(time.Hour))}
	change := func(change func(*record)) *record {
		other := r
		change(&other)
		return &other
	}
	p := &Provider{}
	for name, test := range map[string]struct {
		r                        *record
		created, changed, active time.Time
	}{
		"resumed":                    {&r, ran, ran, ran},
		"in its first session":       {change(func(r *record) { r.Since = at(made) }), made, made, made},
		"a status older than itself": {change(func(r *record) { r.Since = at(made.Add(-time.Hour)) }), made, made.Add(-time.Hour), made},
		"without a word since when":  {change(func(r *record) { r.Since = 0 }), time.Time{}, noon, noon},
		"pending":                    {change(func(r *record) { r.Status = "pending" }), time.Time{}, ran, ran},
		"stopping":                   {change(func(r *record) { r.Status = "stopping" }), time.Time{}, ran, time.Time{}},
		"nonsense":                   {change(func(r *record) { r.Since = 1e300 }), time.Time{}, time.Time{}, time.Time{}},
	} {
		listed := p.sandbox(test.r, noon)
		if !listed.CreatedAt.Equal(test.created) || !listed.UpdatedAt.Equal(test.changed) ||
			!listed.LastActivityAt.Equal(test.active) {
			t.Errorf("%s: created %s, changed %s, active %s; want %s, %s and %s", name, listed.CreatedAt, listed.UpdatedAt,
				listed.LastActivityAt, test.created, test.changed, test.active)
		}
		began := ran.Add(-10 * time.Second)
		v := session{ID: "sbx_1", Name: "w", Status: test.r.Status, CreatedAt: at(began), StartedAt: at(began)}
		got := p.of(&v, test.r, noon)
		if runs := test.r.Status != "stopping"; runs && got.LastActivityAt.Before(began) ||
			got.LastActivityAt.Before(listed.LastActivityAt) || !runs && !got.LastActivityAt.IsZero() {
			t.Errorf("%s: a get says active %s, listed was %s, the session began %s", name, got.LastActivityAt,
				listed.LastActivityAt, began)
		}
		if later := got.CreatedAt.Sub(listed.CreatedAt); !listed.CreatedAt.IsZero() && later > 5*time.Second {
			t.Errorf("%s: a get says created %s, which is %s later than listed", name, got.CreatedAt, later)
		}
		if test.r.Status == "running" && !got.CreatedAt.Equal(listed.CreatedAt) {
			t.Errorf("%s: a get says created %s, listed was %s", name, got.CreatedAt, listed.CreatedAt)
		}
	}
	pending := p.of(&session{ID: "sbx_1", Name: "w", Status: "pending", CreatedAt: at(noon)}, nil, noon)
	if !pending.CreatedAt.IsZero() {
		t.Errorf("pending is created %s, want nothing said: it runs only later", pending.CreatedAt)
	}
}

// A record's tags are those of its present session. A session of another record, or of one
// that was resumed since, must not be taken for ours.
func TestTagsOfASession(t *testing.T) {
	p := &Provider{entry: entry.Entry{Name: "lab", Owns: entry.Owns{Labels: map[string]string{"project": "mine"}}}}
	r := &record{Name: "w", Session: "sbx_1", Status: "running", Tags: map[string]string{"project": "mine"}}
	for name, test := range map[string]struct {
		id, status string
		r          *record
		owned      bool
	}{
		"the present one":             {"sbx_1", "running", r, true},
		"the present one, over":       {"sbx_1", "stopped", r, true},
		"a former one, over":          {"sbx_0", "stopped", r, true},
		"another one that runs":       {"sbx_0", "running", r, false},
		"one without a record":        {"sbx_1", "running", nil, false},
		"another one in an odd state": {"sbx_0", "hibernating", r, false},
	} {
		got := p.of(&session{ID: test.id, Name: "w", Status: test.status}, test.r, noon)
		if got.Owned != test.owned || got.Raw != test.status || got.ID != test.id || got.Name != "w" {
			t.Errorf("%s = %+v, want owned %t", name, got, test.owned)
		}
	}
}

// Where a terminate deletes records, one that rests is as old as the record, in a listing and in a
// look alike.
func TestAgeOfWhatRests(t *testing.T) {
	r := &record{Name: "w", Session: "sbx_1", Status: "stopped", CreatedAt: 1000, Since: 9000}
	p := &Provider{deletes: true}
	listed, got := p.sandbox(r, noon), p.of(&session{ID: "sbx_1", Name: "w", Status: "stopped", CreatedAt: 5000}, r, noon)
	if want := time.UnixMilli(1000); !listed.CreatedAt.Equal(want) || !got.CreatedAt.Equal(want) {
		t.Errorf("created %s in a listing and %s in a look, want %s", listed.CreatedAt, got.CreatedAt, want)
	}
}

// Rows hold names, ids of sessions, or ids from before there were sessions, which are names
// now.
func TestKeys(t *testing.T) {
	const former, present = "sbx_4Zp0000000000000000000000000", "sbx_9Qx0000000000000000000000000"
	for name, test := range map[string]struct{ link, name, want, also string }{
		"rows hold names":                           {"name", "task-1", "task-1", present},
		"rows hold names, of before sessions":       {"name", former, former, present},
		"rows hold ids":                             {"id", "task-1", present, "task-1"},
		"rows hold ids of before sessions":          {"id", former, former, present},
		"rows hold ids, and it was never resumed":   {"id", present, present, present},
		"rows hold a tag":                           {"label:key", "task-1", "k", present},
		"rows hold nothing":                         {"", "task-1", "", ""},
		"rows hold nothing, a name that is no name": {"", former, "", ""},
	} {
		p := &Provider{entry: entry.Entry{Link: entry.Link{Sandbox: test.link}}}
		got := p.sandbox(&record{Name: test.name, Session: present, Tags: map[string]string{"key": "k"}}, noon)
		if got.SandboxKey != test.want || got.AltKey != test.also || got.ID != present || !got.StableName {
			t.Errorf("%s: key %q or %q of %s, lasting %t; want %q or %q, lasting", name, got.SandboxKey, got.AltKey, got.ID,
				got.StableName, test.want, test.also)
		}
	}
}

// Only the vendor's own words for the thing itself mean that it is not there.
func TestCertain(t *testing.T) {
	for name, test := range map[string]struct {
		status            int
		kind, code, words string
		want              bool
	}{
		"a record":           {404, "json", "not_found", "Named sandbox 'x' not found for this project.", true},
		"a session":          {404, "json", "not_found", "Session not found: sbx_1", true},
		"a snapshot":         {404, "json", "not_found", "Snapshot 'snap_1' not found.", true},
		"a session over":     {410, "json", "sandbox_stopped", "Sandbox has stopped execution", true},
		"could not find":     {404, "json", "not_found", "Could not find the sandbox: x", true},
		"no project found":   {404, "json", "not_found", "Could not find the project: sandbox", false},
		"a project":          {404, "json", "not_found", "Project not found.", false},
		"a team":             {404, "json", "not_found", "Team not found", false},
		"no route":           {404, "json", "not_found", "No route for GET /v2/sandboxes/sessions/sbx_1", false},
		"a page":             {404, "json", "not_found", "The page could not be found", false},
		"nothing said":       {404, "json", "not_found", "", false},
		"another code":       {404, "json", "deployment_not_found", "The sandbox was not found", false},
		"another one's page": {404, "html", "not_found", "sandbox not found", false},
		"a retired version":  {410, "json", "gone", "This version of the sandbox API is not found any more", false},
		"an expired disk":    {410, "json", "snapshot_not_found", "Snapshot not found: snap_1", false},
		"a 410 of a gateway": {410, "html", "sandbox_stopped", "over", false},
		"a 410 without text": {410, "json", "sandbox_stopped", "", false},
	} {
		h := http.Header{"Content-Type": {"application/json; charset=utf-8"}}
		if test.kind == "html" {
			h.Set("Content-Type", "text/html")
		}
		body := `{"error":{"code":"` + test.code + `","message":"` + test.words + `"}}`
		a := wire.Answer{Status: test.status, Header: h, Body: []byte(body)}
		said := wire.SaidIn(wire.Answer{Status: test.status, Header: h, Body: []byte(body)})
		if got := certain(a, said); got != test.want {
			t.Errorf("%s: certain %t, want %t", name, got, test.want)
		}
	}
}

func TestNew(t *testing.T) {
	extra := func(pairs ...string) map[string]string {
		out := map[string]string{"team": "team_1", "project": "prj_1"}
		for i := 0; i < len(pairs); i += 2 {
			out[pairs[i]] = pairs[i+1]
		}
		return out
	}
	for name, test := range map[string]struct {
		e    entry.Entry
		want string
	}{
		"well":             {entry.Entry{Token: "t", Extra: extra()}, ""},
		"stops sessions":   {entry.Entry{Token: "t", Extra: extra("terminate", "session")}, ""},
		"deletes records":  {entry.Entry{Token: "t", Extra: extra("terminate", "record")}, ""},
		"no token":         {entry.Entry{Extra: extra()}, "needs a credential"},
		"no team":          {entry.Entry{Token: "t", Extra: extra("team", "")}, "team: is not given"},
		"no project":       {entry.Entry{Token: "t", Extra: extra("project", "")}, "project: is not given"},
		"an odd terminate": {entry.Entry{Token: "t", Extra: extra("terminate", "all")}, "terminate: is neither session nor record"},
		"an odd url":       {entry.Entry{Token: "t", URL: "vercel.com", Extra: extra()}, "must look like"},
	} {
		_, err := New(test.e, entry.Options{})
		if got := err == nil; got != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: New = %v, want %q", name, err, test.want)
		}
	}
	for team, want := range map[string]string{
		"team_1": "https://api.vercel.com/v2/sandboxes/a%2Fb?project=p&teamId=team_1",
		"acme":   "https://api.vercel.com/v2/sandboxes/a%2Fb?project=p&slug=acme",
	} {
		p, err := New(entry.Entry{Token: "t", Extra: extra("team", team)}, entry.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, p.at(map[string][]string{"project": {"p"}}, "a/b")); diff != "" {
			t.Errorf("address (-want +got):\n%s", diff)
		}
	}
}

// What a session's record says of its end: a snapshot ends a session as well, and is no end that nobody asked for.
func TestEndOnRecord(t *testing.T) {
	for want, v := range map[string]stop{
		"stopped on request":               {Status: "stopped", RequestedAt: at(noon), StoppedAt: at(noon), SavedAt: at(noon)},
		"stopped, with a snapshot":         {Status: "stopped", StoppedAt: at(noon), SavedAt: at(noon)},
		"stopped, and nobody asked for it": {Status: "stopped", StoppedAt: at(noon)},
		"aborted, and nobody asked for it": {Status: "aborted", AbortedAt: at(noon)},
	} {
		if d, err := v.death(noon); err != nil || d.Reason != want || !d.At.Equal(noon) {
			t.Errorf("death = %+v, %v; want %q at %s", d, err, want, noon)
		}
	}
}
