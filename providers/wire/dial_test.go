package wire

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/providers/entry"
)

// TestInside: public is what everybody reaches, and nothing else.
func TestInside(t *testing.T) {
	for _, address := range strings.Fields(`127.0.0.1 127.9.9.9 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254
		100.100.100.200 168.63.129.16 192.0.0.192
		0.0.0.0 0.1.2.3 100.64.0.1 100.127.255.255 192.0.0.8 198.18.0.1 224.0.0.1 255.255.255.255 240.0.0.1
		:: ::1 fe80::1 fe80::1%eth0 fec0::1 fc00::1 fd00:ec2::254 ff02::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1
		::ffff:169.254.169.254 ::127.0.0.1 64:ff9b::10.0.0.1 64:ff9b::169.254.169.254 64:ff9b:1::1 2002:7f00:1::`) {
		if !inside(netip.MustParseAddr(address)) {
			t.Errorf("%s counts as public", address)
		}
	}
	for _, address := range strings.Fields(`1.1.1.1 8.8.8.8 172.15.255.255 172.32.0.1 100.63.255.255 100.128.0.0 169.253.0.1
		192.167.0.1 11.0.0.1 2606:4700::1111 ::ffff:8.8.8.8 64:ff9b::8.8.8.8`) {
		if inside(netip.MustParseAddr(address)) {
			t.Errorf("%s counts as not public", address)
		}
	}
}

// TestDialsOutsideAlone: a host that the entry does not name is not connected to at an address of our own
// network, whatever its name resolves to. One that it names is, and so is a proxy.
func TestDialsOutsideAlone(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	for name, test := range map[string]struct {
		url, asks, proxy string
		hosts            []string
		refused          bool
	}{
		"a name that resolves to this machine":     {"https://api.vendor.test", "http://localhost:" + port, "", nil, true},
		"its address":                              {"https://api.vendor.test", "http://127.0.0.1:" + port, "", nil, true},
		"its address as IPv6 has it":               {"https://api.vendor.test", "http://[::ffff:127.0.0.1]:" + port, "", nil, true},
		"the host of url":                          {"http://127.0.0.1:1", "http://127.0.0.1:" + port, "", nil, false},
		"this machine, where url is of it":         {"http://127.0.0.1:1", "http://localhost:" + port, "", nil, false},
		"the vendor's url, which nobody gave":      {"", "http://localhost:" + port, "", nil, true},
		"a host that the entry lists":              {"https://api.vendor.test", "http://localhost:" + port, "", []string{"localhost"}, false},
		"a proxy of this machine":                  {"https://api.vendor.test", "http://api.vendor.test", server.URL, nil, false},
		"this machine, asked beside its own proxy": {"https://api.vendor.test", "http://localhost:" + port, "", nil, true},
	} {
		d := newDialer(hostsOf(entry.Entry{URL: test.url, Hosts: test.hosts}, Dialect{URL: "http://localhost:1"}).names)
		d.proxy = func(*http.Request) (*url.URL, error) {
			if test.proxy == "" {
				return nil, nil
			}
			return url.Parse(test.proxy)
		}
		transport := d.transport()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, test.asks, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := transport.RoundTrip(r)
		if err == nil {
			res.Body.Close()
		}
		if errors.Is(err, errInside) != test.refused || !test.refused && err != nil {
			t.Errorf("%s: %v, want it refused %t", name, err, test.refused)
		}
		transport.CloseIdleConnections()
	}
}
