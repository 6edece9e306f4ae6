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
	"github.com/sandkeeper/sandkeeper/store/ledger"
)

// TestFiguresOfReadme holds the figures of README.md against the numbers that the code uses.
func TestFiguresOfReadme(t *testing.T) {
	readme := strings.Join(strings.Fields(readFile(t, filepath.Join("..", "..", "README.md"))), " ")
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
		fmt.Sprintf("of the last %d tasks that it called dead", ledger.MostTallied),
		fmt.Sprintf("| `systemic` | %d failures in %s with one cause |", systemic.Count, shortest(systemic.Window)),
		map[bool]string{true: "Five failures of work"}[systemic.Count == 5],
		map[bool]string{true: "within half an hour"}[systemic.Window == 30*time.Minute],
		fmt.Sprintf("| %d %% of a quota; ", reconcile.RuleNamed("capacity").Default.Quota),
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

// TestThresholdsInReadme: each rule's line has its default threshold.
func TestThresholdsInReadme(t *testing.T) {
	readme := readFile(t, filepath.Join("..", "..", "README.md"))
	for i := range reconcile.Rules {
		s := &reconcile.Rules[i]
		_, line, _ := strings.Cut(readme, "| `"+s.Name+"` | ")
		line, _, _ = strings.Cut(line, "\n")
		want := []time.Duration{s.Default.After, s.Default.Conclusive, s.Presets["omoios"], s.Presets["coding-agent"], s.Default.Window, s.Default.Apart, s.Default.Ahead}
		for _, d := range want {
			seconds := fmt.Sprintf("%ds", int(d.Seconds()))
			hours := fmt.Sprintf("%dh", int(d.Hours()))
			if d > 0 && !slices.ContainsFunc([]string{shortest(d), seconds, hours}, func(text string) bool {
				return regexp.MustCompile(`\b` + text + `\b`).MatchString(line)
			}) {
				t.Errorf("README.md does not say %s of %s: %s", shortest(d), s.Name, line)
			}
		}
		if s.Off && !strings.Contains(line, "| off |") {
			t.Errorf("README.md does not say that %s is off: %s", s.Name, line)
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

// clockOf is a time of the demo as README.md writes it.
func clockOf(d time.Duration) string {
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}
