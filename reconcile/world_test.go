package reconcile

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The three clocks of a test world are hours apart, so that a verdict that mixes them is
// hours wrong. Ages in the text count back from the clock that the thing belongs to.
var (
	taskNow     = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ledgerNow   = taskNow.Add(3 * time.Hour)
	providerNow = taskNow.Add(-5 * time.Hour)
)

// A world is a snapshot and a policy, written as lines like
//
//	task t1 assigned updated=3m
//	box daytona/s1 running task=t1 created=10m
//	knew box daytona/s1 running since=10m
//
// separated by newlines or semicolons. {1..9} in a line repeats it. Every setting has a
// default: one provider "daytona" whose label names the task, listed completely, all rules
// enforced as the config has them.
type world struct {
	t      testing.TB
	s      Snapshot
	p      Policy
	unread map[string]bool // rows that were not asked for
}

func newWorld(t testing.TB, texts ...string) *world {
	t.Helper()
	w := &world{t: t, p: testPolicy(), unread: map[string]bool{}}
	w.s.Memory = Memory{Now: ledgerNow, Tasks: map[string]TaskSeen{}, Sandboxes: map[Ref]SandboxSeen{},
		Findings: map[FindingKey]Finding{}, Probes: map[Ref]ProbeSeen{}, Templates: map[Ref]TemplateSeen{},
		Sources: map[string]SourceSeen{}, Controls: Controls{Modes: map[string]Mode{}, Breakers: map[string]Breaker{}}}
	w.observe(texts...)
	return w
}

// observe replaces what was seen of both worlds; the ledger and the policy stay.
func (w *world) observe(texts ...string) {
	w.t.Helper()
	w.s = Snapshot{
		Kind: Full, T0: taskNow, Clock: TaskClock{Now: taskNow}, Memory: w.s.Memory,
		Rows: map[string]Task{}, Absent: map[string]bool{}, Unparsable: map[string]bool{}, ByKey: map[Ref]Task{},
		Listings: map[string]ListingSeen{}, Looks: map[Ref]Look{}, Finds: map[string]FindLook{},
		Explained: map[Ref]string{}, Unlooked: map[string]bool{},
	}
	for _, text := range texts {
		for line := range strings.SplitSeq(strings.ReplaceAll(text, ";", "\n"), "\n") {
			for _, one := range expand(w.t, strings.TrimSpace(line)) {
				w.add(one)
			}
		}
	}
	w.settle()
}

// judge judges by the policy that is in force, as a pass does.
func (w *world) judge() *Judgement { return Judge(&w.s, w.p.Effective(&w.s.Memory)) }

func (w *world) plan() (*Judgement, *Plan) {
	j := w.judge()
	return j, MakePlan(j, 7)
}

var braces = regexp.MustCompile(`\{(\d+)\.\.(\d+)\}`)

// expand repeats a line for each number of its range.
func expand(t testing.TB, line string) []string {
	m := braces.FindStringSubmatch(line)
	if m == nil {
		return []string{line}
	}
	var out []string
	for i := number(t, m[1]); i <= number(t, m[2]); i++ {
		out = append(out, strings.ReplaceAll(line, m[0], padded(i, len(m[2]))))
	}
	return out
}

// padded keeps the order of ids the order of numbers.
func padded(i, width int) string {
	text := strconv.Itoa(i)
	return strings.Repeat("0", max(width-len(text), 0)) + text
}

func number(t testing.TB, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("number %q: %v", text, err)
	}
	return n
}

var word = regexp.MustCompile(`[^\s"]*"[^"]*"|\S+`)

// add takes one line.
func (w *world) add(line string) {
	w.t.Helper()
	if line == "" || strings.HasPrefix(line, "#") {
		return
	}
	words := word.FindAllString(line, -1)
	l := &entry{w: w, text: line, kind: words[0], set: map[string]string{}}
	for _, one := range words[1:] {
		if key, value, ok := strings.Cut(one, "="); ok && !strings.ContainsAny(key, `:"`) {
			l.set[key] = strings.Trim(value, `"`)
			l.keys = append(l.keys, key)
			continue
		}
		l.args = append(l.args, strings.Trim(one, `"`))
	}
	put, ok := kinds[l.kind]
	if !ok {
		w.t.Fatalf("line %q: no such kind", line)
	}
	put(l)
	for _, key := range l.keys {
		if _, left := l.set[key]; left {
			w.t.Fatalf("line %q: %s has no key %q", line, l.kind, key)
		}
	}
}

// An entry is one line of a world.
type entry struct {
	w          *world
	text, kind string
	args       []string
	set        map[string]string
	keys       []string
}

func (l *entry) arg(i int) string {
	l.w.t.Helper()
	if i >= len(l.args) {
		l.w.t.Fatalf("line %q: has no word %d", l.text, i+1)
	}
	return l.args[i]
}

// ref is the word i as provider/id.
func (l *entry) ref(i int) Ref {
	provider, id, ok := strings.Cut(l.arg(i), "/")
	if !ok {
		l.w.t.Fatalf("line %q: %q is not provider/id", l.text, l.arg(i))
	}
	return Ref{provider, id}
}

// str sets a text when the line has the key.
func (l *entry) str(key string, to *string) {
	if value, ok := l.set[key]; ok {
		*to = value
		delete(l.set, key)
	}
}

// ago sets a time that long before now, or none for never.
func (l *entry) ago(key string, now time.Time, to *time.Time) {
	var age time.Duration
	if l.set[key] == "never" {
		*to = time.Time{}
		delete(l.set, key)
	} else if l.dur(key, &age) {
		*to = now.Add(-age)
	}
}

func (l *entry) dur(key string, to *time.Duration) bool {
	value, ok := l.set[key]
	if !ok {
		return false
	}
	d, err := time.ParseDuration(value)
	if err != nil {
		l.w.t.Fatalf("line %q: %v", l.text, err)
	}
	*to = d
	delete(l.set, key)
	return true
}

func (l *entry) num(key string, to *int) {
	if value, ok := l.set[key]; ok {
		*to = number(l.w.t, value)
		delete(l.set, key)
	}
}

func (l *entry) yes(key string, to *bool) {
	if value, ok := l.set[key]; ok {
		*to = value == "yes"
		delete(l.set, key)
	}
}

func (l *entry) list(key string, to *[]string) {
	text := ""
	if l.str(key, &text); text != "" {
		*to = strings.Split(text, ",")
	}
}

// under are the keys with a prefix, like label.KEY, as a map.
func (l *entry) under(prefix string) map[string]string {
	var out map[string]string
	for _, key := range slices.Clone(l.keys) {
		name, ok := strings.CutPrefix(key, prefix)
		if !ok {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[name] = l.set[key]
		delete(l.set, key)
	}
	return out
}
