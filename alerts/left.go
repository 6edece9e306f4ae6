package alerts

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	leftCounts   = 5 * time.Minute // how long an answer says what is left
	mostLimiters = 20              // of a provider, that have series of their own
)

// leftovers are what the limiters of providers said was left. What was not said again for a while is absent: the
// limiter counts others' calls as well, and nobody knows what is left by then.
type leftovers struct {
	desc *prometheus.Desc
	now  func() time.Time

	mu sync.Mutex
	of map[string]map[string]leftover // by provider and limiter
}

type leftover struct {
	calls float64
	at    time.Time
}

func newLeftovers(now func() time.Time) *leftovers {
	return &leftovers{now: now, of: map[string]map[string]leftover{},
		desc: prometheus.NewDesc("sandkeeper_provider_rate_left",
			"Calls that a limiter of the provider said were left, in its newest answer of the last 5 minutes. Of this process.",
			[]string{"provider", "limiter"}, nil)}
}

func (l *leftovers) put(provider, limiter string, calls float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := l.of[provider]
	if of == nil {
		of = map[string]leftover{}
		l.of[provider] = of
	}
	if _, known := of[limiter]; known || len(of) < mostLimiters {
		of[limiter] = leftover{calls, l.now()}
	}
}

// Describe describes the one metric.
func (l *leftovers) Describe(out chan<- *prometheus.Desc) { out <- l.desc }

// Collect sends what was said within the last minutes.
func (l *leftovers) Collect(out chan<- prometheus.Metric) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for provider, of := range l.of {
		for limiter, left := range of {
			if l.now().Sub(left.at) < leftCounts {
				out <- prometheus.MustNewConstMetric(l.desc, prometheus.GaugeValue, left.calls, provider, limiter)
			}
		}
	}
}

// Left notes what a limiter of the provider said is left; the limiter without a name is called requests.
func (l *Local) Left(provider, limiter string, calls float64) {
	if limiter == "" {
		limiter = "requests"
	}
	l.left.put(label(provider), label(limiter), calls)
}
