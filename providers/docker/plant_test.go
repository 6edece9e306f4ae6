package docker_test

import (
	"net/http/httptest"
	"testing"

	"github.com/sandkeeper/sandkeeper/providers/docker"
	"github.com/sandkeeper/sandkeeper/providers/docker/dockertest"
	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/providertest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// TestCanaryThatDoesNotStart: what was made and cannot be started is removed, so that it is none.
func TestCanaryThatDoesNotStart(t *testing.T) {
	world, _ := providertest.World(docker.Abilities, func(o *simulated.Options) { o.IDs = dockertest.IDs })
	e := providertest.Entry("docker", docker.Abilities)
	server := httptest.NewServer(dockertest.New(world, dockertest.Options{Key: e.Token}))
	t.Cleanup(server.Close)
	e.URL = server.URL
	p, err := docker.New(e, entry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	world.PutTemplate(simulated.Template{Name: "light"})
	world.Inject(simulated.Fault{On: simulated.Start, Effect: simulated.Answer, Status: 500, Body: `{"message":"rlimits"}`})
	if id, err := p.Plant(t.Context(), "light", "canary-1"); err == nil || id != "" {
		t.Errorf("Plant = %q, %v; want an error and no sandbox", id, err)
	}
	for _, b := range world.Sandboxes() {
		if !b.Gone {
			t.Errorf("%s is left", b.ID)
		}
	}
}
