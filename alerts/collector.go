package alerts

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/singleflight"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Ledger is what the metrics are read from; nothing else is read for them.
type Ledger interface {
	Measures(ctx context.Context) (reconcile.Measures, error)
}

// Options say what the collector cannot know from the ledger.
type Options struct {
	Policy   func() reconcile.Policy        // the one in force; nil: the default schedule, and no limits
	Config   func() (ok bool, at time.Time) // whether the last reload was accepted, and when; nil: there are none
	Pools    func() []Pool                  // the connections of this process; nil: there are none
	Rates    func() map[string]float64      // calls a second by provider, by the config; nil: no limits
	Bounds   func() Bounds                  // from when on it is too much, by the config; nil: no bounds
	Local    *Local                         // what this process counts by itself; nil: nothing
	Written  time.Time                      // when the metrics are written to a file; zero: they are scraped
	Refused  func() (logIns, hosts int64)   // what the page refused at its door; nil: nothing is counted
	Version  string                         // of this program
	Deadline time.Duration                  // of one reading; 0 means 5 seconds
	Log      *slog.Logger                   // hears of readings that failed; nil: nobody does
}

// policy is the one in force, or what is true without any config.
func (o *Options) policy() reconcile.Policy {
	if o.Policy != nil {
		return o.Policy()
	}
	return reconcile.Policy{Quick: 15 * time.Second, Full: 2 * time.Minute}
}

// labels are those of every series.
func (o *Options) labels() prometheus.Labels {
	if name := o.policy().Installation; name != "" {
		return prometheus.Labels{"installation": label(name)}
	}
	return prometheus.Labels{}
}

// A collector reads the ledger once for each scrape.
type collector struct {
	Options
	ledger   Ledger
	families []described
	calls    singleflight.Group
}

// A described family has its description for Prometheus.
type described struct {
	*family
	desc *prometheus.Desc
}

// NewCollector makes the collector of all series named sandkeeper_. Simultaneous scrapes
// share one reading of the ledger. When it fails, all that comes from the ledger is absent
// and sandkeeper_ledger_up is 0. The installation's name is taken from the policy now; a
// ledger keeps it for ever.
func NewCollector(l Ledger, o Options) prometheus.Collector {
	if o.Deadline <= 0 {
		o.Deadline = 5 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	c := &collector{Options: o, ledger: l}
	same := o.labels()
	for i := range families {
		f := &families[i]
		c.families = append(c.families, described{f, prometheus.NewDesc("sandkeeper_"+f.name, f.help, f.labels, same)})
	}
	return c
}

// Describe sends the description of every family, also of those that have no series now.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, f := range c.families {
		out <- f.desc
	}
}

// Collect reads the ledger and sends what it says.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	r := &reading{policy: c.policy(), version: c.Version, config: c.Config, refused: c.Refused,
		pools: c.Pools, rates: c.Rates, written: c.Written}
	if c.Bounds != nil {
		r.bounds = c.Bounds()
	}
	var err error
	if r.Measures, err = c.measure(); err != nil {
		c.Log.Warn("ledger not measured", "err", err)
	}
	r.up = err == nil
	r.forget()
	for _, f := range c.families {
		frozen := !r.written.IsZero() && f.name == "pass_age_seconds" // an age in a file would never grow
		if (r.up || f.local) && !frozen {
			f.send(r, f.desc, out)
		}
	}
}

// measure reads the ledger, together with whoever else wants to know now. It does not wait
// longer than the deadline, also for a ledger that does not heed it.
func (c *collector) measure() (reconcile.Measures, error) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), c.Deadline,
		fmt.Errorf("no answer within %s", c.Deadline))
	defer cancel()
	answer := c.calls.DoChan("", func() (any, error) { return c.ledger.Measures(ctx) })
	select {
	case <-ctx.Done():
		return reconcile.Measures{}, context.Cause(ctx)
	case a := <-answer:
		m, _ := a.Val.(reconcile.Measures) // the zero one beside an error
		return m, a.Err
	}
}
