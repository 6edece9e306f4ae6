package propose

import (
	"fmt"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A Frame is what stands around the mapping in a config.
type Frame struct {
	Installation string
	Providers    string // the entries, as YAML with two blanks before each line
	From         string // of which database it was proposed, without its login
}

// YAML is the config, each line with its reason.
func (p *Proposal) YAML(f Frame) string {
	w := &writer{}
	w.line("# yaml-language-server: $schema=sandkeeper.schema.json")
	w.line("# Proposed by `sandkeeper init`" + about(f.From) + ". A line with ? is a guess: look at it first.")
	w.line("# Make the schema for your editor with: sandkeeper config schema > sandkeeper.schema.json")
	for _, d := range p.Doubts {
		w.line("# ? " + oneLine(d))
	}
	w.line("")
	w.value(0, "installation", f.Installation, "stamped into the ledger; another name on the same ledger is refused", false)
	w.value(0, "mode", "observe", "nothing is changed until you say so", false)
	w.value(0, "database", "${DATABASE_URL}", "of the ledger, best one of its own, with a login of its own", false)
	w.line("")
	p.tasks(w)
	w.line("\nproviders:")
	w.line(strings.TrimRight(f.Providers, "\n"))
	return w.String()
}

func about(database string) string {
	if database == "" {
		return ""
	}
	return " from " + oneLine(database)
}

func (p *Proposal) tasks(w *writer) {
	if p.None != "" {
		w.line("# " + p.None)
		w.value(0, "tasks", "none", "only what a sandbox itself shows is judged", true)
		return
	}
	w.line("tasks:")
	w.value(2, "database", "${TASKS_DATABASE_URL}", "of the platform, with a login that does not know the ledger", false)
	if p.Preset.Value != "" {
		w.say(2, p.Preset)
		return
	}
	w.say(2, p.Shape)
	w.say(2, p.Table)
	if p.Timezone.Value != "" {
		w.say(2, p.Timezone)
	}
	w.line("  columns:")
	for _, l := range p.Columns {
		w.say(4, l)
	}
	for _, l := range p.Open {
		w.line(fmt.Sprintf("    # %s: %s  # ? not mapped: %s", l.Key, scalar(l.Value), oneLine(l.Why)))
	}
	w.line("  statuses:")
	for _, s := range p.Statuses {
		w.line("    " + s.State + ": [" + strings.Join(scalars(s.Words), ", ") + "]")
	}
	w.value(2, "fail", "none", "rows are only read", false)
	if p.Fail.Value != "" {
		w.line("  # fail: " + p.Fail.Value + "  # ? " + p.Fail.Why)
	}
	p.events(w)
}

func (p *Proposal) events(w *writer) {
	if len(p.Events) == 0 {
		return
	}
	w.line("events:")
	columns := false
	for _, l := range p.Events {
		name, of := strings.CutPrefix(l.Key, "columns.")
		if of && !columns {
			w.line("  columns:")
			columns = true
		}
		switch {
		case of:
			w.value(4, name, l.Value, l.Why, l.Unsure)
		case strings.HasPrefix(l.Value, "["):
			w.line(fmt.Sprintf("  %s: %s  # ? %s", l.Key, l.Value, l.Why))
		default:
			w.say(2, l)
		}
	}
}

// A writer writes YAML with a comment behind each value.
type writer struct{ strings.Builder }

func (w *writer) line(l string) { w.WriteString(l + "\n") }

func (w *writer) say(indent int, l Line) { w.value(indent, l.Key, l.Value, l.Why, l.Unsure) }

func (w *writer) value(indent int, key, value, why string, unsure bool) {
	mark := ""
	if unsure {
		mark = "? "
	}
	w.line(fmt.Sprintf("%s%s: %s  # %s%s", strings.Repeat(" ", indent), key, scalar(value), mark, oneLine(why)))
}

// scalar is a text as YAML has it: names of columns and statuses are the platform's, and may be anything.
func scalar(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' || r == '-' || r == '.')
	}) && !odd[strings.ToLower(word)] && word[0] != '-' && word[0] != '.' {
		return word
	}
	if word == "${DATABASE_URL}" || word == "${TASKS_DATABASE_URL}" {
		return word
	}
	return fmt.Sprintf("%q", strings.ReplaceAll(word, "${", "$${")) // no variable: the platform named it so
}

var odd = map[string]bool{"true": true, "false": true, "null": true, "yes": true, "no": true, "on": true, "off": true, "y": true, "n": true}

func scalars(list []string) []string {
	out := make([]string, len(list))
	for i, word := range list {
		out[i] = scalar(word)
	}
	return out
}

// oneLine is a text that stays within its comment.
func oneLine(said string) string { return text.Clip(said, 400) }
