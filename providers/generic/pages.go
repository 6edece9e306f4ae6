package generic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// whole reads a list that comes at once. It refuses one that tells of a further page, or is as
// full as was asked for: the rest would be taken for gone.
func (r *reading) whole(ctx context.Context, _ string) (wire.Page, error) {
	s, err := r.fetch(ctx, nil, "")
	if err != nil {
		return s.Page, err
	}
	next, _, badNext := r.next(&s)
	more, _, badMore := r.more(&s)
	size := r.spec.pages.Size
	full := size > 0 && r.call.address.Has("limit") && len(s.Sandboxes) >= size
	switch {
	case badNext != nil || badMore != nil:
		err = errors.Join(badNext, badMore)
	case next != "" || more:
		err = errors.New("the answer tells of a further page: give list.paging")
	case full:
		err = errors.New("the page is full, and no other is asked for: give list.paging")
	}
	s.Next = ""
	return s.Page, err
}

func (r *reading) byCursor(ctx context.Context, cursor string) (wire.Page, error) {
	s, err := r.fetch(ctx, vars{"cursor": cursor}, "")
	if err == nil {
		s.Next, err = r.onward(&s)
	}
	return s.Page, err
}

// byLink follows links. The address of the first page is described, the others' come from
// the platform, and stay on its host.
func (r *reading) byLink(ctx context.Context, link string) (wire.Page, error) {
	s, err := r.fetch(ctx, nil, link)
	if err == nil {
		s.Next, err = r.onward(&s)
	}
	if err == nil && s.Next != "" {
		s.Next, err = wire.Follow(s.url, s.Next)
	}
	return s.Page, err
}

// onward is the cursor or link that a page names. A full page that says nothing of one was cut
// off by somebody, or the expression is wrong. Some servers leave out the Link header on a last
// page; that is believed of those that had one on a page before.
func (r *reading) onward(s *sheet) (string, error) {
	next, given, err := r.next(s)
	if err != nil {
		return "", err
	}
	more, said, err := r.more(s)
	switch {
	case err != nil, said && !more:
		return "", err
	case s.link != nil: // it may lead to a further page
		return "", s.link
	case said && next == "":
		return "", errors.New("the answer says that there are more and names no next page")
	case next == "" && !said && len(s.Sandboxes) >= r.spec.pages.Size && !given && !r.links:
		return "", errors.New("the page is full and says nothing of a next one: is list.next right? list.more would tell")
	}
	r.links = r.spec.next == nil && given
	return next, nil
}

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
		s, err := r.fetch(ctx, vars{"page": n}, "")
		if err != nil {
			return wire.Page{}, err
		}
		if n > first {
			before, err := r.fetch(ctx, vars{"page": n - 1}, "")
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

func ids(boxes []reconcile.Sandbox) []string {
	out := make([]string, len(boxes))
	for i := range boxes {
		out[i] = boxes[i].ID
	}
	return out
}

// byOffset reads from an offset, a little before the end of the page before. If it shows
// one that was met, nothing lies between the two; else it goes back further.
func (r *reading) byOffset(ctx context.Context, cursor string) (wire.Page, error) {
	place, _, _ := strings.Cut(cursor, "/")
	offset, _ := strconv.Atoi(place) // our own; "" is 0
	for range tries {
		s, err := r.fetch(ctx, vars{"offset": offset}, "")
		if err != nil {
			return wire.Page{}, err
		}
		count := len(s.Sandboxes)
		knows := slices.ContainsFunc(s.Sandboxes, func(b reconcile.Sandbox) bool { return r.met[b.ID] })
		if offset > 0 && !knows && (count > 0 || r.step > 0) {
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

// meet remembers what stood on a page and counts what is new.
func (r *reading) meet(boxes []reconcile.Sandbox) (fresh int) {
	before := len(r.met)
	for i := range boxes {
		r.met[boxes[i].ID] = true
	}
	return len(r.met) - before
}
