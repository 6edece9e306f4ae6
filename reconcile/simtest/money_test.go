package simtest

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/history"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/platform"
	"github.com/sandkeeper/sandkeeper/store/memory"
)

// An invoice lays what the program says of money beside what the providers truly charged for.
type invoice struct {
	*platform.Account
	ledger *memory.Ledger
	began  time.Time
	ended  time.Time
	rules  []reconcile.RuleReport
	says   reconcile.Measures
	err    error
}

func (*invoice) Step(platform.Step) []history.Violation { return nil }

func (*invoice) Pass(string, *run.Result, error) []history.Violation { return nil }

// End reads what the program says, at the same moment at which the account is closed.
func (i *invoice) End() []history.Violation {
	i.Close()
	i.ended = time.Now()
	if i.rules, i.err = i.ledger.Report(context.Background(), 24*time.Hour); i.err == nil {
		i.says, i.err = i.ledger.Measures(context.Background())
	}
	return nil
}

// invoiceOf plays a history to its end and some minutes longer.
func invoiceOf(t *testing.T, script string) *invoice {
	t.Helper()
	s, err := Parse("test", script)
	if err != nil {
		t.Fatal(err)
	}
	i := &invoice{}
	r := Run(t, s, Options{Collect: true, Tail: 5 * time.Minute, Watch: []platform.Watcher{i},
		Begun: func(p *platform.Platform) { i.Account, i.ledger, i.began = p.Account(), p.Ledger, time.Now() }})
	if r.Err != nil || i.err != nil {
		t.Fatal(r.Err, i.err)
	}
	return i
}

// cleanUps adds up what the rules that clean up report.
func (i *invoice) cleanUps(of func(*reconcile.RuleReport) float64) (sum float64) {
	for k := range i.rules {
		if reconcile.RuleNamed(i.rules[k].Rule).Family == reconcile.CleanUp {
			sum += of(&i.rules[k])
		}
	}
	return sum
}

// leaked is what leaks cost by `sandkeeper report`: until they were found, and from then until they were gone.
func (i *invoice) leaked() float64 {
	return i.cleanUps(func(r *reconcile.RuleReport) float64 { return r.UntilFound + r.Cost })
}

// lasted is how long leaks lasted by the metric leaked_sandbox_seconds_total.
func (i *invoice) lasted() (sum time.Duration) {
	for _, c := range i.says.Counters {
		if c.Name == reconcile.LeakedMillis {
			sum += time.Duration(c.Value) * time.Millisecond
		}
	}
	return sum
}

// unlike is by how much the two may differ for one sandbox. The truth is looked at every 5 seconds, when a leak begins
// and when it ends. By the truth it ends when the provider accepts its end; the program counts until it has seen that it
// is gone, which the provider takes some seconds for and the next quick pass, 15 seconds later at most, finds out.
const unlike = 2*platform.EverySo + 30*time.Second

// TestMoneyIsTheTrueBill: what the program says that leaks cost, and what ending them saved, is what the simulated
// providers truly charged for and what they would have charged.
func TestMoneyIsTheTrueBill(t *testing.T) {
	t.Parallel()
	const daemon = "process replica-1 quick 15s full 2m first 5s\n"
	for name, c := range map[string]struct {
		script string
		leaks  int
		stays  bool // nothing is ended
		large  bool // it is of a size that costs more
	}{
		"nothing leaks":                           {three + daemon, 0, false, false},
		"a sandbox that nobody knows":             {three + daemon + "@3m platform leak 1 age=1s\n", 1, false, false},
		"two, one after the other":                {three + daemon + "@3m platform leak 1 age=1s\n@9m platform leak 1 age=1s\n", 2, false, false},
		"a large one":                             {three + daemon + "@3m platform leak 1 age=1s cpu=4\n", 1, false, true},
		"a large one that stays":                  {three + "rule orphan mode=observe\n" + daemon + "@3m platform leak 1 age=1s cpu=4\n", 1, true, true},
		"a stopped task's lives on":               {three + daemon + "@3m user a1 stop\n", 1, false, false},
		"the rule only observes":                  {three + "rule orphan mode=observe\n" + daemon + "@3m platform leak 1 age=1s\n", 1, true, false},
		"the provider refuses to end it for long": {three + daemon + "@3m platform leak 1 age=1s\n@4m sandbox leak refuse\n", 1, false, false},
		"it goes by itself before":                {three + daemon + "@3m platform leak 1 age=1s\n@4m sandbox leak vanish\n", 0, false, false},
		"the provider is down for a while": {three + daemon + "@3m platform leak 1 age=1s\n" +
			"@4m fault lab any error status 503 for 10m\n", 1, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := invoiceOf(t, c.script)
			perHour := platform.Price
			if c.large {
				perHour = platform.LargePrice
			}
			usd := func(of time.Duration) float64 { return perHour * of.Hours() }
			near := func(what string, says, truth float64) {
				t.Helper()
				if most := usd(time.Duration(c.leaks) * unlike); math.Abs(says-truth) > most+1e-9 {
					t.Errorf("%s: the program says $%.5f, the truth is $%.5f; they may differ by $%.5f", what, says, truth, most)
				}
			}
			if c.leaks > 0 {
				near("leaks", i.leaked(), i.Bill.LeakedUSD)
			}
			gone := time.Duration(0) // since the leaks are gone
			for _, w := range i.Wrongs {
				if w.Kind == platform.WrongSandbox && w.Deed >= 0 && !w.Lasts {
					gone += i.ended.Sub(i.began) - w.Until
				}
			}
			near("saved", i.cleanUps(func(r *reconcile.RuleReport) float64 { return r.Saved }), usd(gone))
			saved := 0.0
			for _, m := range i.says.Saved {
				saved += m.USD
			}
			near("saved within a day", saved, usd(gone))
			if (gone == 0) != (c.stays || c.leaks == 0) {
				t.Errorf("leaks are gone for %s", gone)
			}
			if c.leaks > 0 && !c.stays {
				near("hours", usd(i.lasted()), usd(i.Bill.Leaked))
			}
			if c.stays && c.leaks > 0 {
				leaking := 0.0
				for _, m := range i.says.Leaking {
					leaking += m.USD
				}
				if math.Abs(leaking-perHour*float64(c.leaks)) > 1e-9 {
					t.Errorf("leaks cost $%.3f an hour, by the program; truly $%.3f each", leaking, perHour)
				}
			}
		})
	}
}
