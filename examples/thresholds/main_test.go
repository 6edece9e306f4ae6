package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

func TestThresholds(t *testing.T) {
	var out bytes.Buffer
	if err := run(&out); err != nil {
		t.Fatal(err)
	}
	for _, name := range reconcile.RuleNames {
		if !strings.Contains(out.String(), "\n"+name+" ") {
			t.Errorf("no line of %s in:\n%s", name, out.String())
		}
	}
}
