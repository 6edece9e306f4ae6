package web

import "fmt"

// foldWords say what is folded under a row.
func foldWords(r row) string {
	if len(r.Evidence) == 0 {
		return "Detail"
	}
	return fmt.Sprintf("Evidence (%d)", len(r.Evidence))
}
