package vercel

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/vercel/verceltest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

func TestTemplates(t *testing.T) {
	const get = "GET /v2/sandboxes/snapshots/snap_1"
	for name, test := range map[string]struct {
		says string
		want reconcile.TemplateState // "!": an error
		raw  string
	}{
		"there":                 {`{"snapshot":{"id":"snap_1","status":"created"}}`, reconcile.TemplateActive, "created"},
		"expires later":         {fmt.Sprintf(`{"snapshot":{"id":"snap_1","status":"created","expiresAt":%d}}`, noon.UnixMilli()+1), reconcile.TemplateActive, "created"},
		"expired":               {fmt.Sprintf(`{"snapshot":{"id":"snap_1","status":"created","expiresAt":%d}}`, noon.UnixMilli()), reconcile.TemplateMissing, "expired"},
		"deleted":               {`{"snapshot":{"id":"snap_1","status":"deleted"}}`, reconcile.TemplateMissing, "deleted"},
		"failed":                {`{"snapshot":{"id":"snap_1","status":"failed"}}`, reconcile.TemplateFailed, "failed"},
		"an odd word":           {`{"snapshot":{"id":"snap_1","status":"melting"}}`, reconcile.TemplateUnknown, "melting"},
		"404":                   {"404 not_found Snapshot not found.", reconcile.TemplateMissing, "missing"},
		"410":                   {"410 snapshot_not_found Snapshot not found: snap_1", reconcile.TemplateMissing, "missing"},
		"400":                   {"400 snapshot_not_found Snapshot not found: snap_1", reconcile.TemplateMissing, "missing"},
		"400 for another cause": {"400 bad_request what?", "!", ""},
		"404 of no route":       {"404 not_found No route for GET", "!", ""},
		"another one":           {`{"snapshot":{"id":"snap_2","status":"created"}}`, "!", ""},
		"403":                   {"403 forbidden no", "!", ""},
	} {
		s := &script{says: map[string]string{get: test.says}}
		got, err := s.provider(t).Template(t.Context(), "snap_1")
		if (err != nil) != (test.want == "!") || err == nil && (got.State != test.want || got.Raw != test.raw) {
			t.Errorf("%s: Template = %+v, %v; want %s %q", name, got, err, test.want, test.raw)
		}
	}
	s := &script{}
	got, err := s.provider(t).Template(t.Context(), "vcr.vercel.com/acme/agent@sha256:0123")
	if err != nil || got.State != reconcile.TemplateUnknown || len(s.asked) != 0 {
		t.Errorf("Template of an image = %+v, %v after %v; want nothing known, and no call", got, err, s.asked)
	}
}

func TestCheck(t *testing.T) {
	p, world, _ := lab(t, verceltest.Options{})
	world.Put(simulated.Sandbox{Labels: map[string]string{"project": "mine"}})
	said := func(p *Provider) (text string) {
		for _, line := range p.Check(t.Context()) {
			text += fmt.Sprintf("%s %t: %s; %s\n", line.What, line.OK, line.Said, line.Fix)
		}
		return text
	}
	want := `credential true: may list project prj_1; 
token true: an access token; 
rate limit true: 999 left; 
listing true: first page: 1 sandboxes, 1 owned; 
link true: rows must hold ids of sessions (sbx_…); where they hold names, set link: {sandbox: name}; 
terminate true: stops the session; the saved disk stays until it expires; 
`
	if diff := cmp.Diff(want, said(p)); diff != "" {
		t.Errorf("Check (-want +got):\n%s", diff)
	}
	for name, test := range map[string]struct{ key, value, want string }{
		"another project": {"project", "prj_2", "credential false: 404 Not Found: Project not found.; set url: to"},
		"another team":    {"team", "team_2", "credential false: 403 Forbidden: Not authorized; create an access token"},
		"by record":       {"terminate", "record", "deletes the sandbox by its name, with its saved disk"},
	} {
		p, _, _ := lab(t, verceltest.Options{}, test.key, test.value)
		if got := said(p); !strings.Contains(got, test.want) {
			t.Errorf("%s: Check = %s, want %s", name, got, test.want)
		}
	}
	p.entry.Token, p.entry.Link.Sandbox = "ey.ey.sig", "name"
	if got := said(p); !strings.Contains(got, "token false: it is lent") || !strings.Contains(got, "rows hold names") {
		t.Errorf("Check with a lent token = %s", got)
	}
}
