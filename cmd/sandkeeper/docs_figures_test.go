package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// TestFiguresOfDocs holds the figures of docs against the numbers that the code uses.
func TestFiguresOfDocs(t *testing.T) {
	fast := docsText(t, "performance.md")
	docs := fast + docsText(t, "demo.md") + docsText(t, "operating.md")
	tasks, finished, events := thousands(benchTasks), thousands(benchFinished), thousands(explainPast)
	systemic := reconcile.RuleNamed("systemic").Default
	for _, want := range []string{
		// The sizes of the benchmarks, which print what they insert.
		"A full pass over " + tasks + " live tasks and " + tasks + " sandboxes",
		"a task table with " + finished + " finished rows besides",
		"a ledger of " + events + " events / on a fresh one, " + thousands(explainTasks) + " live tasks",
		// The demo.
		fmt.Sprintf("a platform with %d tasks at work in them beside another team's %d sandboxes", demoWorkers, demoForeign),
		fmt.Sprintf("| %d sandboxes at once |", herdSize),
		fmt.Sprintf("| %s | the sum |", clockOf(storyLength)),
		// What sandkeeper does by itself.
		fmt.Sprintf("of the last %d tasks that it marked failed", protocol.MostTallied),
		map[bool]string{true: "Five failures of work"}[systemic.Count == 5],
		map[bool]string{true: "within half an hour"}[systemic.Window == 30*time.Minute],
	} {
		if want == "" || !strings.Contains(docs, want) {
			t.Errorf("docs do not say %q", want)
		}
	}
	for _, n := range regexp.MustCompile(`[0-9]+(,[0-9]{3})+`).FindAllString(fast, -1) {
		if !slices.Contains([]string{tasks, finished, events, thousands(explainTasks)}, n) {
			t.Errorf("docs/performance.md says %s of the benchmarks, which is no size that they use", n)
		}
	}
}

// TestDemoInDocs: the times of the demo's table are those of its scenes.
func TestDemoInDocs(t *testing.T) {
	times := []string{clockOf(storyLength)}
	for _, s := range (&script{}).day() {
		times = append(times, clockOf(s.at))
	}
	_, table, _ := strings.Cut(readFile(t, filepath.Join("..", "..", "docs", "demo.md")), "| about | what happens |")
	table, _, _ = strings.Cut(table, "\n\n")
	named := regexp.MustCompile(`\b[0-9]{1,2}:[0-9]{2}\b`).FindAllString(table, -1)
	if len(named) < 12 {
		t.Errorf("docs/demo.md names the times %q of the demo, want one for each line", named)
	}
	for _, at := range named {
		if !slices.Contains(times, at) {
			t.Errorf("docs/demo.md says that something happens at %s in the demo; its scenes are at %q", at, times)
		}
	}
}

// TestColumnsOfTheKeeper: as many columns as docs/operating.md says may be changed by the keeper's role.
func TestColumnsOfTheKeeper(t *testing.T) {
	_, granted, _ := strings.Cut(readFile(t, filepath.Join("..", "..", "deploy", "grants.sql")), "\nGRANT UPDATE (\n")
	granted, _, _ = strings.Cut(granted, ") ON public.tasks")
	if n := strings.Count(granted, "\n"); n != 6 ||
		!strings.Contains(docsText(t, "operating.md"), "can change six columns of a task") {
		t.Errorf("the keeper's role can change %d columns, or docs/operating.md does not say six", n)
	}
}

// docsText is a file of docs in one line.
func docsText(t *testing.T, name string) string {
	t.Helper()
	return strings.Join(strings.Fields(readFile(t, filepath.Join("..", "..", "docs", name))), " ")
}

// clockOf is a time of the demo as docs/demo.md writes it.
func clockOf(d time.Duration) string {
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}
