package fleet

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Live is how many tasks are live; false when they were not counted.
func Live(counts map[string]int) (n int, counted bool) { return sum(counts, reconcile.CountTasks) }

// Owned is how many sandboxes of ours the listings showed; false when none was whole.
func Owned(counts map[string]int) (n int, counted bool) {
	return sum(counts, reconcile.CountOwned)
}

func sum(counts map[string]int, what string) (n int, counted bool) {
	for key, c := range counts {
		if reconcile.ParseCount(key).What == what {
			n, counted = n+c, true
		}
	}
	return n, counted
}

// taskWords are the tasks by state, in the order of a task's life.
func taskWords(counts map[string]int) string {
	var words []string
	for _, name := range []string{"pending", "assigned", "running", "unknown"} {
		if n := counts[reconcile.Count{What: reconcile.CountTasks, State: name}.String()]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, name))
		}
	}
	return strings.Join(words, ", ")
}

// sandboxWords are the sandboxes of each provider by state, as many as [Owned]: what has ended is none.
func sandboxWords(counts map[string]int) []string {
	states := map[string][]string{}
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		of := reconcile.ParseCount(key)
		if of.What == reconcile.CountSandboxes && counts[key] != 0 && of.State != string(reconcile.SandboxEnded) {
			states[of.Provider] = append(states[of.Provider], fmt.Sprintf("%d %s", counts[key], of.State))
		}
	}
	var words []string
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		if of := reconcile.ParseCount(key); of.What == reconcile.CountOwned {
			words = append(words, strings.TrimSuffix(of.Provider+": "+strings.Join(states[of.Provider], ", "), ": "))
		}
	}
	return words
}
