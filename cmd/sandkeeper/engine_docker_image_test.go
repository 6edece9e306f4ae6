package main

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"os"
	programs "os/exec"
	"strings"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

// image is what the containers are made from: busybox and nothing else.
const image = "localhost/sandkeeper-busybox:1"

func backgroundFor(d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), d)
}

// importImage gives the engine its image.
func (d *dock) importImage() {
	d.Helper()
	answer, err := d.engine.ImageImport(d.Context(), client.ImageImportSource{Source: d.busybox(), SourceName: "-"}, image,
		client.ImageImportOptions{Changes: []string{"ENV PATH=/bin", `CMD ["/bin/sleep","infinity"]`, "WORKDIR /workspace"}})
	if err != nil {
		d.Fatalf("import the image: %v", err)
	}
	defer answer.Close()
	if text, err := io.ReadAll(answer); err != nil || strings.Contains(string(text), `"error"`) {
		d.Fatalf("import the image: %s, %v", text, err)
	}
}

// busybox is a file system of one static program with all its names.
func (d *dock) busybox() io.Reader {
	d.Helper()
	const program = "/bin/busybox"
	binary, err := os.ReadFile(program)
	if err != nil {
		d.Fatalf("install a static busybox (Debian: busybox-static): %v", err)
	}
	names, err := programs.CommandContext(d.Context(), program, "--list").Output()
	if err != nil {
		d.Fatal(err)
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	put := func(h *tar.Header, body []byte) {
		h.Size, h.ModTime = int64(len(body)), time.Unix(1, 0)
		if err := w.WriteHeader(h); err != nil {
			d.Fatal(err)
		}
		_, _ = w.Write(body) // to memory
	}
	for _, folder := range []string{"./", "bin/", "etc/", "proc/", "sys/", "dev/", "tmp/", "workspace/"} {
		put(&tar.Header{Name: folder, Typeflag: tar.TypeDir, Mode: 0o755}, nil)
	}
	put(&tar.Header{Name: "bin/busybox", Typeflag: tar.TypeReg, Mode: 0o755}, binary)
	for name := range strings.FieldsSeq(string(names)) {
		if name != "busybox" {
			put(&tar.Header{Name: "bin/" + name, Typeflag: tar.TypeSymlink, Linkname: "busybox", Mode: 0o777}, nil)
		}
	}
	if err := w.Close(); err != nil {
		d.Fatal(err)
	}
	return &out
}

// berth makes the container of an ailment, with its task at work for five minutes.
func (d *dock) berth(name string, a ailment) {
	d.Helper()
	b := &berth{ailment: a, name: name}
	labels := map[string]string{"project": "omoios"}
	if a.foreign {
		labels["project"] = "theirs"
	}
	if a.status != "" {
		b.key = "omoios-worker-" + name
		heard := 2 * time.Second
		if a.silent {
			heard = 3 * time.Minute
		}
		b.task = d.task(row{status: a.status, key: b.key, created: 6 * time.Minute, updated: 5 * time.Minute,
			started: 5 * time.Minute})
		d.event(b.key, "agent.started", 5*time.Minute)
		d.event(b.key, "agent.tool_use", heard+50*time.Second)
		d.event(b.key, "agent.heartbeat", heard)
		labels["task_id"] = b.task
	}
	host := &container.HostConfig{NetworkMode: "none"}
	if d.podman {
		host.Ulimits = []*container.Ulimit{{Name: "nofile", Soft: 10000, Hard: 20000}, {Name: "nproc", Soft: 10000, Hard: 20000}}
	}
	config := &container.Config{Image: image, Labels: labels}
	if a.make != nil {
		a.make(d, config, host)
	}
	made, err := d.engine.ContainerCreate(d.Context(), client.ContainerCreateOptions{Config: config, HostConfig: host})
	if err != nil {
		d.Fatalf("make %s: %v", name, err)
	}
	b.id = made.ID
	d.cases = append(d.cases, b)
	d.Cleanup(func() { d.remove(b.id) })
	if _, err := d.engine.ContainerStart(d.Context(), b.id, client.ContainerStartOptions{}); err != nil && !a.failsToStart {
		d.Fatalf("start %s: %v", name, err)
	}
}

// exec is what a command says in a container.
func (d *dock) exec(id, command string) string {
	d.Helper()
	made, err := d.engine.ExecCreate(d.Context(), id, client.ExecCreateOptions{AttachStdout: true, AttachStderr: true,
		Cmd: []string{"/bin/sh", "-c", command}})
	if err != nil {
		d.Fatal(err)
	}
	run, err := d.engine.ExecAttach(d.Context(), made.ID, client.ExecAttachOptions{})
	if err != nil {
		d.Fatal(err)
	}
	defer run.Close()
	var out bytes.Buffer
	if _, err := stdcopy.StdCopy(&out, &out, run.Reader); err != nil {
		d.Fatal(err)
	}
	return out.String()
}
