package vercel

import (
	"testing"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/providertest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/vercel/verceltest"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
)

const fleet = 10_000

// BenchmarkDecode is the adapter's own speed: the answers are replayed without a network.
// All of the fleet changed lately, so that every sandbox is read twice.
func BenchmarkDecode(b *testing.B) {
	world := simulated.New(simulated.Options{IDs: verceltest.ID})
	providertest.Fleet(world, fleet)
	e := providertest.Entry("vercel", Abilities)
	e.URL, e.Extra = "http://lab.test", map[string]string{"team": verceltest.Team, "project": verceltest.Project}
	tape := wiretest.Record(wiretest.Transport(verceltest.New(world, verceltest.Options{Key: e.Token})))
	p, err := New(e, entry.Options{Transport: tape})
	if err != nil {
		b.Fatal(err)
	}
	providertest.Bench(b, p, tape, fleet)
}
