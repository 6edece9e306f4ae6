package deploy

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPinImages: `make pin-images` writes the digest that the registry tells behind each image that has a tag, in
// Dockerfiles and in the compose file, replaces
// an older one, and changes nothing when the registry knows no such image.
func TestPinImages(t *testing.T) {
	digest := "sha256:" + strings.Repeat("5e", 32)
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v2/") && strings.HasSuffix(r.URL.Path, "/manifests/1.26") {
			w.Header().Set("Docker-Content-Digest", digest)
			w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
			w.Header().Set("Content-Length", "2")
			return
		}
		if r.URL.Path != "/v2/" {
			http.NotFound(w, r)
		}
	}))
	defer registry.Close()
	host := strings.TrimPrefix(registry.URL, "http://")
	pin := func(text string) (string, error) {
		file := filepath.Join(t.TempDir(), "Dockerfile")
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(text, "HOST", host)), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), "../tools/pin-images.sh", file).CombinedOutput()
		t.Logf("%s", out)
		return strings.ReplaceAll(read(t, file), host, "HOST"), err
	}
	const stages = "FROM scratch\nFROM build\n"
	for _, before := range []string{"", "@sha256:00"} {
		got, err := pin("FROM --platform=$BUILDPLATFORM HOST/a/golang:1.26" + before + " AS build\nFROM HOST/b:1.26\n" + stages)
		want := "FROM --platform=$BUILDPLATFORM HOST/a/golang:1.26@" + digest + " AS build\nFROM HOST/b:1.26@" + digest + "\n" + stages
		if err != nil || got != want {
			t.Errorf("pinned: %v\n%s\nwant\n%s", err, got, want)
		}
	}
	const own = "  image: ${OWN:-HOST/own:1.26}\n"
	want := own + "  image: HOST/db:1.26@" + digest + "\n"
	if got, err := pin(own + "  image: HOST/db:1.26\n"); err != nil || got != want {
		t.Errorf("a compose file: %v\n%s\nwant\n%s", err, got, want)
	}
	if got, err := pin("FROM HOST/a:2\n"); err == nil || got != "FROM HOST/a:2\n" {
		t.Errorf("an image that is not there: %v\n%s", err, got)
	}
}
