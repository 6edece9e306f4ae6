package platforms

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/kubernetes/kubernetestest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// naive is a platform that was mapped by somebody who read its schema for the first time and
// believed its names: no preset, the default thresholds, every rule enforced. Such a mapping
// may find less than a careful one. It may not end what is healthy.
func naive(t *testing.T, tables, tasks, provider string, v vendor) *platform {
	t.Helper()
	const rest = `mode: enforce
database: ${DATABASE_URL}
limits: {per_pass: 1000, share: 100%, breaker: 100%, per_hour: 100000}
log: {level: error, format: json}
`
	return ready(t, platform{name: tables, vendor: v, gaps: []time.Duration{61 * time.Second, 122 * time.Second},
		config: "installation: " + tables + "-prod\n" + rest + tasks + provider})
}

// cluster is a Kubernetes cluster of Pods.
var cluster = vendor{ids: kubernetestest.IDs("pod"), serve: func(c *simulated.World) http.Handler {
	c.PutTemplate(simulated.Template{Name: image, General: true})
	return kubernetestest.New(c, kubernetestest.Options{NoAgents: true})
}}

// image is what all Pods and containers are made from.
const image = "registry.test/agent:1"

// pod puts a Pod with a name.
func pod(w *world, name string, labels map[string]string, s simulated.Sandbox) string {
	s.ID = fmt.Sprintf("pod_default_%s_%s", name, newID())
	s.Name, s.Labels, s.Template = name, labels, image
	return w.cloud.Put(s).ID
}
