package peers

import (
	"fmt"
	"strings"
)

// Fill replaces what stands between `<!-- NAME -->` and `<!-- /NAME -->` in a document by a new
// text, for each name.
func Fill(document string, texts map[string]string) (string, error) {
	for name, text := range texts {
		open, shut := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
		head, rest, opened := strings.Cut(document, open)
		_, tail, closed := strings.Cut(rest, shut)
		if !opened || !closed {
			return "", fmt.Errorf("no place for %s: the document needs %q and %q", name, strings.TrimSpace(open), shut)
		}
		document = head + open + "\n" + strings.TrimSpace(text) + "\n\n" + shut + tail
	}
	return document, nil
}
