package serve

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// A caller is who asks, as far as it is proven. Who merely reads need not have a name: on loopback nobody is asked for
// one, and a client certificate gives none.
type caller struct {
	name   string
	by     credential
	role   role
	barred string // why nobody acts by what he has shown; "" when he may
	token  string // the id of the one that was shown
}

// author is who asks, as it is recorded.
func (c caller) author() string {
	if c.token != "" {
		return c.name + " (token " + c.token + ")"
	}
	return c.name
}

type callerKey struct{}

// calledBy is a request whose caller is known to what answers it.
func calledBy(r *http.Request, c caller) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), callerKey{}, c))
}

func callerOf(r *http.Request) caller {
	c, _ := r.Context().Value(callerKey{}).(caller)
	return c
}

// handler answers those whom the row lets in, and tells the log of who was not.
func (r *route) handler(log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if why := r.refusal(q); why != "" {
			log.WarnContext(q.Context(), "refused on the page", "route", r.method+" "+r.path,
				"user", callerOf(q).name, "from", q.RemoteAddr, "why", why)
			refuse(w, q, http.StatusForbidden, why)
			return
		}
		r.to(w, q)
	})
}

// refusal is why a request may not have what the row serves, "" when it may. The gate has let it in already.
func (r *route) refusal(q *http.Request) string {
	c := callerOf(q)
	switch {
	case c.name != "" && r.role != roleNone && !slices.Contains(r.by, c.by):
		return "this way to log in does not count here"
	case r.kind == kindAgent && !fromHere(q, true):
		return "tools for agents are asked for by programs, not by other pages"
	case r.guarded() && c.name == "":
		return "nobody acts without a name: add users to web.config_file"
	case r.changes() && c.barred != "":
		return c.barred
	case r.guarded() && c.by != byActToken && q.TLS == nil:
		return "nobody acts with a password that went over plain HTTP"
	case r.guarded() && !fromHere(q, c.by == byActToken):
		return "an act is asked for by this page itself, or by a program with a token"
	case r.role == roleOperator && c.role != roleOperator:
		return "operators only: add the user to web.operators"
	}
	return ""
}

// fromHere reports whether a browser says that this page sent the request, which no other page can have it say.
// A program says nothing of that kind; only what shows a token of its own is believed to be one. Who says it twice is
// no browser, and what else stands between may have read the other one.
func fromHere(q *http.Request, program bool) bool {
	if len(q.Header.Values("Origin")) > 1 || len(q.Header.Values("Sec-Fetch-Site")) > 1 {
		return false
	}
	origin, site := q.Header.Get("Origin"), q.Header.Get("Sec-Fetch-Site")
	if program && origin == "" && site == "" {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || site != "same-origin" || !strings.EqualFold(u.Host, q.Host) {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && q.TLS == nil
}
