package console

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// tidy is the last gate of all that is printed for people. Each place that prints a text of
// somebody else cleans it first; should one be forgotten, this still lets nothing pass that
// moves a cursor, hides what was said or turns a line around.
type tidy struct {
	w       io.Writer
	colours bool // of ours, on a terminal that shows them
}

// Tidy puts the last gate before w.
func Tidy(w io.Writer) io.Writer { return tidy{w, NewPaint(w).on} }

// Write writes the text without what is no text. It takes whole runes, as every printing of
// strings gives them.
func (p tidy) Write(text []byte) (int, error) {
	if _, err := io.WriteString(p.w, p.cleaned(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

func (p tidy) cleaned(said string) string {
	var out strings.Builder
	for said != "" {
		if code := p.colour(said); code != "" {
			out.WriteString(code)
			said = said[len(code):]
			continue
		}
		r, size := utf8.DecodeRuneInString(said)
		if r != '\n' && r != '\t' {
			r = text.Visible(r)
		}
		out.WriteRune(r)
		said = said[size:]
	}
	return out.String()
}

// colour is the one of our own colours that the text begins with.
func (p tidy) colour(text string) string {
	if !p.colours || text[0] != '\x1b' {
		return ""
	}
	known := slices.Concat(colours, []string{"0"})
	for _, code := range known {
		if code = "\x1b[" + code + "m"; strings.HasPrefix(text, code) {
			return code
		}
	}
	return ""
}

// asciiJSON writes JSON with all that is not to be seen as escapes. Such a character stands
// in strings only, where \u means the same to every program, and the encoder leaves some of
// them as they are: a terminal takes U+009B for the beginning of a command.
type asciiJSON struct{ w io.Writer }

// Write takes whole runes, as the encoders give them.
func (a asciiJSON) Write(text []byte) (int, error) {
	if _, err := a.w.Write(escaped(text)); err != nil {
		return 0, err
	}
	return len(text), nil
}

func escaped(text []byte) []byte {
	if !bytes.ContainsFunc(text, unseen) {
		return text
	}
	var out bytes.Buffer
	for _, r := range string(text) {
		switch high, low := utf16.EncodeRune(r); {
		case !unseen(r):
			out.WriteRune(r)
		case high != utf8.RuneError: // beyond what one escape can say
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.Bytes()
}

// unseen reports whether a character is none that is shown, apart from those that JSON is
// made of.
func unseen(r rune) bool { return r != '\n' && r != '\t' && text.Visible(r) != r }
