package alerts

import (
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// mostCalls bounds the calls of a provider that have series of their own: what a call is named
// comes from the adapters, and one of them could err.
const mostCalls = 40

// native makes a histogram a native one for who asks for it, beside its classic buckets.
const native = 1.1

// A Local is what a process alone knows: how it called the providers, and how long the parts of its
// passes took. It is safe for concurrent use.
type Local struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	waited   *prometheus.CounterVec
	phases   *prometheus.HistogramVec
	pushes   *prometheus.CounterVec
	streams  *prometheus.GaugeVec
	left     *leftovers

	mu    sync.Mutex
	calls map[string]map[string]bool // by provider
}

// NewLocal makes one that has seen nothing.
func NewLocal() *Local {
	return &Local{
		calls: map[string]map[string]bool{},
		left:  newLeftovers(time.Now),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sandkeeper_provider_requests_total",
			Help: "Calls to providers by what they do and the status of the answer, or why there was none. Of this process."},
			[]string{"provider", "call", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "sandkeeper_provider_request_seconds",
			Help:    "How long calls to providers took. Of this process.",
			Buckets: []float64{.05, .1, .25, .5, 1, 2.5, 5, 10}, NativeHistogramBucketFactor: native,
			NativeHistogramMaxBucketNumber: 100}, []string{"provider", "call"}),
		waited: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sandkeeper_provider_rate_wait_seconds_total",
			Help: "Time that calls to providers waited for the configured rate, added up. Of this process."},
			[]string{"provider"}),
		pushes: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sandkeeper_pushes_total",
			Help: "What providers sent by themselves, by what became of it: looked, or why not. Of this process."},
			[]string{"provider", "outcome"}),
		streams: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "sandkeeper_provider_stream_open",
			Help: "Whether the provider's stream of events is open, where the config asks for it. Of this process."},
			[]string{"provider"}),
		phases: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "sandkeeper_pass_phase_seconds",
			Help:    "How long the parts of passes took. Of this process.",
			Buckets: []float64{.01, .05, .1, .5, 1, 5, 10, 30, 60, 120}, NativeHistogramBucketFactor: native,
			NativeHistogramMaxBucketNumber: 100}, []string{"kind", "phase"}),
	}
}

// Request counts one call to a provider.
func (l *Local) Request(provider, call, code string, took time.Duration) {
	provider, call = label(provider), l.known(provider, call)
	l.requests.WithLabelValues(provider, call, label(code)).Inc()
	l.seconds.WithLabelValues(provider, call).Observe(took.Seconds())
}

// known is the label of a call, "other" for one too many.
func (l *Local) known(provider, call string) string {
	call = label(strings.ReplaceAll(call, " ", "_"))
	l.mu.Lock()
	defer l.mu.Unlock()
	of := l.calls[provider]
	if of == nil {
		of = map[string]bool{}
		l.calls[provider] = of
	}
	if !of[call] && len(of) >= mostCalls {
		return "other"
	}
	of[call] = true
	return call
}

// Waited adds time that a call waited for the rate.
func (l *Local) Waited(provider string, took time.Duration) {
	l.waited.WithLabelValues(label(provider)).Add(max(took, 0).Seconds())
}

// Push counts what became of something that a provider sent by itself.
func (l *Local) Push(provider, outcome string) {
	l.pushes.WithLabelValues(label(provider), label(outcome)).Inc()
}

// Streaming says whether a provider's stream is open.
func (l *Local) Streaming(provider string, open bool) {
	value := 0.0
	if open {
		value = 1
	}
	l.streams.WithLabelValues(label(provider)).Set(value)
}

// Phase notes how long a part of a pass took.
func (l *Local) Phase(kind, phase string, took time.Duration) {
	l.phases.WithLabelValues(kind, phase).Observe(took.Seconds())
}

// Describe describes all of it.
func (l *Local) Describe(out chan<- *prometheus.Desc) {
	for _, c := range l.all() {
		c.Describe(out)
	}
}

// Collect sends all of it.
func (l *Local) Collect(out chan<- prometheus.Metric) {
	for _, c := range l.all() {
		c.Collect(out)
	}
}

func (l *Local) all() []prometheus.Collector {
	return []prometheus.Collector{l.requests, l.seconds, l.waited, l.phases, l.pushes, l.streams, l.left}
}
