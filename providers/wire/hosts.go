package wire

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// hosts are those that requests of an entry may go to, with or without the credential: what a provider
// names as the address of a sandbox or of its output is asked there, or not at all.
type hosts struct {
	entry  string   // its name
	home   string   // of url; "" where that is the vendor's own, which nobody gave
	given  []string // by further keys of the entry
	vendor []string // where the entry lists none
}

func hostsOf(e entry.Entry, d Dialect) hosts {
	h := hosts{entry: e.Name, given: slices.Concat(d.Named, e.Hosts)}
	if e.URL != d.URL {
		h.home = HostOf(e.URL)
	}
	if h.home == "" {
		h.vendor = append(h.vendor, HostOf(d.URL))
	}
	if len(e.Hosts) == 0 {
		h.vendor = append(h.vendor, d.Hosts...)
	}
	return h
}

// names reports whether the entry itself names a host: as that of its url, as another name of this
// machine where url is of it, or by further keys. The vendor's own url says nothing of where we are.
func (h hosts) names(host string) bool {
	return h.home != "" && strings.EqualFold(host, h.home) || text.Loopback(host) && text.Loopback(h.home) ||
		among(h.given, host)
}

// may refuses to ask what is on none of the hosts.
func (h hosts) may(address string) error {
	host := HostOf(address)
	if h.names(host) || among(h.vendor, host) {
		return nil
	}
	return fmt.Errorf("not asking %s: provider %s sends requests to %s alone; "+
		"add it to hosts: of that entry if it is the provider's", text.Clip(host, 100), h.entry, h.list())
}

// list is all hosts, in words.
func (h hosts) list() string {
	all := slices.DeleteFunc(slices.Concat([]string{h.home}, h.vendor, h.given), func(s string) bool { return s == "" })
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
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
		return one != "" && strings.EqualFold(one, host)
	})
}
