package main

import (
	"bytes"
	"os"
	program "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
)

// TestDemoIsHandedOver: the verb becomes the demo's program, with the flags that it was given and
// with the way back; where there is none it says how to get it.
func TestDemoIsHandedOver(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	var errs bytes.Buffer
	if code := execute(t.Context(), []string{"demo", "--once"}, console.Stdio{Out: &errs, Err: &errs}); code != 1 ||
		!strings.Contains(errs.String(), "go run ./cmd/sandkeeper-demo") {
		t.Errorf("exit code %d without the demo: %s", code, errs.String())
	}
	script := "#!/bin/sh\necho \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, demoProgram), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	c := program.CommandContext(t.Context(), os.Args[0], "demo", "--once", "--hurry")
	c.Env = append(os.Environ(), runAsEnv+"=1")
	out, err := c.CombinedOutput()
	if want := "--program " + os.Args[0] + " --once --hurry\n"; err != nil || string(out) != want {
		t.Errorf("the demo was called with %q, want %q; %v", out, want, err)
	}
}
