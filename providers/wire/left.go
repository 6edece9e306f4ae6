package wire

import (
	"net/http"
	"strconv"
	"strings"
)

// remaining begins the headers by which limiters say how many calls are left.
var remaining = []string{"X-RateLimit-Remaining", "RateLimit-Remaining"}

// limiterOf is the limiter that a header with one of the prefixes is of; "" where it has no name of its own.
func limiterOf(header string, prefixes []string) (limiter string, is bool) {
	for _, prefix := range prefixes {
		if rest, cut := strings.CutPrefix(header, http.CanonicalHeaderKey(prefix)); cut {
			return strings.ToLower(strings.Trim(rest, "- ")), true
		}
	}
	return "", false
}

// leftover tells what the limiters say in an answer.
func (c *Client) leftover(h http.Header) {
	for name, said := range h {
		limiter, is := limiterOf(name, remaining)
		if !is || len(said) == 0 {
			continue
		}
		if n, err := strconv.ParseFloat(said[0], 64); err == nil && n >= 0 && n < 1e12 {
			c.left(limiter, n)
		}
	}
}
