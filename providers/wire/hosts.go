package wire

import (
	"net/url"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// namedBy tells which hosts an entry itself names: that of its url, with the other names of this machine
// if it is one of them, and those of its further keys. The vendor's own url says nothing of where we are.
func namedBy(e entry.Entry, d Dialect) func(host string) bool {
	home := ""
	if e.URL != d.URL {
		home = HostOf(e.URL)
	}
	return func(host string) bool {
		return home != "" && strings.EqualFold(host, home) || text.Loopback(host) && text.Loopback(home) ||
			among(d.Named, host)
	}
}

// HostOf is the host of an address; "" where it has none.
func HostOf(address string) string {
	if u, err := url.Parse(address); err == nil {
		return u.Hostname()
	}
	return ""
}

// among reports whether a host is in a list, where *.HOST stands for all below one.
func among(list []string, host string) bool {
	return slices.ContainsFunc(list, func(one string) bool {
		if below, wild := strings.CutPrefix(one, "*."); wild {
			return len(host) > len(below)+1 && strings.EqualFold(host[len(host)-len(below)-1:], "."+below)
		}
		return strings.EqualFold(one, host)
	})
}
