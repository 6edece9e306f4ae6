package alerts

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// scrapes is how many may wait for an answer at once; a Prometheus has one under way.
const scrapes = 20

// Handler serves the metrics of the ledger, of the Go runtime and of the process. It has a
// registry of its own. A part that cannot be read is absent, the rest is still served.
func Handler(l Ledger, o Options) http.Handler {
	own := prometheus.NewRegistry()
	own.MustRegister( // panics only when two families share a name, which a test would see
		NewCollector(l, o),
		prometheus.NewGoCollector(), //nolint:staticcheck // its successor's package reaches database/sql
		prometheus.NewProcessCollector(prometheus.ProcessCollectorOpts{}), //nolint:staticcheck // the same
	)
	return promhttp.HandlerFor(own, promhttp.HandlerOpts{
		ErrorHandling:       promhttp.ContinueOnError,
		ErrorLog:            complaints{o.Log},
		Registry:            own,
		MaxRequestsInFlight: scrapes,
	})
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
