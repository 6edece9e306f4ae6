package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever the text is: no panic, and each mistake has a place and is one line.
func FuzzParseConfig(f *testing.F) {
	seeds, err := filepath.Glob("testdata/config/*.yaml")
	if err != nil || len(seeds) == 0 {
		f.Fatalf("find seeds = %v, %v", seeds, err)
	}
	for _, seed := range append(seeds, "../../deploy/examples/omoios-daytona.yaml") {
		text, err := os.ReadFile(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	for _, group := range []map[string]brokenConfig{brokenShapes, brokenProviders, brokenRules} {
		for _, tt := range group {
			f.Add(tt.text())
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseConfig("c.yaml", []byte(text), soundEnv)
		if err == nil {
			c.Policy()
			c.Entries()
			c.Locate("tasks.columns.id")
			return
		}
		var all ConfigErrors
		if !errors.As(err, &all) || len(all) == 0 {
			t.Fatalf("ParseConfig = %v, want ConfigErrors", err)
		}
		for _, e := range all {
			if e.Line < 1 || e.Column < 1 || e.Problem == "" || strings.ContainsAny(e.Error(), "\n\r") {
				t.Errorf("mistake %#v has no place, no problem or many lines", e)
			}
			if strings.Contains(e.Error(), "t0ken") && !strings.Contains(text, "t0ken") {
				t.Errorf("mistake %q shows what a variable holds", e.Error())
			}
		}
	})
}
