package generic_test

import (
	"testing"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/generic"
	"github.com/sandkeeper/sandkeeper/providers/generic/generictest"
	"github.com/sandkeeper/sandkeeper/providers/providertest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
)

// BenchmarkDecode is the adapter's own speed: the answers are replayed without a network.
func BenchmarkDecode(b *testing.B) {
	const fleet = 10_000
	world := simulated.New(simulated.Options{})
	providertest.Fleet(world, fleet)
	e := providertest.Entry("generic", generic.Abilities)
	e.URL, e.API = "http://lab.test/v1", yard(b)
	tape := wiretest.Record(wiretest.Transport(generictest.New(world, generictest.Options{Key: e.Token})))
	p, err := generic.New(e, entry.Options{Transport: tape})
	if err != nil {
		b.Fatal(err)
	}
	providertest.Bench(b, p, tape, fleet)
}
