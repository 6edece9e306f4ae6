package e2b

import (
	"testing"

	"github.com/sandkeeper/sandkeeper/providers/e2b/e2btest"
	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/providertest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
)

// BenchmarkDecode is the adapter's own speed: the answers are replayed without a network.
func BenchmarkDecode(b *testing.B) {
	const fleet = 10_000
	world := simulated.New(simulated.Options{IDs: e2btest.ID})
	providertest.Fleet(world, fleet)
	e := providertest.Entry("e2b", Abilities)
	e.URL = "http://lab.test"
	tape := wiretest.Record(wiretest.Transport(e2btest.New(world, e2btest.Options{Key: e.Token})))
	p, err := New(e, entry.Options{Transport: tape})
	if err != nil {
		b.Fatal(err)
	}
	providertest.Bench(b, p, tape, fleet)
}
