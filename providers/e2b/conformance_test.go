package e2b_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/e2b"
	"github.com/sandkeeper/sandkeeper/providers/e2b/e2btest"
	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/providertest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// The suite runs over real HTTP.
func TestConformance(t *testing.T) {
	providertest.Suite{Can: e2b.Abilities, Open: open, Throttles: func(time.Time) []map[string]string {
		return []map[string]string{{"RateLimit-Limit": "20000", "RateLimit-Remaining": "0", "RateLimit-Reset": "3600"}}
	}}.Run(t)
}

func open(t *testing.T) providertest.Harness {
	world, clock := providertest.World(e2b.Abilities, func(o *simulated.Options) {
		o.IDs, o.StartAfter = e2btest.ID, 0 // a start has ended when it is answered
	})
	e := providertest.Entry("e2b", e2b.Abilities)
	server := httptest.NewServer(e2btest.New(world, e2btest.Options{Key: e.Token, TaskLabel: "task_id"}))
	t.Cleanup(server.Close)
	// The domain is the vendor's: what only the vendor has is asked for, too.
	e.URL, e.Extra = server.URL, map[string]string{"sandbox_url": server.URL, "domain": e2b.DefaultDomain,
		"team": e2btest.Team}
	p, err := e2b.New(e, entry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return providertest.Harness{Provider: p, World: world, Clock: clock}
}
