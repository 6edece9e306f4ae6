package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// plain is a provider with none of the optional parts.
type plain struct{ reconcile.Provider }

type (
	suspends  struct{ reconcile.Suspender }
	templates struct{ reconcile.Templates }
	quotas    struct{}
)

func (quotas) Quotas(context.Context) ([]reconcile.Quota, error) { return nil, nil }

// TestCheckSaysWhatAProviderLacks: a rule that asks for more than the provider can do would
// wait for ever.
func TestCheckSaysWhatAProviderLacks(t *testing.T) {
	quarantine := "rules: {orphan: {remedy: quarantine}, errored: {remedy: quarantine, mode: enforce}}\n"
	cases := map[string]struct {
		rules string
		p     reconcile.Provider
		want  []string // what is lacking, whether that is in order, for which rules
	}{
		"nothing is asked for": {"", plain{}, nil},
		"it cannot stop":       {quarantine, plain{}, []string{"quarantine ok=false orphan, errored"}},
		"it can stop": {quarantine, struct {
			plain
			suspends
		}{}, nil},
		"the rules are off": {"rules: {orphan: {remedy: quarantine, mode: off}}\n", plain{}, nil},
		"it has no templates": {"rules: {template-unusable: {remedy: activate}}\n", plain{},
			[]string{"activate ok=false template-unusable"}},
		"it has templates": {"rules: {template-unusable: {remedy: activate}}\n", struct {
			plain
			templates
		}{}, nil},
		"it knows no quota": {"rules: {capacity: {make_room: true}}\n", plain{}, []string{"make_room ok=true"}},
		"it knows its quota": {"rules: {capacity: {make_room: true}}\n", struct {
			plain
			quotas
		}{}, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, line := range lacking(mustParse(t, sound+c.rules).Policy(), c.p) {
				_, rules, _ := strings.Cut(line.Said, ": ")
				got = append(got, strings.TrimSpace(fmt.Sprintf("%s ok=%v %s", line.What, line.OK, rules)))
				if line.Fix == "" {
					t.Errorf("%s has no fix", line.What)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("lines (-want +got)\n%s", diff)
			}
		})
	}
}
