package console

import (
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

// OnTerminal reports whether w is a terminal that may be drawn on.
func OnTerminal(w io.Writer) bool {
	if p, ok := w.(tidy); ok {
		w = p.w
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

// Paint colours texts, on a terminal and unless NO_COLOR is set.
type Paint struct{ on bool }

// NewPaint colours texts for w.
func NewPaint(w io.Writer) Paint { return Paint{on: OnTerminal(w) && os.Getenv("NO_COLOR") == ""} }

func (p Paint) in(code, text string) string {
	if !p.on {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

const red, green, yellow, dim, bold = "31;1", "32", "33", "2", "1"

// colours are all that are used; [tidy] lets no other pass.
var colours = []string{red, green, yellow, dim, bold}

// Red is for what is wrong.
func (p Paint) Red(text string) string { return p.in(red, text) }

// Green is for what is done, or well.
func (p Paint) Green(text string) string { return p.in(green, text) }

// Yellow is for what waits or is to be looked at.
func (p Paint) Yellow(text string) string { return p.in(yellow, text) }

// Dim is for what matters less.
func (p Paint) Dim(text string) string { return p.in(dim, text) }

// Bold is for a heading.
func (p Paint) Bold(text string) string { return p.in(bold, text) }

// Progress shows on a terminal what a pass is doing, in one line that is wiped at the end.
// Anywhere else it says nothing.
type Progress struct {
	mu sync.Mutex
	w  io.Writer // nil when there is nothing to show
}

// NewProgress shows on w.
func NewProgress(w io.Writer) *Progress {
	if !OnTerminal(w) {
		return &Progress{}
	}
	return &Progress{w: w}
}

// Stage shows what is being done now.
func (p *Progress) Stage(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.w != nil {
		fmt.Fprintf(p.w, "\r\x1b[K%s…", what)
	}
}

// End wipes the line.
func (p *Progress) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.w != nil {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.w = nil
	}
}
