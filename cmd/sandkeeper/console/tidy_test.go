package console

import (
	"bytes"
	"io"
	"testing"
)

// TestTidy: the last gate of what is printed lets our own colours pass on a terminal, and
// nothing else that is not seen.
func TestTidy(t *testing.T) {
	cases := map[string]struct {
		colours    bool
		text, want string
	}{
		"what is seen":                        {true, "plain\tü 日本 \U0001f469\u200d\U0001f52c\n", "plain\tü 日本 \U0001f469\u200d\U0001f52c\n"},
		"a colour of ours":                    {true, "\x1b[31;1mheld\x1b[0m by", "\x1b[31;1mheld\x1b[0m by"},
		"a colour where none is wanted":       {false, "\x1b[31;1mheld\x1b[0m", " [31;1mheld [0m"},
		"another's way to hide a text":        {true, "\x1b[8mhidden\x1b[0m", " [8mhidden\x1b[0m"},
		"a window's title":                    {true, "\x1b]0;x\x07", " ]0;x "},
		"a cursor that goes back":             {true, "a\rb\x1b[1Ac\bd", "a b [1Ac d"},
		"the short form of an escape":         {true, "\u009b31m", " 31m"},
		"the same byte alone":                 {true, "\x9b31m", "\uFFFD31m"},
		"a line that is turned around":        {true, "\u202egnp.exe", " gnp.exe"},
		"letters that only programs read":     {true, "\U000e0041\u200b\ufeff", "   "},
		"an escape at the very end of a text": {true, "x\x1b", "x "},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			n, err := io.WriteString(tidy{&out, c.colours}, c.text)
			if err != nil || n != len(c.text) || out.String() != c.want {
				t.Errorf("%q is written as %q, want %q; %d, %v", c.text, out.String(), c.want, n, err)
			}
		})
	}
}
