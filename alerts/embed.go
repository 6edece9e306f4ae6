package alerts

import (
	"embed"
	"io/fs"
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

//go:embed runbooks/*.md
var books embed.FS

// Runbooks are the runbooks of the alerts: NAME.md, as the files.
func Runbooks() fs.FS {
	sub, err := fs.Sub(books, "runbooks")
	if err != nil {
		return books // unreachable: the name is a valid path
	}
	return sub
}
