package alerts

import (
	_ "embed"
	"strings"
)

//go:embed rules.yaml
var rules string

// runbooks is where the rules say that their runbooks are.
const runbooks = "https://github.com/sandkeeper/sandkeeper/blob/main/alerts/runbooks/"

// Rules are the recording rules and alerts for Prometheus, as the file rules.yaml. With a
// base they point at runbooks below that address instead of the public ones.
func Rules(base string) string {
	if base == "" {
		return rules
	}
	return strings.ReplaceAll(rules, runbooks, strings.TrimSuffix(base, "/")+"/")
}
