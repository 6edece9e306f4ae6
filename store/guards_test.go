package store

import (
	"bytes"
	"flag"
	"maps"
	"os"
	command "os/exec" // this package has an exec of its own
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile/guards"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

var guardsOnly = flag.String("guards", "", "prove only these guards of the queries, by name, with commas between")

// init takes a guard out of the queries, in a process of its own that TestSQLGuards starts.
func init() {
	off := os.Getenv(guards.Off)
	if off == "" {
		return
	}
	known := false
	for _, name := range slices.Collect(maps.Keys(queries)) {
		if text, found := guards.WithoutLine(queries[name], off); found {
			queries[name], known = text, true
		}
	}
	if !known {
		panic("no such guard in the queries: " + off)
	}
}

// TestSQLGuards: without any one of the guards that are marked in the queries, the test fails
// that is named for it in testdata/guards.txt, on a real database.
func TestSQLGuards(t *testing.T) {
	if os.Getenv(guards.Off) != "" {
		t.Fatal("this process has a guard less already")
	}
	all, err := guards.ReadSQL("..", "store/queries")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/guards.txt")
	if err != nil {
		t.Fatal(err)
	}
	list, err := guards.ReadWitnesses("store/testdata/guards.txt", string(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range guards.Compare(all, list) {
		t.Error(problem)
	}
	only := strings.Split(*guardsOnly, ",")
	list = slices.DeleteFunc(list, func(w guards.Witness) bool {
		return *guardsOnly != "" && !slices.Contains(only, w.Guard)
	})
	withoutEach(t, list)
}

// withoutEach runs the witnesses side by side, on one server.
func withoutEach(t *testing.T, list []guards.Witness) {
	t.Helper()
	url := pgtest.Database(t) // of one server: they make their own databases beside it
	var wg sync.WaitGroup
	free := make(chan struct{}, 4) // they mostly wait
	for _, w := range list {
		wg.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			run := command.CommandContext(t.Context(), os.Args[0], "-test.run="+w.What, "-test.timeout=1m")
			run.Env = append(os.Environ(), guards.Off+"="+w.Guard, pgtest.Env+"="+url)
			if out, err := run.CombinedOutput(); err == nil || !bytes.Contains(out, []byte("--- FAIL")) {
				t.Errorf("guard %s: without it %s does not fail (%v)\n%s", w.Guard, w.What, err, out)
			}
		})
	}
	wg.Wait()
}
