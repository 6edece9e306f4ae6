package serve

import (
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"sync"
)

// An authGate stays shut while the config file asks nobody who he is. The toolkit reads the file
// again for each request, so users that are taken out of it would leave the page open.
type authGate struct {
	address, configFile string
	operators           []string
	behind              http.Handler
	log                 *slog.Logger

	mu      sync.Mutex
	looked  string // how the file was when it was looked at
	users   map[string]string
	refused error
}

// ServeHTTP lets a request in unless what [CheckListen] refuses has become true. It tells
// the reason to the log alone.
func (g *authGate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g.configFile == "" {
		g.behind.ServeHTTP(w, r)
		return
	}
	users, err := g.check()
	if err != nil {
		g.log.ErrorContext(r.Context(), "page closed", "err", err)
		http.Error(w, "the page is closed: web.config_file was changed and is refused, the log says why",
			http.StatusServiceUnavailable)
		return
	}
	g.behind.ServeHTTP(w, g.named(r, users))
}

// named says who asks, to what is behind the toolkit. Before that nobody has looked at the password; where the file has
// no users nobody does at all, and a name proves nothing.
func (g *authGate) named(r *http.Request, users map[string]string) *http.Request {
	name, _, ok := r.BasicAuth()
	if _, known := users[name]; !ok || !known {
		return r
	}
	c := caller{name: name, by: byBasic, role: roleReader}
	if slices.Contains(g.operators, name) {
		c.role = roleOperator
	}
	return calledBy(r, c)
}

// check looks at the file when it has changed, and returns its users.
func (g *authGate) check() (map[string]string, error) {
	now := fingerprint(g.configFile)
	g.mu.Lock()
	defer g.mu.Unlock()
	if now != g.looked {
		g.looked, g.users, g.refused = now, nil, CheckListen(g.address, g.configFile)
		if g.refused == nil {
			c, err := readConfig(g.configFile)
			g.users, g.refused = c.Users, err
		}
	}
	return g.users, g.refused
}

// fingerprint is how a file is now, as far as it costs nothing to know.
func fingerprint(name string) string {
	stat, err := os.Stat(name) //nolint:gosec // the operator names the file
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(stat.Size(), stat.ModTime().UnixNano())
}
