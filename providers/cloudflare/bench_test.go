package cloudflare

import (
	"testing"

	"github.com/sandkeeper/sandkeeper/providers/cloudflare/cloudflaretest"
	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/providertest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
)

const fleet = 10_000

// BenchmarkDecode is the adapter's own speed: the answers are replayed without a network. With
// both halves each sandbox is read twice, and joined.
func BenchmarkDecode(b *testing.B) {
	for name, extra := range map[string]map[string]string{
		"control-plane": {keyAccount: cloudflaretest.Account, keyApplication: cloudflaretest.Application},
		"worker":        {keyWorkerURL: "http://lab.test" + cloudflaretest.WorkerPath, keyWorkerToken: "worker-key"},
		"both": {keyAccount: cloudflaretest.Account, keyApplication: cloudflaretest.Application,
			keyWorkerURL: "http://lab.test" + cloudflaretest.WorkerPath, keyWorkerToken: "worker-key"},
	} {
		b.Run(name, func(b *testing.B) {
			world := simulated.New(simulated.Options{})
			providertest.Fleet(world, fleet)
			e := providertest.Entry("cloudflare", Abilities)
			e.URL, e.Extra = "http://lab.test"+cloudflaretest.ControlPath, extra
			tape := wiretest.Record(wiretest.Transport(cloudflaretest.New(world, cloudflaretest.Options{Key: e.Token})))
			if extra[keyAccount] == "" {
				e.Token = ""
			}
			p, err := New(e, entry.Options{Transport: tape})
			if err != nil {
				b.Fatal(err)
			}
			providertest.Bench(b, p, tape, fleet)
		})
	}
}
