package sandkeeper

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestRoomsAreTold: each folder with code has its line in CONTRIBUTING.md, which says what its place lets it import.
func TestRoomsAreTold(t *testing.T) {
	src, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rooms, _ := strings.Cut(string(src), "\n```\n")
	rooms, _, _ = strings.Cut(rooms, "\n```\n")
	told := map[string]string{}
	for line := range strings.Lines(rooms) {
		if name, rest, ok := strings.Cut(strings.TrimSpace(line), "/ "); ok {
			_, arrows, _ := strings.Cut(rest, "→ ")
			told[strings.ReplaceAll(name, "<kind>", "*")] = arrows
		}
	}
	for _, p := range list(t) {
		home, _ := p.place()
		want := strings.Join(home.ours, ", ")
		switch {
		case p.name() == ".":
			continue
		case want == "":
			want = "nothing of ours"
		case slices.Contains(home.ours, "*/*/*"):
			want = "all below"
		}
		got, said := told[p.name()]
		if !said {
			got, said = told[home.pattern]
		}
		if !said || got != want {
			t.Errorf("CONTRIBUTING.md must have the room %s/, which may import: → %s; it says: %s", p.name(), want, got)
		}
	}
}
