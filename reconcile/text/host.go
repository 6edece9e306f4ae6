package text

import "net/netip"

// Loopback reports whether a host's name or address is one that only this machine reaches.
// Another name than localhost may mean anything by tomorrow.
func Loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
