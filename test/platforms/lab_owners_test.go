package platforms

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/kubernetes/kubernetestest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// TestPodsThroughTheirOwners: the Pod of a cancelled job is ended through what would make it again, and by no other
// call; where that keeps other Pods, or nobody said that it may be ended, the Pod is told of and left.
func TestPodsThroughTheirOwners(t *testing.T) {
	replicas := kubernetestest.OwnedBy("apps/v1", "ReplicaSet", "agent-5f")
	deployment := kubernetestest.OwnedBy("apps/v1", "Deployment", "agent")
	for name, c := range map[string]struct {
		options kubernetestest.Options
		owners  string
		call    string // that ends it; "": none
		says    string // why it is left
	}{
		"a Job's": {kubernetestest.Options{Controlled: kubernetestest.OwnedBy("batch/v1", "Job", "run-1")}, "end",
			"DELETE /apis/batch/v1/namespaces/default/jobs/run-1", ""},
		"a Deployment's": {kubernetestest.Options{Controlled: replicas, Above: deployment}, "end",
			"PATCH /apis/apps/v1/namespaces/default/deployments/agent", ""},
		"a StatefulSet's": {kubernetestest.Options{Controlled: kubernetestest.OwnedBy("apps/v1", "StatefulSet", "box")}, "end",
			"PATCH /apis/apps/v1/namespaces/default/statefulsets/box", ""},
		"a Deployment's of three": {kubernetestest.Options{Controlled: replicas, Above: deployment, Keeps: 3}, "end",
			"", "agent-5f keeps 3 Pods"},
		"a StatefulSet's, left": {kubernetestest.Options{Controlled: kubernetestest.OwnedBy("apps/v1", "StatefulSet", "box")},
			"leave", "", "StatefulSet box controls it"},
	} {
		var mu sync.Mutex
		var calls []string
		c.options.NoAgents, c.options.TaskLabel = true, "job"
		v := vendor{ids: kubernetestest.IDs("pod"), serve: func(cloud *simulated.World) http.Handler {
			cloud.PutTemplate(simulated.Template{Name: image, General: true})
			server := kubernetestest.New(cloud, c.options)
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodDelete || r.Method == http.MethodPatch {
					mu.Lock()
					calls = append(calls, r.Method+" "+r.URL.Path)
					mu.Unlock()
				}
				server.ServeHTTP(w, r)
			})
		}}
		p := labOf(t, labTasks+labFail+`providers:
  - name: cluster
    kind: kubernetes
    url: ${PROVIDER_URL}
    token: key
    namespace: default
    owners: `+c.owners+`
    owns: {labels: {app: lab}}
    link: {task_label: job}
`, v)
		p.play(t, stories{name: func(w *world) {
			id := "j-cancelled"
			box := pod(w, "agent-1", map[string]string{"app": "lab", "job": id}, age(30*time.Minute, 20*time.Minute))
			w.insert("jobs", row{"id": id, "status": "cancelled", "box": "agent-1", "created": 31 * time.Minute,
				"began": 30 * time.Minute, "written": 20 * time.Minute})
			w.becomes("a job that is over", task{"public.jobs", "id", id}, "status || coalesce(note, '')", "^cancelled$")
			w.told("stop-ignored", box)
			if c.call != "" {
				w.ends("a cancelled job", box)
			} else {
				w.stays("a cancelled job", box)
			}
			w.finally(func(w *world) {
				mu.Lock()
				defer mu.Unlock()
				if got := slices.Compact(calls); strings.Join(got, ", ") != c.call {
					w.Errorf("the cluster was told %q, want %q: %s", got, c.call, w.why(box))
				}
				if why := w.why(box); !strings.Contains(why, c.says) {
					w.Errorf("%s; want %q", why, c.says)
				}
			})
		}})
	}
}
