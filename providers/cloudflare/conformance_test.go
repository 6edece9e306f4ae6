package cloudflare_test

import (
	"net/http/httptest"
	"testing"

	"github.com/sandkeeper/sandkeeper/providers/cloudflare"
	"github.com/sandkeeper/sandkeeper/providers/cloudflare/cloudflaretest"
	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/providertest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire"
)

const workerToken = "worker-secret-key"

// A half is what of the two halves an entry configures.
type half struct {
	control, worker bool
}

// configure makes the suite's entry for a server.
func configure(can wire.Abilities, h half, url string) entry.Entry {
	e := providertest.Entry("cloudflare", can)
	e.Extra = map[string]string{}
	if h.worker {
		e.Extra["worker_url"], e.Extra["worker_token"] = url+cloudflaretest.WorkerPath, workerToken
	}
	if h.control {
		e.URL = url + cloudflaretest.ControlPath
		e.Extra["account"], e.Extra["application"] = cloudflaretest.Account, cloudflaretest.Application
	} else {
		e.Token = ""
	}
	return e
}

// The suite runs over real HTTP, for both halves together and for each alone.
func TestConformance(t *testing.T) {
	for name, test := range map[string]struct {
		can  wire.Abilities
		half half
		ids  func(int) string
	}{
		"both halves":      {can: cloudflare.Abilities, half: half{true, true}},
		"the Worker alone": {can: cloudflare.WorkerAlone, half: half{worker: true}},
		"the control plane alone": {can: cloudflare.ControlPlaneAlone, half: half{control: true},
			ids: cloudflaretest.ObjectIDs},
	} {
		t.Run(name, func(t *testing.T) {
			providertest.Suite{Can: test.can, Open: func(t *testing.T) providertest.Harness {
				world, clock := providertest.World(test.can, func(o *simulated.Options) { o.IDs = test.ids })
				server := httptest.NewServer(cloudflaretest.New(world, cloudflaretest.Options{Key: "secret-key",
					WorkerToken: workerToken}))
				t.Cleanup(server.Close)
				p, err := cloudflare.New(configure(test.can, test.half, server.URL), entry.Options{})
				if err != nil {
					t.Fatal(err)
				}
				return providertest.Harness{Provider: p, World: world, Clock: clock}
			}}.Run(t)
		})
	}
}
