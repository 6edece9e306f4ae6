package wire

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// The parts of a Link header (RFC 8288): a target and its parameters, whose values may be quoted
// and then hold whatever separates the parts elsewhere.
var (
	linkParam = `\s*;\s*(?:([\w!#$%&'*+.^|~` + "`" + `-]+)(?:\s*=\s*("(?:[^"\\]|\\.)*"|[^\s",;]+))?)?`
	linkValue = regexp.MustCompile(`^[\s,]*<([^<>]*)>((?:` + linkParam + `)*)\s*(?:,|$)`)
	linkParts = regexp.MustCompile(linkParam)
)

var errLink = errors.New("the Link header is not understood")

// NextLink is the address in the Link headers that leads to the next page; "" where none does. Told
// is whether they say how any page relates to this one, so that no next one is news.
func NextLink(h http.Header) (next string, told bool, err error) {
	for _, line := range h.Values("Link") {
		for strings.Trim(line, " \t,") != "" {
			m := linkValue.FindStringSubmatch(line)
			if m == nil {
				return "", false, errLink
			}
			line = line[len(m[0]):]
			rels := relations(m[2])
			told = told || slices.ContainsFunc(rels, ofPages)
			if next == "" && slices.Contains(rels, "next") {
				next = m[1]
			}
		}
	}
	return next, told, nil
}

// ofPages reports whether a relation is one between pages of a list.
func ofPages(rel string) bool {
	return slices.Contains([]string{"first", "start", "prev", "previous", "self", "current", "next", "last"}, rel)
}

// relations are the words of the first rel among a link's parameters: others do not count.
func relations(params string) []string {
	for _, m := range linkParts.FindAllStringSubmatch(params, -1) {
		if strings.EqualFold(m[1], "rel") {
			return strings.Fields(strings.ToLower(strings.Trim(m[2], `"`)))
		}
	}
	return nil
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
		return "", fmt.Errorf("the link to the next page leads elsewhere: %q", text.Clip(link, 100))
	}
	to.Fragment = ""
	return to.String(), nil
}
