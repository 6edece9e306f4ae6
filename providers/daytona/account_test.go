package daytona

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

const allowed = `["delete:sandboxes","write:sandboxes","write:snapshots","read:audit_logs"]`

func TestCheck(t *testing.T) {
	for name, test := range map[string]struct {
		key  reply
		what string // the line with a fix; "" when none has one
		fix  string
		well bool // it warns, and is no failure
	}{
		"all well": {reply{200, js, `{"name":"k","permissions":` + allowed + `,"expiresAt":null}`}, "", "", false},
		"expires in a month": {
			reply{200, js, `{"name":"k","permissions":` + allowed + `,"expiresAt":"2026-02-01T00:00:00Z"}`}, "",
			"", false,
		},
		"expires soon": {
			reply{200, js, `{"name":"k","permissions":` + allowed + `,"expiresAt":"2026-01-10T00:00:00Z"}`},
			"key's expiry", "new API key", true,
		},
		"may not delete": {
			reply{200, js, `{"name":"k","permissions":["write:sandboxes","write:snapshots","read:audit_logs"]}`},
			"terminate sandboxes", "delete:sandboxes", false,
		},
		"may not stop": {
			reply{200, js, `{"name":"k","permissions":["delete:sandboxes","write:snapshots","read:audit_logs"]}`},
			"stop sandboxes", "write:sandboxes", true,
		},
		"may not activate": {
			reply{200, js, `{"name":"k","permissions":["delete:sandboxes","write:sandboxes","read:audit_logs"]}`},
			"activate snapshots", "write:snapshots", true,
		},
		"a refused key": {reply{401, js, `{"message":"Invalid credentials"}`}, "credential", "set token:", false},
		"the dashboard": {reply{200, "text/html", `<html>`}, "credential", "/api", false},
		"keys are not told of": {
			reply{404, js, `{"message":"Cannot GET /api/api-keys/current"}`}, "credential", "may end and stop", true,
		},
		"no key at all": {reply{200, js, `{}`}, "credential", "url:", false},
	} {
		t.Run(name, func(t *testing.T) {
			d := &double{answer: func(_ int, w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Date", "Thu, 01 Jan 2026 00:00:00 GMT")
				w.Header().Set("X-RateLimit-Remaining-authenticated", "42")
				if r.URL.Path == "/api/sandbox" {
					sendJSON(w, 200, `{"items":[`+one+`],"nextCursor":null}`)
					return
				}
				test.key.send(w)
			}}
			bad, well := map[string]string{}, true
			said := ""
			for _, line := range over(t, d).Check(t.Context()) {
				said += line.What + ": " + line.Said + "\n"
				if well = well && line.OK; line.Fix != "" {
					bad[line.What] = line.Fix
				}
			}
			if test.what == "" {
				if len(bad) > 0 || !strings.Contains(said, "authenticated 42 left") ||
					!strings.Contains(said, "1 sandboxes, 1 owned") {
					t.Errorf("Check = %s, not OK %v; want all OK", said, bad)
				}
				return
			}
			if len(bad) != 1 || !strings.Contains(bad[test.what], test.fix) || strings.Contains(said, "s3cret") || well != test.well {
				t.Errorf("Check has fixes %v, OK %t; want %s with the fix %q, OK %t", bad, well, test.what, test.fix, test.well)
			}
		})
	}
}

// A server that tells of no keys and lists nothing either is at another address.
func TestCheckOfAWrongAddress(t *testing.T) {
	d := &double{answer: func(_ int, w http.ResponseWriter, _ *http.Request) { sendJSON(w, 404, `{"message":"Not here"}`) }}
	got := over(t, d).Check(t.Context())
	if len(got) != 1 || got[0].OK || got[0].What != "credential" || !strings.Contains(got[0].Fix, "/api") {
		t.Errorf("Check = %+v, want the credential alone, with the fix of the url", got)
	}
}

func TestQuotas(t *testing.T) {
	const usage = `{"regionUsage":[{"regionId":"us","sandboxClass":"container","totalCpuQuota":10,"currentCpuUsage":4,
		"totalMemoryQuota":20,"currentMemoryUsage":5,"totalDiskQuota":30,"currentDiskUsage":6,
		"totalGpuQuota":0,"currentGpuUsage":0}],
		"totalSnapshotQuota":100,"currentSnapshotUsage":3}`
	for name, test := range map[string]struct {
		organization string // of the entry
		listed       string
		usage        reply
		want         int
	}{
		"of the entry":              {"org-1", "", reply{200, js, usage}, 4},
		"of a sandbox":              {"", `{"id":"sb-1","organizationId":"org-1"}`, reply{200, js, usage}, 4},
		"no sandbox to learn it of": {"", "", reply{200, js, usage}, 0},
		"an empty answer":           {"org-1", "", reply{200, js, `{}`}, 0},
		"no permission":             {"org-1", "", reply{403, js, `{}`}, 0},
	} {
		d := &double{answer: func(_ int, w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/api/sandbox":
				sendJSON(w, 200, `{"items":[`+test.listed+`],"nextCursor":null}`)
			case "/api/organizations/org-1/usage":
				if r.Header.Get("X-Daytona-Organization-ID") != test.organization {
					t.Errorf("%s: asked for organization %q", name, r.Header.Get("X-Daytona-Organization-ID"))
				}
				test.usage.send(w)
			}
		}}
		p := over(t, d, func(e *entry.Entry) { e.Extra = map[string]string{"organization": test.organization} })
		got, err := p.Quotas(t.Context())
		if len(got) != test.want || (err == nil) != (test.want > 0) {
			t.Errorf("%s: Quotas = %+v, %v; want %d", name, got, err, test.want)
		}
		if err == nil && got[1] != (reconcile.Quota{Name: "cpu in us container", Used: 4, Limit: 10}) {
			t.Errorf("%s: Quotas[1] = %+v, want cpu 4 of 10", name, got[1])
		}
	}
}

func TestTemplate(t *testing.T) {
	at := func(day int) time.Time { return time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC) }
	for name, test := range map[string]struct {
		answer  reply
		state   reconcile.TemplateState
		expires time.Time
		err     error
	}{
		"used after it was made": {
			reply{200, js, `{"id":"1","name":"n","state":"active","createdAt":"2026-01-01T00:00:00Z",
				"lastUsedAt":"2026-01-02T00:00:00Z"}`},
			reconcile.TemplateActive, at(16), nil,
		},
		"never used": {
			reply{200, js, `{"id":"1","name":"n","state":"active","createdAt":"2026-01-01T00:00:00Z","lastUsedAt":null}`},
			reconcile.TemplateActive, at(15), nil,
		},
		"the vendor's own": {
			reply{200, js, `{"id":"1","name":"n","general":true,"state":"active","createdAt":"2026-01-01T00:00:00Z"}`},
			reconcile.TemplateActive, time.Time{}, nil,
		},
		"without clocks": {
			reply{200, js, `{"id":"1","name":"n","state":"active"}`}, reconcile.TemplateActive, time.Time{}, nil,
		},
		"inactive": {
			reply{200, js, `{"id":"1","name":"n","state":"inactive","createdAt":"2026-01-01T00:00:00Z"}`},
			reconcile.TemplateInactive, time.Time{}, nil,
		},
		"pulling": {
			reply{200, js, `{"id":"1","name":"n","state":"pulling"}`}, reconcile.TemplateBuilding, time.Time{},
			nil,
		},
		"build_failed": {
			reply{200, js, `{"id":"1","name":"n","state":"build_failed"}`}, reconcile.TemplateFailed,
			time.Time{}, nil,
		},
		"removing is no word here": {
			reply{200, js, `{"id":"1","name":"n","state":"removing"}`}, reconcile.TemplateUnknown, time.Time{},
			nil,
		},
		"by its id": {
			reply{200, js, `{"id":"n","name":"other","state":"active"}`}, reconcile.TemplateActive, time.Time{},
			nil,
		},
		"missing": {
			reply{404, js, `{"statusCode":404,"message":"Snapshot with ID or name n not found"}`},
			reconcile.TemplateMissing, time.Time{}, nil,
		},
		"a 404 page": {reply{404, "text/html", ``}, "", time.Time{}, errAny},
		"a 500":      {reply{500, js, `{}`}, "", time.Time{}, errAny},
		"another snapshot": {
			reply{200, js, `{"id":"2","name":"m","state":"active"}`}, "", time.Time{}, errAny,
		},
	} {
		d := &double{answer: func(_ int, w http.ResponseWriter, _ *http.Request) { test.answer.send(w) }}
		got, err := over(t, d).Template(t.Context(), "n")
		if got.State != test.state || !got.ExpiresAt.Equal(test.expires) || !is(err, test.err) {
			t.Errorf("%s: Template = %+v, %v; want %q until %s, %v", name, got, err, test.state, test.expires, test.err)
		}
	}
}

func TestActivate(t *testing.T) {
	for name, test := range map[string]struct {
		state  string
		answer reply
		posts  int
		err    error
	}{
		"inactive":         {"inactive", reply{200, js, `{"id":"id-1","state":"pending"}`}, 1, nil},
		"active":           {"active", reply{}, 0, nil},
		"on its way":       {"pulling", reply{}, 0, nil},
		"active meanwhile": {"inactive", reply{400, js, `{"message":"Snapshot n is already active"}`}, 1, nil},
		"deactivated just now": {
			"inactive", reply{400, js, `{"message":"Snapshot deactivation is still in progress."}`}, 1, errAny,
		},
		"not allowed":             {"inactive", reply{403, js, `{}`}, 1, reconcile.ErrUnauthorized},
		"a page is no activation": {"inactive", reply{200, "text/html", ``}, 1, errAny},
	} {
		posts := 0
		d := &double{answer: func(_ int, w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				sendJSON(w, 200, `{"id":"id-1","name":"n","state":"`+test.state+`"}`)
				return
			}
			if r.URL.Path == "/api/snapshots/id-1/activate" {
				posts++
			}
			test.answer.send(w)
		}}
		if err := over(t, d).Activate(t.Context(), "n"); !is(err, test.err) || posts != test.posts {
			t.Errorf("%s: Activate = %v after %d calls, want %v after %d", name, err, posts, test.err, test.posts)
		}
	}
}

// TestQuotasAskOnce: which organization a key belongs to is asked once, and not at all after
// a listing told.
func TestQuotasAskOnce(t *testing.T) {
	const item = `{"id":"sb-1","organizationId":"org-1"}`
	for name, test := range map[string]struct {
		listed bool
		calls  []string
	}{
		"after a listing": {true, []string{"/api/sandbox", "/api/organizations/org-1/usage", "/api/organizations/org-1/usage"}},
		"alone":           {false, []string{"/api/sandbox", "/api/organizations/org-1/usage", "/api/organizations/org-1/usage"}},
	} {
		var calls []string
		d := &double{answer: func(_ int, w http.ResponseWriter, r *http.Request) {
			calls = append(calls, r.URL.Path)
			if strings.HasSuffix(r.URL.Path, "/usage") {
				sendJSON(w, 200, `{"regionUsage":[],"totalSnapshotQuota":10,"currentSnapshotUsage":3}`)
				return
			}
			sendJSON(w, 200, `{"items":[`+item+`],"nextCursor":null}`)
		}}
		p := over(t, d)
		if test.listed {
			if _, _, err := ids(t.Context(), p); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if got, err := p.Quotas(t.Context()); err != nil || len(got) != 1 || got[0].Used != 3 {
				t.Errorf("%s: Quotas = %+v, %v", name, got, err)
			}
		}
		if !slices.Equal(calls, test.calls) {
			t.Errorf("%s: called %v, want %v", name, calls, test.calls)
		}
	}
}

// TestTemplateWarnsInTime: unused for 12 days a snapshot has 48 hours left, by the provider's
// own clocks, which is when the rule begins to warn.
func TestTemplateWarnsInTime(t *testing.T) {
	used := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for after, want := range map[time.Duration]time.Duration{
		12 * 24 * time.Hour: 48 * time.Hour, 12*24*time.Hour + time.Second: 48*time.Hour - time.Second, 0: 14 * 24 * time.Hour,
	} {
		d := &double{answer: func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Date", used.Add(after).Format(http.TimeFormat))
			sendJSON(w, 200, `{"id":"1","name":"light","state":"active","createdAt":"2025-01-01T00:00:00Z",`+
				`"lastUsedAt":"2026-01-01T00:00:00Z"}`)
		}}
		got, err := over(t, d).Template(t.Context(), "light")
		if left := got.ExpiresAt.Sub(got.AsOf); err != nil || left != want {
			t.Errorf("%s after its last use: %s left, %v; want %s", after, left, err, want)
		}
	}
}
