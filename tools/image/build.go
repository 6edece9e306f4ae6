package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"io"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Who the program runs as, and how it is started: deploy/Dockerfile says the same.
const (
	user       = "65532:65532"
	stopSignal = "SIGTERM"
)

// A part is the image of one platform.
type part struct {
	image    v1.Image
	platform v1.Platform
}

// A set is what was written.
type set struct {
	index v1.ImageIndex
	parts []part
}

// build makes the images of programs and writes them.
func build(s settings, programs []string) (set, error) {
	made := set{index: mutate.IndexMediaType(empty.Index, types.OCIImageIndex)}
	for _, path := range programs {
		p, err := imageOf(s, path)
		if err != nil {
			return made, fmt.Errorf("image of %s: %w", path, err)
		}
		made.parts = append(made.parts, p)
		made.index = mutate.AppendManifests(made.index, mutate.IndexAddendum{
			Add: p.image, Descriptor: v1.Descriptor{Platform: &p.platform, MediaType: types.OCIManifestSchema1},
		})
	}
	annotated, ok := mutate.Annotations(made.index, s.labels()).(v1.ImageIndex)
	if !ok {
		return made, fmt.Errorf("the index of %s cannot be annotated", s.to) // unreachable: it is an index
	}
	made.index = annotated
	return made, made.write(s)
}

// write replaces the folder by the index in the form of an OCI layout, and makes the one file of it.
func (m set) write(s settings) error {
	if err := os.RemoveAll(s.to); err != nil {
		return fmt.Errorf("clear %s: %w", s.to, err)
	}
	path, err := layout.Write(s.to, empty.Index)
	if err != nil {
		return fmt.Errorf("write %s: %w", s.to, err)
	}
	// containerd takes the second as it is: without it a node's kubelet does not find what ctr has imported.
	named := map[string]string{
		"org.opencontainers.image.ref.name": "sandkeeper:" + s.version,
		"io.containerd.image.name":          "docker.io/library/sandkeeper:" + s.version,
	}
	if err := path.AppendIndex(m.index, layout.WithAnnotations(named)); err != nil {
		return fmt.Errorf("write %s: %w", s.to, err)
	}
	return pack(s.to, s.to+".tar")
}

// labels are what an image says of itself.
func (s settings) labels() map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":       "sandkeeper",
		"org.opencontainers.image.description": "Keeps tasks and sandboxes in agreement",
		"org.opencontainers.image.source":      "https://github.com/sandkeeper/sandkeeper",
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.version":     s.version,
		"org.opencontainers.image.revision":    s.revision,
	}
}

func imageOf(s settings, path string) (part, error) {
	program, err := os.ReadFile(path)
	if err != nil {
		return part{}, err
	}
	platform, err := platformOf(program)
	if err != nil {
		return part{}, err
	}
	image, err := mutate.ConfigFile(mutate.MediaType(empty.Image, types.OCIManifestSchema1), &v1.ConfigFile{
		Architecture: platform.Architecture, OS: platform.OS, Created: v1.Time{Time: s.at},
		RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{
			User: user, StopSignal: stopSignal, Entrypoint: []string{"/sandkeeper"}, Labels: s.labels(),
			Env: []string{"PATH=/"},
		},
	})
	if err != nil {
		return part{}, err
	}
	for _, files := range [][]file{
		{{name: "etc/"}, {name: "etc/ssl/"}, {name: "etc/ssl/certs/"},
			{name: "etc/ssl/certs/ca-certificates.crt", data: roots()}},
		{{name: "sandkeeper", data: program, runs: true}},
	} {
		if image, err = add(image, layerOf(s, files)); err != nil {
			return part{}, err
		}
	}
	return part{image, platform}, nil
}

// add puts a layer on top. It is of type OCI, and compressed as well as gzip can.
func add(to v1.Image, archive []byte) (v1.Image, error) {
	layer, err := tarball.LayerFromOpener(
		func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(archive)), nil },
		tarball.WithCompressionLevel(9), tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	return mutate.Append(to, mutate.Addendum{Layer: layer, MediaType: types.OCILayer})
}

// platformOf is what a program runs on, as its build says.
func platformOf(program []byte) (v1.Platform, error) {
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return v1.Platform{}, fmt.Errorf("read what it was built for: %w", err)
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if settings["CGO_ENABLED"] != "0" {
		return v1.Platform{}, fmt.Errorf("it needs a loader, which the image has not: build it with CGO_ENABLED=0")
	}
	return v1.Platform{OS: settings["GOOS"], Architecture: settings["GOARCH"]}, nil
}
