package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const planted = "s3cr3t-pl4nted"

func TestSecretsAreNeverPrinted(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte("  "+planted+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(
		"database: ${DATABASE_URL}", "database: ${SECRET_URL}",
		"tasks: {preset: omoios}", `tasks: {preset: omoios, database: "${SECRET_URL}"}`,
		"token: ${TOKEN}", "token_file: token\n    worker_url: https://w.example/api\n    worker_token_file: token\n"+
			"    account: a\n    application: b", "kind: daytona", "kind: cloudflare",
	).Replace(sound) + "alerts: {notify: [\"https://x.example/" + planted + "\"]}\n"
	getenv := env(map[string]string{"SECRET_URL": "postgres://u:" + planted + "@h/d"})
	c, err := Parse(filepath.Join(dir, "c.yaml"), []byte(text), getenv)
	if err != nil {
		t.Fatal(err)
	}
	if e := c.Entries()[0]; e.Token != planted || e.Extra["worker_token"] != planted {
		t.Errorf("tokens = %q, %q, want the file's, trimmed", e.Token, e.Extra["worker_token"])
	}
	if !strings.Contains(c.Tasks.Database.Reveal(), planted) {
		t.Error("the database of the tasks lost its password")
	}
	asJSON, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("config", "config", c, "token", c.Providers[0].Token)
	for _, printed := range []string{
		fmt.Sprint(c), fmt.Sprintf("%+v", c), fmt.Sprintf("%#v", *c), fmt.Sprintf("%+v", *c), fmt.Sprintf("%v", c.Providers),
		fmt.Sprintf("%q %x %d", c.Database, c.Database, c.Database), fmt.Sprintf("%+v", struct{ s Secret }{c.Database}),
		string(asJSON), logged.String(), fmt.Sprintf("%+v", c.Policy()),
	} {
		if strings.Contains(printed, planted) || strings.Contains(printed, fmt.Sprintf("%x", planted)) {
			t.Errorf("a secret is printed: %s", printed)
		}
	}
}

// Whatever is wrong around it, and wherever a person puts a secret by mistake by way of a
// variable, no error shows it.
func TestSecretsAreInNoError(t *testing.T) {
	getenv := env(map[string]string{"S": planted})
	for _, line := range []string{
		"installation: \"${S} x\"", "mode: ${S}", "database: ${S}", "database: " + planted, "database: [" + planted + "]",
		"database: {" + planted + "-url: x", "database: \"${S}", "database: ${" + planted + "!}", "database_file: ${S}",
		"schedule: {quick: \"${S}\"}", "tasks: ${S}", "tasks: {preset: \"${S}\"}", "tasks: {database: \"${S}\"}",
		"events: ${S}", "retention: ${S}", "log: {level: \"${S}\", format: \"${S}\"}",
		"web: {listen: \"${S}\", trusted_proxies: [\"${S}\"]}", "alerts: {notify: [\"${S}\", " + planted + "]}",
		"limits: {per_pass: \"${S}\", share: \"${S}\"}", "rules: {orphan: \"${S}\", errored: {remedy: \"${S}\"}}",
		"rules: {orphan: {overrides: [{when: {provider: \"${S}\"}, after: \"${S}\"}]}}",
		"providers: [{name: \"${S} x\", kind: \"${S}\", url: \"${S}\", rate: \"${S}\", probe: \"${S}\"}]",
		"providers: [{name: x, kind: daytona, url: \"https://${S}@h\", token: \"${S}\", link: {sandbox: \"${S}\"}}]",
		"providers: [{name: x, kind: daytona, url: \"ftp://" + planted + "\", token: {a: " + planted + "}}]",
	} {
		_, err := Parse("c.yaml", []byte(line+"\n"), getenv)
		if err == nil {
			t.Errorf("Parse(%s) has no error", line)
			continue
		}
		// A file name is no secret, and an error about a file has to name it.
		shown := strings.ReplaceAll(err.Error(), "read "+planted, "")
		if strings.Contains(shown, planted) {
			t.Errorf("Parse(%s) shows a secret:\n%v", line, err)
		}
	}
}

func TestSecretFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	long := strings.Repeat("x", maxSize)
	tests := map[string]struct {
		path, want, problem string
	}{
		"a line":       {path: write("line", "abc\n"), want: "abc"},
		"blanks":       {path: write("blanks", "\n a b \r\n"), want: "a b"},
		"as much fits": {path: write("fits", long), want: long},
		"too much":     {path: write("large", long+"x"), problem: "it is larger than 256 KiB"},
		"empty":        {path: write("empty", " \n"), problem: "it is empty"},
		"missing":      {path: filepath.Join(dir, "nope"), problem: "no such file or directory"},
		"a folder":     {path: dir, problem: "is not a regular file"},
		"a device":     {path: "/dev/null", problem: "is not a regular file"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := readSecret(tt.path)
			if got != tt.want {
				t.Errorf("readSecret = %d bytes, want %d", len(got), len(tt.want))
			}
			if want := "read " + tt.path + ": " + tt.problem; tt.problem != "" && (err == nil || err.Error() != want) {
				t.Errorf("readSecret = %v, want %s", err, want)
			}
		})
	}
}
