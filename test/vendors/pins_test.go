package vendors

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"
)

// TestPackagesArePinned: each client is of one version, the lock file holds the hash of all
// that is installed, and it names no host, so that any registry serves.
func TestPackagesArePinned(t *testing.T) {
	var own struct{ Dependencies map[string]string }
	read(t, "package.json", &own)
	if len(own.Dependencies) != len(vendors) {
		t.Errorf("package.json names %v, want one client for each of %d vendors", own.Dependencies, len(vendors))
	}
	for name, version := range own.Dependencies {
		if !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(version) {
			t.Errorf("%s is %q in package.json, want one version", name, version)
		}
	}
	var lock struct {
		Packages map[string]struct{ Version, Integrity, Resolved string }
	}
	read(t, "package-lock.json", &lock)
	for path, p := range lock.Packages {
		switch {
		case path == "":
		case p.Integrity == "":
			t.Errorf("%s has no hash in package-lock.json", path)
		case p.Resolved != "":
			t.Errorf("%s comes from %s in package-lock.json: write it anew in a folder with .npmrc", path, p.Resolved)
		}
	}
	for name, version := range own.Dependencies {
		if got := lock.Packages["node_modules/"+name].Version; got != version {
			t.Errorf("%s is %s in package.json and %q in package-lock.json", name, version, got)
		}
	}
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
