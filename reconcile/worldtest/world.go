// Package worldtest writes worlds as text, for the tests of what judges and carries out: a
// snapshot and a policy, made from lines. It judges nothing itself.
package worldtest

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Task1 is the row of task t1, else the first live task.
func (w *World) Task1() *reconcile.Task {
	if row, ok := w.S.Rows["t1"]; ok {
		return &row
	}
	return &w.S.Tasks[0]
}

// Only turns all other rules off.
func (w *World) Only(names ...string) {
	for name, r := range w.P.Rules {
		if !Contains(names, name) {
			r.Mode = reconcile.Off
			w.P.Rules[name] = r
		}
	}
}

// The three clocks of a test world are hours apart, so that a verdict that mixes them is
// hours wrong. Ages in the text count back from the clock that the thing belongs to.
var (
	TaskNow     = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	LedgerNow   = TaskNow.Add(3 * time.Hour)
	providerNow = TaskNow.Add(-5 * time.Hour)
)

// A World is a snapshot and a policy, written as lines like
//
//	task t1 assigned updated=3m
//	box daytona/s1 running task=t1 created=10m
//	knew box daytona/s1 running since=10m
//
// separated by newlines or semicolons. {1..9} in a line repeats it. Every setting has a
// default: one provider "daytona" whose label names the task, listed completely, all rules
// enforced as the config has them.
type World struct {
	T      testing.TB
	S      reconcile.Snapshot
	P      reconcile.Policy
	unread map[string]bool // rows that were not asked for
}

// NewWorld makes a world from texts, with all rules enforced.
func NewWorld(t testing.TB, texts ...string) *World {
	t.Helper()
	w := &World{T: t, P: TestPolicy(), unread: map[string]bool{}}
	w.S.Memory = reconcile.Memory{Now: LedgerNow,
		Findings: map[reconcile.FindingKey]reconcile.Finding{}, Probes: map[reconcile.Ref]reconcile.ProbeSeen{},
		Templates: map[reconcile.Ref]reconcile.TemplateSeen{},
		Sources:   map[string]reconcile.SourceSeen{}, Controls: reconcile.Controls{Modes: map[string]reconcile.Mode{},
			Breakers: map[string]reconcile.Breaker{}}}
	w.Observe(texts...)
	return w
}

// Observe replaces what was seen of both worlds; the ledger and the policy stay.
func (w *World) Observe(texts ...string) {
	w.T.Helper()
	w.S = reconcile.Snapshot{
		Kind: reconcile.Full, T0: TaskNow, Clock: reconcile.TaskClock{Now: TaskNow}, Memory: w.S.Memory,
		Rows: map[string]reconcile.Task{}, Absent: map[string]bool{}, Unparsable: map[string]bool{},
		ByKey:    map[reconcile.Ref]reconcile.Task{},
		Listings: map[string]reconcile.ListingSeen{}, Lookups: map[reconcile.Ref]reconcile.Lookup{},
		Finds:     map[string]reconcile.FindLookup{},
		Clocks:    &reconcile.Clocks{},
		Explained: map[reconcile.Ref]string{}, Unlooked: map[string]bool{},
	}
	for _, text := range texts {
		for line := range strings.SplitSeq(strings.ReplaceAll(text, ";", "\n"), "\n") {
			for _, one := range expand(w.T, strings.TrimSpace(line)) {
				w.add(one)
			}
		}
	}
	w.settle()
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
		out = append(out, strings.ReplaceAll(line, m[0], Padded(i, len(m[2]))))
	}
	return out
}

// Padded keeps the order of ids the order of numbers.
func Padded(i, width int) string {
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
func (w *World) add(line string) {
	w.T.Helper()
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
		w.T.Fatalf("line %q: no such kind", line)
	}
	put(l)
	for _, key := range l.keys {
		if _, left := l.set[key]; left {
			w.T.Fatalf("line %q: %s has no key %q", line, l.kind, key)
		}
	}
}

// An entry is one line of a world.
type entry struct {
	w          *World
	text, kind string
	args       []string
	set        map[string]string
	keys       []string
}

func (l *entry) arg(i int) string {
	l.w.T.Helper()
	if i >= len(l.args) {
		l.w.T.Fatalf("line %q: has no word %d", l.text, i+1)
	}
	return l.args[i]
}

// ref is the word i as provider/id.
func (l *entry) ref(i int) reconcile.Ref {
	provider, id, ok := strings.Cut(l.arg(i), "/")
	if !ok {
		l.w.T.Fatalf("line %q: %q is not provider/id", l.text, l.arg(i))
	}
	return reconcile.Ref{Provider: provider, ID: id}
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
		l.w.T.Fatalf("line %q: %v", l.text, err)
	}
	*to = d
	delete(l.set, key)
	return true
}

func (l *entry) num(key string, to *int) {
	if value, ok := l.set[key]; ok {
		*to = number(l.w.T, value)
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

// Anchor is a sandbox of a task that has just finished: with it the listing is not empty
// and the link is seen to work.
const Anchor = "box daytona/z9 running task=z9; row z9 completed updated=1s"

// Contains reports whether one of the words of a list is this one.
func Contains(list []string, one string) bool {
	return strings.Contains(" "+strings.Join(list, " ")+" ", " "+one+" ")
}

// Roomy is a world in which full quotas let due clean-up go first.
func Roomy(t *testing.T, text string) *World {
	t.Helper()
	w := NewWorld(t, Anchor, text)
	w.Room(true)
	return w
}

// Room says whether full quotas let due clean-up go first.
func (w *World) Room(wanted bool) {
	r := w.P.Rules["capacity"]
	r.MakeRoom = wanted
	w.P.Rules["capacity"] = r
}
