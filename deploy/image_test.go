package deploy

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A descriptor points at a blob of an OCI layout.
type descriptor struct {
	MediaType, Digest string
	Platform          struct{ Architecture, OS string }
}

// An imageFolder is the folder that tools/image makes.
type imageFolder struct {
	*testing.T
	dir string
}

// blob reads what a digest names.
func (w imageFolder) blob(d descriptor) []byte {
	w.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, "blobs", "sha256", strings.TrimPrefix(d.Digest, "sha256:")))
	if err != nil {
		w.Fatal(err)
	}
	return text
}

func (w imageFolder) json(text []byte, into any) {
	w.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		w.Fatal(err)
	}
}

// files are the entries of a layer, with their modes and owners.
func (w imageFolder) files(d descriptor) map[string]string {
	w.Helper()
	z, err := gzip.NewReader(bytes.NewReader(w.blob(d)))
	if err != nil {
		w.Fatal(err)
	}
	out := map[string]string{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			w.Fatal(err)
		}
		out[h.Name] = h.FileInfo().Mode().String()
		if h.Uid != 0 || h.Gid != 0 {
			w.Errorf("%s belongs to %d:%d", h.Name, h.Uid, h.Gid)
		}
	}
}

// TestImage: the image that is written without a container engine is that of the Dockerfile, holds nothing besides the
// program and the certificates, and is the same when it is made again.
func TestImage(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "image")
	if out, err := exec.CommandContext(t.Context(), "go", "-C", "../tools", "build", "-o", tool, "./image").CombinedOutput(); err != nil {
		t.Fatalf("build tools/image: %v: %s", err, out)
	}
	var digests []string
	w := imageFolder{t, filepath.Join(t.TempDir(), "image")}
	for range 2 {
		out, err := exec.CommandContext(t.Context(), tool, "-to", w.dir, "-version", "1.2.3", "-revision", "abc", "-time", "1700000000",
			"-most", "20000000", program(t)).CombinedOutput()
		if err != nil {
			t.Fatalf("image: %v: %s", err, out)
		}
		digests = append(digests, string(out))
	}
	if digests[0] != digests[1] {
		t.Errorf("made again it is another one: %q", digests)
	}
	var layout, index struct{ Manifests []descriptor }
	w.json([]byte(read(t, filepath.Join(w.dir, "index.json"))), &layout)
	w.json(w.blob(layout.Manifests[0]), &index)
	if p := index.Manifests[0].Platform; len(index.Manifests) != 1 || p.OS != "linux" || p.Architecture != runtime.GOARCH {
		t.Errorf("the index has %+v", index.Manifests)
	}
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	w.json(w.blob(index.Manifests[0]), &manifest)
	w.config(manifest.Config)
	files := map[string]string{}
	for _, layer := range manifest.Layers {
		for name, mode := range w.files(layer) {
			files[name] = mode
		}
	}
	want := map[string]string{"etc/": "dr-xr-xr-x", "etc/ssl/": "dr-xr-xr-x", "etc/ssl/certs/": "dr-xr-xr-x",
		"etc/ssl/certs/ca-certificates.crt": "-r--r--r--", "sandkeeper": "-r-xr-xr-x"}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if out, err := exec.CommandContext(t.Context(), tool, "-to", w.dir, "-most", "1000", program(t)).CombinedOutput(); err == nil {
		t.Errorf("an image that is too large is taken: %s", out)
	}
}

// config is what the image says of itself: what the Dockerfile says.
func (w imageFolder) config(d descriptor) {
	w.Helper()
	var got struct {
		Config struct {
			User, StopSignal string
			Entrypoint       []string
			Labels           map[string]string
		}
	}
	w.json(w.blob(d), &got)
	said := map[string]string{}
	for _, i := range instructions(read(w.T, "Dockerfile")) {
		said[i.name] = i.rest
	}
	var entry []string
	w.json([]byte(said["ENTRYPOINT"]), &entry)
	if c := got.Config; c.User != said["USER"] || c.StopSignal != said["STOPSIGNAL"] || !cmp.Equal(c.Entrypoint, entry) {
		w.Errorf("config = %+v, want that of the Dockerfile", c)
	}
	for _, m := range regexp.MustCompile(`(\S+)="([^"]*)"`).FindAllStringSubmatch(said["LABEL"], -1) {
		if got.Config.Labels[m[1]] != m[2] {
			w.Errorf("label %s = %q, want %q", m[1], got.Config.Labels[m[1]], m[2])
		}
	}
	if v := got.Config.Labels["org.opencontainers.image.version"]; v != "1.2.3" {
		w.Errorf("version = %q", v)
	}
}
