package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMisspeltKeysAreToldOnce: a key as others call it, or with a slip, is named, and what it
// stands for is not missed as well.
func TestMisspeltKeysAreToldOnce(t *testing.T) {
	const (
		owns = "owns: {labels: {a: b}}"
		link = "link: {task_label: t}"
	)
	for name, tt := range map[string]struct{ entry, want string }{
		"the vendor's word for the token": {"kind: daytona, api_key: x, " + owns + ", " + link,
			`providers[0]: unknown key "api_key"; did you mean "token"?`},
		"a slip in the token": {"kind: daytona, tokn: x, " + owns + ", " + link,
			`providers[0]: unknown key "tokn"; did you mean "token"?`},
		"a slip in owns": {"kind: docker, onws: {labels: {a: b}}, " + link,
			`providers[0]: unknown key "onws"; did you mean "owns"?`},
		"a slip in what owns says": {"kind: docker, owns: {label: {a: b}}, " + link,
			`providers[0].owns: unknown key "label"; did you mean "labels"?`},
		"a slip in what link says": {"kind: docker, link: {task-label: t}, " + owns,
			`providers[0].link: unknown key "task-label"; did you mean "task_label"?`},
		"another kind's word": {"kind: daytona, token: x, org: y, " + owns + ", " + link,
			`providers[0].org: is no key of kind daytona; did you mean "organization"?`},
		"another kind's word, and the right one": {
			"kind: daytona, token: x, org: y, organization: z, " + owns + ", " + link,
			"providers[0].org: is no key of kind daytona; remove it"},
		"a socket without its scheme": {"kind: docker, url: /var/run/docker.sock, " + owns + ", " + link,
			"providers[0].url: is not an address of unix or tcp or http or https; " +
				"write it like unix:///var/run/docker.sock or tcp://host:2376"},
		"nothing at all": {"kind: docker, " + link,
			"providers[0].owns: nothing proves which sandboxes are this installation's, and a sandbox that is not " +
				"must never be touched; give labels, name_prefix or referenced: true"},
	} {
		t.Run(name, func(t *testing.T) {
			text := "installation: x\ndatabase: postgres://u@h/d\ntasks: {preset: omoios}\nproviders: [{name: p, " +
				tt.entry + "}]\n"
			_, err := Parse("c.yaml", []byte(text), env(nil))
			if err == nil {
				t.Fatalf("%s was accepted", tt.entry)
			}
			var got []string
			for _, line := range strings.Split(err.Error(), "\n") {
				_, problem, _ := strings.Cut(line, ": ")
				got = append(got, problem)
			}
			if diff := cmp.Diff([]string{tt.want}, got); diff != "" {
				t.Errorf("Parse (-want +got)\n%s", diff)
			}
		})
	}
}
