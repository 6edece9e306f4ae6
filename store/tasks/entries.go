package tasks

import (
	"regexp"
	"strings"

	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

// entryNames finds the entry of the config that a row means.
type entryNames struct {
	names    map[string]bool
	as       map[string]string // what a row holds: the entry
	patterns []entryPattern    // in the order of the config
}

type entryPattern struct {
	like  *regexp.Regexp
	entry string
}

// namesOfEntries reads them. What is written out wins over names of entries, and these win over patterns.
func namesOfEntries(entries []mapping.Entry) (out entryNames) {
	out.names, out.as = map[string]bool{}, map[string]string{}
	for _, e := range entries {
		out.names[e.Name], out.as[e.Name] = true, e.Name
	}
	for _, e := range entries {
		for _, row := range e.Rows {
			if !strings.Contains(row, "*") {
				out.as[row] = e.Name
				continue
			}
			like := strings.ReplaceAll(regexp.QuoteMeta(row), `\*`, `.*`)
			out.patterns = append(out.patterns, entryPattern{regexp.MustCompile(`(?s)^` + like + `$`), e.Name})
		}
	}
	return out
}

// of is the entry that the word of a row means; the word itself where it means none.
func (n *entryNames) of(word string) string {
	if word == "" {
		return ""
	}
	if entry, known := n.as[word]; known {
		return entry
	}
	for _, p := range n.patterns {
		if p.like.MatchString(word) {
			return p.entry
		}
	}
	return word
}
