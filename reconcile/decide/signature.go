package decide

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// The bounds of a normalised text, in bytes, and of one word of it: a longer one is an id or
// a blob, whatever its letters are.
const (
	longestError = 200
	longestWord  = 64
)

// Normalise takes out of an error what differs between two failures of one kind: ids,
// numbers, times and quoted names, each of which becomes "#". What is left is in lower case,
// on one line, and short.
func Normalise(said string) string {
	var n normaliser
	for rest := strings.ToLower(text.Clip(said, 2000)); rest != ""; {
		rest = rest[n.take(rest):]
	}
	return cutAtWord(strings.TrimSpace(n.out.String()), longestError)
}

// A normaliser writes a text without what is variable in it.
type normaliser struct {
	out  strings.Builder
	last rune
	gap  bool // since the last "#" nothing but separators was written
}

// take writes what stands for the beginning of the text and returns how long that was.
func (n *normaliser) take(text string) int {
	r, size := utf8.DecodeRuneInString(text)
	if end := n.quoted(text); end > 0 {
		n.hide()
		return end
	}
	if inWord(r) {
		end := wordEnd(text)
		if variable(text[:end]) {
			n.hide()
		} else {
			n.write(text[:end])
		}
		return end
	}
	switch {
	case r == '#' || unicode.IsNumber(r):
		n.hide()
	case strings.ContainsRune(separators, r):
		n.separate(r)
	default:
		n.write(text[:size])
	}
	return size
}

// separators may stand between the parts of one variable thing: a time, an address.
const separators = " :,;"

// quoted is the length of the quoted name that the text begins with, 0 when it does not. An
// apostrophe is a quote only where a word cannot have one.
func (n *normaliser) quoted(text string) int {
	quote := text[0]
	if quote != '"' && quote != '`' && quote != '\'' {
		return 0
	}
	if quote == '\'' && n.last != 0 && !strings.ContainsRune(" (=:,[{", n.last) {
		return 0
	}
	for at := 1; at < len(text); at++ {
		closes := quote != '\'' || at+1 == len(text) || strings.IndexByte(" .,;:)]}", text[at+1]) >= 0
		if text[at] == quote && closes {
			return at + 1
		}
	}
	return 0
}

func (n *normaliser) write(text string) {
	n.out.WriteString(text)
	n.last, _ = utf8.DecodeLastRuneInString(text)
	n.gap = false
}

func (n *normaliser) separate(r rune) {
	n.out.WriteRune(r)
	n.last = r
}

// hide writes "#" for something variable. Several with nothing but separators in between are
// one.
func (n *normaliser) hide() {
	if n.gap {
		text := n.out.String()
		n.out.Reset()
		n.out.WriteString(text[:strings.LastIndexByte(text, '#')])
	}
	n.out.WriteByte('#')
	n.last, n.gap = '#', true
}

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || strings.ContainsRune("_-./@+%", r)
}

func wordEnd(text string) int {
	end := strings.IndexFunc(text, func(r rune) bool { return !inWord(r) })
	if end < 0 {
		return len(text)
	}
	return end
}

// variable reports whether a word is an id, a number or a time.
func variable(w string) bool {
	hex := len(w) >= 8 && strings.Trim(w, "abcdef-") == ""
	return hex || len(w) > longestWord || strings.ContainsFunc(w, unicode.IsNumber)
}

// cutAtWord cuts a text between two words.
func cutAtWord(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 {
		before, _ := utf8.DecodeLastRuneInString(text[:n])
		after, _ := utf8.DecodeRuneInString(text[n:])
		if utf8.RuneStart(text[n]) && !(inWord(before) && inWord(after)) {
			break
		}
		n--
	}
	return strings.TrimSpace(text[:n])
}

// signature names the class of a failure of work: rule, provider, template and normalised
// error. It is "" for clean-up.
func signature(v *view.View, s *reconcile.Subject, f *reconcile.Finding) string {
	if reconcile.RuleNamed(f.Rule).Family == reconcile.CleanUp {
		return ""
	}
	text := f.Rule + "\x00" + failedAt(v, s, f) + "\x00" + s.Template() + "\x00" + errorOf(v, s)
	return strconv.FormatUint(reconcile.Sum(text), 36)
}

// failedAt is the provider entry that a failure is counted for, "" when it may be any of
// several.
func failedAt(v *view.View, s *reconcile.Subject, f *reconcile.Finding) string {
	if f.Provider != "" {
		return f.Provider
	}
	if names := providersOf(v, s); len(names) == 1 {
		return names[0]
	}
	return ""
}

// errorOf is the error of a failure, normalised: what the provider says of a failed sandbox,
// else what the platform wrote into the row during its present state.
func errorOf(v *view.View, s *reconcile.Subject) string {
	for i := range s.Boxes {
		if b := &s.Boxes[i]; b.Here && b.State == reconcile.SandboxFailed && b.Error != "" {
			return Normalise(b.Error)
		}
	}
	for i := range s.Boxes {
		if d := v.Died(s, &s.Boxes[i]); s.Task != nil && d != nil {
			return Normalise(d.Reason)
		}
	}
	if t := s.Task; t != nil && s.Seen().ErrorChanged && s.Seen().Status == t.Status && !reconcile.Marked(t.Error) {
		return Normalise(t.Error)
	}
	return ""
}
