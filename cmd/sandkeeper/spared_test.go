package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/test/raced"
)

// spared are the tests that the race detector does not watch unless they are named by -run,
// each with the reason. They take the longest, and what they run is watched in other tests.
// `make test-whole` runs them.
var spared = map[string]string{
	"TestHostileTextsAreHarmless":            "every verb and page for each of many texts, one after the other",
	"TestLongRows":                           "the same for texts of 10 MB",
	"TestNothingBrokenShowsASecret":          "TestNothingShowsASecret, again with each part broken",
	"TestNothingBrokenMeanwhileShowsASecret": "the same with each part broken in turn while it runs",
	"TestReplicasAreKilled":                  "make test-replicas is longer; TestLeaderIsKilled kills replicas as well",
	"TestCronJobBesideTheDaemon":             "dozens of short processes; TestTwoAtOnce runs two side by side",
}

var sparedFlag = flag.Bool("spared", false, "run only the tests that the race detector is spared")

// choose leaves out what the race detector is spared, and says so.
func choose() error {
	pattern := "^(" + strings.Join(slices.Sorted(maps.Keys(spared)), "|") + ")$"
	if *sparedFlag {
		return flag.Set("test.run", pattern)
	}
	run, skip := flag.Lookup("test.run"), flag.Lookup("test.skip")
	if !raced.On || run.Value.String() != "" {
		return nil
	}
	if skip.Value.String() != "" {
		pattern += "|" + skip.Value.String()
	}
	fmt.Fprintf(os.Stderr, "%d tests are left to make test-whole: see cmd/sandkeeper/spared_test.go\n", len(spared))
	return flag.Set("test.skip", pattern)
}

// TestSparedAreTests: whoever renames a test renames it in the list as well.
func TestSparedAreTests(t *testing.T) {
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, file := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range tree.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				there[f.Name.Name] = true
			}
		}
	}
	for name, why := range spared {
		if !there[name] || why == "" {
			t.Errorf("%s is spared for the reason %q, and is a test: %t", name, why, there[name])
		}
	}
}
