package web

import (
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

func TestSearched(t *testing.T) {
	p := reconcile.Policy{Providers: map[string]reconcile.ProviderPolicy{"daytona": {Name: "daytona"}, "e2b": {Name: "e2b"}}}
	cases := map[string]struct{ sought, place, near string }{
		"sb-7":                   {sought: "sb-7"},
		"task:7":                 {sought: "7"},
		"sandbox:daytona/sb-7":   {sought: "sb-7"},
		"sandbox:elsewhere/sb-7": {sought: "sb-7"},
		"daytona/sb-7":           {sought: "sb-7"},
		"org/repo":               {sought: "org/repo"},
		"incident:i-k45ny":       {sought: "i-k45ny"},
		"a:b":                    {sought: "a:b"},
		"orphan":                 {sought: "orphan", place: "rules/orphan"},
		"rule:Orphan":            {sought: "rule:Orphan", place: "rules/orphan"},
		"orphn":                  {sought: "orphn", near: "orphan"},
		"ruel:orphn":             {sought: "ruel:orphn", near: "rule:orphan"},
		"sandbx:daytona/sb-7":    {sought: "sandbx:daytona/sb-7", near: "sandbox:daytona/sb-7"},
		"daytona":                {sought: "daytona", place: "sandboxes?provider=daytona"},
		"provider:e2b":           {sought: "provider:e2b", place: "sandboxes?provider=e2b"},
		"":                       {},
	}
	for typed, c := range cases {
		t.Run(typed, func(t *testing.T) {
			if got := Sought(typed, &p); got != c.sought {
				t.Errorf("the ledger is searched for %q, want %q", got, c.sought)
			}
			place := ""
			for _, r := range placesNamed(typed, &p) {
				place += r.Cells[0].Href
			}
			if place != c.place {
				t.Errorf("places %q, want %q", place, c.place)
			}
			if near := nearPlace(typed, &p); near != c.near && place == "" {
				t.Errorf("near is %q, want %q", near, c.near)
			}
		})
	}
}
