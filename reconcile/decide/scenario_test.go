package decide

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

var update = flag.Bool("update", false, "rewrite the want sections of testdata/*.txtar")

// TestScenarios judges and plans the worlds of testdata/*.txtar. A scenario has the
// sections policy, tasks, sandboxes, ledger and want. After a want, "later 2m" is another
// look at both worlds that much later, with what the ledger remembers of the one before,
// and has its own want.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d scenarios, %v; want at least 15", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { testScenario(t, file) })
	}
}

func testScenario(t *testing.T, file string) {
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var w *worldtest.World
	var texts []string
	var later time.Duration
	for i := range a.Files {
		f := &a.Files[i]
		text := string(f.Data)
		after, isLater := strings.CutPrefix(f.Name, "later ")
		switch {
		case isLater:
			later, err = time.ParseDuration(after)
			if err != nil || w == nil {
				t.Fatalf("section %q: %v, and it needs a want before", f.Name, err)
			}
			texts = []string{text}
		case f.Name == "want":
			w = judgeNext(t, w, later, texts)
			f.Data = compare(t, w, text)
			texts = nil
		default:
			checkSection(t, f.Name, text)
			texts = append(texts, text)
		}
	}
	if texts != nil {
		t.Fatal("the scenario does not end with want")
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// judgeNext is the world of the texts: a new one, or the one before, later.
func judgeNext(t *testing.T, w *worldtest.World, later time.Duration, texts []string) *worldtest.World {
	if w == nil {
		return worldtest.NewWorld(t, texts...)
	}
	w.S.Memory.Now = w.S.Memory.Now.Add(later)
	w.Observe(texts...)
	return w
}

// compare judges the world, lets it remember, and returns what it came to.
func compare(t *testing.T, w *worldtest.World, want string) []byte {
	t.Helper()
	j, p := PlanWorld(w)
	got := told(j, p)
	if got != want && !*update {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	remember(w, j, p)
	return []byte(got)
}

func checkSection(t *testing.T, name, text string) {
	t.Helper()
	kinds, ok := worldtest.Sections[name]
	if !ok {
		t.Fatalf("section %q: want one of policy, tasks, sandboxes, ledger, want, later AGE", name)
	}
	for line := range strings.Lines(text) {
		kind, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if kind != "" && !strings.HasPrefix(kind, "#") && !worldtest.Contains(strings.Fields(kinds), kind) {
			t.Errorf("section %s: %q does not belong there", name, line)
		}
	}
}

// told is everything that a pass came to, one line each: what is not trusted, the steps,
// the findings that are no steps, what was kept and why.
func told(j *Judgement, p *Plan) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	for _, s := range j.Sources {
		if !s.Trusted {
			line("untrusted %s: %s", s.Name, s.Reason)
		}
	}
	planned := map[reconcile.FindingKey]bool{}
	for i := range p.Steps {
		s := &p.Steps[i]
		planned[reconcile.FindingKey{Rule: s.Rule, Subject: s.Subject}] = true
		if len(s.HeldBy) == 0 {
			line("do %s %s by %s: %s", s.Step, stepTarget(&s.Action), s.Rule, s.Reason)
			continue
		}
		line("held %s %s by %s [%s]: %s", s.Step, stepTarget(&s.Action), s.Rule, s.HeldBy, s.Reason)
	}
	for _, f := range p.Findings {
		if !planned[f.Key()] {
			line("found %s %s [%s]: %s", f.Rule, f.Subject, foundAs(&f), f.Reason)
		}
	}
	healthy := 0
	for i := range j.Decisions {
		d := &j.Decisions[i]
		switch {
		case d.Kept != "" && len(d.Findings) == 0:
			line("kept %s by %s: %s", d.Subject.ID, d.KeptBy, d.Kept)
		case len(d.Findings) == 0:
			healthy++
		}
	}
	for _, name := range reconcile.SortedKeys(p.Breakers) {
		line("breaker %s lists %d", name, len(p.Breakers[name].Subjects))
	}
	toldOfIncidents(j, line)
	for _, id := range p.Withdrawn {
		line("withdrawn %s", id)
	}
	for _, key := range j.Resolved {
		line("resolved %s %s", key.Rule, key.Subject)
	}
	line("healthy %d", healthy)
	var counts []string
	for _, name := range reconcile.SortedKeys(j.Counts) {
		if strings.HasPrefix(name, "age") { // see TestAges
			continue
		}
		if j.Counts[name] > 0 || strings.HasPrefix(name, "owned") {
			counts = append(counts, fmt.Sprintf("%s=%d", name, j.Counts[name]))
		}
	}
	line("fleet %d, %s", j.Fleet, strings.Join(counts, " "))
	return b.String()
}

// foundAs says why a finding is no step.
func foundAs(f *reconcile.Finding) string {
	if !f.Due {
		return fmt.Sprintf("not due, sighted %d", f.Sightings)
	}
	if len(f.HeldBy) > 0 {
		return f.HeldBy.String()
	}
	return "no step of its own"
}
