package deploy

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/alerts"
)

const chart = "helm/sandkeeper"

var (
	renders = flag.Bool("chart", false, "lint and render the chart by Helm, which takes minutes to build")
	update  = flag.Bool("update", false, "write the configs of the overlays and, with -chart, what Helm renders to testdata/chart")
)

// charts are what the chart comes to with each file of helm/values, and what is wrong with it on purpose.
var charts = map[string]struct {
	secrets  map[string][]string
	image    string
	problems []string
}{
	"deployment": {secrets: map[string][]string{"sandkeeper": {"sandkeeper", "sandkeeper-web"}, "sandkeeper-migrate-1": {"sandkeeper-owner"}}},
	"cronjob": {secrets: map[string][]string{"sandkeeper-once": {"sandkeeper"}, "sandkeeper-serve": {"sandkeeper-reader", "sandkeeper-web"},
		"sandkeeper-migrate-1": {"sandkeeper-owner"}}},
	// The pods that have the page are the platform's, with the label and the port that the notes ask for.
	"sidecar": {secrets: map[string][]string{"sandkeeper-migrate-1": {"sandkeeper-owner"}},
		problems: []string{"Service sandkeeper does not always lead to the page"}},
	// The token is for the provider kubernetes.
	"everything": {secrets: map[string][]string{"sandkeeper": {"sandkeeper", "sandkeeper-web"}, "sandkeeper-migrate-1": {"sandkeeper-owner"}},
		image: "registry.example.com/sandkeeper@sha256:" + strings.Repeat("0", 64), problems: []string{"sandkeeper mounts a token"}},
}

// TestChart holds what Helm made of the chart against the types of Kubernetes and against all that the other manifests
// are held against. What Helm makes of it is in testdata; TestChartIsRendered makes it again.
func TestChart(t *testing.T) {
	for name, want := range charts {
		t.Run(name, func(t *testing.T) {
			s := rendered(t, name)
			s.image = "registry.example.com/sandkeeper:v1"
			if want.image != "" {
				s.image = want.image
			}
			if diff := cmp.Diff(want.problems, s.problems()); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			got := map[string][]string{}
			for _, w := range s.workloads() {
				got[w.name] = w.secrets()
				w.runs(t)
			}
			if diff := cmp.Diff(want.secrets, got); diff != "" {
				t.Errorf("secrets by pod (-want +got):\n%s", diff)
			}
		})
	}
}

// rendered is what is in testdata, which has to be of the chart as it is now.
func rendered(t *testing.T, name string) shape {
	t.Helper()
	first, text, _ := strings.Cut(read(t, "testdata/chart/"+name+".yaml"), "\n")
	if want := stamp(t, name); first != want {
		t.Fatalf("testdata/chart/%s.yaml is of another chart: make chart UPDATE=true", name)
	}
	s, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// stamp names the chart and the values that a rendering is made of.
func stamp(t *testing.T, name string) string {
	t.Helper()
	sum := sha256.New()
	err := filepath.WalkDir(chart, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(sum, "%s %d\n%s", filepath.ToSlash(path), len(text), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range valuesOf(name) {
		sum.Write([]byte(read(t, file)))
	}
	return "# made by make chart from " + hex.EncodeToString(sum.Sum(nil))
}

// valuesOf are the files of values; a plain install has none.
func valuesOf(name string) []string {
	if name == "deployment" {
		return nil
	}
	return []string{"helm/values/" + name + ".yaml"}
}

// TestChartIsRendered: Helm itself finds the chart in order, and makes of it what is in testdata.
func TestChartIsRendered(t *testing.T) {
	if !*renders {
		t.Skip("it builds Helm: make chart")
	}
	helm := filepath.Join(t.TempDir(), "chart")
	out, err := exec.CommandContext(t.Context(), "go", "-C", "../tools/chart", "build", "-o", helm, ".").CombinedOutput()
	if err != nil {
		t.Fatalf("build: %v: %s", err, out)
	}
	for _, name := range slices.Sorted(maps.Keys(charts)) {
		args := append([]string{"lint", chart}, valuesOf(name)...)
		if out, err := exec.CommandContext(t.Context(), helm, args...).CombinedOutput(); err != nil {
			t.Errorf("lint with the values of %s: %v: %s", name, err, out)
		}
		args[0] = "template"
		out, err := exec.CommandContext(t.Context(), helm, args...).Output()
		if err != nil {
			t.Fatalf("template with the values of %s: %v", name, err)
		}
		got, file := stamp(t, name)+"\n"+string(out), "testdata/chart/"+name+".yaml"
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(read(t, file), got); diff != "" {
			t.Errorf("%s (-as it is +as Helm renders it):\n%s", file, diff)
		}
	}
	refuses(t, helm)
}

// refuses: values that the schema does not know end a rendering.
func refuses(t *testing.T, helm string) {
	t.Helper()
	for _, wrong := range []string{"shape: daemon", "replicas: 0", "replica: 3", "image: {digest: latest}", "secrets: {keeper: ''}",
		"ingress: {enabled: true}", "kubernetesProvider: {enabled: true}"} {
		file := filepath.Join(t.TempDir(), "values.yaml")
		if err := os.WriteFile(file, []byte(wrong), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), helm, "template", chart, file).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "values") {
			t.Errorf("values %q are taken: %v: %s", wrong, err, out)
		}
	}
}

// TestChartIsTheFolders: what the chart and kustomize make of one shape differs in nothing but the labels that Helm
// adds, and in names and images that each gives in its own way.
func TestChartIsTheFolders(t *testing.T) {
	for name, folders := range map[string][]string{
		"deployment": {"kustomize/deployment", "kustomize/migrate"},
		"cronjob":    {"kustomize/cronjob", "kustomize/migrate", "kustomize/prometheus-operator"},
	} {
		t.Run(name, func(t *testing.T) {
			var texts []string
			for _, folder := range folders {
				texts = append(texts, strings.TrimSpace(kustomize(t, folder)))
			}
			want, err := parse(strings.Join(texts, "\n---\n") + "\n")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.plain(t), rendered(t, name).plain(t)); diff != "" {
				t.Errorf("-kustomize +chart:\n%s", diff)
			}
		})
	}
}

// plain is a shape as plain data, without what is each one's own.
func (s shape) plain(t *testing.T) map[string]any {
	t.Helper()
	out := map[string]any{}
	for kind, all := range map[string]any{"ConfigMap": s.configs, "ServiceAccount": s.accounts, "Service": s.services, "Deployment": s.deployments,
		"Job": s.jobs, "CronJob": s.cronJobs, "PodMonitor": s.monitors, "PodDisruptionBudget": s.budgets} {
		text, err := yaml.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		var list any
		if err := yaml.Unmarshal(text, &list); err != nil {
			t.Fatal(err)
		}
		out[kind] = stripped(list)
	}
	return out
}

// own are the keys that only one of the two sets.
var own = []string{"app.kubernetes.io/instance", "app.kubernetes.io/version", "app.kubernetes.io/managed-by", "helm.sh/chart",
	"image", "imagePullPolicy"}

func stripped(x any) any {
	switch x := x.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, v := range x {
			if !slices.Contains(own, k) {
				out[k] = stripped(v)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, v := range x {
			out = append(out, stripped(v))
		}
		return out
	case string:
		return strings.TrimSpace(strings.Replace(x, "sandkeeper-migrate-1", "sandkeeper-migrate", 1)) // of one revision
	}
	return x
}

// TestChartFilesAreTheirs: what the chart brings along is what the program and the manifests have.
func TestChartFilesAreTheirs(t *testing.T) {
	for file, of := range map[string]string{"sandkeeper.yaml": "kustomize/base/sandkeeper.yaml", "rules.yaml": "../alerts/rules.yaml",
		"dashboard.json": "../alerts/dashboard.json"} {
		if read(t, chart+"/files/"+file) != read(t, of) {
			t.Errorf("%s/files/%s is not %s: go generate ./deploy", chart, file, of)
		}
	}
	// Of a site as deploy/helm/values/everything.yaml has it: what Helm makes of the rules is what the program prints.
	var rules map[string]any
	printed := alerts.Rules(alerts.Site{FrozenFor: 2 * time.Hour, Labels: []string{"cluster", "namespace"},
		Runbooks: "https://wiki.example.com/sandkeeper", Dashboard: "https://grafana.example.com/d/sandkeeper",
		Page: "https://sandkeeper.example.com"})
	if err := yaml.Unmarshal([]byte(printed), &rules); err != nil {
		t.Fatal(err)
	}
	all := rendered(t, "everything")
	if len(all.rules) != 1 || !cmp.Equal(all.rules[0].Spec, rules) {
		t.Errorf("%d PrometheusRules, want one as the program prints it", len(all.rules))
	}
}

// TestChartGrantsAreTheManifest: the Role with all that there is grants what kubernetes-rbac.yaml does, with owners and stream.
func TestChartGrantsAreTheManifest(t *testing.T) {
	grants := func(text string) (out []string) {
		for document := range strings.SplitSeq(text, "\n---\n") {
			var role struct {
				Kind  string
				Rules []struct {
					APIGroups []string `yaml:"apiGroups"`
					Resources []string
					Verbs     []string
				}
			}
			if err := yaml.Unmarshal([]byte(document), &role); err != nil {
				t.Fatal(err)
			}
			for _, r := range role.Rules {
				out = append(out, fmt.Sprint(r.APIGroups, r.Resources, r.Verbs))
			}
		}
		slices.Sort(out)
		return out
	}
	// The file has the rules of owners as comments, and so the verb of stream.
	manifest := strings.ReplaceAll(read(t, "kubernetes-rbac.yaml"), "list, delete]", "list, delete, watch]")
	for _, line := range []string{"- apiGroups", "  resources: [jobs]", "  verbs: [get, delete]", "  resources: [deployments", "  verbs: [get, patch]"} {
		manifest = strings.ReplaceAll(manifest, "  # "+line, "  "+line)
	}
	if diff := cmp.Diff(grants(manifest), grants(read(t, "testdata/chart/everything.yaml"))); diff != "" {
		t.Errorf("rights (-kubernetes-rbac.yaml +chart):\n%s", diff)
	}
}
