package ui

import "fmt"

// foldWords say what is folded under a row.
func foldWords(r Row) string {
	if r.Fold != "" {
		return r.Fold
	}
	if len(r.Evidence) == 0 {
		return "Detail"
	}
	return fmt.Sprintf("Evidence (%d)", len(r.Evidence))
}
