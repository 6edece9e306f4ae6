package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A dialer connects to public addresses alone, unless the entry itself names the host: what a provider
// sends us to must not be a service of our own network. The address is looked at when the connection is
// made, after the name was resolved, so that a name that means another address by then helps nobody.
//
// With a proxy (HTTPS_PROXY) it is the proxy that is connected to. Who sets the variable names it, so it
// may be anywhere; where it connects to is its own to bound.
type dialer struct {
	named   func(host string) bool                // by the entry
	proxy   func(*http.Request) (*url.URL, error) // of the environment
	proxies sync.Map                              // hosts of proxies that were asked for
}

func newDialer(named func(host string) bool) *dialer {
	return &dialer{named: named, proxy: http.ProxyFromEnvironment}
}

// transport is [Transport], with this dialer.
func (d *dialer) transport() *http.Transport {
	t := Transport()
	t.Proxy, t.DialContext = d.proxied, d.dial
	return t
}

// proxied is the proxy for a request, which may be connected to from then on.
func (d *dialer) proxied(r *http.Request) (*url.URL, error) {
	proxy, err := d.proxy(r)
	if proxy != nil {
		d.proxies.Store(proxy.Hostname(), true)
	}
	return proxy, err
}

func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	within := plainDialer()
	if _, isProxy := d.proxies.Load(host); !isProxy && !d.named(host) {
		within.Control = func(_, resolved string, _ syscall.RawConn) error { return public(host, resolved) }
	}
	return within.DialContext(ctx, network, address)
}

func plainDialer() *net.Dialer {
	return &net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}
}

// errInside is an address that only machines near us reach.
var errInside = errors.New("an address of this machine or of its own network")

// public refuses to connect to what is not public.
func public(host, resolved string) error {
	to, err := netip.ParseAddrPort(resolved)
	if err != nil {
		return err // unreachable: a dialer gives numbers
	}
	if inside(to.Addr()) {
		return fmt.Errorf("not connecting to %s: %s is %w, and the entry does not name it: "+
			"give it in url or hosts if it is meant", text.Clip(host, 100), to.Addr(), errInside)
	}
	return nil
}

// near are networks that package netip does not know as private, by the registries of special
// addresses (RFC 6890): of carriers, for benchmarks, reserved, and ways from IPv6 to an IPv4 address.
// 168.63.129.16 looks public and is the host of each machine at Azure, which knows its secrets.
var near = prefixes("0.0.0.0/8 100.64.0.0/10 168.63.129.16/32 192.0.0.0/24 198.18.0.0/15 240.0.0.0/4 " +
	"::/96 64:ff9b:1::/48 100::/64 2001::/32 2002::/16 fec0::/10")

// nat64 leads to the IPv4 address that its addresses end with, where a machine has IPv6 alone.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

func prefixes(list string) (out []netip.Prefix) {
	for text := range strings.FieldsSeq(list) {
		out = append(out, netip.MustParsePrefix(text))
	}
	return out
}

// inside reports whether an address is not of the public network.
func inside(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if nat64.Contains(a) {
		whole := a.As16()
		a = netip.AddrFrom4([4]byte(whole[12:]))
	}
	if !a.IsGlobalUnicast() || a.IsPrivate() {
		return true
	}
	for _, p := range near {
		if p.Contains(a) {
			return true
		}
	}
	return false
}
