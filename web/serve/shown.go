package serve

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// Tokens reads the token of a secret; [reconcile.ErrNotFound] means that it counts for nothing.
type Tokens func(ctx context.Context, secret string) (reconcile.Token, error)

// userHeader is what a trusted proxy says who asks by.
const userHeader = "X-Forwarded-User"

// shown is who asks, where he shows something else than a password. One without a name has shown nothing of the kind.
func (g *authGate) shown(r *http.Request) (caller, error) {
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") {
		return g.byToken(r, strings.TrimSpace(secret))
	}
	// A browser sends the password that it was given once with everything; a session says more.
	if name := g.bySession(r); name != "" {
		return caller{name: name, by: bySession, role: g.roleOf(name)}, nil
	}
	if scheme == "" {
		return g.byProxy(r), nil
	}
	return caller{}, nil
}

// bySession is whose session the request shows; over plain HTTP there is none.
func (g *authGate) bySession(r *http.Request) string {
	d := doorOf(r)
	if d == nil || d.sessions == nil || r.TLS == nil {
		return ""
	}
	return d.sessions.user(r, d.users, time.Now())
}

// byToken is the user in whose name a token was made. It acts where its scope and web.operators say so, and where
// nobody on the way could have heard it.
func (g *authGate) byToken(r *http.Request, secret string) (caller, error) {
	if g.tokens == nil {
		return caller{}, reconcile.ErrNotFound
	}
	t, err := g.tokens(r.Context(), secret)
	if err != nil {
		return caller{}, err
	}
	c := caller{name: t.User, by: byReadToken, role: roleReader, token: t.ID}
	if t.Scope == reconcile.TokenActs {
		c.by, c.role = byActToken, g.roleOf(t.User)
		if !g.private(r) {
			c.barred = "nobody acts with a token that went over plain HTTP"
		}
	}
	return c, nil
}

// byProxy is whom a trusted proxy has let in. He reads: a browser that a proxy knows is sent to by every page.
func (g *authGate) byProxy(r *http.Request) caller {
	names := r.Header.Values(userHeader)
	if len(names) != 1 || !g.trusted(r) {
		return caller{}
	}
	name := names[0]
	if name == "" || len(name) > 200 || text.Line(name) != name {
		return caller{}
	}
	return caller{name: name, by: byProxy, role: g.roleOf(name)}
}

// trusted reports whether the request comes from an address of web.trusted_proxies.
func (g *authGate) trusted(r *http.Request) bool {
	peer, ok := peerOf(r)
	for _, network := range g.proxies {
		if ok && network.Contains(peer) {
			return true
		}
	}
	return false
}

// private reports whether nobody on the way hears what is said: TLS, this machine, or a trusted proxy that had TLS.
func (g *authGate) private(r *http.Request) bool {
	peer, ok := peerOf(r)
	return r.TLS != nil || ok && peer.IsLoopback() && !relayed(r) ||
		g.trusted(r) && slices.Equal(r.Header.Values("X-Forwarded-Proto"), []string{"https"})
}

// relayed reports whether a proxy of this machine says that the request came from elsewhere.
func relayed(r *http.Request) bool {
	return slices.ContainsFunc([]string{"X-Forwarded-For", "Forwarded", "Via", "X-Real-Ip"}, func(name string) bool {
		return len(r.Header.Values(name)) > 0
	})
}

func peerOf(r *http.Request) (netip.Addr, bool) {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return peer.Addr().Unmap(), err == nil
}
