package config

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOperatorKeys(t *testing.T) {
	bytes := strings.Repeat("\x00k\xff~", 8) // 32 of them
	plain := "a phrase of at least 32 characters"
	tests := map[string]struct {
		text    string
		mode    os.FileMode
		want    []string
		problem string
	}{
		"base64":                {text: base64.StdEncoding.EncodeToString([]byte(bytes)) + "\n", want: []string{bytes}},
		"base64 of addresses":   {text: base64.RawURLEncoding.EncodeToString([]byte(bytes)), want: []string{bytes}},
		"hex":                   {text: hex.EncodeToString([]byte(bytes)), want: []string{bytes}},
		"as it is":              {text: plain, want: []string{plain}},
		"32 bytes":              {text: plain[:32], want: []string{plain[:32]}},
		"two, the first signs":  {text: plain + "\n\n  " + hex.EncodeToString([]byte(bytes)) + "\n", want: []string{plain, bytes}},
		"its group may read it": {text: plain, mode: 0o440, want: []string{plain}},
		"31 bytes":              {text: plain[:31], problem: "line 1 has fewer than 32 bytes"},
		"a short second one":    {text: plain + "\nshort\n", problem: "line 2 has fewer than 32 bytes"},
		"16 bytes in base64":    {text: base64.StdEncoding.EncodeToString([]byte(bytes[:16])), problem: "line 1 has fewer than 32 bytes"},
		"empty":                 {text: "\n", problem: "it is empty"},
		"all may read it":       {text: plain, mode: 0o604, problem: "its permissions 0604 let everybody at it: chmod o-rwx"},
		"all may write it":      {text: plain, mode: 0o602, problem: "its permissions 0602 let everybody at it: chmod o-rwx"},
		"there is none":         {mode: 1, problem: "no such file"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "operator.key")
			if tt.mode != 1 {
				if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if tt.mode > 1 {
				if err := os.Chmod(file, tt.mode); err != nil {
					t.Fatal(err)
				}
			}
			getenv := env(map[string]string{"DATABASE_URL": "postgres://h/d", "TOKEN": "t"})
			c, err := Parse(filepath.Join(dir, "c.yaml"), []byte(sound+"operator_key_file: operator.key\n"), getenv)
			if tt.problem != "" {
				if err == nil || !strings.Contains(err.Error(), tt.problem) || !strings.Contains(err.Error(), "/dev/urandom") {
					t.Errorf("error = %v, want one that says %q and how to make a key", err, tt.problem)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := c.OperatorKeys(); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", tt.want) {
				t.Errorf("keys = %q, want %q", got, tt.want)
			}
			if files := c.Files; files[len(files)-1] != file {
				t.Errorf("files that are watched = %v, want %s among them", files, file)
			}
		})
	}
}
