package agentuity

import (
	"testing"

	"github.com/sandkeeper/sandkeeper/providers/agentuity/agentuitytest"
	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/providertest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
)

const fleet = 10_000

// BenchmarkDecode is the adapter's own speed: the answers are replayed without a network.
func BenchmarkDecode(b *testing.B) {
	world := simulated.New(simulated.Options{IDs: agentuitytest.IDs})
	providertest.Fleet(world, fleet)
	e := providertest.Entry("agentuity", Abilities)
	e.URL = "http://lab.test"
	tape := wiretest.Record(wiretest.Transport(agentuitytest.New(world, agentuitytest.Options{Key: e.Token})))
	p, err := New(e, entry.Options{Transport: tape})
	if err != nil {
		b.Fatal(err)
	}
	providertest.Bench(b, p, tape, fleet)
}
