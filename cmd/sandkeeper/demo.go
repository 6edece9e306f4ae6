package main

import (
	"errors"
	"fmt"
	"os"
	program "os/exec"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"
)

// demoProgram plays the demo. It is a program of its own, so that this one has no simulator
// and starts no PostgreSQL.
const demoProgram = "sandkeeper-demo"

func demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "A scripted day of incidents, with the daemon and its page (needs " + demoProgram + ")",
		Long: `Demo hands over to the program sandkeeper-demo, beside this one or on the PATH, with the
same flags. It starts a private PostgreSQL and simulated providers, breaks things on purpose, and
drives this program through them.`,
		Example: `  sandkeeper demo
  sandkeeper demo --once`,
		DisableFlagParsing: true, // they are its own
		RunE:               func(_ *cobra.Command, args []string) error { return becomeDemo(args) },
	}
}

// becomeDemo puts the demo in the place of this process; it drives this program.
func becomeDemo(args []string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	path := filepath.Join(filepath.Dir(self), demoProgram)
	if _, err := os.Stat(path); err != nil {
		if path, err = program.LookPath(demoProgram); err != nil {
			return errors.New("the demo is a program of its own, " + demoProgram +
				", which is neither beside this one nor on the PATH: " +
				"in a clone of the source, `make demo` or `go run ./cmd/sandkeeper-demo` plays it")
		}
	}
	args = append([]string{path, "--program", self}, args...)
	err = syscall.Exec(path, args, os.Environ()) //nolint:gosec // it lies where this program does
	return fmt.Errorf("start %s: %w", path, err)
}
