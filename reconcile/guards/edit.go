package guards

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/token"
	"slices"
)

// An insertion is a text to be put in before an offset. Nothing is ever taken out, and no
// insertion has a line break: what a line number says of the copy holds for the original.
type insertion struct {
	at   int
	text string
	// Where several meet: what closes comes before what opens, an inner one closes before an
	// outer one, and an outer one opens before an inner one.
	opens bool
	span  int // length of what it is around
}

// around puts texts before and after a node.
func (s *source) around(n ast.Node, before, after string) []insertion {
	return s.span(n.Pos(), n.End(), before, after)
}

func (s *source) span(from, to token.Pos, before, after string) []insertion {
	begin, end := s.set.Position(from).Offset, s.set.Position(to).Offset
	return []insertion{{begin, before, true, end - begin}, {end, after, false, end - begin}}
}

// insert is the text with the insertions.
func insert(text []byte, all []insertion) []byte {
	slices.SortStableFunc(all, func(a, b insertion) int {
		if a.at != b.at || a.opens != b.opens {
			return cmp.Or(cmp.Compare(a.at, b.at), openness(a)-openness(b))
		}
		if a.opens {
			return cmp.Compare(b.span, a.span)
		}
		return cmp.Compare(a.span, b.span)
	})
	var out bytes.Buffer
	from := 0
	for _, i := range all {
		out.Write(text[from:i.at])
		out.WriteString(i.text)
		from = i.at
	}
	out.Write(text[from:])
	return out.Bytes()
}

func openness(i insertion) int {
	if i.opens {
		return 1
	}
	return 0
}
