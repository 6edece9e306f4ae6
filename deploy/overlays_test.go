package deploy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// overlays are the folders of examples that have one.
var overlays = []string{"omoios-daytona", "coding-agent-vercel", "agentuity", "monotask-cloudflare"}

// The page of an example, and of its overlay.
const (
	pageAtHome = `web: {listen: "127.0.0.1:8080"}`
	pageInside = `web: {listen: ":9595", hosts: [sandkeeper], config_file: /etc/sandkeeper-web/web.yml}`
)

// TestOverlays: what each platform's overlay comes to is right, and its config is that of its folder.
func TestOverlays(t *testing.T) {
	for _, name := range overlays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join("examples", name)
			overlaid(t, folder)
			s, err := parse(kustomize(t, filepath.Join(folder, "overlay")))
			if err != nil {
				t.Fatal(err)
			}
			for _, problem := range s.problems() {
				t.Error(problem)
			}
			var pods []string
			for _, w := range s.workloads() {
				pods = append(pods, w.name)
			}
			if diff := cmp.Diff([]string{"sandkeeper", "sandkeeper-migrate"}, pods); diff != "" {
				t.Errorf("pods (-want +got):\n%s", diff)
			}
		})
	}
}

// overlaid compares the config of an overlay with that of its folder.
func overlaid(t *testing.T, folder string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "sandkeeper.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), pageAtHome) {
		t.Fatalf("%s does not say %s", folder, pageAtHome)
	}
	want := strings.NewReplacer(pageAtHome, pageInside, "=../../../cmd/", "=../../../../cmd/").Replace(string(text))
	file := filepath.Join(folder, "overlay", "sandkeeper.yaml")
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil { //nolint:gosec // a file of the tree
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s is not that of its folder, see -update (-want +got):\n%s", file, diff)
	}
}
