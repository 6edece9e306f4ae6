package serve

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A knownHost lets in who asks for this server by a name that it has. A page of somebody else's, open in the
// browser of one who may read here, can have its own name resolved to this address (DNS rebinding): the
// browser then takes us for that page, and lets it read. An address instead of a name cannot be
// used for that, nor none at all, so probes of an orchestrator and scrapes by address need no configuration.
type knownHost struct {
	names  []string
	count  *Refusals
	behind http.Handler
}

func newKnownHost(names []string, count *Refusals, behind http.Handler) *knownHost {
	k := &knownHost{names: []string{"localhost"}, count: count, behind: behind}
	if own, err := os.Hostname(); err == nil {
		names = append(slices.Clone(names), own)
	}
	for _, name := range names {
		k.names = append(k.names, hostName(name))
	}
	return k
}

// ServeHTTP answers 421 to who asked for another.
func (k *knownHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := hostName(r.Host)
	if _, err := netip.ParseAddr(name); err == nil || name == "" || slices.Contains(k.names, name) {
		k.behind.ServeHTTP(w, r)
		return
	}
	k.count.hosts.Add(1)
	refuse(w, r, http.StatusMisdirectedRequest, fmt.Sprintf("this server is not known as %q: "+
		"ask for it by its address, or add the name to web.hosts", text.Clip(name, 100)))
}

// hostName is what a Host header or a key of the config names, without port, brackets and the dot of the root.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.ToLower(strings.TrimSuffix(host, "."))
}
