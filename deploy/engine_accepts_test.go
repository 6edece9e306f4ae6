package deploy

import (
	"bytes"
	"flag"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var clusterAt = flag.String("kubernetes", "", "folder of a cluster that may be filled; tools/engines-kubernetes.sh starts one")

// operatorKinds are what Prometheus's operator brings, as far as an API server has to know them to take an object.
const operatorKinds = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: PLURAL.monitoring.coreos.com}
spec:
  group: monitoring.coreos.com
  scope: Namespaced
  names: {kind: KIND, plural: PLURAL}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// TestEngineAccepts: a real API server takes all that the chart and the folders come to, with strict validation and in
// namespaces that let in only pods of the standard "restricted".
func TestEngineAccepts(t *testing.T) {
	if *clusterAt == "" {
		t.Skip("it needs a cluster and nobody gave one: make test-engine-kubernetes")
	}
	c := newCluster(t)
	texts := map[string]string{}
	for name := range charts {
		texts["chart "+name] = read(t, "testdata/chart/"+name+".yaml")
	}
	for name := range shapes {
		texts[name] = kustomize(t, filepath.Join("kustomize", name))
	}
	for _, name := range overlays {
		texts["overlay "+name] = kustomize(t, filepath.Join("examples", name, "overlay"))
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		t.Run(name, func(t *testing.T) { (&cluster{t, c.folder}).takes(texts[name]) })
	}
}

// A cluster is asked by kubectl.
type cluster struct {
	*testing.T
	folder string
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t, *clusterAt}
	for kind, plural := range map[string]string{"PodMonitor": "podmonitors", "ServiceMonitor": "servicemonitors",
		"PrometheusRule": "prometheusrules"} {
		c.kubectl(strings.NewReplacer("PLURAL", plural, "KIND", kind).Replace(operatorKinds), "apply", "-f", "-")
	}
	c.kubectl("", "wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
	return c
}

// takes applies objects into a namespace of their own. What the server warns of is an error too: that is how it says that
// a pod of a Deployment would be refused.
func (c *cluster) takes(text string) {
	c.Helper()
	for _, m := range append(inNamespace.FindAllStringSubmatch(text, -1), []string{"", "default"}) {
		c.kubectl("apiVersion: v1\nkind: Namespace\nmetadata: {name: "+m[1]+", labels: {"+
			"pod-security.kubernetes.io/enforce: restricted, pod-security.kubernetes.io/warn: restricted}}\n", "apply", "-f", "-")
	}
	out := c.kubectl(text, "apply", "--server-side", "--force-conflicts", "--dry-run=server", "--validate=strict", "-f", "-")
	if want := strings.Count("\n"+text, "\nkind: "); strings.Count(out, "serverside-applied") != want {
		c.Errorf("%d objects were given, and the server said:\n%s", want, out)
	}
	for _, said := range warning.FindAllString(out, -1) {
		if strings.Contains(said, `"sandkeeper"`) || !strings.Contains(said, `container "api"`) { // the platform's own, beside ours
			c.Errorf("the server says %s", said)
		}
	}
}

var warning = regexp.MustCompile(`(?m)^Warning: .*$`)

// inNamespace are the namespaces that a text names.
var inNamespace = regexp.MustCompile(`(?m)^  namespace: (\S+)$`)

func (c *cluster) kubectl(given string, args ...string) string {
	c.Helper()
	var out bytes.Buffer
	cmd := exec.CommandContext(c.Context(), "kubectl", append([]string{"--kubeconfig", filepath.Join(c.folder, "kubeconfig")}, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(given), &out, &out
	if err := cmd.Run(); err != nil {
		c.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out.String())
	}
	return out.String()
}
