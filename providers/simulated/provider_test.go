package simulated_test

import (
	"testing"

	"github.com/sandkeeper/sandkeeper/providers/empty"
	"github.com/sandkeeper/sandkeeper/providers/providertest"
	"github.com/sandkeeper/sandkeeper/providers/wire"
)

func TestConformance(t *testing.T) { suite(empty.Abilities).Run(t) }

// Where nothing has labels, ownership goes by the name, and tasks name their sandbox.
func TestConformanceByName(t *testing.T) {
	can := empty.Abilities
	can.Labels = false
	suite(can).Run(t)
}

func suite(can wire.Abilities) providertest.Suite {
	return providertest.Suite{Can: can, Direct: true, Open: func(*testing.T) providertest.Harness {
		world, clock := providertest.World(can)
		p := world.Provider(providertest.Entry("simulated", can))
		return providertest.Harness{Provider: p, World: world, Clock: clock}
	}}
}
