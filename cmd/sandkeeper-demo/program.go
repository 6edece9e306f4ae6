package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A program is the real sandkeeper, called with the demo's config as an operator calls it.
type program struct{ path, config string }

// verb calls one and returns what it printed as its result.
func (p *program) verb(ctx context.Context, args ...string) (string, error) {
	var out, errs bytes.Buffer
	c := exec.CommandContext(ctx, p.path, append([]string{"--config", p.config}, args...)...) //nolint:gosec // the demo's
	c.Stdout, c.Stderr, c.SysProcAttr = &out, &errs, detached()
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("sandkeeper %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

// theProgram is the package that is built where no program is found.
const theProgram = "github.com/sandkeeper/sandkeeper/cmd/sandkeeper"

// findProgram finds the sandkeeper to drive: the one beside this program, else one that is
// built from the source in whose tree the demo was started, else the one on the PATH.
func findProgram(ctx context.Context, dir string) (string, error) {
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), "sandkeeper")
		if at, err := os.Stat(beside); err == nil && at.Mode().IsRegular() {
			return beside, nil
		}
	}
	built := filepath.Join(dir, "sandkeeper")
	if exec.CommandContext(ctx, "go", "build", "-o", built, theProgram).Run() == nil { //nolint:gosec // both are ours
		return built, nil
	}
	found, err := exec.LookPath("sandkeeper")
	if err != nil {
		return "", fmt.Errorf("find the program sandkeeper: it is neither beside this one nor on the PATH; " +
			"`make demo` builds both, --program names one")
	}
	return filepath.Abs(found)
}
