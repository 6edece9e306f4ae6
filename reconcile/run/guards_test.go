package run_test

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/guards"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/history"
	"github.com/sandkeeper/sandkeeper/test/raced"
)

var (
	guardsOnly   = flag.String("guards", "", "prove only these guards, by name, with commas between")
	guardsSearch = flag.Uint64("guards-search", 0, "search so many seeds for the guards that no history shows, or for -guards")
	guardsFrom   = flag.Uint64("guards-from", 1, "search from this seed")
	guardsStrict = flag.Bool("guards-strict", false, "all witnesses have to show their guard, not only one of each")
	guardsPart   = flag.Int("guards-part", 0, "which half of the witnesses this process plays")
)

const (
	guardsParts = 2 // processes: each has one switch
	witnesses   = "testdata/guards.txt"
)

// TestGuards: without any one of the guards that are marked in the code, the property breaks
// that it carries, in a history that goes well with it.
func TestGuards(t *testing.T) {
	if switchable {
		playGuards(t)
		return
	}
	tree, err := guards.Read("../..", guards.Folders...)
	if err != nil {
		t.Fatal(err)
	}
	list := readWitnesses(t)
	if *guardsOnly == "" && *guardsSearch == 0 {
		for _, problem := range guards.Compare(tree.Guards(), list) {
			t.Error(problem)
		}
	}
	if raced.On {
		return // make guards plays the witnesses, without the race detector in the way
	}
	overlay, err := tree.Overlay(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	program := buildWithSwitches(t, overlay, "reconcile/run")
	if *guardsSearch > 0 {
		searchGuards(t, program, withoutHistory(tree.Guards(), list))
		return
	}
	proved := proveByHistories(t, program, list)
	proveByTests(t, overlay, map[string]string{"reconcile/run": program}, list, proved)
	for i := range list {
		w := &list[i]
		if missing := proved.of(w.Guard); missing != "" {
			t.Errorf("guard %s: nothing shows what it is for: %s", w.Guard, missing)
		} else if said := proved.failed[*w]; said != "" && *guardsStrict {
			t.Errorf("guard %s: %s %s does not show it any more: %s", w.Guard, w.Kind, w.What, said)
		}
	}
}

// proofs are what came of the witnesses: of each guard one has to show it.
type proofs struct {
	mu     sync.Mutex
	shown  map[string]bool
	failed map[guards.Witness]string // what it showed instead
}

func (p *proofs) add(w guards.Witness, said string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if said == "" {
		p.shown[w.Guard] = true
		return
	}
	p.failed[w] = said
}

// of is what the witnesses of a guard showed instead, "" when one of them showed it.
func (p *proofs) of(guard string) string {
	if p.shown[guard] {
		return ""
	}
	out := ""
	for w, said := range p.failed {
		if w.Guard == guard {
			out += "\n" + w.Kind + " " + w.What + ": " + said
		}
	}
	return out
}

// readWitnesses are those of the file, or only those asked for.
func readWitnesses(t *testing.T) []guards.Witness {
	t.Helper()
	text, err := os.ReadFile(witnesses)
	if err != nil {
		t.Fatal(err)
	}
	list, err := guards.ReadWitnesses("reconcile/"+witnesses, string(text))
	if err != nil {
		t.Fatal(err)
	}
	only := strings.Split(*guardsOnly, ",")
	return slices.DeleteFunc(list, func(w guards.Witness) bool {
		return *guardsOnly != "" && !slices.Contains(only, w.Guard)
	})
}

// buildWithSwitches makes the test binary of a package, a folder from the root.
func buildWithSwitches(t *testing.T, overlay, folder string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), filepath.Base(folder)+".test")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", program, "../../"+folder)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the tests of %s with a switch in each guard: %v\n%s", folder, err, out)
	}
	return program
}

// proveByHistories plays the histories in processes of the build with switches.
func proveByHistories(t *testing.T, program string, list []guards.Witness) *proofs {
	t.Helper()
	outs := make([][]byte, guardsParts)
	errs := make([]error, guardsParts)
	var wg sync.WaitGroup
	for part := range guardsParts {
		wg.Go(func() {
			run := exec.CommandContext(t.Context(), program, "-test.run=^TestGuards$", "-test.timeout=10m",
				fmt.Sprint("-guards-part=", part), "-guards="+*guardsOnly)
			outs[part], errs[part] = run.CombinedOutput()
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Errorf("play the witnesses: %v\n%s", err, bytes.Join(outs, nil))
	}
	said := map[string]string{}
	for line := range strings.SplitSeq(string(bytes.Join(outs, []byte("\n"))), "\n") {
		if w, what, found := strings.Cut(strings.TrimPrefix(line, "witness "), " shows "); found {
			said[w] = what
		}
	}
	p := &proofs{shown: map[string]bool{}, failed: map[guards.Witness]string{}}
	for _, w := range list {
		if what, played := said[w.String()]; w.Kind != guards.ShownByTest {
			p.add(w, map[bool]string{true: what, false: "it was not played to its end"}[played])
		}
	}
	return p
}

// proveByTests runs the tests that show what the simulation seldom meets, side by side. With
// the guard they pass: they are tests of the tree.
func proveByTests(t *testing.T, overlay string, programs map[string]string, list []guards.Witness, p *proofs) {
	t.Helper()
	var wg sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, w := range list {
		if w.Kind != guards.ShownByTest {
			continue
		}
		folder, test, err := w.Test("../..")
		if err != nil {
			t.Error(err)
			continue
		}
		if programs[folder] == "" {
			programs[folder] = buildWithSwitches(t, overlay, folder)
		}
		program := programs[folder]
		wg.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			p.add(w, failsWithout(t, program, w.Guard, folder, test))
		})
	}
	wg.Wait()
}

// failsWithout says what a test does without the guard that it shows, "" when it fails.
func failsWithout(t *testing.T, program, guard, folder, test string) string {
	t.Helper()
	run := exec.CommandContext(t.Context(), program, "-test.run="+test, "-test.timeout=1m")
	run.Dir, run.Env = filepath.Join("..", "..", folder), append(os.Environ(), guards.Off+"="+guard)
	out, err := run.CombinedOutput()
	if err != nil && bytes.Contains(out, []byte("--- FAIL")) {
		return ""
	}
	return fmt.Sprintf("it does not fail (%v) %s", err, out)
}

// withoutHistory are the guards that are to be searched for.
func withoutHistory(all []guards.Guard, list []guards.Witness) []string {
	var names []string
	for _, g := range all {
		shown := slices.ContainsFunc(list, func(w guards.Witness) bool { return w.Guard == g.Name && w.Kind != guards.ShownByTest })
		if !shown || *guardsOnly != "" {
			names = append(names, g.Name)
		}
	}
	if *guardsOnly != "" {
		names = strings.Split(*guardsOnly, ",")
	}
	return names
}

// searchGuards prints the witnesses that it finds, to be put into the file. Their histories are
// in testdata/guards by then.
func searchGuards(t *testing.T, program string, names []string) {
	t.Helper()
	run := exec.CommandContext(t.Context(), program, "-test.run=^TestGuards$", "-test.timeout=0",
		"-guards="+strings.Join(names, ","), fmt.Sprint("-guards-search=", *guardsSearch), fmt.Sprint("-guards-from=", *guardsFrom))
	out, err := run.CombinedOutput()
	if err != nil {
		t.Errorf("search: %v", err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		if found, ok := strings.CutPrefix(lines.Text(), "found "); ok {
			fmt.Println(found)
		}
	}
}

// playGuards is what a process of the build with switches does.
func playGuards(t *testing.T) {
	t.Helper()
	if *guardsSearch > 0 {
		tree, err := guards.Read("../..", guards.Folders...)
		if err != nil {
			t.Fatal(err)
		}
		g := &guardSearch{left: strings.Split(*guardsOnly, ","), tries: map[string]int{}, held: map[string]int{},
			carries: map[string]string{}}
		for _, guard := range tree.Guards() {
			g.carries[guard.Name] = guard.Property
		}
		g.run(t)
		return
	}
	for i, w := range readWitnesses(t) {
		if i%guardsParts == *guardsPart && w.Kind != guards.ShownByTest {
			playWitness(t, w)
		}
	}
}

// playWitness prints what a history shows, nothing when it shows what it has to.
func playWitness(t *testing.T, w guards.Witness) {
	t.Helper()
	script, says := scriptOf(t, w), ""
	if r := without(t, "", script); !well(r) {
		says = fmt.Sprintf("that it does not go well with it: %v %v", r.Err, r.Violations)
	} else if r := without(t, w.Guard, script); !broken(r, w.Property) {
		says = fmt.Sprintf("without it no break of %s: %v", w.Property, r.Violations)
	}
	fmt.Printf("witness %s shows %s\n", w.String(), strings.ReplaceAll(says, "\n", " "))
}

func scriptOf(t *testing.T, w guards.Witness) *history.Script {
	t.Helper()
	if w.Kind == guards.ShownBySeed {
		s := history.Generate(w.Seed())
		return &s
	}
	file := filepath.Join("testdata", "guards", w.What)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := simtest.Parse(file, string(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// without plays a history with one guard off, or with all on.
func without(t *testing.T, guard string, s *history.Script) *simtest.Report {
	t.Helper()
	if !guardOff(guard) {
		t.Fatalf("there is no guard %s", guard)
	}
	defer guardOff("")
	return simtest.Run(t, s, simtest.Options{Collect: true})
}

func broken(r *simtest.Report, property string) bool {
	return slices.ContainsFunc(r.Violations, func(v history.Violation) bool { return v.Property == property })
}

// A guardSearch tries seeds without each guard that has held something in them.
type guardSearch struct {
	left     []string
	carries  map[string]string // property by guard
	tries    map[string]int
	held     map[string]int // in so many seeds it has held something
	unfit    int            // seeds whose history does not go well with all guards
	searched uint64
}

// mostTries bounds the search for one guard in one seed: those tried least come first.
const mostTries = 12

func (g *guardSearch) run(t *testing.T) {
	t.Helper()
	for ; g.searched < *guardsSearch && len(g.left) > 0; g.searched++ {
		script := history.Generate(*guardsFrom + g.searched)
		guardsFired()
		if !well(without(t, "", &script)) {
			g.unfit++
			continue
		}
		fired := guardsFired()
		for _, name := range fired {
			g.held[name]++
		}
		want := slices.DeleteFunc(slices.Clone(g.left), func(name string) bool { return !slices.Contains(fired, name) })
		slices.SortStableFunc(want, func(a, b string) int { return cmp.Compare(g.tries[a], g.tries[b]) })
		for _, name := range want[:min(len(want), mostTries)] {
			g.try(t, name, &script)
		}
	}
	fmt.Printf("%d of %d seeds did not go well with all guards\n", g.unfit, g.searched)
	for _, name := range g.left {
		fmt.Printf("left %s after %d tries; it held something in %d seeds\n", name, g.tries[name], g.held[name])
	}
}

func (g *guardSearch) try(t *testing.T, name string, script *history.Script) {
	t.Helper()
	g.tries[name]++
	r := without(t, name, script)
	if r.Err != nil || len(r.Violations) == 0 {
		return
	}
	property := r.Violations[0].Property
	if broken(r, g.carries[name]) {
		property = g.carries[name]
	}
	small := shrunk(t, name, property, script)
	small.About = []string{"Without the guard " + name + ": " + without(t, name, small).Violations[0].Says}
	file := filepath.Join("testdata", "guards", name+".txt")
	if err := os.WriteFile(file, []byte(small.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	fmt.Printf("found %s %s history:%s.txt\n", name, property, name)
	g.left = slices.DeleteFunc(g.left, func(other string) bool { return other == name })
}

func well(r *simtest.Report) bool { return r.Err == nil && len(r.Violations) == 0 }

// shrunk leaves out of a history what it does not need to break without the guard and to go
// well with it.
func shrunk(t *testing.T, guard, property string, s *history.Script) *history.Script {
	t.Helper()
	until := time.Now().Add(shrinkFor)
	shows := func(try *history.Script) bool {
		return time.Now().Before(until) && broken(without(t, guard, try), property) && well(without(t, "", try))
	}
	out := *s
	for before := -1; before != len(out.Events)+len(out.Setup); {
		before = len(out.Events) + len(out.Setup)
		for _, part := range []*[]history.Event{&out.Events, &out.Setup} {
			shrink(part, func() bool { return shows(&out) })
		}
	}
	return &out
}

const shrinkFor = 20 * time.Second

// shrink leaves out as much of a list as it can while it shows what it has to: halves first,
// then smaller and smaller parts.
func shrink(list *[]history.Event, shows func() bool) {
	for size := max(len(*list)/2, 1); size > 0; size /= 2 {
		for from := 0; from < len(*list); {
			whole := *list
			*list = slices.Delete(slices.Clone(whole), from, min(from+size, len(whole)))
			if !shows() {
				*list = whole
				from += size
			}
		}
	}
}
