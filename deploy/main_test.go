// Package deploy has the files for those who operate sandkeeper, and tests of them: the
// image's build, the manifests as Kubernetes would get them, and the database roles.
package deploy

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(tidied{m}) }

// A tidied run of the tests removes the program that they built.
type tidied struct{ m *testing.M }

func (r tidied) Run() int {
	defer os.RemoveAll(shared.dir)
	return r.m.Run()
}

// shared is the one program of this test binary, built when a test first asks for it.
var shared struct {
	once sync.Once
	dir  string
	err  error
}

// program is the path of sandkeeper, built by the line of the Dockerfile.
func program(t *testing.T) string {
	t.Helper()
	line := buildLine(t)
	shared.once.Do(func() {
		if shared.dir, shared.err = os.MkdirTemp("", "sandkeeper-deploy-"); shared.err == nil {
			shared.err = build(line, shared.dir)
		}
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return filepath.Join(shared.dir, "sandkeeper")
}

// A said is what a command left.
type said struct {
	code      int
	out, errs string
}

func (s said) String() string { return fmt.Sprintf("exit code %d\n%s%s", s.code, s.out, s.errs) }

// call runs sandkeeper with nothing in its environment but what is given, as in the image.
func call(t *testing.T, env []string, args ...string) said {
	t.Helper()
	var out, errs bytes.Buffer
	c := exec.CommandContext(t.Context(), program(t), args...)
	c.Env = append([]string{}, env...) // nil would be all of ours
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil && c.ProcessState == nil {
		t.Fatal(err)
	}
	return said{code: c.ProcessState.ExitCode(), out: out.String(), errs: errs.String()}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// shell runs a line as the Dockerfile's RUN does.
func shell(ctx context.Context, line string, env ...string) error {
	c := exec.CommandContext(ctx, "/bin/sh", "-c", line)
	c.Dir, c.Env = "..", append(os.Environ(), env...)
	if said, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", line, err, said)
	}
	return nil
}
