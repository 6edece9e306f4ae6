package kubernetes_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/kubernetes"
	"github.com/sandkeeper/sandkeeper/providers/kubernetes/kubernetestest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// TestEndsThrough: a Pod that would be made again is ended by what makes it, where the config says so and that keeps no
// other Pod.
func TestEndsThrough(t *testing.T) {
	deployment := kubernetestest.OwnedBy("apps/v1", "Deployment", "agent")
	for name, c := range map[string]struct {
		options kubernetestest.Options
		owners  string
		want    reconcile.Termination
		says    string
	}{
		"a Job's":                       {kubernetestest.Options{Controlled: kubernetestest.OwnedBy("batch/v1", "Job", "run-1")}, "end", reconcile.TerminateAccepted, ""},
		"a Job's, left":                 {kubernetestest.Options{Controlled: kubernetestest.OwnedBy("batch/v1", "Job", "run-1")}, "leave", reconcile.TerminateRefused, "terminate that"},
		"a Job's of many":               {kubernetestest.Options{Controlled: kubernetestest.OwnedBy("batch/v1", "Job", "run-1"), Keeps: 3}, "end", reconcile.TerminateRefused, "Job run-1 keeps 3 Pods"},
		"a StatefulSet's":               {kubernetestest.Options{Controlled: kubernetestest.OwnedBy("apps/v1", "StatefulSet", "box")}, "end", reconcile.TerminateAccepted, ""},
		"a Deployment's":                {kubernetestest.Options{Controlled: kubernetestest.OwnedBy("apps/v1", "ReplicaSet", "agent-5f"), Above: deployment}, "end", reconcile.TerminateAccepted, ""},
		"a Deployment's of many":        {kubernetestest.Options{Controlled: kubernetestest.OwnedBy("apps/v1", "ReplicaSet", "agent-5f"), Above: deployment, Keeps: 2}, "end", reconcile.TerminateRefused, "keeps 2 Pods"},
		"what an operator keeps":        {kubernetestest.Options{Controlled: kubernetestest.OwnedBy("lab.test/v1", "Agent", "a")}, "end", reconcile.TerminateRefused, "Agent a controls it"},
		"what an operator keeps by one": {kubernetestest.Options{Controlled: kubernetestest.OwnedBy("apps/v1", "StatefulSet", "box"), Above: kubernetestest.OwnedBy("lab.test/v1", "Agent", "a")}, "end", reconcile.TerminateRefused, "Agent a controls it"},
	} {
		t.Run(name, func(t *testing.T) {
			cloud := simulated.New(simulated.Options{IDs: kubernetestest.IDs("pod")})
			c.options.NoAgents = true
			server := httptest.NewServer(kubernetestest.New(cloud, c.options))
			t.Cleanup(server.Close)
			box := cloud.Put(simulated.Sandbox{CreatedAt: time.Now().Add(-time.Hour), Labels: map[string]string{"project": "mine"}})
			p, err := kubernetes.New(entry.Entry{Name: "lab", URL: server.URL, Token: "key",
				Owns:  entry.Owns{Labels: map[string]string{"project": "mine"}},
				Extra: map[string]string{"namespace": "default", "owners": c.owners}}, entry.Options{})
			if err != nil {
				t.Fatal(err)
			}
			seen, err := p.Get(t.Context(), box.ID)
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.Terminate(t.Context(), seen)
			if got != c.want || (c.says == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Fatalf("Terminate = %q, %v; want %q, %q", got, err, c.want, c.says)
			}
			now, there := cloud.Sandbox(box.ID)
			if ended := !there || now.Doomed; ended != (c.want == reconcile.TerminateAccepted) {
				t.Errorf("ended: %t", ended)
			}
		})
	}
}
