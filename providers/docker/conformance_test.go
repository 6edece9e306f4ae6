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

// The suite runs over real HTTP, once for each make of engine.
func TestConformance(t *testing.T) {
	for name, podman := range map[string]bool{"docker": false, "podman": true} {
		t.Run(name, func(t *testing.T) {
			providertest.Suite{Can: docker.Abilities, Open: func(t *testing.T) providertest.Harness {
				world, clock := providertest.World(docker.Abilities, func(o *simulated.Options) { o.IDs = dockertest.IDs })
				e := providertest.Entry("docker", docker.Abilities)
				server := httptest.NewServer(dockertest.New(world, dockertest.Options{Key: e.Token, TaskLabel: "task_id",
					Podman: podman}))
				t.Cleanup(server.Close)
				e.URL = server.URL
				p, err := docker.New(e, entry.Options{})
				if err != nil {
					t.Fatal(err)
				}
				return providertest.Harness{Provider: p, World: world, Clock: clock}
			}}.Run(t)
		})
	}
}
