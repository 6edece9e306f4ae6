package generic

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// tries is how often a seam between two pages is tried.
const tries = 4

// errMoved is a listing whose pages could not be tied to each other.
var errMoved = errors.New("sandboxes moved between its pages while they were read")

// byNumber reads a page by its number. What goes from an earlier page moves the rest over
// the seam, where it would be missed, so the page before is read again afterwards: if it
// shows the same sandboxes, nothing moved.
func (r *reading) byNumber(ctx context.Context, cursor string) (wire.Page, error) {
	first := 1
	if r.spec.pages.FromZero {
		first = 0
	}
	n := first
	if cursor != "" {
		n, _ = strconv.Atoi(cursor) // our own
	}
	var extra []reconcile.Sandbox
	for range tries {
		s, err := r.fetch(ctx, vars{"page": n})
		if err != nil {
			return wire.Page{}, err
		}
		if n > first {
			before, err := r.fetch(ctx, vars{"page": n - 1})
			if err != nil {
				return wire.Page{}, err
			}
			if now := ids(before.Sandboxes); !slices.Equal(now, r.last) {
				r.last, extra = now, append(extra, before.Sandboxes...)
				continue
			}
		}
		r.last = ids(s.Sandboxes)
		s.Next, err = r.follow(&s, strconv.Itoa(n+1), len(s.Sandboxes) == 0)
		r.meet(extra)
		s.Sandboxes = append(extra, s.Sandboxes...)
		return s.Page, err
	}
	return wire.Page{}, errMoved
}

// byOffset reads from an offset, a little before the end of the page before. If it shows
// one that was met, nothing lies between the two; else it goes back further.
func (r *reading) byOffset(ctx context.Context, cursor string) (wire.Page, error) {
	place, _, _ := strings.Cut(cursor, "/")
	offset, _ := strconv.Atoi(place) // our own; "" is 0
	for range tries {
		s, err := r.fetch(ctx, vars{"offset": offset})
		if err != nil {
			return wire.Page{}, err
		}
		count := len(s.Sandboxes)
		if offset > 0 && !r.knows(s.Sandboxes) && (count > 0 || r.step > 0) {
			back := max(r.step, r.spec.pages.Size/2, 1)
			offset, r.step = max(0, offset-back), r.step+back
			continue
		}
		step := min(10, count/2)
		// Who went back may come by the same place again, having met more.
		next := fmt.Sprintf("%d/%d", offset+count-step, len(r.met))
		s.Next, err = r.follow(&s, next, count <= r.step || count == 0)
		r.step = step
		return s.Page, err
	}
	return wire.Page{}, errMoved
}

// follow is the next place, "" after the last page. Where more is not described, the last
// one is a page with nothing new on it; atEnd says whether it may be that. A page that shows
// only what was read before is the end of nothing: the platform does not turn pages.
func (r *reading) follow(s *sheet, next string, atEnd bool) (string, error) {
	fresh := r.meet(s.Sandboxes)
	more, said, err := r.more(s)
	switch {
	case err != nil:
		return "", err
	case said && !more, !said && fresh == 0 && atEnd:
		return "", nil
	case fresh == 0:
		return "", errors.New("the page shows nothing new, and is not the last: is the place in list.path right?")
	}
	return next, nil
}

var linkHeader = regexp.MustCompile(`<([^<>]*)>((?:\s*;[^,<>]*)*)`)

// linked is the address in a Link header that leads to the next page.
func linked(h http.Header) string {
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

// sameHost is a link as a whole address. It may lead nowhere but to the host that gave it:
// the credential goes with it.
func sameHost(from, link string) (string, error) {
	base, err := url.Parse(from)
	if err != nil {
		return "", fmt.Errorf("follow the link to the next page: %w", err) // unreachable: it was called
	}
	to, err := base.Parse(link)
	if err != nil || to.Scheme != base.Scheme || to.Host != base.Host || to.User != nil || len(link) > 8<<10 {
		return "", fmt.Errorf("the link to the next page leads elsewhere: %q", wire.Clip(link, 100))
	}
	to.Fragment = ""
	return to.String(), nil
}
