package agentuity_test

import (
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/agentuity"
	"github.com/sandkeeper/sandkeeper/providers/agentuity/agentuitytest"
	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/providertest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// The suite runs over real HTTP, once with one data plane, as the vendor's client has it
// with an address of its own, and once with three regions that the control plane names.
func TestConformance(t *testing.T) {
	for name, regions := range map[string][]string{"one": {"usc"}, "three": {"usc", "usw", "use"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			providertest.Suite{Can: agentuity.Abilities, Throttles: throttles, Open: func(t *testing.T) providertest.Harness {
				world, clock := providertest.World(agentuity.Abilities, func(o *simulated.Options) { o.IDs = agentuitytest.IDs })
				e := providertest.Entry("agentuity", agentuity.Abilities)
				server := httptest.NewServer(agentuitytest.New(world, agentuitytest.Options{Key: e.Token, Regions: regions}))
				t.Cleanup(server.Close)
				e.URL = server.URL
				e.Extra = map[string]string{"org": "org_1"}
				if len(regions) > 1 {
					e.Extra["region"] = "usc, usw, use"
					e.Extra["catalyst"] = server.URL + "/{region}"
				}
				p, err := agentuity.New(e, entry.Options{})
				if err != nil {
					t.Fatal(err)
				}
				return providertest.Harness{Provider: p, World: world, Clock: clock}
			}}.Run(t)
		})
	}
}

// throttles are an hour in the headers that the vendor's client reads.
func throttles(now time.Time) []map[string]string {
	return []map[string]string{
		{"X-RateLimit-Reset": strconv.FormatInt(now.Add(time.Hour).Unix(), 10)},
		{"X-RateLimit-Retry-After": "3600"},
	}
}
