package wire_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
)

// TestHosts: requests go to the hosts of an entry alone, whoever names another one.
func TestHosts(t *testing.T) {
	for name, test := range map[string]struct {
		url, asks string
		hosts     []string
		may       bool
	}{
		"the vendor's own url":                  {"", "https://api.vendor.test/x", nil, true},
		"another host of the vendor's":          {"", "https://a.sandboxes.vendor.test/x", nil, true},
		"one that ends like it":                 {"", "https://evilsandboxes.vendor.test/x", nil, false},
		"one that begins like it":               {"", "https://a.sandboxes.vendor.test.evil.test/x", nil, false},
		"the host above":                        {"", "https://sandboxes.vendor.test/x", nil, false},
		"somebody else's":                       {"", "https://evil.test/x", nil, false},
		"a service of our own network":          {"", "http://169.254.169.254/latest", nil, false},
		"with the vendor's name as a user":      {"", "https://api.vendor.test@evil.test/x", nil, false},
		"spelled otherwise":                     {"", "https://API.Vendor.Test:443/x", nil, true},
		"that of url":                           {"https://lab.test", "https://lab.test/x", nil, true},
		"the vendor's, where url is not":        {"https://lab.test", "https://a.sandboxes.vendor.test/x", nil, true},
		"the vendor's url, where url is not":    {"https://lab.test", "https://api.vendor.test/x", nil, false},
		"another port of this machine":          {"http://localhost:1", "http://127.0.0.1:2/x", nil, true},
		"one that is listed":                    {"", "https://b.corp.test/x", []string{"b.corp.test"}, true},
		"one that is below what is listed":      {"", "https://b.corp.test/x", []string{"*.corp.test"}, true},
		"the vendor's, where others are listed": {"", "https://a.sandboxes.vendor.test/x", []string{"*.corp.test"}, false},
		"that of url, where others are listed":  {"https://lab.test", "https://lab.test/x", []string{"b.test"}, true},
		"by a key of the entry":                 {"", "https://x.named.test/x", []string{"b.test"}, true},
	} {
		asked := ""
		c, err := wire.New(entry.Entry{Name: "lab", URL: test.url, Hosts: test.hosts}, entry.Options{
			Transport: wiretest.Transport(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = r.Host
				sendJSON(w, 200, `{}`)
			})),
		}, wire.Dialect{URL: "https://api.vendor.test", Hosts: []string{"*.sandboxes.vendor.test"}, Named: []string{"*.named.test"}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Read(t.Context(), wire.Call{What: "x", URL: test.asks})
		if (err == nil) != test.may || (asked != "") != test.may {
			t.Errorf("%s: asked %q, %v; want it to be %t", name, asked, err, test.may)
		}
		if err != nil && !strings.Contains(err.Error(), wire.HostOf(test.asks)+": provider lab sends requests to ") ||
			err != nil && !strings.Contains(err.Error(), "hosts:") {
			t.Errorf("%s: %q names no host, entry and key", name, err)
		}
	}
}
