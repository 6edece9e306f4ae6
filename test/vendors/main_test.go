// Package vendors lets the vendors' own clients drive our simulators, and the program judge
// what they made: thus the simulators are shown to speak the vendors' protocols, and not
// only what our adapters take for them. `make test-vendors` runs it.
package vendors

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

var asked = flag.Bool("vendors", false, "run the vendors' clients, which make test-vendors installs")

// installed is where tools/vendors.sh puts the clients: a folder that Go does not look into.
const installed = "../../.cache/vendors"

func TestMain(m *testing.M) { pgtest.Main(m) }

// TestVendors tells the same story once for each vendor.
func TestVendors(t *testing.T) {
	if !*asked {
		t.Skip("it needs the vendors' clients and nobody asked for it: make test-vendors")
	}
	needClients(t)
	program := build(t)
	for name, v := range vendors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tell(open(t, v, program))
		})
	}
}

// needClients fails the test unless the clients can run, and brings the scripts that drive
// them to where they are installed.
func needClients(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Fatalf("install Node.js 20 or later, from https://nodejs.org or a package manager: %v", err)
	}
	if _, err := os.Stat(filepath.Join(installed, "node_modules", ".package-lock.json")); err != nil {
		t.Fatalf("the vendors' clients are not installed, make test-vendors does it: %v", err)
	}
	scripts, err := filepath.Glob("*.mjs")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, name := range scripts {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(installed, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// build makes the program.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "sandkeeper")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/sandkeeper").CombinedOutput()
	if err != nil {
		t.Fatalf("build the program: %v\n%s", err, out)
	}
	return program
}
