package run_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/simtest"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/history"
	"github.com/sandkeeper/sandkeeper/test/raced"
)

var (
	historiesFlag = flag.Int("histories", raced.Unless(2000, 15),
		"how many random histories are played; -seed plays only one")
	seedFlag   = flag.Uint64("seed", 0, "play only the random history of this seed")
	passesFlag = flag.Int("passes", 0, "play random histories until so many passes were made, and print what came of it")
	fromFlag   = flag.Uint64("from", 1, "the first seed of random histories")
	onFlag     = flag.Bool("on", false, "go on after a history that went wrong, and only name it")
	freshFlag  = flag.Bool("fresh", false, "begin at a seed that nobody has played, drawn anew in each run")
	mildFlag   = flag.Bool("mild", false, "only print what breaks, with what plays it again, and go on")
	toldFlag   = flag.Bool("told", false, "also read after every pass what page, metrics and report say, and hold it against the truth")
	traceFlag  = flag.Bool("trace", false, "print the trace of the history that is played")
)

// A tournament plays histories, several at a time.
type tournament struct {
	seed   atomic.Uint64 // of the history that was begun last
	passes atomic.Int64
	failed atomic.Bool
	broken atomic.Int64 // histories that broke a property, and were told
	began  time.Time

	mu       sync.Mutex
	played   int
	steps    int
	lasted   time.Duration
	coverage map[string]int
}

// Thousands of random histories: nothing that must never happen happens in any of them, and
// whatever may happen does happen in some.
func TestSimulation(t *testing.T) {
	if *seedFlag != 0 {
		one(t, history.Generate(*seedFlag))
		return
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	all := &tournament{coverage: map[string]int{}, began: time.Now()}
	if *freshFlag {
		*fromFlag = 1_000_000 + rand.Uint64N(1<<40)
		fmt.Printf("fresh seeds from %d\n", *fromFlag)
	}
	all.seed.Store(*fromFlag - 1)
	t.Run("histories", func(t *testing.T) {
		for range runtime.GOMAXPROCS(0) {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				all.play(t)
			})
		}
	})
	if all.failed.Load() {
		return
	}
	if raced.On {
		return // too few to reach everything
	}
	if *passesFlag > 0 {
		all.print(t)
	}
	for _, what := range simtest.Required() {
		if all.coverage[what] == 0 && !*mildFlag {
			t.Errorf("%q never happened in %d histories: the generator does not reach it", what, all.played)
		}
	}
}

// more reports whether another history is to be played, and its seed.
func (all *tournament) more() (uint64, bool) {
	seed := all.seed.Add(1)
	if *passesFlag > 0 {
		return seed, all.passes.Load() < int64(*passesFlag) && !all.failed.Load()
	}
	return seed, seed < *fromFlag+uint64(*historiesFlag) && !all.failed.Load()
}

func (all *tournament) play(t *testing.T) {
	for seed, more := all.more(); more; seed, more = all.more() {
		script := history.Generate(seed)
		r := simtest.Run(t, &script, simtest.Options{Told: *toldFlag})
		all.count(r)
		if r.Err == nil && len(r.Violations) == 0 {
			continue
		}
		if (*onFlag || *mildFlag) && r.Err == nil {
			all.tellBreak(t, &script, r)
			continue
		}
		if all.failed.CompareAndSwap(false, true) {
			explain(t, &script, r)
		}
	}
}

// tellBreak says which history broke a property, and how to play it again.
func (all *tournament) tellBreak(t *testing.T, script *history.Script, r *simtest.Report) {
	t.Helper()
	said := fmt.Sprintf("seed %d breaks a property: %s\n\tgo test ./reconcile/run -run TestSimulation -seed %d", script.Seed,
		whatBroke(r.Violations), script.Seed)
	all.broken.Add(1)
	if *mildFlag {
		fmt.Println(said)
		return
	}
	t.Error(said)
}

func (all *tournament) count(r *simtest.Report) {
	all.passes.Add(int64(r.Passes))
	all.mu.Lock()
	defer all.mu.Unlock()
	all.played++
	all.steps += r.Steps
	all.lasted += r.Lasted
	simtest.Merge(all.coverage, r.Coverage)
}

// print says how fast it was and what happened how often.
func (all *tournament) print(t *testing.T) {
	t.Helper()
	took := time.Since(all.began)
	passes := float64(all.passes.Load())
	bare := simtest.Bare(t, 2000)
	fmt.Printf("%d histories, %.0f passes, %d calls in %s: %.0f histories/s, %.0f passes/s, %s of virtual time\n",
		all.played, passes, all.steps, took.Round(time.Second), float64(all.played)/took.Seconds(), passes/took.Seconds(),
		all.lasted.Round(time.Hour))
	fmt.Printf("%d of the histories broke a property\n", all.broken.Load())
	each := took.Seconds() / passes * float64(runtime.GOMAXPROCS(0))
	fmt.Printf("a pass takes %.2f ms of one core with all around it, a bare one %.2f ms: ratio %.1f\n", each*1000,
		bare.Seconds()*1000, each/bare.Seconds())
	for _, what := range slices.Sorted(maps.Keys(all.coverage)) {
		fmt.Printf("%10d  %s\n", all.coverage[what], what)
	}
}

// explain shrinks a history that went wrong and tells it.
func explain(t *testing.T, s *history.Script, r *simtest.Report) {
	t.Helper()
	if r.Err != nil {
		t.Errorf("seed %d cannot be played: %v\n%s", s.Seed, r.Err, s)
		return
	}
	short := simtest.Shrink(t, s, r.Violations[0].Property, time.Minute)
	again := simtest.Run(t, short, simtest.Options{Trace: true, Told: *toldFlag})
	t.Errorf("seed %d breaks a property: %s\n\nplay it again: go test ./reconcile/run -run '^TestSimulation$' -seed %d -args -trace\n"+
		"or keep what is left of it in reconcile/run/testdata/histories:\n\n%s\nits trace:\n%s", s.Seed, whatBroke(r.Violations),
		s.Seed, short, strings.Join(again.Trace, "\n"))
}

func whatBroke(found []history.Violation) string {
	var lines []string
	for _, v := range found {
		lines = append(lines, fmt.Sprintf("%s at %s, step %d: %s", v.Property, v.At, v.Step, v.Says))
	}
	return strings.Join(lines, "\n")
}

// one plays the history of -seed.
func one(t *testing.T, s history.Script) {
	t.Helper()
	if *traceFlag {
		replay(t, s, *toldFlag)
		return
	}
	if r := simtest.Run(t, &s, simtest.Options{Told: *toldFlag}); r.Err != nil || len(r.Violations) > 0 {
		explain(t, &s, r)
	}
}

// replay plays one history and says all that it says.
func replay(t *testing.T, s history.Script, told bool) {
	t.Helper()
	r := simtest.Run(t, &s, simtest.Options{Trace: *traceFlag, Told: told})
	if *traceFlag {
		t.Logf("%s\n%s", &s, strings.Join(r.Trace, "\n"))
	}
	if r.Err != nil || len(r.Violations) > 0 {
		t.Errorf("%v\n%s", r.Err, whatBroke(r.Violations))
	}
}

// Histories that went wrong once, or that are about a lesson, go well.
func TestHistories(t *testing.T) {
	files, err := filepath.Glob("testdata/histories/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d histories, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s, err := simtest.Parse(file, string(text))
			if err != nil {
				t.Fatal(err)
			}
			if len(s.About) == 0 {
				t.Error("it does not say what it is about")
			}
			replay(t, *s, true)
		})
	}
}

// What page, metrics and report say after each pass of a history is true: -told asks that of any history.
func TestWhatIsSaidIsTrue(t *testing.T) {
	for n := range uint64(raced.Unless(40, 3)) {
		s := history.Generate(5_000_000 + n)
		if r := simtest.Run(t, &s, simtest.Options{Told: true}); r.Err != nil || len(r.Violations) > 0 {
			t.Errorf("seed %d: %v\n%s", s.Seed, r.Err, whatBroke(r.Violations))
		}
	}
}

// The same seed gives the same history, call by call, however many cores there are, and so
// does the text of its script.
func TestTheSameSeedIsTheSameHistory(t *testing.T) {
	for seed := range uint64(raced.Unless(12, 2)) {
		s := history.Generate(seed + 1)
		first := simtest.Run(t, &s, simtest.Options{Trace: true, Collect: true})
		for name, other := range map[string]func() *simtest.Report{
			"played again":     func() *simtest.Report { return simtest.Run(t, &s, simtest.Options{Trace: true, Collect: true}) },
			"on one core":      func() *simtest.Report { return onCores(t, 1, &s) },
			"on four cores":    func() *simtest.Report { return onCores(t, 4, &s) },
			"read from a text": func() *simtest.Report { return fromText(t, &s) },
		} {
			if line, same := sameTrace(first.Trace, other().Trace); !same {
				t.Errorf("seed %d %s is another history from line %d on", seed+1, name, line)
			}
		}
	}
}

func onCores(t *testing.T, n int, s *history.Script) *simtest.Report {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	return simtest.Run(t, s, simtest.Options{Trace: true, Collect: true})
}

func fromText(t *testing.T, s *history.Script) *simtest.Report {
	t.Helper()
	read, err := simtest.Parse("text", s.String())
	if err != nil {
		t.Fatal(err)
	}
	return simtest.Run(t, read, simtest.Options{Trace: true, Collect: true})
}

func sameTrace(a, b []string) (line int, same bool) {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i + 1, false
		}
	}
	return min(len(a), len(b)) + 1, len(a) == len(b)
}
