package agentuity

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/providers/agentuity/agentuitytest"
	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// rowsOf is a page of sandboxes from one number to before another.
func rowsOf(from, to, total int) reply {
	var rows []string
	for i := from; i < to; i++ {
		rows = append(rows, row(fmt.Sprint("sbx_", i), "idle"))
	}
	return reply{200, fmt.Sprintf(`{"success":true,"data":{"sandboxes":[%s],"total":%d}}`, strings.Join(rows, ","), total), nil}
}

func row(id, status string) string {
	return fmt.Sprintf(`{"sandboxId":%q,"name":"mine-%s","status":%q,"createdAt":"2026-11-01T11:00:00Z","executions":0}`,
		id, id, status)
}

// listed is a whole listing by id.
func listed(ctx context.Context, p *Provider) ([]string, reconcile.Listing, error) {
	var ids []string
	l, err := p.List(ctx, func(page []reconcile.Sandbox) error {
		for _, s := range page {
			ids = append(ids, s.ID)
		}
		return nil
	})
	return ids, l, err
}

func TestListProves(t *testing.T) {
	const list = "GET usc /sandbox"
	for name, test := range map[string]struct {
		pages []reply
		want  int  // sandboxes that were shown
		whole bool // and the listing is complete
	}{
		"nothing":                         {[]reply{rowsOf(0, 0, 0)}, 0, true},
		"one page":                        {[]reply{rowsOf(0, 3, 3)}, 3, true},
		"three pages that overlap":        {[]reply{rowsOf(0, 100, 250), rowsOf(99, 199, 250), rowsOf(198, 250, 250)}, 250, true},
		"a small page, and more":          {[]reply{rowsOf(0, 50, 60), rowsOf(49, 60, 60)}, 60, true},
		"one came meanwhile":              {[]reply{rowsOf(0, 100, 101), rowsOf(99, 102, 102)}, 102, true},
		"some ended between two pages":    {[]reply{rowsOf(0, 100, 150), rowsOf(104, 150, 145), rowsOf(94, 150, 145)}, 150, true},
		"many ended between two pages":    {[]reply{rowsOf(0, 100, 150), rowsOf(120, 150, 129), rowsOf(110, 150, 129), rowsOf(80, 150, 129)}, 150, true},
		"all before ended":                {[]reply{rowsOf(0, 100, 150), rowsOf(0, 0, 50), rowsOf(0, 0, 50), rowsOf(0, 0, 50), rowsOf(100, 150, 50)}, 150, true},
		"what is promised does not come":  {[]reply{rowsOf(0, 100, 150), rowsOf(99, 100, 150)}, 100, false},
		"more than the total, at the end": {[]reply{rowsOf(0, 3, 2)}, 3, true},
		"an end before the total":         {[]reply{rowsOf(0, 100, 150), rowsOf(99, 120, 121), rowsOf(119, 120, 121)}, 120, false},
		"pages that overlap by too much":  {[]reply{rowsOf(0, 100, 150), rowsOf(49, 149, 150)}, 100, false},
		"no total":                        {[]reply{{200, `{"success":true,"data":{"sandboxes":[]}}`, nil}}, 0, false},
		"no sandboxes":                    {[]reply{{200, `{"success":true,"data":{"total":0}}`, nil}}, 0, false},
		"no data":                         {[]reply{{200, `{"success":true}`, nil}}, 0, false},
		"no success":                      {[]reply{{200, `{"success":false,"message":"x"}`, nil}}, 0, false},
		"a page that says 200":            {[]reply{{200, `<html>`, []string{"Content-Type", "text/html"}}}, 0, false},
		"an item without an id":           {[]reply{{200, `{"success":true,"data":{"sandboxes":[{"status":"idle"}],"total":1}}`, nil}}, 0, false},
		"a listing of another region":     {[]reply{{421, `{}`, nil}}, 0, false},
		"not found":                       {[]reply{{404, none, nil}}, 0, false},
	} {
		ids, l, err := listed(t.Context(), over(t, answering(with(list, test.pages...))))
		slices.Sort(ids)
		if n := len(slices.Compact(ids)); n != test.want || l.Complete != test.whole || (err == nil) != test.whole {
			t.Errorf("%s: List = %d sandboxes, %+v, %v; want %d, complete %t", name, n, l, err, test.want, test.whole)
		}
	}
}

func TestListAsks(t *testing.T) {
	d := answering(with("GET usc /sandbox", rowsOf(0, 100, 120), rowsOf(99, 120, 120)))
	if _, _, err := listed(t.Context(), over(t, d, extra("project", "proj_1"))); err != nil {
		t.Fatal(err)
	}
	for i, offset := range []string{"0", "99"} {
		want := "GET usc /sandbox?direction=asc&limit=100&offset=" + offset + "&orgId=org_1&projectId=proj_1&sort=created "
		if d.sent[i] != want {
			t.Errorf("page %d: sent %q, want %q", i+1, d.sent[i], want)
		}
	}
}

// What has ended may stand in a listing for long. A row is of the project asked for.
func TestListRows(t *testing.T) {
	d := answering(with("GET usc /sandbox", reply{200, `{"success":true,"data":{"sandboxes":[` + strings.Join([]string{
		row("sbx_1", "idle"), row("sbx_2", "terminated"), row("sbx_3", "deleted"), row("sbx_4", "failed"),
		row("sbx_5", "evacuating"), `{"sandboxId":"sbx_6","name":null,"status":null,"org":null,"createdAt":7}`}, ",") +
		`],"total":6}}`, nil}))
	p := over(t, d, extra("project", "proj_1"), func(e *entry.Entry) {
		e.Owns = entry.Owns{Labels: map[string]string{"project": "proj_1"}}
	})
	var got []string
	if _, err := p.List(t.Context(), func(page []reconcile.Sandbox) error {
		for _, s := range page {
			got = append(got, fmt.Sprintf("%s %s %s %t", s.ID, s.State, s.Region, s.Owned))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	want := []string{"sbx_1 running usc true", "sbx_4 failed usc true", "sbx_5  usc true", "sbx_6  usc true"}
	if !slices.Equal(got, want) {
		t.Errorf("listed %q, want %q", got, want)
	}
}

// A region that fails makes the listing incomplete, and what the others show is still shown.
func TestListOverRegions(t *testing.T) {
	const usc, usw, regions = "GET usc /sandbox", "GET usw /sandbox", "GET api /cli/region"
	two := reply{200, `{"success":true,"data":[{"region":"usw","description":"West"},{"region":"usc","description":"Central"}]}`, nil}
	broken := reply{500, `{}`, nil}
	for name, test := range map[string]struct {
		region  string
		replies map[string][]reply
		want    int
		missing string // scopes
		err     bool
	}{
		"all that there are":        {"", map[string][]reply{regions: {two}, usc: {rowsOf(0, 2, 2)}, usw: {rowsOf(2, 5, 3)}}, 5, "", false},
		"those that are named":      {"usw,usc", map[string][]reply{usc: {rowsOf(0, 2, 2)}, usw: {rowsOf(2, 5, 3)}}, 5, "", false},
		"one fails":                 {"", map[string][]reply{regions: {two}, usc: {broken}, usw: {rowsOf(2, 5, 3)}}, 3, "usc", false},
		"the other fails":           {"", map[string][]reply{regions: {two}, usc: {rowsOf(0, 2, 2)}, usw: {broken}}, 2, "usw", false},
		"one is cut short":          {"", map[string][]reply{regions: {two}, usc: {rowsOf(0, 100, 150), broken}, usw: {rowsOf(200, 201, 1)}}, 101, "usc", false},
		"all fail":                  {"", map[string][]reply{regions: {two}, usc: {broken}, usw: {broken}}, 0, "usc,usw", true},
		"the regions are not known": {"", map[string][]reply{regions: {broken}}, 0, "", true},
		"there is no region":        {"", map[string][]reply{regions: {{200, `{"success":true,"data":[]}`, nil}}}, 0, "", true},
		"a region that leads elsewhere": {"", map[string][]reply{regions: {{200,
			`{"success":true,"data":[{"region":"evil.test/"}]}`, nil}}}, 0, "", true},
		"a region that names a host": {"", map[string][]reply{regions: {{200,
			`{"success":true,"data":[{"region":"a.b"}]}`, nil}}, "GET a /sandbox": {rowsOf(0, 2, 2)}}, 0, "", true},
		"an SDK key may not ask": {"", map[string][]reply{regions: {{403, `{"message":"no"}`, nil}}}, 0, "", true},
	} {
		ids, l, err := listed(t.Context(), over(t, answering(test.replies), extra("region", test.region)))
		if len(ids) != test.want || strings.Join(l.Missing, ",") != test.missing || (err != nil) != test.err ||
			l.Complete != (test.missing == "" && !test.err) {
			t.Errorf("%s: List = %d sandboxes, %+v, %v; want %d, missing %q", name, len(ids), l, err, test.want, test.missing)
		}
	}
}

// Who serves the same page again and again is not asked for all that is promised.
func TestListInACircle(t *testing.T) {
	d := answering(with("GET usc /sandbox", rowsOf(0, 100, 100_000)))
	if _, l, err := listed(t.Context(), over(t, d)); err == nil || l.Complete || len(d.asked) > 3 {
		t.Errorf("List = %+v, %v after %d calls; want an error after a few", l, err, len(d.asked))
	}
}

// A region that is not named any more is still asked: it may hold sandboxes.
func TestRegionsAreRemembered(t *testing.T) {
	const regions = "GET api /cli/region"
	d := answering(map[string][]reply{
		regions: {{200, `{"success":true,"data":[{"region":"usw"},{"region":"usc"}]}`, nil},
			{200, `{"success":true,"data":[{"region":"use"}]}`, nil}},
		"GET /sandbox": {rowsOf(0, 0, 0)},
	})
	p := over(t, d, extra("region", ""))
	for range 2 {
		if _, l, err := listed(t.Context(), p); err != nil || !l.Complete {
			t.Fatalf("List = %+v, %v", l, err)
		}
	}
	want := []string{regions, "GET usc /sandbox", "GET usw /sandbox", regions, "GET usc /sandbox", "GET use /sandbox", "GET usw /sandbox"}
	if !slices.Equal(d.asked, want) {
		t.Errorf("asked %q, want %q", d.asked, want)
	}
}

// Over the simulator: sandboxes of all regions are found, each where it is.
func TestListAcrossTheSimulatedRegions(t *testing.T) {
	world := simulated.New(simulated.Options{IDs: agentuitytest.IDs})
	var want []string
	for _, r := range []string{"usc", "usw", "use", ""} {
		s := world.Put(simulated.Sandbox{Name: "mine-" + r, Region: r})
		want = append(want, s.ID)
	}
	server := agentuitytest.New(world, agentuitytest.Options{Key: "s3cret-key", Regions: []string{"usc", "usw", "use"}})
	p, err := New(lab(extra("region", "")), entry.Options{Transport: wiretest.Transport(server)})
	if err != nil {
		t.Fatal(err)
	}
	got, l, err := listed(t.Context(), p)
	slices.Sort(got)
	slices.Sort(want)
	if err != nil || !l.Complete || !slices.Equal(got, want) {
		t.Errorf("List = %v, %+v, %v; want %v", got, l, err, want)
	}
	for _, id := range want {
		s, err := p.Get(t.Context(), id)
		if b, _ := world.Sandbox(id); err != nil || b.Region != "" && s.Region != b.Region {
			t.Errorf("Get(%s) = %+v, %v; want it in %s", id, s, err, b.Region)
		}
	}
	world.Inject(simulated.Fault{On: simulated.List, ID: "usw", Effect: simulated.Answer, Status: http.StatusInternalServerError})
	if got, l, err := listed(t.Context(), p); err != nil || l.Complete || len(got) != 3 || !slices.Equal(l.Missing, []string{"usw"}) {
		t.Errorf("List without usw = %v, %+v, %v; want it incomplete", got, l, err)
	}
}

func TestFindFindsNothing(t *testing.T) {
	d := answering(nil)
	if found, err := over(t, d).Find(t.Context(), "t1"); err != nil || len(found) != 0 || len(d.asked) != 0 {
		t.Errorf("Find = %v, %v after %v; want none without a call", found, err, d.asked)
	}
}

func TestTemplate(t *testing.T) {
	const lineage = "GET usc /sandbox/snapshots/lineage"
	entryOf := func(more string) string {
		return `{"success":true,"data":{"lineage":[{"snapshotId":"snp_1","name":"base","public":false` + more + `}],"total":1}}`
	}
	for name, test := range map[string]struct {
		answer reply
		want   reconcile.TemplateState
		err    error
	}{
		"it is there":            {reply{200, entryOf(""), nil}, reconcile.TemplateActive, nil},
		"it was deleted":         {reply{200, entryOf(`,"deleted":true`), nil}, reconcile.TemplateMissing, nil},
		"there is none":          {reply{200, `{"success":true,"data":{"lineage":[],"total":0}}`, nil}, reconcile.TemplateMissing, nil},
		"its code says so":       {reply{404, `{"success":false,"code":"SNAPSHOT_NOT_FOUND","message":"x"}`, nil}, reconcile.TemplateMissing, nil},
		"a gateway's Not Found":  {reply{404, `{"error":"Not Found"}`, nil}, "", errAny},
		"a fault":                {reply{500, `{}`, nil}, "", errAny},
		"no lineage":             {reply{200, `{"success":true,"data":{}}`, nil}, "", errAny},
		"no id":                  {reply{200, `{"success":true,"data":{"lineage":[{}],"total":1}}`, nil}, "", errAny},
		"the credential refused": {reply{401, `{}`, nil}, "", reconcile.ErrUnauthorized},
	} {
		d := answering(with(lineage, test.answer))
		got, err := over(t, d).Template(t.Context(), "base:v2")
		if got.State != test.want || !is(err, test.err) || err == nil && got.Name != "base:v2" {
			t.Errorf("%s: Template = %+v, %v; want %q, %v", name, got, err, test.want, test.err)
		}
		if want := lineage + "?limit=1&orgId=org_1&snapshot=base%3Av2 "; d.sent[0] != want {
			t.Errorf("%s: sent %q, want %q", name, d.sent[0], want)
		}
	}
	for name, want := range map[string]string{"base": "base%3Alatest", "base:v2": "base%3Av2", "snp_1": "snp_1", "sss_1": "sss_1"} {
		d := answering(with(lineage, reply{200, entryOf(""), nil}))
		got, err := over(t, d).Template(t.Context(), name)
		if err != nil || got.Name != name || !strings.Contains(d.sent[0], "snapshot="+want+" ") {
			t.Errorf("Template(%s) = %+v, %v; sent %q, want it to ask for %s", name, got, err, d.sent[0], want)
		}
	}
	for name, test := range map[string]struct {
		template string
		answer   reply
		want     reconcile.TemplateState
		err      error
	}{
		"it has no lineage":             {"snp_1", data(`{"snapshotId":"snp_1"}`), reconcile.TemplateActive, nil},
		"it has none, and is not there": {"snp_1", fails(404, "SNAPSHOT_NOT_FOUND", "x"), reconcile.TemplateMissing, nil},
		"it has none, and nobody knows": {"snp_1", fault, "", errAny},
		"it has none, and no id":        {"snp_1", data(`{}`), "", errAny},
		"a name has none":               {"base", data(`{"snapshotId":"snp_1"}`), reconcile.TemplateMissing, nil},
	} {
		d := answering(map[string][]reply{lineage: {data(`{"lineage":[]}`)}, "GET usc /sandbox/snapshots/" + test.template: {test.answer}})
		if got, err := over(t, d).Template(t.Context(), test.template); got.State != test.want || !is(err, test.err) {
			t.Errorf("%s: Template = %+v, %v; want %q, %v", name, got, err, test.want, test.err)
		}
	}
	d := answering(map[string][]reply{lineage: {{200, entryOf(`,"deleted":true`), nil}},
		"GET usw /sandbox/snapshots/lineage": {{200, entryOf(""), nil}}})
	if got, err := over(t, d, extra("region", "usc,usw")).Template(t.Context(), "base:v2"); err != nil || got.State != reconcile.TemplateActive {
		t.Errorf("Template of one in another region = %+v, %v; want it active", got, err)
	}
	if err := over(t, answering(nil)).Activate(t.Context(), "base"); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Activate = %v, want it unsupported", err)
	}
}
