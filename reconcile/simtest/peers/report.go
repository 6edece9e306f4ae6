package peers

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Table is the comparison over all worlds, in Markdown.
func Table(outcomes []Outcome) string {
	var b strings.Builder
	b.WriteString("| | false kills | worlds with one | excused | dead tasks | missed | median | p95 " +
		"| leaks | missed | median | p95 | sandbox-hours wasted |\n")
	b.WriteString("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, j := range Janitors() {
		s := Sum(j, outcomes)
		fmt.Fprintf(&b, "| %s | %d | %d of %d | %d | %s | %s | %.0f |\n", j, s.FalseKills(), s.Harmed, s.Worlds, s.Excused,
			s.Tasks.row(), s.Leaks.row(), s.Wasted.Hours())
	}
	return b.String()
}

func (f *Found) row() string {
	return fmt.Sprintf("%d | %d | %s | %s", f.All, f.Missed, brief(f.Quantile(0.5)), brief(f.Quantile(0.95)))
}

// brief is a time for people: to the second below ten minutes, else to the minute.
func brief(d time.Duration) string {
	switch {
	case d < 0:
		return "never"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < 10*time.Minute:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// What was lost in false kills, in the order of the table.
var kinds = []struct{ kind, says string }{
	{"work", "work under way"},
	{"queued", "tasks that waited for their turn"},
	{"kept", "finished work that its user may still go on with"},
	{"foreign", "sandboxes of others"},
}

// Losses says what was lost in the false kills.
func Losses(outcomes []Outcome) string {
	var b strings.Builder
	b.WriteString("| |")
	for _, k := range kinds {
		b.WriteString(" " + k.says + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("--:|", len(kinds)) + "\n")
	for _, j := range Janitors() {
		s := Sum(j, outcomes)
		b.WriteString("| " + j + " |")
		for _, k := range kinds {
			fmt.Fprintf(&b, " %d |", s.Kills[k.kind])
		}
		b.WriteString("\n")
	}
	return b.String()
}

// ByWorld is a row for each world: false kills with the excused losses in brackets, what was
// missed, and sandbox-hours wasted.
func ByWorld(outcomes []Outcome) string {
	var worlds []string
	for _, o := range outcomes {
		if !slices.Contains(worlds, o.World) {
			worlds = append(worlds, o.World)
		}
	}
	var b strings.Builder
	b.WriteString("| | " + strings.Join(Janitors(), " | ") + " |\n|---|" + strings.Repeat("---|", len(Janitors())) + "\n")
	for _, w := range worlds {
		of := slices.DeleteFunc(slices.Clone(outcomes), func(o Outcome) bool { return o.World != w })
		b.WriteString("| " + w + " |")
		for _, j := range Janitors() {
			s := Sum(j, of)
			fmt.Fprintf(&b, " %d (%d) / %d / %.1f |", s.FalseKills(), s.Excused, s.Tasks.Missed+s.Leaks.Missed, s.Wasted.Hours())
		}
		b.WriteString("\n")
	}
	return b.String()
}
