package providers_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/providers"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

func TestOpen(t *testing.T) {
	for name, test := range map[string]struct {
		entry providers.Entry
		want  string // in the error; "" when it opens
	}{
		"daytona":   {providers.Entry{Name: "a", Kind: "daytona", Token: "key"}, ""},
		"simulated": {providers.Entry{Name: "a", Kind: "simulated"}, ""},
		"a kind not built yet": {
			providers.Entry{Name: "a", Kind: "e2b"}, "open provider a: kind e2b is not built yet",
		},
		"no kind": {providers.Entry{Name: "a"}, `no kind ""; known are [daytona`},
		"daytona, no token": {
			providers.Entry{Name: "a", Kind: "daytona"}, "open provider a: daytona needs a token",
		},
		"daytona, no real url":  {providers.Entry{Name: "a", Kind: "daytona", Token: "key", URL: "localhost"}, "url"},
		"a kind in other cases": {providers.Entry{Name: "a", Kind: "Daytona"}, "no kind"},
	} {
		p, err := providers.Open(test.entry, providers.Options{})
		if test.want == "" && (p == nil || err != nil) {
			t.Errorf("%s: Open = %v, %v; want a provider", name, p, err)
		}
		if test.want != "" && (p != nil || err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: Open = %v, %v; want %q", name, p, err, test.want)
		}
	}
}

func TestEveryKnownKindOpensOrSaysWhyNot(t *testing.T) {
	if !slices.Contains(providers.Kinds(), "daytona") {
		t.Error("daytona is not known")
	}
	for _, kind := range providers.Kinds() {
		_, err := providers.Open(providers.Entry{Name: "a", Kind: kind, Token: "key"}, providers.Options{})
		if opened := err == nil; opened != providers.Built(kind) {
			t.Errorf("Open(%s) = %v, but Built = %t", kind, err, providers.Built(kind))
		}
	}
}

func TestSimulatedIsAnEmptyWorld(t *testing.T) {
	p, err := providers.Open(providers.Entry{Name: "a", Kind: "simulated"}, providers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := p.List(t.Context(), func(page []reconcile.Sandbox) error {
		if len(page) > 0 {
			return errors.New("not empty")
		}
		return nil
	})
	if err != nil || !l.Complete {
		t.Errorf("List = %+v, %v; want a complete, empty one", l, err)
	}
}
