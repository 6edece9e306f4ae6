package serve

import (
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
)

// An authGate stays shut while the config file asks nobody who he is. The toolkit reads the file
// again for each request, so users that are taken out of it would leave the page open.
type authGate struct {
	address, configFile string
	behind              http.Handler
	log                 *slog.Logger

	mu      sync.Mutex
	looked  string // how the file was when it was looked at
	refused error
}

// ServeHTTP lets a request in unless what [CheckListen] refuses has become true. It tells
// the reason to the log alone.
func (g *authGate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g.configFile == "" {
		g.behind.ServeHTTP(w, r)
		return
	}
	if err := g.check(); err != nil {
		g.log.ErrorContext(r.Context(), "page closed", "err", err)
		http.Error(w, "the page is closed: web.config_file was changed and is refused, the log says why",
			http.StatusServiceUnavailable)
		return
	}
	g.behind.ServeHTTP(w, r)
}

// check looks at the file when it has changed.
func (g *authGate) check() error {
	now := fingerprint(g.configFile)
	g.mu.Lock()
	defer g.mu.Unlock()
	if now != g.looked {
		g.looked, g.refused = now, CheckListen(g.address, g.configFile)
	}
	return g.refused
}

// fingerprint is how a file is now, as far as it costs nothing to know.
func fingerprint(name string) string {
	stat, err := os.Stat(name) //nolint:gosec // the operator names the file
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(stat.Size(), stat.ModTime().UnixNano())
}
