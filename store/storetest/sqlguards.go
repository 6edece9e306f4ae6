package storetest

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile/guards"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

var guardsOnly = flag.String("guards", "", "prove only these guards of the queries, by name, with commas between")

// WithoutGuard takes a guard out of a package's queries, in a process of its own that
// [SQLGuards] starts; in any other it does nothing.
func WithoutGuard(queries map[string]string) {
	off := os.Getenv(guards.Off)
	if off == "" {
		return
	}
	known := false
	for name := range queries {
		if text, found := guards.WithoutLine(queries[name], off); found {
			queries[name], known = text, true
		}
	}
	if !known {
		panic("no such guard in the queries: " + off)
	}
}

// SQLGuards shows what each guard is for that is marked in the queries of the test's package:
// without it the test fails that is named for it in testdata/guards.txt, on a real database.
// folder is the package's, from the root of the tree; root is the way there from it.
func SQLGuards(t *testing.T, root, folder string) {
	t.Helper()
	if os.Getenv(guards.Off) != "" {
		t.Fatal("this process has a guard less already")
	}
	all, err := guards.ReadSQL(root, path.Join(folder, "queries"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/guards.txt")
	if err != nil {
		t.Fatal(err)
	}
	list, err := guards.ReadWitnesses(path.Join(folder, "testdata/guards.txt"), string(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range guards.Compare(all, list) {
		t.Error(problem)
	}
	only := strings.Split(*guardsOnly, ",")
	withoutEach(t, slices.DeleteFunc(list, func(w guards.Witness) bool {
		return *guardsOnly != "" && !slices.Contains(only, w.Guard)
	}))
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
			run := exec.CommandContext(t.Context(), os.Args[0], "-test.run="+w.What, "-test.timeout=1m")
			run.Env = append(os.Environ(), guards.Off+"="+w.Guard, pgtest.Env+"="+url)
			if out, err := run.CombinedOutput(); err == nil || !bytes.Contains(out, []byte("--- FAIL")) {
				t.Errorf("guard %s: without it %s does not fail (%v)\n%s", w.Guard, w.What, err, out)
			}
		})
	}
	wg.Wait()
}
