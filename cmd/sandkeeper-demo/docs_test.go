package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestDemoInDocs: what docs/demo.md says of the demo is what the demo is, and the times of its
// table are those of the scenes.
func TestDemoInDocs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/demo.md")
	if err != nil {
		t.Fatal(err)
	}
	docs := strings.Join(strings.Fields(string(text)), " ")
	for _, want := range []string{
		fmt.Sprintf("a platform with %d tasks at work in them beside another team's %d sandboxes", demoWorkers, demoForeign),
		fmt.Sprintf("| %d sandboxes at once |", herdSize),
		fmt.Sprintf("| %s | the sum |", clockOf(storyLength)),
	} {
		if !strings.Contains(docs, want) {
			t.Errorf("docs/demo.md does not say %q", want)
		}
	}
	for _, part := range partsOf((&script{}).day()) {
		if !strings.Contains(docs, "`"+part+"`") {
			t.Errorf("docs/demo.md does not name the part %q, which --scene can choose", part)
		}
	}
	times := []string{clockOf(storyLength)}
	for _, s := range (&script{}).day() {
		times = append(times, clockOf(s.at))
	}
	_, table, _ := strings.Cut(string(text), "| about | what happens |")
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

// clockOf is a time of the demo as docs/demo.md writes it.
func clockOf(d time.Duration) string {
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}
