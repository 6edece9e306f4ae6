package kubernetes_test

import (
	"net/http/httptest"
	"testing"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/kubernetes"
	"github.com/sandkeeper/sandkeeper/providers/kubernetes/kubernetestest"
	"github.com/sandkeeper/sandkeeper/providers/providertest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire"
)

// conforms runs the suite over real HTTP, for one kind of object.
func conforms(t *testing.T, can wire.Abilities, kind, objects string) {
	providertest.Suite{Can: can, Open: func(t *testing.T) providertest.Harness {
		world, clock := providertest.World(can, func(o *simulated.Options) { o.IDs = kubernetestest.IDs(kind) })
		e := providertest.Entry("kubernetes", can)
		server := httptest.NewServer(kubernetestest.New(world, kubernetestest.Options{Key: e.Token, TaskLabel: "task_id",
			Pullers: map[string]string{"project": "mine"}}))
		t.Cleanup(server.Close)
		e.URL, e.Extra = server.URL, map[string]string{"objects": objects}
		p, err := kubernetes.New(e, entry.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return providertest.Harness{Provider: p, World: world, Clock: clock}
	}}.Run(t)
}

func TestConformance(t *testing.T) { conforms(t, kubernetes.Abilities, "pod", "pods") }

func TestConformanceOfClaims(t *testing.T) {
	can := kubernetes.Claims()
	can.Filter = false // it does, in two listings; the promise counts one call
	conforms(t, can, "claim", "sandboxes")
}

func TestConformanceOfSandboxes(t *testing.T) {
	can := kubernetes.Claims()
	can.Filter = false
	conforms(t, can, "sandbox", "all")
}
