package wire

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/sandkeeper/sandkeeper/providers/entry"
)

// The largest answers that are read.
const (
	MaxPage  = 16 << 20
	MaxOne   = 1 << 20
	maxWords = 64 << 10 // of an answer that is only an error
)

// defaultTimeout is for one call, where the entry names none.
const defaultTimeout = 10 * time.Second

// A Client makes single calls: rate, deadline, credential, bounded bodies. What an answer
// means is the caller's to say. It is safe for concurrent use.
type Client struct {
	base     *url.URL
	dialect  Dialect
	hosts    hosts
	redactor *strings.Replacer // puts a word in the place of secrets
	agent    string
	timeout  time.Duration
	http     *http.Client
	turn     func(ctx context.Context) error // waits until the rate lets a call through
	circuit  circuit
	gates    [2]gate       // of reads and of changes, which providers limit apart
	silent   atomic.Bool   // the last call of the control plane that ended had no answer in time
	large    chan struct{} // holds one for each large answer that is being read
	page     atomic.Int64  // how much room the next page of a listing will need
	pages    sync.Pool     // of *[]byte: where pages were read to that nobody needs any more
	now      func() time.Time
	log      *slog.Logger
	tell     func(call, code string, took time.Duration) // hears of each call that was made
	left     func(limiter string, calls float64)         // hears what limiters say is left
}

// A Dialect is what differs between vendors. Only URL is needed; a nil hook does what is
// said with it.
type Dialect struct {
	URL  string // where the entry names none; also the example in errors
	Hint string // what an operator should look at when the answer is not the API's: "is the url right?"

	// Dress puts the credential and further headers on a request. Nil: Authorization: Bearer
	// with the entry's token.
	Authorize func(r *http.Request, k Call)
	// Said reads the error in an answer. Nil: [SaidIn], which knows the usual forms.
	APIError func(a Answer) APIError
	// Certain reports whether a 404 or a 410 means that the thing itself is not there, and
	// not that the address is wrong, a proxy lost its way, or the credential does not see it.
	// Nil: no 404 does, and a 410 does that is JSON or empty.
	Certain func(a Answer, s APIError) bool
	// Refused reports whether an answer refuses the credential itself, besides a 401. Nil: none.
	Refused func(a Answer) bool
	// Wait is the wait that an answer asks for in the vendor's own headers, where it has no
	// Retry-After. Nil: none. [Resets] makes one.
	Wait func(a Answer) (time.Duration, bool)
	// Hosts are the vendor's own, besides that of URL, *.HOST for those below one.
	Hosts []string
	// Named are further hosts that the entry's own keys name, *.HOST for those below one.
	Named []string
	// Secrets are taken out of errors and logs, besides the entry's token.
	Secrets []string
}

// New makes the client of an entry. It makes no call.
func New(e entry.Entry, o entry.Options, d Dialect) (*Client, error) {
	o = o.WithDefaults()
	where := hostsOf(e, d)
	if e.URL == "" {
		e.URL = d.URL
	}
	if e.Timeout <= 0 {
		e.Timeout = defaultTimeout
	}
	base, err := Address("url", e.URL, d.URL)
	if err != nil {
		return nil, err
	}
	if o.Transport == nil {
		o.Transport = newDialer(where.names).transport()
	}
	if o.Turn == nil {
		o.Turn = turns(e.Rate)
	}
	return &Client{
		base: base, hosts: where, dialect: d.withDefaults(e),
		redactor: spellings(slices.Concat(d.Secrets, []string{e.Token})),
		agent:    o.Agent, timeout: e.Timeout, turn: o.Turn, now: o.Now, log: o.Log.With("provider", e.Name), tell: o.Heard,
		left:  o.Left,
		large: make(chan struct{}, largeAtOnce),
		http: &http.Client{
			Transport:     o.Transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

func (d Dialect) withDefaults(e entry.Entry) Dialect {
	if d.Authorize == nil {
		d.Authorize = func(r *http.Request, _ Call) { r.Header.Set("Authorization", "Bearer "+e.Token) }
	}
	if d.APIError == nil {
		d.APIError = SaidIn
	}
	if d.Certain == nil {
		d.Certain = func(a Answer, _ APIError) bool {
			return a.Status == http.StatusGone && (IsJSON(a.Header) || len(a.Body) == 0)
		}
	}
	if d.Wait == nil {
		d.Wait = func(Answer) (time.Duration, bool) { return 0, false }
	}
	return d
}

// turns is the rate of this process alone. Where there is no limit nobody waits for one: a caller whose patience ends
// right then was not held up by a rate.
func turns(perSecond float64) func(context.Context) error {
	if perSecond <= 0 {
		return func(context.Context) error { return nil }
	}
	return rate.NewLimiter(rate.Limit(perSecond), max(1, int(perSecond))).Wait
}

// Address reads the value of a key of the entry that is an address.
func Address(key, text, example string) (*url.URL, error) {
	base, err := url.Parse(strings.TrimRight(text, "/"))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s does not parse: %w", key, err)
	case base.Scheme != "https" && base.Scheme != "http", base.Host == "", base.User != nil, base.RawQuery != "":
		return nil, fmt.Errorf("%s %q must look like %s", key, base.Redacted(), example)
	}
	return base, nil
}

// Transport has deadlines of its own for what comes before an answer, so that a dead
// address is told apart from a slow sandbox. It connects to any address: it is for who calls nothing
// but the url of the entry.
func Transport() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            plainDialer().DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    5 * time.Second,
		MaxIdleConnsPerHost:    32,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// At is the address of a thing of the control plane. Each part is escaped, so an id can
// never lead to another path.
func (c *Client) At(parts ...string) string { return Join(c.base.String(), parts...) }

// Join is At for another base, of a region for instance.
func Join(base string, parts ...string) string {
	var b strings.Builder
	b.WriteString(strings.TrimRight(base, "/"))
	for _, part := range parts {
		b.WriteByte('/')
		b.WriteString(url.PathEscape(part))
	}
	return b.String()
}

// Home reports whether an address is on the host of url, which is the one that the credential
// is for.
func (c *Client) Home(u *url.URL) bool { return u.Scheme == c.base.Scheme && u.Host == c.base.Host }

// Now is our own clock, as the client was given it.
func (c *Client) Now() time.Time { return c.now() }
