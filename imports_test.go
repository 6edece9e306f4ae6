// Package sandkeeper holds the tests of the tree as a whole: who may import whom, and that
// the texts for people agree with what is there.
package sandkeeper

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/sandkeeper/sandkeeper"

// A place says what the packages that match its pattern may import. The tree has few
// places, and each looks only inwards, to reconcile.
type place struct {
	pattern string   // by path.Match, relative to the module
	ours    []string // patterns of our packages that its code may import
	never   []string // packages, with all below them, that may not even be reached indirectly
	not     []string // packages, with all below them, that its code may not import itself
}

// places are tried in order, the first match decides. A package without a place fails the
// test: it gets a line here, with thought.
var places = []place{
	{pattern: ".", ours: []string{"reconcile"}},
	{pattern: "cmd/sandkeeper", ours: []string{"*", "*/*", "*/*/*"}},
	{pattern: "cmd/sandkeeper-demo", ours: []string{"cmd/sandkeeper/console", "reconcile", "providers/simulated",
		"providers/*/*test", "store/ledger", "store/pgtest"}},
	{pattern: "cmd/sandkeeper-sim", ours: []string{"reconcile", "providers", "providers/entry", "providers/simulated",
		"providers/*/*test"}, never: databases},
	// What the file says, for whoever runs: no verb, no page, and no database is opened.
	{pattern: "cmd/sandkeeper/config", ours: []string{"reconcile", "store/tasks", "store/tasks/mapping", "providers"},
		never: append(slices.Clone(pages), "github.com/spf13/cobra")},
	// How a verb speaks: it knows nothing of what it shows.
	{pattern: "cmd/sandkeeper/console", never: slices.Concat(effects, pages)},
	// What a verb says, of what it is given: it opens and reads nothing.
	{pattern: "cmd/sandkeeper/result", ours: []string{"cmd/sandkeeper/console", "reconcile", "reconcile/view", "reconcile/decide",
		"reconcile/backtest", "reconcile/run", "web", "web/chart"}, never: append(slices.Clone(databases), "github.com/spf13/cobra")},
	// How a verb is called: it knows none.
	{pattern: "cmd/sandkeeper/verb", ours: []string{"cmd/sandkeeper/console", "reconcile"}, never: effects},
	// What check finds: no verb.
	{pattern: "cmd/sandkeeper/check", ours: []string{"cmd/sandkeeper/app", "cmd/sandkeeper/config", "cmd/sandkeeper/console",
		"reconcile", "store", "store/tasks", "store/tasks/mapping", "store/queue", "providers", "providers/empty",
		"web/serve"},
		never: []string{"github.com/spf13/cobra"}},
	// What the config names, opened: no verb.
	{pattern: "cmd/sandkeeper/app", ours: []string{"cmd/sandkeeper/config", "cmd/sandkeeper/console",
		"cmd/sandkeeper/telemetry", "reconcile", "reconcile/backtest", "reconcile/run", "store", "store/tasks", "store/tasks/mapping",
		"store/ledger", "store/queue", "providers", "web/api", "web/serve", "alerts"},
		never: []string{"github.com/spf13/cobra"}},
	{pattern: "cmd/sandkeeper/app/webhooktest", never: databases},
	// What is sent to a collector: it knows nothing of what is done.
	{pattern: "cmd/sandkeeper/telemetry/telemetrytest", never: databases},
	{pattern: "cmd/sandkeeper/telemetry", ours: []string{"reconcile"}, never: databases},
	// The contract: data, the table of rules, the ports.
	{pattern: "reconcile", never: effects},
	{pattern: "reconcile/text", never: effects}, // how texts are said, knows none
	// Pure: no context, no clock, no I/O.
	{pattern: "reconcile/asked", ours: []string{"reconcile"}, never: effects, not: impure},
	{pattern: "reconcile/fleet", ours: []string{"reconcile"}, never: effects, not: impure},
	{pattern: "reconcile/score", ours: []string{"reconcile"}, never: effects, not: impure},
	{pattern: "reconcile/view", ours: []string{"reconcile"}, never: effects, not: impure},
	{pattern: "reconcile/rules", ours: []string{"reconcile", "reconcile/view"}, never: effects, not: impure},
	{pattern: "reconcile/decide", ours: []string{"reconcile", "reconcile/fleet", "reconcile/view", "reconcile/rules"},
		never: effects, not: impure},
	{pattern: "reconcile/backtest", ours: []string{"reconcile", "reconcile/view", "reconcile/rules", "reconcile/decide"}, never: effects, not: impure},
	{pattern: "reconcile/run", ours: []string{"reconcile", "reconcile/fleet", "reconcile/view", "reconcile/rules",
		"reconcile/decide"}, never: effects},
	{pattern: "reconcile/guards"}, // reads code, knows none
	// Support for tests: a whole world around the passes.
	{pattern: "reconcile/worldtest", ours: []string{"reconcile"}, never: effects},
	{pattern: "reconcile/simtest/history", never: databases}, // data, plays nothing
	{pattern: "reconcile/simtest/platform", ours: []string{"reconcile", "reconcile/view", "reconcile/decide", "reconcile/run",
		"reconcile/simtest/history", "providers/simulated", "providers/entry", "store/memory", "store/protocol"},
		never: databases},
	// What the product says of itself, held against what is true: it reads the page.
	{pattern: "reconcile/simtest/told", ours: []string{"reconcile", "reconcile/run", "reconcile/simtest/history",
		"reconcile/simtest/platform", "web"}, never: databases},
	{pattern: "reconcile/simtest", ours: []string{"reconcile", "reconcile/view", "reconcile/decide", "reconcile/run",
		"reconcile/simtest/history", "reconcile/simtest/platform", "reconcile/simtest/told", "reconcile/worldtest",
		"providers/simulated", "store/memory"}, never: databases},
	{pattern: "reconcile/simtest/*", ours: []string{"reconcile", "reconcile/run", "reconcile/simtest",
		"reconcile/simtest/history", "reconcile/simtest/platform", "providers/simulated"}, never: databases},
	{pattern: "store", never: append(slices.Clone(pages), "net/http")},
	// What a database's tables are, and what they are taken for: it opens none.
	{pattern: "store/tasks/propose", ours: []string{"reconcile", "store", "store/tasks", "store/tasks/mapping"}, never: pages},
	{pattern: "store/tasks", ours: []string{"reconcile", "reconcile/fleet", "store", "store/tasks/mapping", "store/tasks/sqltext"}, never: pages},
	{pattern: "store/tasks/mapping", ours: []string{"reconcile", "store", "store/tasks/sqltext"}, never: pages}, // data
	{pattern: "store/tasks/sqltext", never: pages}, // texts, opens nothing
	{pattern: "store/ledger", ours: []string{"reconcile", "store", "store/protocol"}, never: pages},
	{pattern: "store/protocol", ours: []string{"reconcile"}, never: effects}, // decides as well
	{pattern: "store/memory", ours: []string{"reconcile", "store/protocol"}, never: databases},
	{pattern: "store/storetest", ours: []string{"reconcile", "reconcile/guards", "store/protocol", "store/pgtest"}, never: pages},
	{pattern: "store/pgtest", ours: []string{"test/ports"}, never: pages}, // starts servers: knows nothing of the program
	{pattern: "store/queue", ours: []string{"reconcile", "store", "store/ledger", "store/protocol"}, never: pages},
	{pattern: "providers", ours: []string{"reconcile", "providers/*"}, never: databases},
	{pattern: "providers/entry", ours: []string{"reconcile"}, never: databases},
	{pattern: "providers/wire", ours: []string{"reconcile", "providers/entry"}, never: databases},
	{pattern: "providers/providertest", ours: []string{"test/raced", "reconcile", "providers/simulated", "providers/entry",
		"providers/wire", "providers/wire/wiretest"}, never: databases},
	// The languages of a description: they know no provider.
	{pattern: "providers/formula", never: effects},
	{pattern: "providers/generic", ours: []string{"reconcile", "providers/entry", "providers/wire", "providers/formula"},
		never: databases},
	// Adapters do not know each other.
	{pattern: "providers/*", ours: []string{"reconcile", "providers/entry", "providers/wire"}, never: databases},
	{pattern: "providers/*/*test", ours: []string{"reconcile", "providers/simulated", "providers/wire/wiretest"},
		never: databases},
	// What the page says is made of data; who may read it, and how, is the listener's.
	{pattern: "web", ours: []string{"reconcile", "reconcile/score", "web/chart", "web/fleet", "web/fresh", "web/passes",
		"web/ui"}, never: databases, not: []string{"net"}},
	{pattern: "web/chart", never: databases, not: []string{"net"}},
	{pattern: "web/fleet", ours: []string{"reconcile", "web/chart", "web/ui"}, never: databases, not: []string{"net"}},
	{pattern: "web/passes", ours: []string{"reconcile", "web/chart", "web/ui"}, never: databases, not: []string{"net"}},
	{pattern: "web/fresh", ours: []string{"reconcile"}, never: databases, not: []string{"net"}},
	{pattern: "web/act", ours: []string{"reconcile", "web/api", "web/ui"}, never: databases, not: []string{"net"}},
	// What every page is made of: it knows no reading.
	{pattern: "web/ui", ours: []string{"reconcile"}, never: databases, not: []string{"net"}},
	// The documents for programs, made of data as well.
	{pattern: "web/api", ours: []string{"reconcile"}, never: databases, not: []string{"net"}},
	{pattern: "web/serve", ours: []string{"reconcile", "reconcile/asked", "web", "web/act", "web/api", "web/fresh", "web/ui"},
		never: databases},
	{pattern: "web/webtest", ours: []string{"reconcile"}, never: databases},
	{pattern: "alerts", ours: []string{"reconcile", "alerts/*"}, never: databases},
	{pattern: "alerts/*", ours: []string{"reconcile", "test/ports"}, never: databases},
	{pattern: "deploy", ours: []string{"alerts"}}, // its tests alone: the chart writes the rules that the program prints
	// For programs of others: it knows the document alone.
	{pattern: "client", never: databases},
	{pattern: "examples/*", ours: []string{"reconcile", "providers", "providers/entry", "client"}, never: databases},
	{pattern: "docs/site", never: databases}, // reads texts, knows nothing of ours
	{pattern: "test/raced", never: effects},
	{pattern: "test/ports", never: databases},
	{pattern: "test/scale", ours: []string{"store/pgtest", "test/ports", "test/scale/bare"}}, // measures the program from outside
	{pattern: "test/scale/bare"},                                                             // reads what a pass reads, knows nothing of ours
	{pattern: "test/vendors"},                                                                // tests alone, of the program and of the simulators
	{pattern: "test/platforms"},                                                              // tests alone, of the program on real platforms' tables
}

// databases are the ways to a database that only store and cmd know.
var databases = []string{"database/sql", "github.com/jackc", "github.com/riverqueue"}

// everywhere is what every package may import: it imports nothing of ours.
const everywhere = "reconcile/text"

// effects have no business where it is decided.
var effects = append(slices.Clone(databases), "net/http", "go.opentelemetry.io")

// impure are the packages that read clocks, chance or the world outside.
var impure = []string{
	"context", "os", "net", "log", "io", "sync", "syscall", "runtime", "math/rand", "crypto/rand", "bufio",
	"embed", "testing", "golang.org/x/sync",
}

// pages are made by web and alerts: store serves none.
var pages = []string{"github.com/prometheus", "github.com/a-h/templ"}

// forTests are made for tests: those of every package may import them, and their own
// folder's packages besides.
var forTests = []string{
	"store/memory", "store/storetest", "store/pgtest", "test/raced", "test/ports",
	"providers/simulated", "providers/providertest", "providers/*/*test", "reconcile/guards", "reconcile/worldtest",
	"alerts/alertstest",
}

// notShipped is what the program may not reach: simulators, and what starts a PostgreSQL. The demo
// is a program of its own.
var notShipped = []string{"cmd/sandkeeper-demo", "cmd/sandkeeper-sim", "client", "examples/*", "store/pgtest", "store/storetest", "providers/simulated",
	"providers/providertest", "providers/wire/wiretest", "providers/*/*test", "reconcile/simtest", "reconcile/simtest/*", "reconcile/worldtest",
	"cmd/sandkeeper/app/webhooktest", "web/webtest", "alerts/alertstest", "test/ports"}

// left is what a build does without by each tag.
var left = map[string]string{"nokubernetes": "k8s.io/", "nodocker": "github.com/moby/moby/",
	"nomcp": "github.com/modelcontextprotocol/"}

func TestShipped(t *testing.T) {
	watch(t)
	deps := func(args ...string) []string {
		return strings.Fields(string(run(t, "go", append([]string{"list", "-deps"}, append(args, "./cmd/sandkeeper")...)...)))
	}
	whole := deps()
	for _, to := range ours(whole) {
		if matches(notShipped, to) {
			t.Errorf("cmd/sandkeeper must not reach %s: it is for tests and for the demo", to)
		}
	}
	for tag, library := range left {
		of := func(p string) bool { return strings.HasPrefix(p, library) }
		if !slices.ContainsFunc(whole, of) || slices.ContainsFunc(deps("-tags", tag), of) {
			t.Errorf("-tags %s must be what leaves %s out", tag, library)
		}
	}
}

// A pkg is what `go list -json` says of a package.
type pkg struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
	Deps                               []string
}

func TestArrows(t *testing.T) {
	for _, p := range list(t) {
		for _, problem := range p.problems() {
			t.Error(problem)
		}
	}
}

// TestArrowsAreSeen draws arrows that are forbidden, so that the test above is known to
// find them.
func TestArrowsAreSeen(t *testing.T) {
	const pgx = "github.com/jackc/pgx/v5"
	cases := map[string]struct {
		p    pkg
		want []string
	}{
		"cmd may import all": {p: code("cmd/sandkeeper", "web", "store/pgtest", "providers/daytona/daytonatest")},
		"the console shows what it is given": {
			p: code("cmd/sandkeeper/console", "reconcile"), want: []string{"cmd/sandkeeper/console must not import reconcile"}},
		"what is opened knows no verb": {
			p:    code("cmd/sandkeeper/app", "cmd/sandkeeper"),
			want: []string{"cmd/sandkeeper/app must not import cmd/sandkeeper"}},
		"what is said reads nothing": {
			p: code("cmd/sandkeeper/result", "cmd/sandkeeper/app", "store/ledger"),
			want: []string{"cmd/sandkeeper/result must not import cmd/sandkeeper/app",
				"cmd/sandkeeper/result must not import store/ledger"}},
		"the task table may import reconcile": {p: code("store/tasks", "reconcile")},
		"what decides reads no clock": {
			p:    pkg{ImportPath: module + "/reconcile/decide", Imports: []string{"context", "fmt"}},
			want: []string{"reconcile/decide must not import context"}},
		"what decides does nothing": {
			p: code("reconcile/decide", "reconcile/run"), want: []string{"reconcile/decide must not import reconcile/run"}},
		"the switch opens an adapter": {p: code("providers", "reconcile", "providers/daytona")},
		"reconcile imports none of ours": {
			p: code("reconcile", "store/memory"), want: []string{"reconcile must not import store/memory"}},
		"reconcile's tests may import the memory ledger": {
			p: tests("reconcile", "store/memory", "providers/simulated", "providers/daytona/daytonatest")},
		"reconcile's tests may not import the real ledger": {
			p: tests("reconcile", "store/ledger"), want: []string{"reconcile's tests must not import store/ledger"}},
		"store does not import providers": {
			p: code("store/ledger", "providers"), want: []string{"store/ledger must not import providers"}},
		"the page does not import the metrics": {
			p: code("web", "alerts"), want: []string{"web must not import alerts"}},
		"the page knows no listener": {
			p: code("web", "web/serve"), want: []string{"web must not import web/serve"}},
		"the page is made without HTTP": {
			p:    pkg{ImportPath: module + "/web", Imports: []string{"net/http", "time"}},
			want: []string{"web must not import net/http"}},
		"adapters do not know each other": {
			p: code("providers/e2b", "providers/daytona"), want: []string{"providers/e2b must not import providers/daytona"}},
		"an adapter uses the common client": {p: code("providers/e2b", "providers/wire", "providers/entry")},
		"the common client knows no adapter": {
			p: code("providers/wire", "providers/daytona"), want: []string{"providers/wire must not import providers/daytona"}},
		"a simulator stands behind the common front": {
			p: code("providers/e2b/e2btest", "providers/wire/wiretest", "providers/simulated")},
		"an adapter's code uses no simulator": {
			p:    code("providers/e2b", "providers/wire/wiretest"),
			want: []string{"providers/e2b must not import providers/wire/wiretest"}},
		"an adapter's tests use its own simulator": {p: tests("providers/daytona", "providers/daytona/daytonatest")},
		"a folder's tests may import its packages": {p: tests("store/ledger", "store", "store/pgtest")},
		"a test's package is not code": {
			p: code("store", "store/pgtest"), want: []string{"store must not import store/pgtest"}},
		"reconcile reaches no pgx": {
			p:    pkg{ImportPath: module + "/reconcile", Deps: []string{pgx, "time"}},
			want: []string{"reconcile must not reach " + pgx}},
		"reconcile reaches no HTTP": {
			p:    pkg{ImportPath: module + "/reconcile", Deps: []string{"net/http/httptest", "net/url"}},
			want: []string{"reconcile must not reach net/http/httptest"}},
		"store reaches pgx": {p: pkg{ImportPath: module + "/store", Deps: []string{pgx}}},
		"a new folder needs a place": {
			p: code("util"), want: []string{"util has no place in the tree: see places in imports_test.go"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := c.p.problems(); !slices.Equal(got, c.want) {
				t.Errorf("problems(%s) = %q, want %q", c.p.name(), got, c.want)
			}
		})
	}
}

func code(name string, imports ...string) pkg {
	return pkg{ImportPath: module + "/" + name, Imports: absolute(imports)}
}

func tests(name string, imports ...string) pkg {
	return pkg{ImportPath: module + "/" + name, XTestImports: absolute(imports)}
}

func absolute(names []string) []string {
	for i := range names {
		names[i] = module + "/" + names[i]
	}
	return names
}

func (p pkg) name() string { return relative(p.ImportPath) }

// problems are the arrows from p that are not allowed, each said in a sentence.
func (p pkg) problems() []string {
	home, ok := p.place()
	if !ok {
		return []string{p.name() + " has no place in the tree: see places in imports_test.go"}
	}
	var found []string
	for _, to := range ours(p.Imports) {
		if to != everywhere && !matches(home.ours, to) {
			found = append(found, p.name()+" must not import "+to)
		}
	}
	for _, to := range p.Imports {
		if below(home.not, to) {
			found = append(found, p.name()+" must not import "+to)
		}
	}
	for _, to := range ours(slices.Concat(p.TestImports, p.XTestImports)) {
		if !p.testMayImport(home, to) {
			found = append(found, p.name()+"'s tests must not import "+to)
		}
	}
	for _, to := range p.Deps {
		// Interfaces only, which open nothing: libraries that make UUIDs know them.
		harmless := to == "database/sql/driver"
		if !harmless && below(home.never, to) {
			found = append(found, p.name()+" must not reach "+to)
		}
	}
	return found
}

// below reports whether one of the packages is this one, or above it.
func below(packages []string, to string) bool {
	return slices.ContainsFunc(packages, func(n string) bool { return to == n || strings.HasPrefix(to, n+"/") })
}

func (p pkg) place() (place, bool) {
	for _, home := range places {
		if matches([]string{home.pattern}, p.name()) {
			return home, true
		}
	}
	return place{}, false
}

func (p pkg) testMayImport(home place, to string) bool {
	return to == everywhere || matches(home.ours, to) || matches(forTests, to) || top(to) == top(p.name())
}

// top is the first folder of a package's name.
func top(name string) string {
	first, _, _ := strings.Cut(name, "/")
	return first
}

// ours are those of the packages that are of this module, relative to it, once each.
func ours(paths []string) []string {
	found := map[string]bool{}
	for _, p := range paths {
		if p == module || strings.HasPrefix(p, module+"/") {
			found[relative(p)] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func relative(importPath string) string {
	if importPath == module {
		return "."
	}
	return strings.TrimPrefix(importPath, module+"/")
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}

// list reads the packages of this module, also those that do not build at the moment.
func list(t *testing.T) []pkg {
	t.Helper()
	watch(t)
	decoder := json.NewDecoder(bytes.NewReader(run(t, "go", "list", "-e", "-json", "./...")))
	var found []pkg
	for {
		var p pkg
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatalf("read what go list said: %v", err)
		}
		found = append(found, p)
	}
}

// run returns what a command printed.
func run(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	var complaints bytes.Buffer
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w: %s", cmd, err, complaints.String()))
	}
	return out
}
