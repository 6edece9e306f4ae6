package alerts

import (
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A family is one metric: what it is called, what it means, and how its series are read.
type family struct {
	name, help string
	kind       prometheus.ValueType
	labels     []string
	local      bool // known to this process, also when the ledger does not answer
	read       func(*reading, put)
	histograms func(*reading) []histogram // instead of read
}

// put adds one series. Of two with the same labels the larger counts, so that a family
// never has the same series twice, which would spoil the whole scrape.
type put func(value float64, labels ...string)

// A reading is all that the series of one scrape are made from.
type reading struct {
	reconcile.Measures
	up      bool // the ledger answered
	policy  reconcile.Policy
	version string
	config  func() (ok bool, at time.Time)
	refused func() (logIns, hosts int64)
	pools   func() []Pool
	rates   func() map[string]float64
	bounds  Bounds
	written time.Time // set where the metrics go to a file
}

// forget leaves out what the config no longer has: the ledger keeps the sources and templates
// of a provider that left, and an alert on them would fire for ever. Without any provider the
// policy is the one of a process that was told nothing, which denies nothing.
func (r *reading) forget() {
	if len(r.policy.Providers) == 0 {
		return
	}
	r.Sources = slices.DeleteFunc(slices.Clone(r.Sources), func(s reconcile.SourceSeen) bool {
		return !r.policy.Has(s.Name)
	})
	r.Templates = slices.DeleteFunc(slices.Clone(r.Templates), func(t reconcile.TemplateSeen) bool {
		_, ours := r.policy.Providers[t.Provider]
		return !ours
	})
}

// A series is one value and what tells it from the others of its family.
type series struct {
	labels []string
	value  float64
}

// send makes the series of the family and sends them.
func (f *family) send(r *reading, desc *prometheus.Desc, out chan<- prometheus.Metric) {
	if f.histograms != nil {
		for _, h := range f.histograms(r) {
			m, err := prometheus.NewConstHistogram(desc, h.count, h.sum, h.buckets, h.labels...)
			out <- orInvalid(m, desc, err)
		}
		return
	}
	for _, s := range f.all(r) {
		m, err := prometheus.NewConstMetric(desc, f.kind, s.value, s.labels...)
		out <- orInvalid(m, desc, err)
	}
}

// orInvalid tells Prometheus of a series that cannot be made, instead of leaving it out in
// silence. Unreachable unless a family reads other labels than it declares.
func orInvalid(m prometheus.Metric, desc *prometheus.Desc, err error) prometheus.Metric {
	if err != nil {
		return prometheus.NewInvalidMetric(desc, err)
	}
	return m
}

// all are the series of the family, each once.
func (f *family) all(r *reading) []series {
	var all []series
	at := map[string]int{}
	f.read(r, func(value float64, labels ...string) {
		for i := range labels {
			labels[i] = label(labels[i])
		}
		key := strings.Join(labels, "\xff")
		i, twice := at[key]
		if !twice {
			at[key] = len(all)
			all = append(all, series{labels, value})
			return
		}
		all[i].value = max(all[i].value, value)
	})
	return all
}

// label makes a text of somebody else fit for a label: Prometheus drops a whole scrape over
// one that is no UTF-8.
func label(said string) string { return text.Plain(said, 128) }

// seconds is a time as Prometheus has it.
func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// bit is 1 for true.
func bit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
