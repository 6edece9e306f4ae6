package kubernetes

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/kubernetes/kubernetestest"
	"github.com/sandkeeper/sandkeeper/providers/providertest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
)

const fleet = 10_000

func recorded() (*wiretest.Tape, entry.Entry) {
	world := simulated.New(simulated.Options{IDs: kubernetestest.IDs("pod")})
	providertest.Fleet(world, fleet)
	e := providertest.Entry("kubernetes", Abilities)
	e.URL = "http://lab.test"
	return wiretest.Record(wiretest.Transport(kubernetestest.New(world, kubernetestest.Options{Key: e.Token}))), e
}

// BenchmarkDecode is the adapter's own speed: the answers are replayed without a network.
func BenchmarkDecode(b *testing.B) {
	tape, e := recorded()
	p, err := New(e, entry.Options{Transport: tape})
	if err != nil {
		b.Fatal(err)
	}
	providertest.Bench(b, p, tape, fleet)
}

// BenchmarkDynamic is what the dynamic client takes for the same answers: why listings are
// not read by it.
func BenchmarkDynamic(b *testing.B) {
	tape, e := recorded()
	client, err := dynamic.NewForConfig(&rest.Config{Host: e.URL, BearerToken: e.Token, QPS: -1, Transport: tape})
	if err != nil {
		b.Fatal(err)
	}
	list := func() {
		n, options := 0, metav1.ListOptions{LabelSelector: "project=mine", Limit: pageSize}
		for {
			page, err := client.Resource(podResource).Namespace("default").List(b.Context(), options)
			if err != nil {
				b.Fatal(err)
			}
			n += len(page.Items)
			if options.Continue = page.GetContinue(); options.Continue == "" {
				break
			}
		}
		if n != fleet {
			b.Fatalf("read %d sandboxes, want %d", n, fleet)
		}
	}
	list() // what is replayed is asked for once
	for b.Loop() {
		list()
	}
	b.ReportMetric(float64(fleet)*float64(b.N)/b.Elapsed().Seconds(), "sandboxes/s")
}
