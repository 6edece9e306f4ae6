package check

import (
	"strings"
	"testing"
)

// TestChecksRepairs: what a preset says of rows counts as what the config says of them.
func TestChecksRepairs(t *testing.T) {
	for tasks, want := range map[string]string{
		"preset: omoios":             "",
		"preset: omoios, fail: none": "rows are only read",
		"preset: kortix":             "rows are only read",
		"preset: kortix, fail: {status: error, set: {metadata: \"jsonb_build_object('why', @reason)\"}}":      "",
		"table: public.jobs, columns: {id: id, status: status, sandbox: box}, statuses: {running: [running]}": "not given",
	} {
		c := parsed(t, "installation: x\nmode: enforce\ndatabase: postgres://h/ledger\ntasks: {database: \"postgres://h/tasks\", "+
			tasks+"}\nproviders:\n  - {name: d, kind: daytona, token: k, owns: {labels: {a: b}}, link: {sandbox: id}}\n")
		said := ""
		for _, line := range checkRepairs(c) {
			if line.What == "fail" {
				said = line.Said
			}
		}
		if (want == "") != (said == "") || !strings.Contains(said, want) {
			t.Errorf("%s: said %q, want %q", tasks, said, want)
		}
	}
}
