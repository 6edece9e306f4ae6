package wire

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

var linkHeader = regexp.MustCompile(`<([^<>]*)>((?:\s*;[^,<>]*)*)`)

// NextLink is the address in a Link header (RFC 8288) that leads to the next page; "" where none
// does.
func NextLink(h http.Header) string {
	for _, line := range h.Values("Link") {
		for _, m := range linkHeader.FindAllStringSubmatch(line, -1) {
			for param := range strings.SplitSeq(m[2], ";") {
				name, value, _ := strings.Cut(strings.TrimSpace(param), "=")
				rels := strings.Fields(strings.ToLower(strings.Trim(value, `"`)))
				if strings.EqualFold(name, "rel") && slices.Contains(rels, "next") {
					return m[1]
				}
			}
		}
	}
	return ""
}

// Follow is a link as a whole address. It may lead nowhere but to the host that gave it: the
// credential goes with it.
func Follow(from, link string) (string, error) {
	base, err := url.Parse(from)
	if err != nil {
		return "", fmt.Errorf("follow the link to the next page: %w", err) // unreachable: it was called
	}
	to, err := base.Parse(link)
	if err != nil || to.Scheme != base.Scheme || to.Host != base.Host || to.User != nil || len(link) > 8<<10 {
		return "", fmt.Errorf("the link to the next page leads elsewhere: %q", Clip(link, 100))
	}
	to.Fragment = ""
	return to.String(), nil
}
