package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A teller tells the story in short plain lines, each with the time since it began.
type teller struct {
	out   io.Writer
	paint console.Paint

	mu     sync.Mutex
	began  time.Time
	heard  time.Time         // when the ledger was told last
	said   map[string]bool   // findings and steps that were told
	frozen map[string]string // why sources are not trusted, as it was told
	harm   int               // how much harm was told
	broken int               // how many broken things were told to be repaired
}

func newTeller(out io.Writer) *teller {
	return &teller{out: out, paint: console.NewPaint(out), began: time.Now(),
		said: map[string]bool{}, frozen: map[string]string{}}
}

// begin starts the clock of the lines.
func (t *teller) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.began = time.Now()
}

// line prints one line of the story. A terminal that went away is no reason to stop.
func (t *teller) line(mark, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	stamp := t.paint.Dim(clock(time.Since(t.began)))
	fmt.Fprintf(t.out, "%s  %s %s\n", stamp, mark, wrapped(text.Line(fmt.Sprintf(format, args...))))
}

// mark is the word that a line begins with, all of one width.
func mark(word string) string { return fmt.Sprintf("%-9s", word) }

func (t *teller) note(format string, args ...any) { t.line(t.paint.Dim(mark("")), format, args...) }

// operator tells what the operator of the story did.
func (t *teller) operator(said string) { t.note("%s", said) }

// soon announces a scene: what will happen, and what to look at on the page.
func (t *teller) soon(s *scene, left time.Duration) {
	if s.watch == "" {
		return
	}
	t.gap()
	in := "now"
	if left >= time.Second {
		in = "in " + text.Duration(left.Round(time.Second))
	}
	t.line(t.paint.Dim(mark("soon")), "%s: %s", in, s.title)
	t.line(t.paint.Dim(mark("watch")), "%s", s.watch)
}

// gap sets what follows apart.
func (t *teller) gap() {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintln(t.out)
}

// scene tells what happens now.
func (t *teller) scene(s *scene) {
	switch s.kind {
	case fixed:
		t.line(t.paint.Green(mark("fixed")), "%s", s.title)
	case person:
		t.line(t.paint.Yellow(mark("operator")), "%s", s.title)
	default:
		t.line(t.paint.Red(mark("broken")), "%s", s.title)
	}
}

// hearNowAndThen tells what is new in the ledger, so that what belongs together is told
// together.
func (t *teller) hearNowAndThen(o *reconcile.Overview, truth *truth) {
	if time.Since(t.heard) >= 1500*time.Millisecond {
		t.hear(o, truth)
	}
}

// hear tells what is new in the ledger, and what came of it in the world.
func (t *teller) hear(o *reconcile.Overview, truth *truth) {
	t.heard = time.Now()
	t.sources(o.Sources)
	t.incidents(o.Incidents)
	t.found(slices.Concat(o.Findings, o.Resolved))
	t.heldBack(o.Findings)
	t.done(o.Recent)
	t.regrets(o.FalsePositives)
	t.harmed(truth.harmed())
	t.settled(truth)
}

// harmed tells each harm once.
func (t *teller) harmed(all []string) {
	for _, h := range all[min(t.harm, len(all)):] {
		t.line(t.paint.Red(mark("HARMED")), "%s", h)
	}
	t.harm = len(all)
}

// settled tells when everything that broke so far is repaired.
func (t *teller) settled(truth *truth) {
	broken := truth.broken()
	if broken == t.broken || !truth.settled() {
		return
	}
	t.line(t.paint.Green(mark("all well")),
		"broken so far %d, found %d, repaired and confirmed %d; healthy work harmed: %d", broken, broken, broken, t.harm)
	t.broken = broken
}

// sources tells when a source loses trust, for another reason too, and when it has it back.
func (t *teller) sources(sources []reconcile.SourceSeen) {
	for _, s := range sources {
		why := ""
		if !s.Trusted {
			why = "not trusted: " + s.Reason.String()
		}
		if kindOf(why) == kindOf(t.frozen[s.Name]) {
			continue
		}
		t.frozen[s.Name] = why
		if s.Trusted {
			t.line(t.paint.Green(mark("trusted")), "%s again", s.Name)
			continue
		}
		t.line(t.paint.Yellow(mark("frozen")), "%s is not trusted: %s", s.Name, text.Clip(s.Reason.String(), width))
	}
}

// found tells new findings, one line a rule: how many, and the first one's reason.
func (t *teller) found(findings []reconcile.FindingSeen) {
	var fresh group
	for i := range findings {
		f := &findings[i]
		if f.Rule == "systemic" {
			continue // told as the incident that it is
		}
		fresh.add(t.said, "found "+f.Rule+" "+f.Subject, f.Rule, f.Reason)
	}
	for _, rule := range fresh.order {
		t.line(t.paint.Yellow(mark("found")), "%s: %d, the first: %s", rule, fresh.count[rule],
			text.Clip(fresh.first[rule], width))
	}
}

// heldBack tells what is due and not done, one line for each rule and what holds it.
func (t *teller) heldBack(findings []reconcile.FindingSeen) {
	var fresh group
	for i := range findings {
		f := &findings[i]
		if !f.Due || len(f.HeldBy) == 0 {
			continue
		}
		heading := f.Rule + " " + f.HeldBy[0].Label()
		fresh.add(t.said, "held "+heading+" "+f.Subject, heading, f.Rule+"\x00"+f.HeldBy.String())
	}
	for _, heading := range fresh.order {
		rule, by, _ := strings.Cut(fresh.first[heading], "\x00")
		t.line(t.paint.Yellow(mark("held")), "%s: %d, by %s", rule, fresh.count[heading], text.Clip(by, width))
	}
}

// done tells what became of steps, one line for each outcome and rule.
func (t *teller) done(closed []reconcile.Action) {
	var fresh group
	for i := range closed {
		a := &closed[i]
		heading := string(a.Outcome) + "\x00" + a.Rule + "\x00" + string(a.Step)
		fresh.add(t.said, "done "+a.ID, heading, ending(a))
	}
	for _, heading := range fresh.order {
		part := strings.Split(heading, "\x00")
		step, n := reconcile.Step(part[2]), fresh.count[heading]
		did := stepWords(step, n)
		if fresh.first[heading] != "" {
			did = fmt.Sprintf("%s of %d", step, n)
		}
		t.line(t.outcome(part[0]), "%s: %s%s", part[1], did, fresh.first[heading])
	}
}

// ending is why a step was not done; one that was needs no words.
func ending(a *reconcile.Action) string {
	if a.Outcome == reconcile.OutcomeWithdrawn || a.Outcome == reconcile.OutcomeFailed {
		return ", the first: " + text.Clip(a.Detail, width)
	}
	return ""
}

func (t *teller) outcome(word string) string {
	switch reconcile.Outcome(word) {
	case reconcile.OutcomeDone, reconcile.OutcomeConfirmed:
		return t.paint.Green(mark(word))
	case reconcile.OutcomeFailed:
		return t.paint.Red(mark(word))
	}
	return t.paint.Yellow(mark(word))
}

// summary tells how the story ended.
func (t *teller) summary(table []tableRow, harmed []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintln(t.out)
	w := console.Table(t.out)
	fmt.Fprintln(w, "\tbroken\tfound\trepaired\tconfirmed")
	for _, r := range table {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\n", r.name, r.broken, r.found, r.repaired, r.confirmed)
	}
	w.Flush()
	verdict := t.paint.Green("0")
	if len(harmed) > 0 {
		verdict = t.paint.Red(fmt.Sprint(len(harmed)))
	}
	fmt.Fprintf(
		t.out,
		"\nhealthy work harmed: %s (every row and sandbox compared with what the script really broke)\n\n",
		verdict,
	)
}
