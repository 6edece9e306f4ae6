package serve

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"sync"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// An authGate stays shut while the config file asks nobody who he is. The toolkit reads the file
// again for each request, so users that are taken out of it would leave the page open.
type authGate struct {
	address, configFile string
	operators           []string
	behind              http.Handler // asks for a password
	inside              http.Handler // asks nobody: for who has shown something else
	log                 *slog.Logger
	tokens              Tokens
	sessions            *sessions
	refuse              func(*http.Request) // counts and tells of a refused log-in
	proxies             []netip.Prefix

	mu      sync.Mutex
	looked  string // how the file was when it was looked at
	users   map[string]string
	refused error
}

// ServeHTTP lets a request in unless what [CheckListen] refuses has become true. It tells
// the reason to the log alone.
func (g *authGate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var users map[string]string
	if g.configFile != "" {
		var err error
		if users, err = g.check(); err != nil {
			g.log.ErrorContext(r.Context(), "page closed", "err", err)
			refuse(w, r, http.StatusServiceUnavailable,
				"the page is closed: web.config_file was changed and is refused, the log says why")
			return
		}
	}
	r = withDoor(r, &door{sessions: g.sessions, users: users, operators: g.operators, refuse: g.refuse})
	c, err := g.shown(r)
	switch {
	case errors.Is(err, reconcile.ErrNotFound):
		w.Header().Set("WWW-Authenticate", "Bearer")
		refuse(w, r, http.StatusUnauthorized, http.StatusText(http.StatusUnauthorized))
	case err != nil:
		g.log.WarnContext(r.Context(), "token not checked", "err", err) //nolint:contextcheck // it is the request's own
		refuse(w, r, http.StatusServiceUnavailable, "the token cannot be checked now")
	case c.name != "":
		g.inside.ServeHTTP(w, calledBy(r, c))
	default:
		g.behind.ServeHTTP(w, g.named(r, users))
	}
}

// named says who asks, to what is behind the toolkit. Before that nobody has looked at the password; where the file has
// no users nobody does at all, and a name proves nothing.
func (g *authGate) named(r *http.Request, users map[string]string) *http.Request {
	name, _, ok := r.BasicAuth()
	if _, known := users[name]; !ok || !known {
		return r
	}
	return calledBy(r, caller{name: name, by: byBasic, role: g.roleOf(name)})
}

func (g *authGate) roleOf(name string) role {
	if slices.Contains(g.operators, name) {
		return roleOperator
	}
	return roleReader
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
	stat, err := os.Stat(name)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(stat.Size(), stat.ModTime().UnixNano())
}
