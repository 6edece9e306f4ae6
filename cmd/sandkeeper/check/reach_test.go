package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
)

// TestCheckNamesOpenFiles: the config may be read by others, its secrets may not, and nobody else may write either.
func TestCheckNamesOpenFiles(t *testing.T) {
	for name, c := range map[string]struct {
		config, secret os.FileMode
		says           string
		folder         os.FileMode
	}{
		"for this user":          {0o600, 0o600, "", 0o700},
		"a config to be read":    {0o644, 0o640, "", 0o700},
		"a config to be written": {0o664, 0o600, "sandkeeper.yaml (0664) may be written by others", 0o700},
		"a secret to be read":    {0o600, 0o644, "token (0644) may be read by everybody", 0o700},
		"a secret to be written": {0o600, 0o620, "token (0620) may be written by others", 0o700},
		"a folder to be written": {0o600, 0o600, "(0777) may be written by others", 0o777},
		"one as /tmp is":         {0o600, 0o600, "", 0o777 | os.ModeSticky},
	} {
		dir := filepath.Join(t.TempDir(), "below") // of a folder's folder it is the same
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Dir(dir), c.folder); err != nil {
			t.Fatal(err)
		}
		files := []string{filepath.Join(dir, "sandkeeper.yaml"), filepath.Join(dir, "token")}
		for i, mode := range []os.FileMode{c.config, c.secret} {
			if err := os.WriteFile(files[i], nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(files[i], mode); err != nil {
				t.Fatal(err)
			}
		}
		line := checkFiles(&config.Config{Files: files})[0]
		if !line.OK || (line.Fix == "") != (c.says == "") || !strings.Contains(line.Said, c.says) {
			t.Errorf("%s: %+v, want %q", name, line, c.says)
		}
	}
}
