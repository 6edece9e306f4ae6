package simulated

import (
	"cmp"
	"strconv"
	"strings"
	"time"
)

// A Query asks for one page of a listing.
type Query struct {
	After  string // cursor of the page before; "" for the first
	Limit  int    // 0 means the world's page size
	Labels map[string]string
	Hidden bool      // also what a delete only hid
	Made   time.Time // only what was made after it
}

// Page is one page of a listing, oldest first, and the cursor of the next one, as a fault
// makes them; the zero Fault makes none.
func (w *World) Page(q Query, f Fault) (page []Sandbox, next string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f.Effect == EmptyList {
		return nil, ""
	}
	w.settleAll()
	if q.Limit == 0 {
		q.Limit = cmp.Or(w.o.PageSize, 200)
	}
	from := 0
	if q.After != "" {
		from = w.after(q.After)
	}
	if f.Effect == Repeat && from > 0 {
		from = max(0, from-q.Limit/2) // the pages overlap
	}
	last := Sandbox{} // as it is
	asOf := w.o.Steady().Add(-w.o.IndexLag - f.Lag)
	for _, b := range w.order[from:] {
		s, ok := b.at(asOf)
		if !ok || !shown(s, q) || f.Effect != Forge && !labelled(s, q) || f.Effect == Omit && f.omits(s) {
			continue
		}
		if len(page) == q.Limit {
			return page, cursor(last)
		}
		last = s
		switch f.Effect {
		case LoseLabels:
			s.Labels = nil
		case Forge:
			if s = f.Forges(s); !labelled(s, q) { // a search finds by what its index says
				continue
			}
		}
		page = append(page, s)
	}
	if f.Effect == SameCursor {
		return page, "again"
	}
	return page, ""
}

func cursor(s Sandbox) string { return strconv.FormatInt(s.CreatedAt.UnixNano(), 10) + "/" + s.ID }

// after is the index of the first sandbox behind a cursor.
func (w *ground) after(cursor string) int {
	stamp, id, _ := strings.Cut(cursor, "/")
	nanos, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return 0
	}
	created := time.Unix(0, nanos)
	low, high := 0, len(w.order)
	for low < high {
		if mid := (low + high) / 2; w.order[mid].compare(created, id) <= 0 {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// at is the sandbox as it was at a moment, if it was there.
func (b *box) at(asOf time.Time) (Sandbox, bool) {
	if !asOf.Before(b.seenAt) {
		return b.Sandbox, true
	}
	for i := len(b.past) - 1; i >= 0; i-- {
		if !asOf.Before(b.past[i].seenAt) {
			return b.past[i], true
		}
	}
	return Sandbox{}, false
}

func shown(s Sandbox, q Query) bool {
	return !s.Gone && (q.Hidden || !s.Hidden()) && (q.Made.IsZero() || s.CreatedAt.After(q.Made))
}

// labelled reports whether the sandbox has the labels that are asked for.
func labelled(s Sandbox, q Query) bool {
	for key, value := range q.Labels {
		if got, ok := s.Labels[key]; !ok || got != value {
			return false
		}
	}
	return true
}
