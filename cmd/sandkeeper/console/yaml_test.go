package console

import (
	"bytes"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
)

// TestYAMLReadsBack: what a stranger named stays one text, and is no other value and no other key.
func TestYAMLReadsBack(t *testing.T) {
	want := map[string]any{}
	for _, text := range []string{"", "true", "null", "1e5", "0x1f", "2026-11-25", "a: b", "- x", "#c", "'", `"`, "a\nb: c", "\tx", "&a", "*a",
		"!!int 1", "{a: b}", "---", "...", "\x1b[8mhidden", "\u202egnp.exe", "x ", " x", "~", "@x", "%y", "0123", "=", "<<"} {
		want["key "+text] = text
		want[text+" key"] = text
	}
	want["list"] = []any{"a", []any{"b", map[string]any{"c": "d", "e": []any{}}}, map[string]any{}, true, nil}
	var out bytes.Buffer
	if err := PrintYAML(Tidy(&out), want); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := yaml.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("it reads back differently (-want +got):\n%s\n%s", diff, out.String())
	}
}
