package backtest

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/peers"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/test/raced"
)

var update = flag.Bool("update", false, "write the generated part of docs/backtest.md")

// A law is a known distribution of the longest silence of a worker, in seconds.
type law struct {
	draw  func(*rand.Rand) float64
	above func(seconds float64) float64 // the chance of more
}

func pareto(least, alpha float64) law {
	return law{func(r *rand.Rand) float64 { return least * math.Pow(1-r.Float64(), -1/alpha) },
		func(s float64) float64 { return math.Pow(least/max(s, least), alpha) }}
}

func uniform(from, to float64) law {
	return law{func(r *rand.Rand) float64 { return from + (to-from)*r.Float64() },
		func(s float64) float64 { return min(max((to-s)/(to-from), 0), 1) }}
}

// lognormal has its half above the middle.
func lognormal(middle, sigma float64) law {
	return law{func(r *rand.Rand) float64 { return middle * math.Exp(sigma*r.NormFloat64()) },
		func(s float64) float64 { return math.Erfc(math.Log(s/middle)/sigma/math.Sqrt2) / 2 }}
}

// mixed is one law, and another with a chance.
func mixedLaw(one, other law, chance float64) law {
	return law{func(r *rand.Rand) float64 {
		if r.Float64() < chance {
			return other.draw(r)
		}
		return one.draw(r)
	}, func(s float64) float64 { return (1-chance)*one.above(s) + chance*other.above(s) }}
}

// A kindOfWorld is a family of histories whose truth is known.
type kindOfWorld struct {
	name     string
	tasks    int
	before   *law    // of the first half, where the platform changed
	weekly   *law    // of the tasks of half a day each week
	law      law     // of what is and will be
	censored float64 // chance that somebody stopped a task, or that sandkeeper failed it, whatever it did
}

// worldsEach is how many worlds are played of each kind.
const worldsEach = 40

var (
	night = uniform(5, 40)
	batch = uniform(300, 900)
)

// week is how many tasks a world has in a week, and batchOf how many of these are of its batch.
const (
	week    = 7 * 24
	batchOf = 12
)

// above is the true rate beyond a threshold.
func (k *kindOfWorld) above(seconds float64) float64 {
	if k.weekly == nil {
		return k.law.above(seconds)
	}
	return (k.weekly.above(seconds)*batchOf + k.law.above(seconds)*(week-batchOf)) / week
}

var kindsOfWorlds = []kindOfWorld{
	{name: "heavy tail (Pareto, α = 1.5)", tasks: 400, law: pareto(10, 1.5)},
	{name: "heavy tail, true rate at the bound", tasks: 400, law: pareto(10, math.Log(.02)/math.Log(10.0/90))},
	{name: "two modes: work, and 3 % of long builds", tasks: 400, law: mixedLaw(uniform(5, 60), uniform(100, 900), .03)},
	{name: "day and night", tasks: 400, law: mixedLaw(night, uniform(5, 120), .5)},
	{name: "few tasks", tasks: 60, law: pareto(10, 1.5)},
	{name: "a third stopped by somebody", tasks: 600, law: pareto(10, 1.8), censored: .33},
	{name: "changed half-way", tasks: 600, before: &night, law: pareto(20, 1.5)},
	{name: "log-normal, 1 % of it a heavy tail (Pareto, α = 1.1)", tasks: 400,
		law: mixedLaw(lognormal(25, .5), pareto(60, 1.1), .01)},
	{name: "a batch each week, the last one days ago", tasks: 600, law: uniform(5, 60), weekly: &batch},
	{name: "a quiet platform", tasks: 400, law: uniform(5, 60)},
}

// history draws the tasks of a world, one an hour.
func (k *kindOfWorld) history(r *rand.Rand) *Replay {
	replay := New(policy(), day0, day0.Add(time.Duration(k.tasks)*time.Hour), "heartbeat-lost")
	for i := range k.tasks {
		of := k.law
		if k.before != nil && i < k.tasks/2 {
			of = *k.before
		}
		if k.weekly != nil && i%week < batchOf {
			of = *k.weekly
		}
		began := day0.Add(time.Duration(i) * time.Hour)
		silent := time.Duration(min(of.draw(r), 3e6) * float64(time.Second))
		l := &Life{Task: reconcile.Task{ID: "a", State: reconcile.TaskCompleted, CreatedAt: began, StartedAt: began},
			Signs: []Sign{{At: began, Kind: Started}, {At: began, Kind: Heartbeat}, {At: began.Add(silent), Kind: Heartbeat}},
			Ended: began.Add(silent + time.Second)}
		if r.Float64() < k.censored {
			l.Task.State, l.Ended = reconcile.TaskStopped, began.Add(time.Duration(float64(silent)*r.Float64()))
			l.Signs = l.Signs[:2]
		}
		replay.Add((*reconcile.PastTask)(l))
	}
	return replay
}

// A tallyOfWorlds is how often the proof was right.
type tallyOfWorlds struct {
	worlds, covered, suggested, kept, proven, wronglyProven int
	uppers, thresholds                                      []float64
}

func (k *kindOfWorld) play(seed uint64, worlds int) (out tallyOfWorlds) {
	for i := range worlds {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		got := k.history(r).Results(nil, "heartbeat-lost")[0]
		out.worlds++
		out.uppers = append(out.uppers, got.Upper)
		truth := k.above(got.After.Seconds())
		out.covered += count(got.Upper >= truth)
		out.proven += count(got.Proven)
		out.wronglyProven += count(got.Proven && truth > DefaultProof.FalsePositives+1e-9)
		if got.Suggested > 0 {
			out.suggested++
			out.thresholds = append(out.thresholds, got.Suggested.Seconds())
			out.kept += count(k.above(got.Suggested.Seconds()) <= DefaultProof.FalsePositives)
		}
	}
	return out
}

// TestWorlds draws histories from laws that are known, and holds what the backtest says against the truth: its bound
// lies above the true rate, and the threshold that it suggests keeps the bound, in 95 of 100 worlds; a rule that is
// wrong more often than allowed is proven in fewer than 5.
func TestWorlds(t *testing.T) {
	each := raced.Unless(worldsEach, 4)
	all := tallyOfWorlds{}
	table := "| silence of the workers | worlds | tasks | true rate at 90s | bound (median) | bound covers | suggested (median) " +
		"| it keeps 2 % | proven | wrongly |\n|---|---|---|---|---|---|---|---|---|---|\n"
	for n := range kindsOfWorlds {
		k := &kindsOfWorlds[n]
		got := k.play(uint64(n)+1, each)
		all.worlds, all.covered = all.worlds+got.worlds, all.covered+got.covered
		all.suggested, all.kept = all.suggested+got.suggested, all.kept+got.kept
		if 20*got.wronglyProven > got.worlds {
			t.Errorf("%s: wrongly proven in %d of %d worlds", k.name, got.wronglyProven, got.worlds)
		}
		table += k.row(&got)
	}
	if 20*all.covered < 19*all.worlds {
		t.Errorf("the bound covers the true rate in %d of %d worlds", all.covered, all.worlds)
	}
	if 20*all.kept < 19*all.suggested {
		t.Errorf("the suggested threshold keeps the bound in %d of %d worlds", all.kept, all.suggested)
	}
	if each == worldsEach {
		holdDocument(t, "../../docs/backtest.md", map[string]string{"worlds": table})
	}
}

func (k *kindOfWorld) row(got *tallyOfWorlds) string {
	middle := func(values []float64) float64 {
		if slices.Sort(values); len(values) == 0 {
			return 0
		}
		return values[len(values)/2]
	}
	suggested, kept := "-", "-"
	if got.suggested > 0 {
		suggested = text.Exact(time.Duration(middle(got.thresholds)) * time.Second)
		kept = fmt.Sprintf("%d of %d", got.kept, got.suggested)
	}
	return fmt.Sprintf("| %s | %d | %d | %.1f %% | %.1f %% | %d | %s | %s | %d | %d |\n", k.name, got.worlds, k.tasks,
		100*k.above(90), 100*middle(got.uppers), got.covered, suggested, kept, got.proven, got.wronglyProven)
}

// holdDocument holds the generated parts of a document against what they must be.
func holdDocument(t *testing.T, name string, parts map[string]string) {
	t.Helper()
	is, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	want, err := peers.Fill(string(is), parts)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case want == string(is):
	case *update:
		if err := os.WriteFile(name, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is not what the worlds say; go test ./reconcile/backtest -run TestWorlds -update writes it:\n%s", name,
			strings.TrimSpace(parts["worlds"]))
	}
}
