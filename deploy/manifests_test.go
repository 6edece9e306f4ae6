package deploy

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
)

// shapes are the folders that somebody applies, with the secrets that each pod reads.
var shapes = map[string]map[string][]string{
	"cronjob": {
		"sandkeeper-once":  {"sandkeeper"},
		"sandkeeper-serve": {"sandkeeper-reader", "sandkeeper-web"},
	},
	"deployment": {"sandkeeper": {"sandkeeper", "sandkeeper-web"}},
	"examples/cronjob": {
		"sandkeeper-once":    {"sandkeeper"},
		"sandkeeper-serve":   {"sandkeeper-reader", "sandkeeper-web"},
		"sandkeeper-migrate": {"sandkeeper-owner"},
	},
	"examples/sidecar": {
		"platform-api":       {"sandkeeper", "sandkeeper-web"},
		"sandkeeper-migrate": {"sandkeeper-owner"},
	},
}

func TestShapes(t *testing.T) {
	for name, secrets := range shapes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := parse(kustomize(t, filepath.Join("kustomize", name)))
			if err != nil {
				t.Fatal(err)
			}
			for _, problem := range s.problems() {
				t.Error(problem)
			}
			got := map[string][]string{}
			for _, w := range s.workloads() {
				got[w.name] = w.secrets()
				w.runs(t)
			}
			if diff := cmp.Diff(secrets, got); diff != "" {
				t.Errorf("secrets by pod (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFaultsAreSeen breaks what the cronjob or the sidecar comes to, so that the test above
// is known to find it.
func TestFaultsAreSeen(t *testing.T) {
	cron, sidecar := kustomize(t, "kustomize/examples/cronjob"), kustomize(t, "kustomize/examples/sidecar")
	cases := map[string]struct{ shape, from, to, want string }{
		"a misspelt field":         {cron, "backoffLimit:", "backofLimit:", "unknown field"},
		"another kind":             {cron, "kind: CronJob", "kind: Cronjob", "no such kind"},
		"root":                     {cron, "runAsNonRoot: true", "runAsNonRoot: false", "securityContext"},
		"a shell may gain rights":  {cron, "allowPrivilegeEscalation: false", "allowPrivilegeEscalation: true", "securityContext"},
		"capabilities":             {cron, "- ALL", "- NET_RAW", "securityContext"},
		"a root that is written":   {sidecar, "readOnlyRootFilesystem: true", "readOnlyRootFilesystem: false", "securityContext"},
		"no seccomp":               {sidecar, "type: RuntimeDefault", "type: Unconfined", "securityContext"},
		"no limit of memory":       {cron, "memory: 256Mi", "memory: 1Gi", "limits.memory"},
		"Go would take more":       {cron, "value: 200MiB", "value: 250MiB", "GOMEMLIMIT"},
		"a token of the cluster":   {cron, "automountServiceAccountToken: false", "automountServiceAccountToken: true", "token"},
		"an account that is none":  {cron, "serviceAccountName: sandkeeper", "serviceAccountName: x", "account x"},
		"killed while it finishes": {cron, "terminationGracePeriodSeconds: 40", "terminationGracePeriodSeconds: 20", "grace"},
		"two runs at once":         {cron, "concurrencyPolicy: Forbid", "concurrencyPolicy: Allow", "concurrencyPolicy"},
		"a run that never ends":    {cron, "activeDeadlineSeconds: 120", "activeDeadlineSeconds: 90", "activeDeadlineSeconds"},
		"a run that is repeated":   {cron, "backoffLimit: 0", "backoffLimit: 1", "backoffLimit"},
		"starts that are missed":   {cron, "startingDeadlineSeconds: 30", "startingDeadlineSeconds: 9", "startingDeadlineSeconds"},
		"a page without liveness":  {cron, "path: /healthz", "path: /", "livenessProbe"},
		"a page without readiness": {cron, "path: /readyz", "path: /", "readinessProbe"},
		"a probe of another port":  {cron, "port: sandkeeper\n", "port: http\n", "port"},
		"a service of another":     {cron, "targetPort: sandkeeper", "targetPort: http", "Service"},
		"a page that nobody finds": {cron, "sandkeeper: page\n    spec:", "sandkeeper: x\n    spec:", "Service"},
		"a page hidden when late":  {cron, "publishNotReadyAddresses: true", "publishNotReadyAddresses: false", "Service"},
		"pods of another":          {cron, "component: serve\n      app.kubernetes.io/name: sandkeeper\n  template", "component: x\n  template", "selector"},
		"a port that is not ours":  {cron, "containerPort: 9595", "containerPort: 9596", "web.listen"},
		"a config from nowhere":    {cron, "mountPath: /etc/sandkeeper\n", "mountPath: /etc/other\n", "no config"},
		"users from nowhere":       {cron, "mountPath: /etc/sandkeeper-web\n", "mountPath: /etc/web\n", "config_file"},
		"a volume that is none":    {cron, "secretName: sandkeeper-web", "name: sandkeeper-web", "unknown field"},
		"a variable without value": {cron, "name: DAYTONA_API_KEY", "name: DAYTONA_KEY", "DAYTONA_API_KEY"},
		"a database without login": {cron, "name: TASKS_DATABASE_URL", "name: TASKS_URL", "TASKS_DATABASE_URL"},
		"an image of nobody":       {cron, "image: registry.example.com/sandkeeper:v1", "image: sandkeeper", "image"},
		"the platform taken down": {sidecar, "        livenessProbe:",
			"        readinessProbe:\n          httpGet:\n            path: /readyz\n            port: sandkeeper\n" +
				"        livenessProbe:", "readinessProbe"},
		"the platform's logs hidden": {sidecar, "- image: registry.example.com/platform-api:v1\n        name: api",
			"- image: registry.example.com/sandkeeper:v1\n        name: sandkeeper", "first container"},
		"metrics of nobody": {cron, "  selector:\n    matchLabels:\n      sandkeeper: page",
			"  selector:\n    matchLabels:\n      sandkeeper: x", "PodMonitor"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			text := strings.ReplaceAll(c.shape, c.from, c.to)
			if text == c.shape {
				t.Fatalf("the manifests have no %q", c.from)
			}
			s, err := parse(text)
			found := s.problems()
			if err != nil {
				found = []string{err.Error()}
			}
			if !strings.Contains(strings.Join(found, "\n"), c.want) {
				t.Errorf("problems = %q, want one with %q", found, c.want)
			}
		})
	}
}

// TestConfigIsTheExample: the manifests' config is that of the example but for what is of
// Kubernetes, so that a change to one is made to the other. That both load is tested where
// configs are read.
func TestConfigIsTheExample(t *testing.T) {
	var example, manifest map[string]any
	for path, into := range map[string]*map[string]any{
		"examples/omoios-daytona/sandkeeper.yaml": &example, "kustomize/base/sandkeeper.yaml": &manifest,
	} {
		if err := yaml.Unmarshal([]byte(read(t, path)), into); err != nil {
			t.Fatal(err)
		}
		delete(*into, "web")
		delete(*into, "schedule")
	}
	if diff := cmp.Diff(example, manifest); diff != "" {
		t.Errorf("configs (-example +manifest):\n%s", diff)
	}
}

// kustomize builds a folder: with kubectl, as operators do, when its kustomize knows
// components, else with the kustomize that tools/go.mod pins.
func kustomize(t *testing.T, dir string) string {
	t.Helper()
	args := []string{"go", "tool", "-modfile=../tools/go.mod", "kustomize", "build"}
	if kubectlIsNew(t) {
		args = []string{"kubectl", "kustomize"}
	}
	var out, errs bytes.Buffer
	c := exec.CommandContext(t.Context(), args[0], append(args[1:], dir)...)
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		t.Fatalf("%s: %v: %s", c, err, errs.String())
	}
	return out.String()
}

// kubectlIsNew: one that does not name its kustomize has one from before components.
func kubectlIsNew(t *testing.T) bool {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "kubectl", "version", "--client", "-o", "json").Output()
	var v struct{ KustomizeVersion string }
	return err == nil && json.Unmarshal(out, &v) == nil && v.KustomizeVersion != ""
}

// runs looks that the program has the verb and the flags that the pod starts it with.
func (w workload) runs(t *testing.T) {
	t.Helper()
	c, ok := w.keeper()
	if !ok || len(c.Args) == 0 {
		t.Errorf("%s starts no sandkeeper with a verb", w.name)
		return
	}
	if got := call(t, nil, append(slices.Clone(c.Args), "--help")...); got.code != 0 {
		t.Errorf("%s starts sandkeeper %s, which it refuses: %s", w.name, strings.Join(c.Args, " "), got)
	}
}
