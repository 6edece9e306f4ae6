package generic_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

func boxes(ids ...string) string {
	items := make([]string, len(ids))
	for i, id := range ids {
		items[i] = fmt.Sprintf(`{"box_id":%q,"phase":"placed","tags":{"project":"mine","task_id":"t1"}}`, id)
	}
	return "[" + strings.Join(items, ",") + "]"
}

// size sets how many are on a page, and the way of paging.
func size(n int, paging, place, more string) func(*entry.API) {
	return func(a *entry.API) {
		if paging != "cursor" {
			paged(paging, place, more)(a)
		}
		a.List.Size, a.List.More = n, more
	}
}

// What is no page proves nothing, however well it decodes.
func TestHostileLists(t *testing.T) {
	for name, test := range map[string]struct {
		body string
		want int // sandboxes of a listing that is complete; -1: it must fail
	}{
		"one":                      {`{"boxes":` + boxes("a") + `,"after":null}`, 1},
		"no cursor at all":         {`{"boxes":` + boxes("a") + `}`, 1},
		"an empty cursor":          {`{"boxes":` + boxes("a") + `,"after":""}`, 1},
		"a cursor that is false":   {`{"boxes":` + boxes("a") + `,"after":false}`, 1},
		"null for an empty list":   {`{"boxes":null,"after":null}`, 0},
		"full, and says it is all": {`{"boxes":` + boxes("a", "b") + `,"after":null}`, 2},
		"full, and says nothing":   {`{"boxes":` + boxes("a", "b") + `}`, -1},
		"a cursor that is true":    {`{"boxes":` + boxes("a") + `,"after":true}`, -1},
		"a cursor that is a list":  {`{"boxes":` + boxes("a") + `,"after":[]}`, -1},
		"no list":                  {`{"after":null}`, -1},
		"an object for a list":     {`{"boxes":{},"after":null}`, -1},
		"a number for a list":      {`{"boxes":1e400,"after":null}`, -1},
		"a list for an answer":     {`[]`, -1},
		"null for an answer":       {`null`, -1},
		"no answer":                {``, -1},
		"an id that is missing":    {`{"boxes":[{"phase":"placed"}],"after":null}`, -1},
		"an id that is null":       {`{"boxes":[{"box_id":null}],"after":null}`, -1},
		"an id that is true":       {`{"boxes":[{"box_id":true}],"after":null}`, -1},
		"an id that is a list":     {`{"boxes":[{"box_id":["a"]}],"after":null}`, -1},
		"an id that is half":       {`{"boxes":[{"box_id":1.5}],"after":null}`, -1},
		"an id of dots":            {`{"boxes":[{"box_id":".."}],"after":null}`, -1},
		"an id of two lines":       {`{"boxes":[{"box_id":"a\nb"}],"after":null}`, -1},
		"an id that is endless":    {`{"boxes":[{"box_id":"` + strings.Repeat("a", 600) + `"}],"after":null}`, -1},
		"an item that is a text":   {`{"boxes":["a"],"after":null}`, -1},
		"an item that is null":     {`{"boxes":[null],"after":null}`, -1},
		"two that are one":         {`{"boxes":` + boxes("a", "a") + `,"after":null}`, 1},
		"odd fields": {`{"boxes":[{"box_id":"a","title":7,"tags":[1,{}],"image":"x","times":[],"why":{},"zone":null}],"after":null}`,
			1},
		"something behind": {`{"boxes":[],"after":null}{}`, -1},
		"very deep":        {`{"boxes":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `,"after":null}`, -1},
	} {
		s := &script{answer: says(reply{status: 200, body: test.body})}
		all, l, err := listed(t, ask(t, s, size(2, "cursor", "", "")))
		if ok := err == nil && l.Complete; ok != (test.want >= 0) || ok && len(all) != test.want {
			t.Errorf("%s: List = %d, %+v, %v; want %d", name, len(all), l, err, test.want)
		}
	}
}

// A list that is read as one page, and tells of a further one, is not whole.
func TestOnePageIsNotAll(t *testing.T) {
	for name, test := range map[string]struct {
		body, next, more, path string
		whole                  bool
	}{
		"all":                  {`{"boxes":` + boxes("a") + `,"after":null,"rest":false}`, "body.after", "body.rest", "/boxes?n={limit}", true},
		"a cursor is named":    {`{"boxes":` + boxes("a") + `,"after":"x"}`, "body.after", "", "/boxes", false},
		"there is more":        {`{"boxes":` + boxes("a") + `,"rest":true}`, "", "body.rest", "/boxes", false},
		"it is full":           {`{"boxes":` + boxes("a", "b") + `}`, "", "", "/boxes?n={limit}", false},
		"nobody set its limit": {`{"boxes":` + boxes("a", "b") + `}`, "", "", "/boxes", true},
	} {
		s := &script{answer: says(reply{status: 200, body: test.body})}
		all, l, err := listed(t, ask(t, s, func(a *entry.API) {
			a.List.Paging, a.List.Size, a.List.Next, a.List.More, a.List.Path = "none", 2, test.next, test.more, test.path
		}))
		if ok := err == nil && l.Complete; ok != test.whole {
			t.Errorf("%s: List = %d, %+v, %v; want whole %t", name, len(all), l, err, test.whole)
		}
	}
}

// A description that is content with nothing does not make an empty fleet of half an answer.
func TestSloppyLists(t *testing.T) {
	sloppy := func(a *entry.API) { a.List.Items, a.List.Next = `body?.boxes ?? []`, `body?.after ?? ""` }
	for body, want := range map[string]bool{
		`{"boxes":[`: false, ``: false, `{} {}`: false, `{"boxes":[]}`: true, `{"boxes":` + boxes("a", "b") + `,"after":null}`: true,
		`{"boxes":` + boxes("a", "b") + `}`: false, // full, and no cursor is found: the page after it is missed
	} {
		p := ask(t, &script{answer: says(reply{status: 200, body: body})}, size(2, "cursor", "", ""), sloppy)
		_, l, err := listed(t, p)
		if ok := err == nil && l.Complete; ok != want {
			t.Errorf("List of %q = %+v, %v; want complete %t", body, l, err, want)
		}
	}
}

// Where an expression comes to nothing, there is no list: nobody knows which part of it is not
// there. A plain path may lead to null, which is how some write an empty list.
func TestListsThatComeToNothing(t *testing.T) {
	for items, want := range map[string]map[string]int{
		`body.boxes`:               {`{"boxes":null}`: 0, `{"boxes":[]}`: 0, `{"boxs":[]}`: -1, `{}`: -1},
		`body?.page?.boxes`:        {`{"page":{"boxes":null}}`: 0, `{"page":null}`: -1, `{}`: -1},
		`body.boxes ?? body.items`: {`{"items":[]}`: 0, `{"items":` + boxes("a") + `}`: 1, `{"error":"later"}`: -1, `{"boxes":null}`: -1},
		`body.ok ? body.boxes : nil`: {
			`{"ok":true,"boxes":[]}`: 0, `{"ok":false}`: -1, `{"ok":true}`: -1, `{}`: -1,
		},
	} {
		for body, count := range want {
			p := ask(t, &script{answer: says(reply{status: 200, body: body})}, size(2, "cursor", "", ""),
				func(a *entry.API) { a.List.Items = items })
			all, l, err := listed(t, p)
			if ok := err == nil && l.Complete; ok != (count >= 0) || ok && len(all) != count {
				t.Errorf("%s in %s: List = %d, %+v, %v; want %d", items, body, len(all), l, err, count)
			}
		}
	}
}

// Ids are kept to the letter, and no id leads to another address.
func TestHostileIDs(t *testing.T) {
	for written, id := range map[string]string{
		`"a/b"`: "a/b", `"../x"`: "../x", `"a?b#c"`: "a?b#c", `"a%2fb"`: "a%2fb", `12345678901234567890123`: "12345678901234567890123",
		`9007199254740993`: "9007199254740993", `-1`: "-1", `"é"`: "é", `" "`: " ", `"{id}"`: "{id}",
	} {
		s := &script{answer: func(r *http.Request) reply {
			if r.URL.Path == "/v1/boxes" {
				return reply{status: 200, body: `{"boxes":[{"box_id":` + written + `}],"after":null}`}
			}
			return reply{status: 200, body: `{"box":{"box_id":` + written + `}}`}
		}}
		p := ask(t, s)
		all, _, err := listed(t, p)
		if err != nil || len(all) != 1 || all[0].ID != id {
			t.Errorf("List = %+v, %v; want %q", all, err, id)
			continue
		}
		if got, err := p.Get(t.Context(), id); err != nil || got.ID != id {
			t.Errorf("Get(%q) = %+v, %v", id, got, err)
		}
		path := s.asked[len(s.asked)-1].URL.EscapedPath()
		if strings.Count(path, "/") != 3 || s.asked[len(s.asked)-1].URL.RawQuery != "" {
			t.Errorf("Get(%q) asked for %s, want one segment", id, path)
		}
	}
}

// chained answers each page by what stands in the query.
func chained(pages map[string]reply) func(*http.Request) reply {
	return func(r *http.Request) reply {
		q := r.URL.Query()
		out, ok := pages[q.Get("after")+q.Get("page")+q.Get("skip")]
		if !ok {
			return reply{status: 400, body: `{"fault":{"text":"no such page"}}`}
		}
		out.status = 200
		return out
	}
}

func TestCursors(t *testing.T) {
	page := func(after string, ids ...string) reply {
		return reply{body: `{"boxes":` + boxes(ids...) + `,"after":` + after + `}`}
	}
	for name, test := range map[string]struct {
		pages map[string]reply
		want  int
	}{
		"three":               {map[string]reply{"": page(`"x"`, "a"), "x": page(`7`, "b"), "7": page(`null`, "c")}, 3},
		"odd characters":      {map[string]reply{"": page(`"a&b=c/é?"`, "a"), "a&b=c/é?": page(`null`, "b")}, 2},
		"back to the first":   {map[string]reply{"": page(`"x"`, "a"), "x": page(`"y"`, "b"), "y": page(`"x"`, "c")}, -1},
		"to itself":           {map[string]reply{"": page(`"x"`, "a"), "x": page(`"x"`, "b")}, -1},
		"to an error":         {map[string]reply{"": page(`"x"`, "a")}, -1},
		"an empty page amid":  {map[string]reply{"": page(`"x"`, "a"), "x": page(`"y"`), "y": page(`null`, "b")}, 2},
		"a huge number as is": {map[string]reply{"": page(`99999999999999999999`, "a"), "99999999999999999999": page("null", "b")}, 2},
	} {
		all, l, err := listed(t, ask(t, &script{answer: chained(test.pages)}, size(5, "cursor", "", "")))
		if ok := err == nil && l.Complete; ok != (test.want >= 0) || ok && len(all) != test.want {
			t.Errorf("%s: List = %d, %+v, %v; want %d", name, len(all), l, err, test.want)
		}
	}
	endless := 0
	s := &script{answer: func(*http.Request) reply {
		endless++
		return reply{status: 200, body: fmt.Sprintf(`{"boxes":[],"after":"%d"}`, endless)}
	}}
	p := ask(t, s)
	if l, err := p.List(t.Context(), func([]reconcile.Sandbox) error { return nil }); err == nil || l.Complete || endless > 2000 {
		t.Errorf("List without an end = %+v, %v after %d pages", l, err, endless)
	}
}

// A link leads to the host that gave it, or nowhere: the credential goes with it.
func TestLinks(t *testing.T) {
	for link, want := range map[string]int{
		`<https://yard.test/v1/boxes?after=x>; rel="next"`:                         2,
		`</v1/boxes?after=x>; rel=next`:                                            2,
		`<?after=x>; title="a"; rel="last next"`:                                   2,
		`<https://yard.test/v1/boxes?after=y>; rel="prev", <?after=x>; rel="next"`: 2,
		`<?after=x>; rel="prev"`:                                                   1,
		`<?after=x>; rel="next2"`:                                                  1,
		`<?after=x>; title="a, b"; rel = "next"`:                                   2,
		`nonsense`:                                                                 -1, // it may lead to a further page
		``:                                                                         1,
		`<https://evil.test/v1/boxes?after=x>; rel="next"`:                         -1,
		`<http://yard.test/v1/boxes?after=x>; rel="next"`:                          -1,
		`<//evil.test/?after=x>; rel="next"`:                                       -1,
		`<https://u:p@yard.test/v1/boxes?after=x>; rel="next"`:                     -1,
		`<https://yard.test:444/?after=x>; rel="next"`:                             -1,
		`<file:///etc/passwd>; rel="next"`:                                         -1,
		`<?after=cyclic>; rel="next"`:                                              -1,
		`<` + strings.Repeat("a", 9000) + `>; rel="next"`:                          -1,
	} {
		last := reply{body: `{"boxes":` + boxes("b") + `}`}
		cyclic := reply{body: `{"boxes":` + boxes("c") + `}`, link: `<?after=cyclic>; rel="next"`}
		s := &script{answer: chained(map[string]reply{"": {body: `{"boxes":` + boxes("a") + `}`, link: link}, "x": last,
			"cyclic": cyclic})}
		all, l, err := listed(t, ask(t, s, size(5, "link", "", "")))
		if ok := err == nil && l.Complete; ok != (want >= 0) || ok && len(all) != want {
			t.Errorf("%.80s: List = %d, %+v, %v; want %d", link, len(all), l, err, want)
		}
		for _, r := range s.asked {
			if r.URL.Host != "yard.test" || r.URL.Scheme != "https" {
				t.Errorf("%s: asked %s", link, r.URL)
			}
		}
	}
	inBody := func(a *entry.API) { a.List.Next = "body.links.next" }
	s := &script{answer: chained(map[string]reply{
		"":  {body: `{"boxes":` + boxes("a") + `,"links":{"next":"/v1/boxes?after=x"}}`},
		"x": {body: `{"boxes":` + boxes("b") + `,"links":{"next":null}}`}})}
	if all, l, err := listed(t, ask(t, s, size(1, "link", "", ""), inBody)); err != nil || !l.Complete || len(all) != 2 {
		t.Errorf("links in the body: List = %d, %+v, %v; want 2", len(all), l, err)
	}
	lastFull := &script{answer: chained(map[string]reply{"": {body: `{"boxes":` + boxes("a") + `}`, link: `<?after=x>; rel="next"`},
		"x": {body: `{"boxes":` + boxes("b") + `}`}})}
	if all, l, err := listed(t, ask(t, lastFull, size(1, "link", "", ""))); err != nil || !l.Complete || len(all) != 2 {
		t.Errorf("a full last page without a link, after one: List = %d, %+v, %v; want 2", len(all), l, err)
	}
	full := &script{answer: says(reply{status: 200, body: `{"boxes":` + boxes("a") + `}`})}
	if _, l, err := listed(t, ask(t, full, size(1, "link", "", ""))); err == nil || l.Complete {
		t.Errorf("a full page without any link: List = %+v, %v; want an error", l, err)
	}
	for link, want := range map[string]bool{`</style.css>; rel=preload`: false, `</docs>; rel="help"`: false,
		`<?before=a>; rel="prev"`: true, `<?>; rel=self`: true} {
		s := &script{answer: says(reply{status: 200, body: `{"boxes":` + boxes("a") + `}`, link: link})}
		if _, l, err := listed(t, ask(t, s, size(1, "link", "", ""))); (err == nil) != want || l.Complete != want {
			t.Errorf("a full page with the link %s: List = %+v, %v; want a certain end %t", link, l, err, want)
		}
	}
	const told = `(headers.link ?? "") contains "rel=\"next\""` // as docs/generic.md has it
	if all, l, err := listed(t, ask(t, full, size(1, "link", "", told))); err != nil || !l.Complete || len(all) != 1 {
		t.Errorf("a full page without any link, and more is told by it: List = %d, %+v, %v; want 1", len(all), l, err)
	}
	if all, l, err := listed(t, ask(t, lastFull, size(1, "link", "", told))); err != nil || !l.Complete || len(all) != 2 {
		t.Errorf("links, and more is told by them: List = %d, %+v, %v; want 2", len(all), l, err)
	}
}

// A fleet is served by number or by offset; between two calls it may change.
type fleet struct {
	ids    []string
	size   int // that is really given
	calls  int
	change func(f *fleet)
	odd    string // "": well; "deaf": always the first page
}

func (f *fleet) serve(r *http.Request) reply {
	f.calls++
	q := r.URL.Query()
	from, _ := strconv.Atoi(q.Get("skip"))
	if page := q.Get("page"); page != "" {
		n, _ := strconv.Atoi(page)
		from = (n - 1) * f.size
	}
	if f.odd == "deaf" {
		from = 0
	}
	from = max(0, min(from, len(f.ids)))
	out := fmt.Sprintf(`{"boxes":%s,"total":%d}`, boxes(f.ids[from:min(from+f.size, len(f.ids))]...), len(f.ids))
	if f.change != nil {
		f.change(f)
	}
	return reply{status: 200, body: out}
}

func many(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("b-%03d", i)
	}
	return out
}

// What stood there all the while is in a listing that says that it is complete.
func TestSeams(t *testing.T) {
	drop := func(n int) func(*fleet) { return func(f *fleet) { f.ids = f.ids[min(n, len(f.ids)):] } }
	once := func(at int, change func(*fleet)) func(*fleet) {
		return func(f *fleet) {
			if f.calls == at {
				change(f)
			}
		}
	}
	for name, test := range map[string]struct {
		fleet *fleet
		want  int // -1: it must fail
	}{
		"calm":                        {&fleet{ids: many(95), size: 20}, 95},
		"exactly full":                {&fleet{ids: many(40), size: 20}, 40},
		"one":                         {&fleet{ids: many(1), size: 20}, 1},
		"none":                        {&fleet{size: 20}, 0},
		"some go between two pages":   {&fleet{ids: many(95), size: 20, change: once(1, drop(7))}, 95},
		"many go between two pages":   {&fleet{ids: many(95), size: 20, change: once(2, drop(15))}, 95},
		"a page goes":                 {&fleet{ids: many(95), size: 20, change: once(2, drop(20))}, 95},
		"the last ones move over":     {&fleet{ids: many(41), size: 20, change: once(2, drop(5))}, 41},
		"some go each time":           {&fleet{ids: many(200), size: 20, change: drop(1)}, -2},
		"a page goes each time":       {&fleet{ids: many(900), size: 20, change: drop(25)}, -2},
		"it does not turn pages":      {&fleet{ids: many(95), size: 20, odd: "deaf"}, -1},
		"it does not turn a few":      {&fleet{ids: many(20), size: 20, odd: "deaf"}, -3},
		"fewer on a page than wanted": {&fleet{ids: many(95), size: 7}, 95},
	} {
		for _, way := range []struct{ name, paging, place, more string }{
			{"by number", "page", "page={page}", "page * %d < body.total"},
			{"by number, shy", "page", "page={page}", ""},
			{"by offset", "offset", "skip={offset}", "offset + count < body.total"},
			{"by offset, shy", "offset", "skip={offset}", ""},
		} {
			t.Run(name+" "+way.name, func(t *testing.T) {
				f := *test.fleet
				f.ids = slices.Clone(f.ids)
				more := way.more
				if strings.Contains(more, "%d") {
					more = fmt.Sprintf(more, f.size)
				}
				all, l, err := listed(t, ask(t, &script{answer: f.serve}, size(20, way.paging, way.place, more)))
				ok := err == nil && l.Complete
				met := map[string]bool{}
				for _, s := range all {
					met[s.ID] = true
				}
				for _, id := range f.ids {
					if ok && !met[id] {
						t.Errorf("%s stood there all the while and is not listed", id)
					}
				}
				switch {
				case test.want >= 0 && (!ok || len(met) != test.want):
					t.Errorf("List = %d, %+v, %v; want %d", len(met), l, err, test.want)
				case test.want == -1 && ok, test.want == -3 && ok && more == "":
					t.Errorf("List = %d, %+v; want an error", len(met), l)
				}
			})
		}
	}
}

func TestPartsThatAreMissing(t *testing.T) {
	for written, want := range map[string]int{`["eu","us"]`: 2, `"eu"`: 1, `true`: 1, `null`: 0, `[]`: 0, `""`: 0, `false`: 0, `{"eu":1}`: 1, `0`: 1} {
		s := &script{answer: says(reply{status: 200, body: `{"boxes":` + boxes("a") + `,"after":null,"unread_zones":` + written + `}`})}
		p := ask(t, s)
		_, l, err := listed(t, p)
		if err != nil || l.Complete != (want == 0) || len(l.Missing) != want {
			t.Errorf("List without %s = %+v, %v; want %d missing", written, l, err, want)
		}
		if found, err := p.Find(t.Context(), "t1"); (err != nil) != (want > 0) || err == nil && len(found) != 1 {
			t.Errorf("Find without %s = %v, %v", written, found, err)
		}
		if found, err := p.Named(t.Context(), "none"); (err != nil) != (want > 0) || len(found) > 0 {
			t.Errorf("Named without %s = %v, %v", written, found, err)
		}
	}
}

// Each scope is listed by itself. One that fails is named, and the others count.
func TestScopes(t *testing.T) {
	scoped := func(a *entry.API) {
		a.List.Path, a.List.Scopes, a.Find = "/zones/{scope}/boxes?after={cursor}", []string{"eu", "us/1"}, entry.APICall{}
	}
	down := ""
	s := &script{answer: func(r *http.Request) reply {
		if down != "" && strings.Contains(r.URL.Path, down) {
			return reply{status: 500, body: `{}`}
		}
		return reply{status: 200, body: `{"boxes":` + boxes(r.URL.EscapedPath()) + `,"after":null}`}
	}}
	p := ask(t, s, scoped)
	all, l, err := listed(t, p)
	if err != nil || !l.Complete || len(all) != 2 || all[1].ID != "/v1/zones/us%2F1/boxes" {
		t.Errorf("List = %+v, %+v, %v; want one of each", all, l, err)
	}
	if found, err := p.Find(t.Context(), "t1"); err != nil || len(found) != 2 { // without a find the lists are searched
		t.Errorf("Find = %+v, %v; want one of each", found, err)
	}
	down = "us"
	if all, l, err := listed(t, p); err != nil || l.Complete || len(all) != 1 || !slices.Equal(l.Missing, []string{"us/1"}) {
		t.Errorf("List with a zone that is down = %+v, %+v, %v", all, l, err)
	}
	if found, err := p.Find(t.Context(), "t1"); err == nil {
		t.Errorf("Find with a zone that is down = %v, want an error", found)
	}
}

// A platform may want its questions as POST, with the cursor in the body.
func TestPostedLists(t *testing.T) {
	posted := func(kind string) func(*entry.API) {
		return func(a *entry.API) {
			a.List.Path, a.List.Method, a.List.Type = "/search", "POST", kind
			a.List.Body = `cursor == "" ? {limit: limit} : {limit: limit, cursor: cursor}`
		}
	}
	for kind, want := range map[string][]string{
		"json": {`{"limit":100}`, `{"cursor":"x","limit":100}`}, "form": {`limit=100`, `cursor=x&limit=100`},
	} {
		n := 0
		s := &script{answer: func(*http.Request) reply {
			if n++; n == 1 {
				return reply{status: 200, body: `{"boxes":` + boxes("a") + `,"after":"x"}`}
			}
			return reply{status: 200, body: `{"boxes":` + boxes("b") + `,"after":null}`}
		}}
		all, l, err := listed(t, ask(t, s, posted(kind)))
		if err != nil || !l.Complete || len(all) != 2 || !slices.Equal(s.sent, want) || s.asked[0].Method != "POST" {
			t.Errorf("%s: List = %d, %+v, %v after %q; want 2 after %q", kind, len(all), l, err, s.sent, want)
		}
	}
}

// Where more is described it decides, and an answer that contradicts itself proves nothing.
func TestMore(t *testing.T) {
	for said, want := range map[string]int{
		`"more":false,"after":"x"`: 2, `"more":false`: 2, `"more":true,"after":null`: -1, `"more":true`: -1, `"more":"no"`: -1,
		`"more":null,"after":null`: -1, `"after":null`: -1,
	} {
		for _, paging := range []string{"cursor", "page", "offset", "link"} {
			place := map[string]string{"page": "page={page}", "offset": "skip={offset}"}[paging]
			s := &script{answer: says(reply{status: 200, body: `{"boxes":` + boxes("a", "b") + `,` + said + `}`})}
			all, l, err := listed(t, ask(t, s, size(2, paging, place, "body.more")))
			if ok := err == nil && l.Complete; ok != (want >= 0) || ok && len(all) != want {
				t.Errorf("%s by %s: List = %d, %+v, %v; want %d", said, paging, len(all), l, err, want)
			}
		}
	}
}
