package main

import (
	"encoding/json"
	"path/filepath"
	"testing"
)

// TestConfigSchema: the schema is printed whole, and as it is, without any config.
func TestConfigSchema(t *testing.T) {
	t.Parallel()
	code, out, errs := called(t, "config schema -c /nowhere")
	if code != 0 || errs != "" || !json.Valid([]byte(out)) {
		t.Fatalf("exit code %d, valid JSON %v:\n%s", code, json.Valid([]byte(out)), errs)
	}
	if out != readFile(t, filepath.Join("config", "sandkeeper.schema.json")) {
		t.Error("config schema printed something else than cmd/sandkeeper/config/sandkeeper.schema.json")
	}
}
