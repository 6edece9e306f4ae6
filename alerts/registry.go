package alerts

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/common/expfmt"
)

// scrapes is how many may wait for an answer at once; a Prometheus has one under way.
const scrapes = 20

// Handler serves the metrics of the ledger, of the Go runtime and of the process. It has a
// registry of its own. A part that cannot be read is absent, the rest is still served.
func Handler(l Ledger, o Options) http.Handler {
	own := registry(l, o)
	own.MustRegister(
		//nolint:staticcheck // its successor's package reaches database/sql
		prometheus.NewGoCollector(),
		//nolint:staticcheck // the same
		prometheus.NewProcessCollector(prometheus.ProcessCollectorOpts{}),
	)
	return promhttp.HandlerFor(own, promhttp.HandlerOpts{
		ErrorHandling:       promhttp.ContinueOnError,
		ErrorLog:            complaints{o.Log},
		Registry:            own,
		MaxRequestsInFlight: scrapes,
	})
}

// registry has what is ours: no series of the Go runtime or of the process.
func registry(l Ledger, o Options) *prometheus.Registry {
	own := prometheus.NewRegistry()
	own.MustRegister(NewCollector(l, o)) // panics only when two families share a name, which a test would see
	if o.Local != nil {
		prometheus.WrapRegistererWith(o.labels(), own).MustRegister(o.Local)
	}
	return own
}

// Gatherer reads the same metrics for who sends them elsewhere.
func Gatherer(l Ledger, o Options) prometheus.Gatherer { return registry(l, o) }

// Write writes the metrics to a file for the textfile collector of the node exporter, which never reads
// half of one. The series of the Go runtime and of the process are left out: the exporter has its own.
func Write(file string, l Ledger, o Options) error {
	if err := prometheus.WriteToTextfile(file, registry(l, o)); err != nil {
		return fmt.Errorf("write the metrics to %s: %w", file, err)
	}
	return nil
}

// Print prints the same metrics.
func Print(w io.Writer, l Ledger, o Options) error {
	families, err := registry(l, o).Gather()
	if err != nil {
		return fmt.Errorf("gather the metrics: %w", err)
	}
	text := expfmt.NewEncoder(w, expfmt.NewFormat(expfmt.TypeTextPlain))
	for _, f := range families {
		if err := text.Encode(f); err != nil {
			return fmt.Errorf("print the metrics: %w", err)
		}
	}
	return nil
}

// complaints are what the metrics library has to say, as lines of the log.
type complaints struct{ log *slog.Logger }

// Println writes one line; the library's errors have several.
func (c complaints) Println(said ...any) {
	if c.log == nil {
		return
	}
	words := make([]string, len(said))
	for i, s := range said {
		words[i] = strings.Join(strings.Fields(fmt.Sprint(s)), " ")
	}
	c.log.Warn("metrics not served in full", "err", strings.Join(words, " "))
}
