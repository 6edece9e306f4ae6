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

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// TestFiguresOfDocs holds the figures of docs against the numbers that the code uses.
func TestFiguresOfDocs(t *testing.T) {
	_, fast, _ := strings.Cut(docsText(t, "performance.md"), "## Parts") // before it are others' figures
	docs := fast + docsText(t, "demo.md") + docsText(t, "operating.md")
	tasks, finished, events := thousands(benchTasks), thousands(benchFinished), thousands(explainPast)
	systemic := reconcile.RuleNamed("systemic").Default
	for _, want := range []string{
		// The sizes of the benchmarks, which print what they insert.
		"A full pass over " + tasks + " live tasks and " + tasks + " sandboxes",
		"a task table with " + finished + " finished rows besides",
		"of " + thousands(metricsMany) + " sandboxes, of which " + thousands(metricsMany/100) + " leak / of " +
			thousands(metricsFew) + " sandboxes",
		"a ledger of " + events + " events / on a fresh one, " + thousands(explainTasks) + " live tasks",
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
		if !slices.Contains([]string{tasks, finished, events, thousands(explainTasks),
			thousands(metricsMany), thousands(metricsMany - metricsMany/100), thousands(metricsFew)}, n) {
			t.Errorf("docs/performance.md says %s of the benchmarks, which is no size that they use", n)
		}
	}
}

// TestColumnsOfTheKeeper: as many columns as docs/operating.md says may be changed by the keeper's role.
func TestColumnsOfTheKeeper(t *testing.T) {
	_, granted, _ := strings.Cut(readFile(t, filepath.Join("..", "..", "deploy", "grants_tasks.sql")), "\nGRANT UPDATE (\n")
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

// readFile is the text of a file.
func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
