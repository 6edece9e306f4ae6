package main

import (
	"cmp"
	"fmt"
	"strings"
)

// opening tells where everything is, what is on the page, and what will happen when.
func (t *teller) opening(s *demoStage, scenes []scene) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.banner("open   " + s.page(""))
	for _, w := range s.watchers {
		fmt.Fprintf(t.out, "  and    %s (%s)\n", w.url, w.what)
	}
	fmt.Fprint(t.out, "\nTo try meanwhile, in another terminal (again at the end, with the ids of what happened):\n\n")
	t.commands(s, "")
	fmt.Fprintf(t.out, `
A platform runs %d tasks in sandboxes at Daytona, E2B and Vercel; another team has %d sandboxes in the
same accounts.
Things will break. Sandkeeper finds each disagreement between the task table and the sandboxes that
exist, explains it, repairs it within a budget, and looks again to confirm. It must harm nothing else:
this demo knows what it broke, and compares.

On the page: the verdict in one sentence, how old the last pass is, which sources are trusted, what is
wrong and why (many failures with one cause as one incident), what was done and confirmed, what is held
back and by what, and whether any task that was marked failed came back to life.

`, s.workers, demoForeign)
	fmt.Fprintln(t.out, "About when, in minutes and seconds from now:")
	for i := range scenes {
		if scenes[i].kind != fixed {
			fmt.Fprintf(t.out, "  %s  %s\n", clock(scenes[i].at), scenes[i].title)
		}
	}
	fmt.Fprintf(t.out, "  %s  the sum of it; then it goes on\n", clock(length(scenes)+theEnd))
	t.places(s)
	fmt.Fprintf(t.out, "\nCtrl-C ends it at any moment and %s.\n", leaves(s.keep))
}

// banner frames a line that nobody may miss.
func (t *teller) banner(text string) {
	frame := strings.Repeat("─", len(text)+6)
	fmt.Fprintf(t.out, "\n  ┌%s┐\n  │   %s   │\n  └%s┘\n", frame, t.paint.Bold(text), frame)
}

// places tells where the rest is.
func (t *teller) places(s *demoStage) {
	fmt.Fprintf(t.out, `
metrics   %s
database  %s
config    %s (mode: enforce, with short thresholds)
log       %s
`, s.page("metrics"), s.dsn, s.program.config, s.log())
	for _, p := range s.providers {
		fmt.Fprintf(t.out, "provider  %s (a simulated %s)\n", p.url, p.title)
	}
}

// next tells what to try now, with the program that the daemon is.
func (t *teller) next(s *demoStage, example string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprint(t.out, "The platform and sandkeeper go on until Ctrl-C; something small breaks each minute.\n"+
		"In another terminal, with effect on the page within a second or two (each of them warns that a\n"+
		"threshold is short: the demo's are, on purpose):\n\n")
	t.commands(s, example)
	t.banner("the page is still at   " + s.page(""))
	fmt.Fprintln(t.out)
}

// commands are what can be tried, each with what it shows.
func (t *teller) commands(s *demoStage, example string) {
	call := s.program.path + " -c " + s.program.config + " "
	for _, try := range [][2]string{
		{"plan", "what the next pass would do"},
		{"explain " + cmp.Or(example, "ID"), "all that is known of a task that was repaired"},
		{"affected", "the incidents; with an id: the tasks that it failed, to be run again"},
		{"report", "rule by rule: how often it acted, and how often it was wrong"},
		{"mode orphan observe --reason 'trying it'", "orphans are found and left alone; `mode orphan clear` ends it"},
		{"pause --reason 'trying it'", "nothing is done any more; `resume` ends it"},
		{"hold ID --reason 'trying it'", "exclude one task or sandbox of the page; `unhold ID` ends it"},
	} {
		fmt.Fprintf(t.out, "  # %s\n  %s%s\n", try[1], call, try[0])
	}
	fmt.Fprintf(t.out, "  # the metrics that the alerts are made of\n  curl -s %s | grep sandkeeper_\n", s.page("metrics"))
	fmt.Fprintf(t.out, "  # the tables themselves\n  psql '%s'\n", s.dsn)
}
