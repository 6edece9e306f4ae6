package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A teller tells the story in short plain lines, each with the seconds since the start.
type teller struct {
	stdio
	paint paint
	began time.Time

	mu     sync.Mutex
	said   map[string]bool // findings, steps and sources that were told
	frozen map[string]bool
	harm   int
}

func newTeller(io stdio) *teller {
	return &teller{stdio: io, paint: newPaint(io.out), began: time.Now(),
		said: map[string]bool{}, frozen: map[string]bool{}}
}

// line prints one line of the story. A terminal that went away is no reason to stop.
func (t *teller) line(mark, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ran := time.Since(t.began).Truncate(time.Second)
	stamp := fmt.Sprintf("%02d:%02d", int(ran.Minutes()), int(ran.Seconds())%60)
	fmt.Fprintf(t.out, "%s  %s %s\n", t.paint.dim(stamp), mark, fmt.Sprintf(format, args...))
}

func (t *teller) note(format string, args ...any) { t.line(t.paint.dim("         "), format, args...) }

func (t *teller) scene(s *scene) {
	if s.kind == mended {
		t.line(t.paint.green("mended   "), "%s", s.told)
		return
	}
	t.line(t.paint.red("broken   "), "%s", s.told)
}

func (t *teller) opening(s *demoStage) {
	t.began = time.Now()
	t.note("database  %s", s.dsn)
	t.note("provider  %s, %d sandboxes of ours and %d of another team", s.url, s.workers, demoForeign)
	t.note("config    %s (mode: enforce)", s.config)
	t.note("log       %s", s.log.Name())
	t.note("a pass every few seconds; Ctrl-C ends it and removes everything")
}

// pass tells what is new in a pass.
func (t *teller) pass(r report, harmed []string) {
	t.sources(r.Sources)
	t.findings(r.Findings)
	t.steps(r.Steps)
	for _, h := range harmed[min(t.harm, len(harmed)):] {
		t.line(t.paint.red("HARMED   "), "%s", h)
	}
	t.harm = len(harmed)
}

// sources tells when a source loses trust, and when it has it back.
func (t *teller) sources(sources []sourceReport) {
	for _, s := range sources {
		if s.Trusted == !t.frozen[s.Name] {
			continue
		}
		t.frozen[s.Name] = !s.Trusted
		if s.Trusted {
			t.line(t.paint.green("trusted  "), "%s again", s.Name)
			continue
		}
		t.line(t.paint.yellow("frozen   "), "%s is not trusted: %s", s.Name, shorter(s.Reason))
	}
}

// findings tells the new ones, one line a rule: how many, and the first one's reason.
func (t *teller) findings(findings []findingReport) {
	var fresh group
	for _, f := range findings {
		fresh.add(t.said, "found "+f.Rule+" "+f.Task+" "+f.Sandbox, f.Rule, f.Reason)
	}
	for _, rule := range fresh.order {
		t.line(t.paint.yellow("found    "), "%s %d: %s", rule, fresh.count[rule], shorter(fresh.first[rule]))
	}
}

// steps tells what became of steps, one line an outcome and rule.
func (t *teller) steps(steps []stepReport) {
	var fresh group
	for _, s := range steps {
		what, thing := string(s.Outcome), string(s.Step)+" "+target(s)
		if s.Verdict == "held" {
			what = "held"
		}
		if s.Outcome == reconcile.OutcomePending {
			continue // the next pass tells
		}
		heading := fmt.Sprintf("%-9s", what) + "\x00" + s.Rule + "\x00" + string(s.Step)
		fresh.add(t.said, heading+thing, heading, detail(s, thing))
	}
	for _, heading := range fresh.order {
		part := strings.Split(heading, "\x00")
		t.line(t.mark(part[0]), "%s: %s %d: %s", part[1], part[2], fresh.count[heading], shorter(fresh.first[heading]))
	}
}

func detail(s stepReport, thing string) string {
	switch {
	case s.Verdict == "held":
		return s.HeldBy
	case s.Outcome == reconcile.OutcomeWithdrawn, s.Outcome == reconcile.OutcomeFailed:
		return thing + ": " + s.Detail
	}
	return thing
}

func (t *teller) mark(outcome string) string {
	switch reconcile.Outcome(strings.TrimSpace(outcome)) {
	case reconcile.OutcomeDone, reconcile.OutcomeConfirmed:
		return t.paint.green(outcome)
	case reconcile.OutcomeFailed:
		return t.paint.red(outcome)
	}
	return t.paint.yellow(outcome)
}

// A group counts what belongs together, in the order in which it was met.
type group struct {
	order []string
	count map[string]int
	first map[string]string
}

// add counts a thing under its heading, unless it was said before.
func (g *group) add(said map[string]bool, thing, heading, words string) {
	if said[thing] {
		return
	}
	said[thing] = true
	if g.count == nil {
		g.count, g.first = map[string]int{}, map[string]string{}
	}
	if g.count[heading] == 0 {
		g.order = append(g.order, heading)
		g.first[heading] = words
	}
	g.count[heading]++
}

// shorter keeps a text within a line.
func shorter(text string) string {
	const width = 150
	if runes := []rune(text); len(runes) > width {
		return string(runes[:width]) + "…"
	}
	return text
}

// summary tells how the story ended.
func (t *teller) summary(table []tableRow, harmed []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintln(t.out)
	w := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\tbroken\tfound\trepaired\tconfirmed")
	for _, r := range table {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\n", r.name, r.broken, r.found, r.repaired, r.confirmed)
	}
	w.Flush()
	verdict := t.paint.green("0")
	if len(harmed) > 0 {
		verdict = t.paint.red(fmt.Sprint(len(harmed)))
	}
	fmt.Fprintf(
		t.out,
		"\nhealthy work harmed: %s (every row and sandbox compared with what the script really broke)\n\n",
		verdict,
	)
}

// next tells what to try now, with the program as it was called.
func (t *teller) next(s *demoStage, example string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	call := os.Args[0] + " %s -c " + s.config
	fmt.Fprintln(t.out, "The platform and the passes go on until Ctrl-C. In another terminal:")
	fmt.Fprintf(t.out, "  "+call+"\n", "plan")
	if example != "" {
		fmt.Fprintf(t.out, "  "+call+" %s\n", "explain", example)
	}
	fmt.Fprintf(t.out, "  "+call+" --reason 'trying it'\n", "pause")
	fmt.Fprintf(t.out, "  psql '%s'\n\n", s.dsn)
}
