package peers

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/reconcile/simtest"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/history"
	"github.com/sandkeeper/sandkeeper/test/raced"
)

var (
	worlds = flag.Int("worlds", raced.Unless(8, 1), "how many generated worlds are compared")
	paper  = flag.String("paper", "", "the document whose tables are made anew")
	whys   = flag.Bool("whys", false, "say why things are late or missed")
	only   = flag.Bool("only", false, "only sandkeeper plays")
	tales  = flag.Bool("tales", false, "say what happened in each world")
)

// named are the worlds that are written by hand.
func named(t *testing.T) []World {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no worlds in testdata: %v", err)
	}
	var out []World
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		s, err := simtest.Parse(f, string(text))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, World{Name: strings.TrimSuffix(filepath.Base(f), ".txt"), Script: s})
	}
	return out
}

// freshFrom is the first of the seeds that nobody had played when the tables were made.
const freshFrom = 70_000_001

// generated are worlds of the first seeds, and as many of fresh ones.
func generated(count int) []World {
	return slices.Concat(seeded(1, count-count/2), seeded(freshFrom, count/2))
}

// seeded are so many worlds of the seeds from one on.
func seeded(seed uint64, count int) []World {
	var out []World
	for ; len(out) < count; seed++ {
		s := history.Generate(seed)
		if tasks := s.Setup[0].Args[0] != "none"; tasks { // without a table there is nothing to compare
			out = append(out, World{Name: fmt.Sprintf("seed %d", seed), Script: &s})
		}
	}
	return out
}

// compare plays each world with each janitor, in the order of both whatever runs first.
func compare(t *testing.T, all []World, tail time.Duration) []Outcome {
	t.Helper()
	janitors := Janitors()
	if *only {
		janitors = janitors[:2]
	}
	alone := slices.Index(janitors, Sandkeeper)
	out := make([]Outcome, len(all)*len(janitors))
	t.Run("worlds", func(t *testing.T) {
		var told sync.Mutex
		tell := func(o Outcome) {
			if *tales || *whys {
				told.Lock()
				defer told.Unlock()
				fmt.Print(tale(o))
			}
		}
		for i, w := range all {
			for k, j := range janitors {
				if j == Sandkeeper {
					continue // is as with its operator, where he had nothing to do
				}
				t.Run(w.Name+" "+j, func(t *testing.T) {
					t.Parallel()
					o := Play(t, w, j, tail)
					out[i*len(janitors)+k] = o
					tell(o)
					if j == Attended {
						if o.Janitor = Sandkeeper; o.Helped {
							o = Play(t, w, Sandkeeper, tail)
						}
						out[i*len(janitors)+alone] = o
						tell(o)
					}
				})
			}
		}
	})
	return out
}

// tale is an outcome for people.
func tale(o Outcome) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s with %s, %s\n", o.World, o.Janitor, o.Lasted)
	for _, k := range o.Kills {
		fmt.Fprintf(&b, "  %s %s: %s (%s) %s\n", k.At, k.What, k.Why, k.Kind, k.Excused)
	}
	for _, w := range o.Wrongs {
		fmt.Fprintf(&b, "  %s %s: %s, deed %s, until %s, lasts %t\n", w.Since, w.Kind, w.Subject, w.Deed, w.Until, w.Lasts)
		if wait := o.Waits[w]; wait != nil {
			fmt.Fprintf(&b, "    %s; last: %s; spent: %v\n", w.Cause, wait.Last, wait.Spent)
		}
	}
	return b.String()
}

// TestHeadToHead compares all on the named worlds and on generated ones: sandkeeper ends no
// healthy work in any of them. With -paper it writes the tables.
func TestHeadToHead(t *testing.T) {
	tail := 20 * time.Minute
	if *paper != "" || *whys {
		tail = Tail
	}
	hand := compare(t, named(t)[:raced.Unless(len(named(t)), 2)], tail)
	drawn := compare(t, generated(*worlds), tail)
	if t.Failed() {
		return
	}
	for _, o := range slices.Concat(hand, drawn) {
		for _, janitor := range []string{Sandkeeper, Attended} {
			if s := Sum(janitor, []Outcome{o}); s.FalseKills() > 0 {
				t.Errorf("%s ended healthy work:\n%s", janitor, tale(o))
			}
		}
	}
	if *whys {
		fmt.Println(Whys(Sandkeeper, drawn), "\n", Whys(Attended, drawn), "\n", Table(drawn), Known(drawn), Causes(drawn))
	}
	if *paper != "" {
		write(t, *paper, hand, drawn)
	}
}

// write makes the tables of the document anew.
func write(t *testing.T, file string, hand, drawn []Outcome) {
	t.Helper()
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	made, err := Fill(string(old), map[string]string{
		"run": fmt.Sprintf("%d generated worlds: %d of the first seeds, and %d of seeds that nobody had played, from %d on. "+
			"Each with every janitor, each going on for %s after its last fault.", *worlds, *worlds-*worlds/2, *worlds/2, freshFrom,
			Tail),
		"all": Table(drawn), "losses": Losses(drawn), "causes": Causes(drawn), "worlds": ByWorld(hand),
		"whys": Whys(Attended, drawn), "known": Known(drawn),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(made), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestSameNumbers: the same worlds give the same numbers, whatever the number of processors.
func TestSameNumbers(t *testing.T) {
	some := slices.Concat(generated(raced.Unless(2, 1)), named(t)[:1])
	play := func(processors int) string {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		var b strings.Builder
		for _, w := range some {
			for _, j := range Janitors() {
				b.WriteString(tale(Play(t, w, j, 20*time.Minute)))
			}
		}
		return b.String()
	}
	if one, two := play(1), play(4); one != two {
		t.Errorf("the second run differs:\n%s", cmp.Diff(one, two))
	}
}

func TestFill(t *testing.T) {
	const document = "a\n<!-- x -->\nold\n<!-- /x -->\nb\n"
	got, err := Fill(document, map[string]string{"x": "new\n"})
	if want := "a\n<!-- x -->\n\nnew\n\n<!-- /x -->\nb\n"; err != nil || got != want {
		t.Errorf("Fill() = %q, %v, want %q", got, err, want)
	}
	if _, err := Fill(document, map[string]string{"y": "new"}); err == nil {
		t.Error("a document without a place for the text is no error")
	}
}
