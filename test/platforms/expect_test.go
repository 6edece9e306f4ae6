package platforms

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// A task is a row that the program judges.
type task struct{ table, key, id string }

func (t task) where() string {
	if strings.HasPrefix(t.key, "(") {
		return fmt.Sprintf("%s WHERE %s = $1", quoted(t.table), t.key)
	}
	return fmt.Sprintf("%s WHERE %s::text = $1", quoted(t.table), quoted(t.key))
}

// expectations are what has to be true of a world.
type expectations struct {
	rows  []*kept
	boxes []*kept
	asks  []func(*world) // at the end
}

// A kept is something healthy: whatever the program finds, it does not touch it.
type kept struct {
	what, id string
	task     task
	was      string
	told     bool
}

// healthy says that a row is right as it is. Its sandboxes may follow.
func (w *world) healthy(what string, t task, sandboxes ...string) {
	w.facts.rows = append(w.facts.rows, &kept{what: what, id: t.id, task: t})
	w.needed(what, sandboxes...)
}

// needed says that sandboxes are somebody's, also where no task says so.
func (w *world) needed(what string, sandboxes ...string) {
	for _, id := range sandboxes {
		w.facts.boxes = append(w.facts.boxes, &kept{what: what, id: id})
	}
}

// hold remembers how the healthy rows are before a pass.
func (e *expectations) hold(w *world) {
	w.Helper()
	for _, k := range e.rows {
		k.was = w.row(k.task)
	}
}

// row is a row to the byte.
func (w *world) row(t task) string {
	w.Helper()
	return w.text("SELECT to_jsonb(t)::text FROM (SELECT * FROM "+t.where()+") t", t.id)
}

// spared demands that no healthy thing was touched by a pass.
func (e *expectations) spared(w *world, pass int) {
	w.Helper()
	for _, k := range e.rows {
		if is := w.row(k.task); is != k.was && !k.told {
			k.told = true
			w.Errorf("pass %d changed the row of %s: %s", pass, k.what, w.why(k.id))
		}
	}
	for _, call := range w.destructive() {
		for _, k := range e.boxes {
			if k.id == call.ID && !k.told {
				k.told = true
				w.Errorf("pass %d asked to %s the sandbox of %s: %s", pass, call.Kind, k.what, w.why(k.id))
			}
		}
	}
	for _, s := range w.reports[len(w.reports)-1].Steps {
		for _, k := range slices.Concat(e.rows, e.boxes) {
			if (k.id == s.Task || k.id == s.Sandbox) && s.Verdict == "do" && s.Outcome != "withdrawn" && !e.told(k.what) {
				k.told = true
				w.Errorf("pass %d set out to %s %s, and did not come so far: %s", pass, s.Step, k.what, w.why(k.id))
			}
		}
	}
}

// told reports whether a complaint about something of this name was made.
func (e *expectations) told(what string) bool {
	return slices.ContainsFunc(slices.Concat(e.rows, e.boxes), func(k *kept) bool { return k.told && k.what == what })
}

// broken demands that what is broken was found and repaired.
func (e *expectations) broken(w *world) {
	w.Helper()
	for _, ask := range e.asks {
		ask(w)
	}
}

// numbers are what differs between the sentences of two passes.
var numbers = regexp.MustCompile("[0-9hms]*[0-9][0-9hms:.-]*")

// why is what the program said of a task or sandbox, each sentence once.
func (w *world) why(id string) string {
	said, was := []string(nil), map[string]bool{}
	add := func(rule, what, reason string) {
		line := fmt.Sprintf("\n\t%s: %s: %s", rule, what, reason)
		if same := numbers.ReplaceAllString(line, ""); !was[same] {
			said, was[same] = append(said, line), true
		}
	}
	for _, r := range w.reports {
		for _, s := range r.Steps {
			if s.Task == id || s.Sandbox == id {
				add(s.Rule, strings.Join(strings.Fields(fmt.Sprint(s.Step, " ", s.Verdict, " ", s.Outcome, " ", s.Detail, " ",
					s.HeldBy)), " "), s.Reason)
			}
		}
		for _, f := range r.Findings {
			if f.Task == id || f.Sandbox == id {
				add(f.Rule, "found", f.Reason)
			}
		}
	}
	if said == nil {
		return "it said nothing"
	}
	return "it said" + strings.Join(said, "")
}

// rules are those that found something about a task or sandbox in any pass.
func (w *world) rules(id string) []string {
	var out []string
	for _, r := range w.reports {
		for _, f := range r.Findings {
			if f.Task == id || f.Sandbox == id {
				out = append(out, f.Rule)
			}
		}
		for _, s := range r.Steps {
			if s.Task == id || s.Sandbox == id {
				out = append(out, s.Rule)
			}
		}
	}
	return out
}

// plans says that a plan at the end does nothing to what is healthy.
func (w *world) plans() {
	w.finally(func(w *world) {
		w.Helper()
		healthy := map[string]string{}
		for _, k := range slices.Concat(w.facts.rows, w.facts.boxes) {
			healthy[k.id] = k.what
		}
		for _, s := range w.look("plan").Steps {
			if what := cmp.Or(healthy[s.Task], healthy[s.Sandbox]); what != "" && s.Verdict == "do" {
				w.Errorf("plan would %s %s: %s: %s", s.Step, what, s.Rule, s.Reason)
			}
		}
	})
}

func (w *world) finally(ask func(*world)) { w.facts.asks = append(w.facts.asks, ask) }

// found says that a broken task or sandbox is found, by whatever rule.
func (w *world) found(what, id string) {
	w.finally(func(w *world) {
		w.Helper()
		if len(w.rules(id)) == 0 {
			w.Errorf("%s was not found", what)
		}
	})
}

// told says that a rule finds something about a task or sandbox.
func (w *world) told(rule, id string) {
	w.finally(func(w *world) {
		w.Helper()
		if !slices.Contains(w.rules(id), rule) {
			w.Errorf("%s did not find %s: %s", rule, id, w.why(id))
		}
	})
}

// unsuspected says that some rules find nothing about a task or sandbox.
func (w *world) unsuspected(what, id string, rules ...string) {
	w.finally(func(w *world) {
		w.Helper()
		for _, rule := range w.rules(id) {
			if slices.Contains(rules, rule) {
				w.Errorf("%s was found by %s: %s", what, rule, w.why(id))
				return
			}
		}
	})
}

// alone says that only one rule acts on a task or sandbox: others may find something too.
func (w *world) alone(what, id, rule string) {
	w.finally(func(w *world) {
		w.Helper()
		for _, r := range w.reports {
			for _, s := range r.Steps {
				if (s.Task == id || s.Sandbox == id) && s.Verdict == "do" && s.Rule != rule {
					w.Errorf("%s acted on %s, want %s: %s", s.Rule, what, rule, w.why(id))
					return
				}
			}
		}
	})
}

// ends says that a sandbox is ended.
func (w *world) ends(what, sandbox string) {
	w.finally(func(w *world) {
		w.Helper()
		for _, cloud := range w.clouds {
			if s, known := cloud.Sandbox(sandbox); known && !s.Gone && !s.Doomed {
				w.Errorf("the sandbox of %s lives on: %s", what, w.why(sandbox))
			}
		}
	})
}

// rests says that a sandbox is stopped and not ended.
func (w *world) rests(what, sandbox string) {
	w.finally(func(w *world) {
		w.Helper()
		for _, cloud := range w.clouds {
			if s, known := cloud.Sandbox(sandbox); known && (s.Gone || s.Doomed || s.State == "running") {
				w.Errorf("the sandbox of %s is %s, and was to be stopped: %s", what, s.State, w.why(sandbox))
			}
		}
	})
}

// destructive are the calls at all engines.
func (w *world) destructive() (out []simulated.Call) {
	for _, cloud := range w.clouds {
		out = append(out, cloud.Destructive()...)
	}
	return out
}

// becomes says what a row becomes: the text that a query of the row gives.
func (w *world) becomes(what string, t task, query, like string) {
	w.finally(func(w *world) {
		w.Helper()
		is := w.text("SELECT "+query+" FROM "+t.where(), t.id)
		if !regexp.MustCompile(like).MatchString(is) {
			w.Errorf("%s of %s is %q, want %s: %s", query, what, is, like, w.why(t.id))
		}
	})
}

// never says what a query of the row must not give.
func (w *world) never(what string, t task, query, like string) {
	w.finally(func(w *world) {
		w.Helper()
		is := w.text("SELECT "+query+" FROM "+t.where(), t.id)
		if regexp.MustCompile(like).MatchString(is) {
			w.Errorf("%s of %s is %q, which must not be like %s", query, what, is, like)
		}
	})
}

// checked demands that check finds nothing wrong with the world.
func (w *world) checked() {
	w.Helper()
	w.configure(w.config)
	code, out, errs := w.run("check")
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "FAIL") {
			w.Errorf("check says %s", line)
		}
	}
	if code != 0 {
		w.Errorf("check ends with exit code %d: %s", code, errs)
	}
}
