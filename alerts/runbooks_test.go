package alerts

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/alerts/alertstest"
)

// The parts of a runbook, in this order.
const (
	whatYouSee = "What you see"
	howToLook  = "How to look"
	whichCause = "Which cause"
	howLong    = "How long it takes"
)

var parts = []string{whatYouSee, "What sandkeeper does meanwhile", howToLook, whichCause, "What to do now",
	"What to do for good", "How to verify", "When to escalate", howLong}

// everyRunbook are their texts by the names of their files.
func everyRunbook(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(RunbookFiles(), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			text, reading := fs.ReadFile(RunbookFiles(), path)
			all[path], err = string(text), reading
		}
		return err
	})
	if err != nil || len(all) < 60 {
		t.Fatalf("%d runbooks: %v", len(all), err)
	}
	return all
}

// partsOf are the texts of a runbook by their headings.
func partsOf(text string) (headings []string, of map[string]string) {
	of = map[string]string{}
	for _, part := range strings.Split(text, "\n## ")[1:] {
		heading, rest, _ := strings.Cut(part, "\n")
		headings, of[heading] = append(headings, heading), strings.TrimSpace(rest)
	}
	return headings, of
}

var (
	example = regexp.MustCompile(`For\s+example:\s+"([^"]+)"`)
	ourVerb = regexp.MustCompile("(?m)^```sh\n(sandkeeper|kubectl|psql|curl) ")
	aCause  = regexp.MustCompile(`(?m)^\| (.+) \| (.+) \|$`)
	aTime   = regexp.MustCompile(`(?i)\b(\d+|an?|half an|some|one)\s+(second|minute|hour|day|pass)|\b(minutes|days)\b`)
)

// TestRunbooksAreWhole: who was just woken finds in each the same parts, and in each part what it promises: an example,
// a command and a query, a table that decides, and how long it takes.
func TestRunbooksAreWhole(t *testing.T) {
	for name, text := range everyRunbook(t) {
		headings, of := partsOf(text)
		if !slices.Equal(headings, parts) {
			t.Errorf("%s: headings %q, want %q", name, headings, parts)
		}
		for _, wrong := range lacking(of) {
			t.Errorf("%s: %s", name, wrong)
		}
	}
}

// lacking is what is missing in the parts of a runbook.
func lacking(of map[string]string) (all []string) {
	want := func(is bool, what string) {
		if !is {
			all = append(all, what)
		}
	}
	for _, part := range parts {
		want(len(strings.Fields(of[part])) > 1, part+" says nothing")
	}
	want(example.MatchString(of[whatYouSee]), "no example of what you see")
	want(ourVerb.MatchString(of[howToLook]), "no command to look with")
	want(len(alertstest.Queries(of[howToLook])) > 0, "no query to look with")
	want(aTime.MatchString(of[howLong]), "it does not say how long it takes: "+of[howLong])
	return append(all, undecided(of[whichCause])...)
}

// undecided are the rows of a table of causes that do not say what to do.
func undecided(table string) (all []string) {
	rows := aCause.FindAllStringSubmatch(table, -1)
	if len(rows) < 3 || rows[0][1] != "cause" || rows[0][2] != "then" { // the head and two causes
		return []string{"no table of causes: " + table}
	}
	for _, row := range rows[1:] {
		if len(strings.Fields(row[2])) == 0 || strings.Contains(row[2], "See what to do now") {
			all = append(all, "nothing is decided for the cause "+row[1])
		}
	}
	return all
}

// TestRunbooksAreHeld: the test above sees each part that is missing.
func TestRunbooksAreHeld(t *testing.T) {
	_, of := partsOf(everyRunbook(t)["breaker-open.md"])
	if wrong := lacking(of); len(wrong) > 0 {
		t.Fatalf("a whole runbook lacks %q", wrong)
	}
	for part, said := range map[string]string{
		whatYouSee: "It is broken, somehow.", howToLook: "Look at the page, please.", howLong: "It depends on you.",
		whichCause:      "| cause | then |\n|---|---|\n| One | See what to do now. |\n| Two | Wait. |",
		"How to verify": "",
	} {
		now := map[string]string{}
		for name, text := range of {
			now[name] = text
		}
		if now[part] = said; len(lacking(now)) == 0 {
			t.Errorf("nobody sees that %q is no part %q", said, part)
		}
	}
}

var templated = regexp.MustCompile(`{{ if .*?{{ end }}|{{.*?}}`)

// TestRunbooksOfAlerts: the example is what the alert really says, and the query is its own.
func TestRunbooksOfAlerts(t *testing.T) {
	all := everyRunbook(t)
	for _, r := range allRules(t, Rules(Site{})) {
		if r.Alert == "" {
			continue
		}
		_, of := partsOf(all[strings.TrimPrefix(r.Annotations["runbook_url"], runbooks)])
		own := "# " + r.Alert + "\n" + strings.TrimSpace(r.Expr) + "\n"
		if !slices.Contains(alertstest.Queries(of[howToLook]), own) {
			t.Errorf("%s: its runbook does not ask Prometheus what it asks:\n%s", r.Alert, r.Expr)
		}
		said := example.FindStringSubmatch(of[whatYouSee])
		if !says(r.Annotations["summary"], said) {
			t.Errorf("%s: the example %q is not what it says: %s", r.Alert, said, r.Annotations["summary"])
		}
	}
}

// says reports whether the example is a summary with something in the place of each of its templates.
func says(summary string, example []string) bool {
	if len(example) < 2 {
		return false
	}
	words := templated.Split(strings.Join(strings.Fields(summary), " "), -1)
	for i := range words {
		words[i] = regexp.QuoteMeta(words[i])
	}
	whole := regexp.MustCompile("^" + strings.Join(words, ".*") + "$")
	return whole.MatchString(strings.Join(strings.Fields(example[1]), " "))
}
