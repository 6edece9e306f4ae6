package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// TestMetricsFile: a run of once writes what it came to for the node exporter's textfile collector, also one that cannot
// list the provider, and leaves no other file behind.
func TestMetricsFile(t *testing.T) {
	a := newArena(t, settings{})
	a.working(2)
	folder := t.TempDir()
	file := filepath.Join(folder, "sandkeeper.prom")
	a.must("once", "--migrate", "--wait", patience, "--metrics-file", file)
	has := func(lines ...string) {
		t.Helper()
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			if !strings.Contains(string(text), "\n"+line) {
				t.Errorf("the file lacks %q", line)
			}
		}
		if strings.Contains(string(text), "\nsandkeeper_pass_age_seconds") {
			t.Error("the file has an age, which would never grow")
		}
	}
	has(`sandkeeper_ledger_up{installation="test"} 1`, `sandkeeper_tasks{installation="test",state="running"} 2`,
		`sandkeeper_metrics_written_timestamp_seconds{installation="test"} `,
		`sandkeeper_last_complete_pass_timestamp_seconds{installation="test",kind="full"} `)
	lift := a.cloud.Inject(simulated.Fault{On: simulated.List, Effect: simulated.Answer, Status: http.StatusInternalServerError})
	defer lift()
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file, time.Time{}, before.ModTime().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if code, _, _ := a.run("once", "--wait", patience, "--metrics-file", file); code == 0 {
		t.Error("a run that cannot list ended well")
	}
	if after, err := os.Stat(file); err != nil || after.ModTime().Before(before.ModTime()) {
		t.Errorf("a run that failed did not write the file again: %v", err)
	}
	has(`sandkeeper_source_trusted{installation="test",source="listing:daytona"} 0`)
	if files, err := os.ReadDir(folder); err != nil || len(files) != 1 {
		t.Errorf("%d files in the folder, want one: %v", len(files), err)
	}
}
