package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestLinkKey: a key that cannot be the platform's is refused when the config is read, never when a label is.
func TestLinkKey(t *testing.T) {
	key := "a phrase of at least 32 characters"
	for name, tt := range map[string]struct{ link, text, problem string }{
		"one key":        {link: "task_label: task_id", text: key + "\n"},
		"two keys":       {link: "task_label: task_id", text: key + "\n" + key + "x\n", problem: "holds more than one key"},
		"a short key":    {link: "task_label: task_id", text: "s3cret", problem: "line 1 has fewer than 32 bytes"},
		"no file":        {link: "task_label: task_id", problem: "no such file"},
		"no label to be": {link: "sandbox: id", text: key, problem: "signs link.task_label, which is not given"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "link.key")
			if tt.text != "" {
				if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			text := strings.Replace(sound, "{task_label: task_id}", "{"+tt.link+", key_file: link.key}", 1)
			c, err := Parse(filepath.Join(dir, "c.yaml"), []byte(text), env(map[string]string{
				"DATABASE_URL": "postgres://h/d", "TOKEN": "t"}))
			if tt.problem != "" {
				if err == nil || !strings.Contains(err.Error(), tt.problem) || !strings.Contains(err.Error(), "link.key_file") {
					t.Errorf("error = %v, want one that says %q and names the key", err, tt.problem)
				}
				if err != nil && strings.Contains(err.Error(), "s3cret") {
					t.Errorf("the error shows the key: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Entries()[0].Link.Key; got != key {
				t.Errorf("the adapter's key = %q, want %q", got, key)
			}
			if !slices.Contains(c.Files, file) {
				t.Errorf("files that are watched = %v, want %s among them", c.Files, file)
			}
		})
	}
}
