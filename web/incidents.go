package web

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// An incident is what the open findings of one rule at one provider have in common.
type incident struct {
	Key     string
	Rule    string
	Means   string
	Where   string // "at daytona, oldest"
	Level   level
	Count   string
	States  string // "3 held, 1 watched"
	Held    string // "Held by ana: looking into it.", "" when nothing is
	Oldest  moment
	Reasons []reasonLine
	More    string

	number int
}

// A reasonLine is a reason that was given once or often.
type reasonLine struct {
	Text    string
	Times   int
	Example bool // the others differ in ids and numbers
}

// mostReasons is how many different reasons an incident shows.
const mostReasons = 5

// incidents group the findings that were read; the second text says so when that is not all.
func (s *scene) incidents() (groups []incident, grouped string) {
	members := map[reconcile.FindingKey][]*reconcile.FindingSeen{}
	for i := range s.Findings {
		f := &s.Findings[i]
		key := reconcile.FindingKey{Rule: f.Rule, Subject: f.Provider}
		members[key] = append(members[key], f)
	}
	for key, of := range members {
		groups = append(groups, s.incident(key, of))
	}
	slices.SortFunc(groups, func(a, b incident) int {
		return cmp.Or(cmp.Compare(b.number, a.number), cmp.Compare(a.Key, b.Key))
	})
	if all := total(s.FindingsOpen); all > len(s.Findings) {
		grouped = fmt.Sprintf("Of %d open findings, the oldest %d are counted here.", all, len(s.Findings))
	}
	return groups[:min(len(groups), mostGroups)], grouped
}

func (s *scene) incident(key reconcile.FindingKey, of []*reconcile.FindingSeen) incident {
	out := incident{
		Key: line(key.Rule+" "+key.Subject, mostName), Rule: line(key.Rule, mostName), Means: ruleMeans[key.Rule],
		Where: "oldest", Count: count(len(of), "finding"), Level: well, number: len(of),
	}
	if key.Subject != "" {
		out.Where = "at " + line(key.Subject, mostName) + ", oldest"
	}
	states := map[state]int{}
	var oldest time.Time
	for _, f := range of {
		states[s.stateOf(f)]++
		if oldest.IsZero() || f.OpenedAt.Before(oldest) {
			oldest = f.OpenedAt
		}
	}
	out.Oldest = ago(oldest, s.Now)
	out.Level, out.States = stateWords(states)
	out.Held = capital(heldSentence(of))
	out.Reasons, out.More = reasonLines(of)
	return out
}

func heldSentence(of []*reconcile.FindingSeen) string {
	words, several := heldWords(of)
	switch {
	case words == "":
		return ""
	case several:
		return sentence("held: " + words)
	}
	return sentence("held " + words)
}

// stateWords are the states by number, the most urgent first, and its level.
func stateWords(states map[state]int) (worst level, words string) {
	for _, one := range byUrgency {
		n := states[one]
		switch {
		case n == 0:
			continue
		case words == "":
			worst, words = one.Level(), fmt.Sprintf("%d %s", n, one.Word())
		default:
			words += fmt.Sprintf(", %d %s", n, one.Word())
		}
	}
	return worst, words
}

// numbered is a word with a digit in it: an id, a number, a time.
var numbered = regexp.MustCompile(`\S*[0-9]\S*`)

// reasonLines are the reasons, the most frequent first. Those that differ only in ids and
// numbers are one line with the oldest as the example.
func reasonLines(of []*reconcile.FindingSeen) (lines []reasonLine, more string) {
	at := map[string]int{}
	for _, f := range of {
		text := sentence(capital(line(f.Reason, mostLine)))
		alike := numbered.ReplaceAllString(text, "#")
		i, seen := at[alike]
		if !seen {
			at[alike] = len(lines)
			lines = append(lines, reasonLine{Text: text, Times: 1})
			continue
		}
		lines[i].Times++
		lines[i].Example = lines[i].Example || lines[i].Text != text
	}
	slices.SortFunc(lines, func(a, b reasonLine) int {
		return cmp.Or(cmp.Compare(b.Times, a.Times), cmp.Compare(a.Text, b.Text))
	})
	if left := len(lines) - mostReasons; left > 0 {
		more = fmt.Sprintf("And %d more %s.", left, verb(left, "reason", "reasons"))
	}
	return lines[:min(len(lines), mostReasons)], more
}

// ruleMeans is what each rule finds, for those who do not know its name.
var ruleMeans = map[string]string{
	"finished-unrecorded":      "the worker said that it finished, the row does not",
	"assigned-stale":           "tasks that were handed out and whose worker never started",
	"sandbox-missing":          "live tasks whose sandbox is gone",
	"heartbeat-lost":           "running tasks without heartbeats",
	"inactive":                 "tasks with heartbeats and no activity",
	"deadline-exceeded":        "tasks that run past their deadline",
	"stop-ignored":             "stopped tasks whose sandbox lives on",
	"finished-lingering":       "finished tasks whose sandbox lives on",
	"pending-stuck":            "tasks that nothing picks up",
	"looping":                  "tasks that fail again and again",
	"orphan":                   "sandboxes that no task explains",
	"duplicate":                "two live sandboxes for one task",
	"record-without-container": "the platform's registry says running, nothing runs",
	"provisioning-stuck":       "sandboxes that do not come up",
	"idle-broken":              "sandboxes that say idle and answer nothing",
	"executions-stuck":         "executions that stay queued",
	"errored":                  "sandboxes in a failed state",
	"over-age":                 "sandboxes that are too old",
	"terminating-stuck":        "sandboxes that do not go",
	"runaway":                  "sandboxes that use too much",
	"template-unusable":        "templates that cannot be used, or not for long",
	"systemic":                 "many failures with one cause",
	"capacity":                 "too many sandboxes, or a quota nearly used up",
	"clock-untrusted":          "columns whose clock cannot be trusted",
	"not-exclusive":            "an ownership proof that others share",
}
