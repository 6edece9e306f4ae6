package main

import (
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/term"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// onTerminal reports whether w is a terminal that may be drawn on.
func onTerminal(w io.Writer) bool {
	if p, ok := w.(tidy); ok {
		w = p.w
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

// paint colours texts, on a terminal and unless NO_COLOR is set.
type paint struct{ on bool }

func newPaint(w io.Writer) paint { return paint{on: onTerminal(w) && os.Getenv("NO_COLOR") == ""} }

func (p paint) in(code, text string) string {
	if !p.on {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

const red, green, yellow, dim = "31;1", "32", "33", "2"

// colours are all that are used; [tidy] lets no other pass.
var colours = []string{red, green, yellow, dim}

func (p paint) red(text string) string    { return p.in(red, text) }
func (p paint) green(text string) string  { return p.in(green, text) }
func (p paint) yellow(text string) string { return p.in(yellow, text) }
func (p paint) dim(text string) string    { return p.in(dim, text) }

// outcome is the first word of a step's line.
func (p paint) outcome(s stepReport) string {
	switch {
	case s.Verdict == "held":
		return p.yellow("held")
	case s.Outcome == "":
		return p.green("do")
	case s.Outcome == reconcile.OutcomeDone, s.Outcome == reconcile.OutcomeConfirmed:
		return p.green(string(s.Outcome))
	case s.Outcome == reconcile.OutcomeFailed:
		return p.red(string(s.Outcome))
	}
	return p.yellow(string(s.Outcome))
}

// progress shows on a terminal what a pass is doing, in one line that is wiped at the end.
// Anywhere else it says nothing.
type progress struct {
	mu sync.Mutex
	w  io.Writer // nil when there is nothing to show
}

func newProgress(w io.Writer) *progress {
	if !onTerminal(w) {
		return &progress{}
	}
	return &progress{w: w}
}

func (p *progress) stage(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.w != nil {
		fmt.Fprintf(p.w, "\r\x1b[K%s…", what)
	}
}

func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.w != nil {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.w = nil
	}
}
