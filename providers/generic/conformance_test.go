package generic_test

import (
	"flag"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/generic"
	"github.com/sandkeeper/sandkeeper/providers/generic/generictest"
	"github.com/sandkeeper/sandkeeper/providers/providertest"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/test/raced"
)

// TestMain lets many run at once: most of the promises wait.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// yard is the worked example's description of the boxyard, to the letter.
func yard(tb testing.TB) *entry.API {
	tb.Helper()
	text, err := os.ReadFile("../../deploy/examples/generic-boxyard.yaml")
	if err != nil {
		tb.Fatal(err)
	}
	var in struct{ Providers []struct{ API entry.API } }
	if err := yaml.Unmarshal(text, &in); err != nil {
		tb.Fatal(err)
	}
	return &in.Providers[0].API
}

// A way is one way of paging: how the yard pages, and how that is described.
type way struct {
	server   generictest.Options
	describe func(*entry.API)
	can      func(*wire.Abilities)
}

const pageSize = 20

// paged describes another way of paging.
func paged(paging, place, more string) func(*entry.API) {
	return func(a *entry.API) {
		a.List.Paging, a.List.Next, a.List.More = paging, "", more
		for _, path := range []*string{&a.List.Path, &a.Find.Path} {
			*path = strings.Replace(*path, "after={cursor}", place, 1)
		}
	}
}

var ways = map[string]way{
	"by cursor": {describe: func(*entry.API) {}},
	"by link":   {server: generictest.Options{Paging: "link"}, describe: paged("link", "", "")},
	"by number": {server: generictest.Options{Paging: "page"},
		describe: paged("page", "page={page}", "page * 20 < body.total")},
	"by number until nothing comes": {server: generictest.Options{Paging: "page", Shy: true},
		describe: paged("page", "page={page}", ""), can: func(a *wire.Abilities) { a.Filter = false }}, // one call more
	"by offset": {server: generictest.Options{Paging: "offset"},
		describe: paged("offset", "skip={offset}", "offset + count < body.total")},
	"by offset until nothing comes": {server: generictest.Options{Paging: "offset", Shy: true},
		describe: paged("offset", "skip={offset}", ""), can: func(a *wire.Abilities) { a.Filter = false }},
	"all at once": {server: generictest.Options{Paging: "none"}, describe: paged("none", "", ""),
		can: func(a *wire.Abilities) { a.PageSize = 0 }},
	"read only": {
		describe: func(a *entry.API) {
			*a = entry.API{Headers: a.Headers, Absent: a.Absent, List: a.List, Get: a.Get, Sandbox: a.Sandbox, States: a.States}
			a.List.Path, a.Sandbox.Labels = strings.Replace(a.List.Path, "&tag=project:mine", "", 1), ""
		},
		can: func(a *wire.Abilities) {
			states, size := a.States, a.PageSize
			*a = wire.Abilities{States: states, PageSize: size, Template: true, Sizes: true, ReadOnly: true, OldestFirst: true,
				NameMayBeID: true}
		},
	},
}

// raceWays are the ways of paging that the race detector watches; they differ in one function.
var raceWays = []string{"by cursor", "by link", "read only"}

// The suite runs over real HTTP, for each way of paging.
func TestConformance(t *testing.T) {
	for name, w := range ways {
		if raced.On && !slices.Contains(raceWays, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			can := generic.Abilities
			can.PageSize, can.OldestFirst = pageSize, true
			if w.can != nil {
				w.can(&can)
			}
			providertest.Suite{Can: can, Open: func(t *testing.T) providertest.Harness {
				world, clock := providertest.World(can)
				e := providertest.Entry("generic", can)
				o := w.server
				o.Key = e.Token
				server := httptest.NewServer(generictest.New(world, o))
				t.Cleanup(server.Close)
				e.URL, e.API = server.URL+"/v1", yard(t)
				e.API.List.Size = pageSize
				w.describe(e.API)
				for _, path := range []*string{&e.API.List.Path, &e.API.Find.Path} {
					*path = strings.Replace(*path, "limit=100", "limit=20", 1)
				}
				p, err := generic.New(e, entry.Options{})
				if err != nil {
					t.Fatal(err)
				}
				return providertest.Harness{Provider: p, World: world, Clock: clock}
			}}.Run(t)
		})
	}
}
