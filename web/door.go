package web

import (
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
)

// A door stays shut while the config file asks nobody who he is. The toolkit reads the file
// again for each request, so users that are taken out of it would leave the page open.
type door struct {
	address, configFile string
	behind              http.Handler
	log                 *slog.Logger

	mu      sync.Mutex
	looked  string // how the file was when it was looked at
	refused error
}

// ServeHTTP lets a request in unless what [CheckListen] refuses has become true. It tells
// the reason to the log alone.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if d.configFile == "" {
		d.behind.ServeHTTP(w, r)
		return
	}
	if err := d.check(); err != nil {
		d.log.ErrorContext(r.Context(), "page closed", "err", err)
		http.Error(w, "the page is closed: web.config_file was changed and is refused, the log says why",
			http.StatusServiceUnavailable)
		return
	}
	d.behind.ServeHTTP(w, r)
}

// check looks at the file when it has changed.
func (d *door) check() error {
	now := fingerprint(d.configFile)
	d.mu.Lock()
	defer d.mu.Unlock()
	if now != d.looked {
		d.looked, d.refused = now, CheckListen(d.address, d.configFile)
	}
	return d.refused
}

// fingerprint is how a file is now, as far as it costs nothing to know.
func fingerprint(name string) string {
	stat, err := os.Stat(name) //nolint:gosec // the operator names the file
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(stat.Size(), stat.ModTime().UnixNano())
}
