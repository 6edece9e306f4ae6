package web

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/score"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A targetLine is one number beside what it should be.
type targetLine struct {
	Name  string
	Text  string
	Value string
	Aim   string
	Level ui.Level
	Word  string
}

// targets are the scores beside their targets, the missed ones first and then those that
// were measured.
func (s *model) targets() []targetLine {
	var lines []targetLine
	for _, t := range score.Targets(&s.Scores, &s.policy) {
		l := targetLine{Name: t.Name, Text: ui.Capital(t.Text), Value: t.Value, Aim: t.Aim, Level: ui.Calm,
			Word: "not measured"}
		switch {
		case t.Measured && t.Aim == "":
			l.Word = "no target"
		case t.Measured && t.Met:
			l.Level, l.Word = ui.Well, "met"
		case t.Measured:
			l.Level, l.Word = ui.Warn, "missed"
		}
		lines = append(lines, l)
	}
	slices.SortStableFunc(lines, func(a, b targetLine) int { return targetOrder(a) - targetOrder(b) })
	return lines
}

func targetOrder(l targetLine) int {
	return slices.Index([]string{"missed", "met", "no target", "not measured"}, l.Word)
}

// targetsWord is the section in a few words, for those who do not unfold it.
func targetsWord(lines []targetLine) (ui.Level, string) {
	n := map[string]int{}
	for _, l := range lines {
		n[l.Word]++
	}
	measured := n["missed"] + n["met"]
	switch {
	case measured == 0:
		return ui.Calm, "not measured"
	case n["missed"] > 0:
		return ui.Warn, fmt.Sprintf("%d of %d missed", n["missed"], measured)
	}
	return ui.Well, fmt.Sprintf("all %d met", measured)
}

// endedWords are the tasks that ended, by how they did: what the rates are of.
func endedWords(ended map[string]int) string {
	var words []string
	for _, how := range slices.Sorted(maps.Keys(ended)) {
		if n := ended[how]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, ui.Name(how)))
		}
	}
	if len(words) == 0 {
		return "No task ended."
	}
	return "Tasks that ended: " + strings.Join(words, ", ") + "."
}

// windowWords are the time that the scores are of.
func windowWords(s *reconcile.Scores) string {
	if s.Window <= 0 {
		return "Targets"
	}
	return "Targets, the last " + text.Coarse(s.Window)
}
