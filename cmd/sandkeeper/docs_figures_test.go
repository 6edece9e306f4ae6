package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/store/ledger"
)

// TestFiguresOfReadme holds the figures of README.md against the numbers that the code uses.
func TestFiguresOfReadme(t *testing.T) {
	readme := strings.Join(strings.Fields(readFile(t, filepath.Join("..", "..", "README.md"))), " ")
	tasks, finished, events := thousands(benchTasks), thousands(benchFinished), thousands(explainPast)
	systemic := specOf(t, "systemic").defaults
	for _, want := range []string{
		// The sizes of the benchmarks, which print what they insert.
		"A full pass over " + tasks + " live tasks and " + tasks + " sandboxes",
		"a task table with " + finished + " finished rows besides",
		"a ledger of " + events + " events / on a fresh one, " + thousands(explainTasks) + " live tasks",
		// What sandkeeper does by itself.
		fmt.Sprintf("of the last %d tasks that it called dead", ledger.MostTallied),
		fmt.Sprintf("| `systemic` | %d failures in %s with one cause |", systemic.Count, shortest(systemic.Window)),
		map[bool]string{true: "Five failures of work"}[systemic.Count == 5],
		map[bool]string{true: "within half an hour"}[systemic.Window == 30*time.Minute],
		fmt.Sprintf("| %d %% of a quota; ", specOf(t, "capacity").defaults.Quota),
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

// TestThresholdsInReadme: each rule's line has its default threshold.
func TestThresholdsInReadme(t *testing.T) {
	readme := readFile(t, filepath.Join("..", "..", "README.md"))
	for _, s := range ruleSpecs {
		_, line, _ := strings.Cut(readme, "| `"+s.name+"` | ")
		line, _, _ = strings.Cut(line, "\n")
		want := []time.Duration{s.defaults.After, s.defaults.Conclusive, s.omoios, s.coding, s.defaults.Window, s.defaults.Apart, s.defaults.Ahead}
		for _, d := range want {
			seconds := fmt.Sprintf("%ds", int(d.Seconds()))
			hours := fmt.Sprintf("%dh", int(d.Hours()))
			if d > 0 && !slices.ContainsFunc([]string{shortest(d), seconds, hours}, func(text string) bool {
				return regexp.MustCompile(`\b` + text + `\b`).MatchString(line)
			}) {
				t.Errorf("README.md does not say %s of %s: %s", shortest(d), s.name, line)
			}
		}
		if s.off && !strings.Contains(line, "| off |") {
			t.Errorf("README.md does not say that %s is off: %s", s.name, line)
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

func specOf(t *testing.T, name string) ruleSpec {
	t.Helper()
	i := slices.IndexFunc(ruleSpecs, func(s ruleSpec) bool { return s.name == name })
	if i < 0 {
		t.Fatalf("no rule %s", name)
	}
	return ruleSpecs[i]
}
