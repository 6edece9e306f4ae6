package web

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// liveTasks is how many tasks are live; false when they were not counted.
func liveTasks(counts map[string]int) (n int, counted bool) { return sum(counts, "tasks:") }

// ownedSandboxes is how many sandboxes of ours the listings showed; false when none was whole.
func ownedSandboxes(counts map[string]int) (n int, counted bool) { return sum(counts, "owned:") }

func sum(counts map[string]int, prefix string) (n int, counted bool) {
	for key, c := range counts {
		if strings.HasPrefix(key, prefix) {
			n, counted = n+c, true
		}
	}
	return n, counted
}

// taskWords are the tasks by state, in the order of a task's life.
func taskWords(counts map[string]int) string {
	var words []string
	for _, name := range []string{"pending", "assigned", "running", "unknown"} {
		if n := counts["tasks:"+name]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, name))
		}
	}
	return strings.Join(words, ", ")
}

// sandboxWords are the sandboxes of each provider by state.
func sandboxWords(counts map[string]int) []string {
	states := map[string][]string{}
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		rest, ok := strings.CutPrefix(key, "sandboxes:")
		colon := strings.LastIndexByte(rest, ':')
		if !ok || colon < 0 || counts[key] == 0 {
			continue
		}
		provider := rest[:colon]
		states[provider] = append(states[provider], fmt.Sprintf("%d %s", counts[key], rest[colon+1:]))
	}
	var words []string
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		provider, ok := strings.CutPrefix(key, "owned:")
		if !ok {
			continue
		}
		words = append(words, strings.TrimSuffix(provider+": "+strings.Join(states[provider], ", "), ": "))
	}
	return words
}
