package serve

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the table of docs/http.md anew")

// table are all routes, which nothing answers.
func table() []route { return routes(newSite(Options{})) }

// TestRowsThatBreakRules are not served, whatever they say of themselves.
func TestRowsThatBreakRules(t *testing.T) {
	nothing := func(r *route) {}
	for name, c := range map[string]struct {
		change func(*route)
		want   string // "" when it is served
	}{
		"an act":       {nothing, ""},
		"by a session": {func(r *route) { r.by = []credential{bySession, byActToken} }, ""},
		"data for programs": {func(r *route) {
			r.method, r.kind, r.role, r.by = "GET", kindData, roleReader, []credential{byReadToken}
		}, ""},
		"a health check":           {func(r *route) { r.method, r.kind, r.role, r.by = "GET", kindHealth, roleNone, nil }, ""},
		"a kind without rules":     {func(r *route) { r.kind = "webhook" }, "no rules for its kind"},
		"no kind":                  {func(r *route) { r.kind = "" }, "no rules for its kind"},
		"no path":                  {func(r *route) { r.path = "" }, "does not begin with a slash"},
		"a path of a host":         {func(r *route) { r.path = "evil.example/" }, "does not begin with a slash"},
		"nothing behind it":        {func(r *route) { r.to = nil }, "nothing answers"},
		"another listener":         {func(r *route) { r.on = "" }, "no such listener"},
		"an act by a link":         {func(r *route) { r.method = "GET" }, "what changes something is a POST"},
		"an act by another method": {func(r *route) { r.method = "DELETE" }, "what changes something is a POST"},
		"a program's act by DELETE": {func(r *route) {
			r.method, r.path, r.by = "DELETE", "/api/x", []credential{byActToken}
		}, ""},
		"a page's act by DELETE": {func(r *route) {
			r.method, r.path, r.by = "DELETE", "/api/x", []credential{byActToken, bySession}
		}, "what changes something is a POST"},
		"an act by DELETE beside the API": {func(r *route) {
			r.method, r.by = "DELETE", []credential{byActToken}
		}, "what changes something is a POST"},
		"an act by every method":    {func(r *route) { r.method = "" }, "what changes something is a POST"},
		"a page that is posted to":  {func(r *route) { r.kind = kindPage }, "what changes nothing is a GET"},
		"an act of a reader":        {func(r *route) { r.role = roleReader }, "nobody but an operator"},
		"an act of anybody":         {func(r *route) { r.role, r.by = roleNone, nil }, "nobody but an operator"},
		"a page for anybody":        {func(r *route) { r.method, r.kind, r.role = "GET", kindPage, roleNone }, "nothing but a health check"},
		"a health check with texts": {func(r *route) { r.method, r.kind, r.role, r.tenants = "GET", kindHealth, roleNone, true }, "not for anybody"},
		"a session":                 {func(r *route) { r.kind, r.role = kindSession, roleReader }, ""},
		"a session by a link":       {func(r *route) { r.method, r.kind, r.role = "GET", kindSession, roleReader }, "by a POST"},
		"a session for anybody":     {func(r *route) { r.kind, r.role, r.by = kindSession, roleNone, nil }, "nothing but a health check"},
		"tools for agents":          {func(r *route) { r.kind, r.role, r.by = kindAgent, roleReader, []credential{byReadToken} }, ""},
		"tools for agents by a link": {func(r *route) {
			r.method, r.kind, r.role, r.by = "GET", kindAgent, roleReader, []credential{byReadToken}
		}, "by a POST"},
		"tools for agents by a browser": {func(r *route) { r.kind, r.role = kindAgent, roleReader }, "by programs alone"},
		"tools for anybody":             {func(r *route) { r.kind, r.role, r.by = kindAgent, roleNone, nil }, "nothing but a health check"},
		"what is pushed": {func(r *route) {
			r.kind, r.role, r.by = kindPush, roleNone, []credential{bySignature}
		}, ""},
		"what is pushed by a link": {func(r *route) {
			r.method, r.kind, r.role, r.by = "GET", kindPush, roleNone, []credential{bySignature}
		}, "by a POST"},
		"what is pushed by nobody": {func(r *route) { r.kind, r.role, r.by = kindPush, roleNone, nil }, "a signature alone"},
		"what is pushed by a user": {func(r *route) { r.kind, r.role = kindPush, roleReader }, "a signature alone"},
		"an act by a signature":    {func(r *route) { r.by = []credential{bySignature} }, "and nobody"},
		"no credential":            {func(r *route) { r.by = nil }, "no credential counts"},
		"no word on caches":        {func(r *route) { r.cache = "" }, "who may keep it"},
		"an act that is kept":      {func(r *route) { r.cache = keptByVersion }, "nothing but an asset"},
		"a page that is kept":      {func(r *route) { r.method, r.kind, r.cache = "GET", kindPage, keptByVersion }, "nothing but an asset"},
	} {
		t.Run(name, func(t *testing.T) {
			row := done("/x")
			c.change(&row)
			h, err := newRouter(newSite(options()), []route{row})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("newRouter = %v, want %q", err, c.want)
			}
			for _, method := range everyMethod {
				if got := ask(h, method, "/x").Code; c.want != "" && got != http.StatusNotFound {
					t.Errorf("a row that breaks a rule answers %s with %d", method, got)
				}
			}
		})
	}
	if _, err := newRouter(newSite(options()), table()); err != nil {
		t.Errorf("the table of what is served: %v", err)
	}
}

// TestRoutesAreTold: docs/http.md has the table as it is.
func TestRoutesAreTold(t *testing.T) {
	const begin, end = "<!-- routes, written by go test ./web/serve -run TestRoutesAreTold -update -->\n", "<!-- end of routes -->\n"
	file := filepath.Join("..", "..", "docs", "http.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	got, after, whole := strings.Cut(rest, end)
	if !ok || !whole {
		t.Fatalf("%s has no place for the table", file)
	}
	want := "\n" + told(table()) + "\n"
	if *update {
		if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
		got = want
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got), -update writes it anew:\n%s", file, diff)
	}
}

// told is the table for a person.
func told(table []route) string {
	var b strings.Builder
	b.WriteString("| method | path | what | who may | who he is is shown by | changes something | texts of tenants | kept by caches | at |\n" +
		"|---|---|---|---|---|---|---|---|---|\n")
	yes := map[bool]string{true: "yes", false: "no"}
	for _, r := range table {
		by, who := []string{}, r.role.String()
		for _, c := range r.by {
			by = append(by, string(c))
		}
		if r.kind == kindPush {
			who = "who signs as a provider"
		} else if r.role == roleNone {
			by, who = []string{"—"}, "anybody"
		}
		cells := []string{r.method, "`" + strings.TrimSuffix(r.path, "{$}") + "`", string(r.kind), who, strings.Join(by, ", "),
			yes[r.changes()], yes[r.tenants], string(r.cache), "`" + string(r.on) + "`"}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	return b.String()
}
