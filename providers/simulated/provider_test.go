package simulated_test

import (
	"testing"

	"github.com/sandkeeper/sandkeeper/providers/providertest"
)

func TestConformance(t *testing.T) {
	providertest.Run(t, func(*testing.T) providertest.Harness {
		world, clock := providertest.World()
		return providertest.Harness{Provider: world.Provider(providertest.Entry("simulated")), World: world, Clock: clock}
	})
}
