package daytona_test

import (
	"net/http/httptest"
	"testing"

	"github.com/sandkeeper/sandkeeper/providers/daytona"
	"github.com/sandkeeper/sandkeeper/providers/daytona/daytonatest"
	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/providertest"
)

// The suite runs over real HTTP.
func TestConformance(t *testing.T) {
	providertest.Suite{Can: daytona.Abilities, Open: func(t *testing.T) providertest.Harness {
		world, clock := providertest.World(daytona.Abilities)
		e := providertest.Entry("daytona", daytona.Abilities)
		server := httptest.NewServer(daytonatest.New(world, daytonatest.Options{Key: e.Token, TaskLabel: "task_id"}))
		t.Cleanup(server.Close)
		e.URL = server.URL + "/api"
		p, err := daytona.New(e, entry.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return providertest.Harness{Provider: p, World: world, Clock: clock}
	}}.Run(t)
}
