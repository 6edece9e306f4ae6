// Package daytona speaks to Daytona: the control plane for what exists, the toolbox of
// each sandbox for probes. It knows their traps: a list that lags, a delete that only
// hides, a look-up by id that also finds names, an HTML page that answers 200.
//
// # Decisions
//
//   - 2026-11-21: a client of our own, because the vendor's Go client does not list what
//     was deleted in error, and new state words must not break the decoding.
//   - 2026-11-21: redirects are not followed at all, so the token never travels to a host
//     that the config or the control plane did not name.
//   - 2026-11-21: a terminate gets the sandbox first. The delete call would otherwise also
//     take another sandbox whose name equals the id of one that is gone.
package daytona

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// DefaultURL is the API of the vendor's cloud.
const DefaultURL = "https://app.daytona.io/api"

// A Provider is one Daytona organization, seen with one key. It is safe for concurrent
// use.
type Provider struct {
	entry   entry.Entry
	client  *client
	now     func() time.Time
	probing sync.Map     // ids of sandboxes with a probe under way
	org     atomic.Value // the key's organization, once a sandbox told it
}

var (
	_ reconcile.Provider  = (*Provider)(nil)
	_ reconcile.Templates = (*Provider)(nil)
	_ reconcile.Logs      = (*Provider)(nil)
	_ reconcile.Usage     = (*Provider)(nil)
	_ reconcile.Quotas    = (*Provider)(nil)
	_ reconcile.Checker   = (*Provider)(nil)
	_ reconcile.Suspender = (*Provider)(nil)
)

// New makes the adapter of an entry. It makes no call.
func New(e entry.Entry, o entry.Options) (*Provider, error) {
	o = o.WithDefaults()
	if e.URL == "" {
		e.URL = DefaultURL
	}
	if e.Timeout <= 0 {
		e.Timeout = 10 * time.Second
	}
	if e.Token == "" {
		return nil, fmt.Errorf("daytona needs a token: create an API key in the dashboard")
	}
	base, err := parseURL(e.URL)
	if err != nil {
		return nil, err
	}
	return &Provider{entry: e, client: newClient(base, e, o), now: o.Now}, nil
}

func parseURL(text string) (*url.URL, error) {
	base, err := url.Parse(strings.TrimRight(text, "/"))
	switch {
	case err != nil:
		return nil, fmt.Errorf("url does not parse: %w", err)
	case base.Scheme != "https" && base.Scheme != "http", base.Host == "", base.User != nil, base.RawQuery != "":
		return nil, fmt.Errorf("url %q must look like %s", base.Redacted(), DefaultURL)
	}
	return base, nil
}

// transport has deadlines of its own for what comes before an answer, so that a dead
// address is told apart from a slow sandbox.
func transport() http.RoundTripper {
	dialer := &net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    5 * time.Second,
		MaxIdleConnsPerHost:    32,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}
