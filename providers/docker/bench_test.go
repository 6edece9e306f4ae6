package docker_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/sandkeeper/sandkeeper/providers/docker"
	"github.com/sandkeeper/sandkeeper/providers/docker/dockertest"
	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/providertest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
)

// BenchmarkDecode: 10,000 containers, as one listing shows them.
func BenchmarkDecode(b *testing.B) {
	world := simulated.New(simulated.Options{IDs: dockertest.IDs})
	providertest.Fleet(world, 10_000)
	server := httptest.NewServer(dockertest.New(world, dockertest.Options{}))
	defer server.Close()
	e := providertest.Entry("docker", docker.Abilities)
	e.URL = server.URL
	tape := wiretest.Record(server.Client().Transport)
	p, err := docker.New(e, entry.Options{Transport: pinging{tape, server.Client().Transport}})
	if err != nil {
		b.Fatal(err)
	}
	providertest.Bench(b, p, tape, 10_000)
}

// pinging leaves the pings off the tape: they have no body.
type pinging struct{ tape, pings http.RoundTripper }

func (p pinging) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodHead {
		return p.pings.RoundTrip(r)
	}
	return p.tape.RoundTrip(r)
}
