package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/store/ledger"
)

// TestFiguresOfReadme holds the figures of README.md against the numbers that the code uses.
func TestFiguresOfReadme(t *testing.T) {
	readme := strings.Join(strings.Fields(readFile(t, filepath.Join("..", "..", "README.md"))), " ")
	tasks, finished, events := thousands(benchTasks), thousands(benchFinished), thousands(explainPast)
	rules := parsed(t, sound).Policy().Rules
	systemic := rules["systemic"]
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
		fmt.Sprintf("of the last %d tasks that it called dead", ledger.MostTallied),
		fmt.Sprintf("| `systemic` | %d failures in %s with one cause |", systemic.Count, text.Exact(systemic.Window)),
		map[bool]string{true: "Five failures of work"}[systemic.Count == 5],
		map[bool]string{true: "within half an hour"}[systemic.Window == 30*time.Minute],
		fmt.Sprintf("| %d %% of a quota; ", rules["capacity"].Quota),
	} {
		if want == "" || !strings.Contains(readme, want) {
			t.Errorf("README.md does not say %q", want)
		}
	}
	_, fast, _ := strings.Cut(readme, "## How fast it is")
	fast, _, _ = strings.Cut(fast, " ## ")
	for _, n := range regexp.MustCompile(`[0-9]+(,[0-9]{3})+`).FindAllString(fast, -1) {
		if !slices.Contains([]string{tasks, finished, events, thousands(explainTasks)}, n) {
			t.Errorf("README.md says %s of the benchmarks, which is no size that they use", n)
		}
	}
}

// TestDemoInReadme: the times of the demo's table are those of its scenes.
func TestDemoInReadme(t *testing.T) {
	times := []string{clockOf(storyLength)}
	for _, s := range (&script{}).day() {
		times = append(times, clockOf(s.at))
	}
	_, table, _ := strings.Cut(readFile(t, filepath.Join("..", "..", "README.md")), "| about | what happens |")
	table, _, _ = strings.Cut(table, "\n\n")
	named := regexp.MustCompile(`\b[0-9]{1,2}:[0-9]{2}\b`).FindAllString(table, -1)
	if len(named) < 12 {
		t.Errorf("README.md names the times %q of the demo, want one for each line", named)
	}
	for _, at := range named {
		if !slices.Contains(times, at) {
			t.Errorf("README.md says that something happens at %s in the demo; its scenes are at %q", at, times)
		}
	}
}

// TestColumnsOfTheKeeper: as many columns as README.md says may be changed by the keeper's role.
func TestColumnsOfTheKeeper(t *testing.T) {
	_, granted, _ := strings.Cut(readFile(t, filepath.Join("..", "..", "deploy", "grants.sql")), "\nGRANT UPDATE (\n")
	granted, _, _ = strings.Cut(granted, ") ON public.tasks")
	if n := strings.Count(granted, "\n"); n != 6 ||
		!strings.Contains(readFile(t, filepath.Join("..", "..", "README.md")), "can change six columns of a task") {
		t.Errorf("the keeper's role can change %d columns, or README.md does not say six", n)
	}
}

// readFile is the text of a file.
func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// clockOf is a time of the demo as README.md writes it.
func clockOf(d time.Duration) string {
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}
