package raced

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// spared are the tests of the package that the race detector does not watch, as a pattern of
// whole names, each with the reason.
func spared(tests map[string]string) string {
	return "^(" + strings.Join(slices.Sorted(maps.Keys(tests)), "|") + ")$"
}

// Spare leaves tests out while the race detector watches and nobody names one by -run, and says
// so: they take the longest, and what they run is watched in others. Each is given with its
// reason. Flags must have been parsed.
func Spare(tests map[string]string) error {
	run, skip := flag.Lookup("test.run"), flag.Lookup("test.skip")
	if !On || run.Value.String() != "" {
		return nil
	}
	pattern := spared(tests)
	if skip.Value.String() != "" {
		pattern += "|" + skip.Value.String()
	}
	fmt.Fprintf(os.Stderr, "%d tests are left to make test-whole: see spared_test.go\n", len(tests))
	return flag.Set("test.skip", pattern)
}

// Only lets nothing but these tests run.
func Only(tests map[string]string) error { return flag.Set("test.run", spared(tests)) }
