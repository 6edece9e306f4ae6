package sqltext

import (
	"fmt"
	"strings"
)

// MostParts is how many parts an id may have.
const MostParts = 8

// Tuple is the parts of a tuple as the config has it; nil where the text is one expression.
func Tuple(text string) []string {
	text = strings.TrimSpace(text)
	if e := Scan(text); e.Problem != "" || !e.enclosed() {
		return nil
	}
	var parts []string
	depth, begin, quote := 0, 1, byte(0)
	for i := 1; i < len(text)-1; i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			depth--
		case c == ',' && depth == 0:
			parts, begin = append(parts, strings.TrimSpace(text[begin:i])), i+1
		}
	}
	if parts == nil {
		return nil
	}
	return append(parts, strings.TrimSpace(text[begin:len(text)-1]))
}

// PartOf is SQL of one part, from 1, of a tuple's text.
func PartOf(text string, n int) string {
	return fmt.Sprintf("replace(replace(split_part(%s, '/', %d), '%%2F', '/'), '%%25', '%%')", text, n)
}

// partNames are the names by which statements of the config know the parts of the id.
func partNames() map[string]string {
	out := map[string]string{"id": "@id::text"}
	for n := range MostParts {
		out[fmt.Sprintf("id_%d", n+1)] = PartOf("@id::text", n+1)
	}
	return out
}
