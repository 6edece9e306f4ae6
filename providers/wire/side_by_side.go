package wire

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// How a listing is read side by side.
const (
	readers = 8 // pages that are asked for at once, at most
	// readAlone is how many pages are read before a further stretch is begun, for each of those: what a stretch costs,
	// a page that another one reads too, stays a small part of the listing. A fleet of few pages is read one by one.
	readAlone = 4
	worthIt   = 3 // pages that are expected at least of each part of a stretch that is divided
	// markBefore is how far before the end of a page a later listing may begin a part, in parts of the page: so the one
	// before meets it on that very page, also when some are gone since.
	markBefore = 10
)

// A sideBySide reads a listing that is in the order of creation in several stretches, each from a moment on. The first
// is the whole listing. Each is read until it meets a sandbox that a later one has read: as both are in the same order,
// nothing stands between them. So the stretches are the whole of it, whichever moments they begin at and whether what
// was made at that very moment is in it or not, when the last one comes to the end. Where anything is odd, as where the
// provider knows no such filter or keeps no order, the first stretch alone is read on to its end, as if there were no
// others.
type sideBySide struct {
	from  func(made time.Time) ReadPage
	all   met
	visit func(Page) error

	mu     sync.Mutex
	wg     sync.WaitGroup
	whole  *stretch    // the first: all of it
	others []*stretch  // that are or were read
	active int         // that are being read
	pages  int         // of all
	twice  int         // of these that showed nothing new
	begun  int         // stretches, but the first
	end    time.Time   // nothing was made from then on; zero: not known
	marks  []time.Time // near the end of each page
	vain   bool        // a part showed what others had shown
	alone  bool        // only the first is read on
	failed error       // of who is listed to

	cancel context.CancelFunc // of the others
}

// eachOf calls visit with every page of a scope, never two at once, like [EachPage]: one after the other, or side by
// side.
// Marks are when something near the end of each page was made, as an earlier listing showed it: so it need not be read
// for a while before it is known where its parts may well begin. What it shows now is returned.
func eachOf(ctx context.Context, scope Scope, marks []time.Time, all met, visit func(Page) error,
) ([]time.Time, error) {
	if scope.From == nil {
		return nil, eachPage(ctx, scope.Read, all, visit)
	}
	beside, cancel := context.WithCancel(ctx)
	defer cancel()
	l := &sideBySide{from: scope.From, all: all, visit: visit, active: 1, cancel: cancel}
	l.whole = &stretch{read: scope.Read, of: l}
	l.resume(beside, marks)
	err := l.readOn(ctx, beside, l.whole)
	if err != nil {
		l.stopOthers()
	}
	l.wg.Wait()
	if err == nil && !l.proven() {
		l.stopOthers()
		err = l.readOn(ctx, beside, l.whole)
	}
	if l.failed != nil {
		return nil, l.failed
	}
	return l.learned(), err
}

// learned are the marks for the next listing; none where a part was in vain, as where the filter is not kept.
func (l *sideBySide) learned() []time.Time {
	if l.alone || l.vain {
		return nil
	}
	slices.SortFunc(l.marks, time.Time.Compare)
	return slices.CompactFunc(l.marks, time.Time.Equal)
}

// resume begins as many stretches as the pages of an earlier listing would have made worth it, in equal parts of these.
func (l *sideBySide) resume(ctx context.Context, marks []time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	parts := min(len(marks)/readAlone+1, readers)
	for i := 1; i < parts; i++ {
		l.beginAt(ctx, marks[i*len(marks)/parts-1].Truncate(time.Millisecond))
	}
}

// proven reports whether the stretches lead from the first to the end of the listing.
func (l *sideBySide) proven() bool {
	s := l.whole
	for s.next != nil && !s.whole {
		s = s.next
	}
	return s.whole && (!l.alone || s == l.whole)
}

func (l *sideBySide) stopOthers() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.odd()
}

// odd gives the others up.
func (l *sideBySide) odd() {
	l.alone = true
	l.cancel()
}

// readOn reads a stretch until it meets another one, or comes to its end.
func (l *sideBySide) readOn(ctx, beside context.Context, s *stretch) error {
	for more := true; more; {
		page, err := s.ask(ctx)
		if more, err = l.took(beside, s, page, err); err != nil {
			return err
		}
	}
	return nil
}

// took hands over a page that was read, and reports whether the stretch is to be read on.
func (l *sideBySide) took(ctx context.Context, s *stretch, page Page, err error) (more bool, _ error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() {
		if !more {
			l.active--
		}
	}()
	first := s == l.whole
	switch {
	case l.failed != nil:
		return false, nil
	case err != nil && first:
		return false, err
	case !first && l.alone:
		return false, nil
	case err != nil, !s.inOrder(page.Sandboxes):
		if l.odd(); !first {
			return false, nil
		}
	case !first && s.pages == 0 && page.Next == "" && len(page.Sandboxes) == 0:
		l.end = s.asked
		l.drop(ctx, s)
		return false, nil
	case !first && s.pages == 0 && l.behind(s, page.Sandboxes):
		l.vain = true
		l.drop(ctx, s)
		return false, nil
	}
	return l.take(ctx, s, page)
}

// drop forgets a stretch that showed nothing.
func (l *sideBySide) drop(ctx context.Context, s *stretch) {
	l.pages, l.twice = l.pages+1, l.twice+1
	l.others = slices.DeleteFunc(l.others, func(o *stretch) bool { return o == s })
	l.begin(ctx)
}

// behind reports whether an earlier stretch has read all of these already.
func (l *sideBySide) behind(s *stretch, page []reconcile.Sandbox) bool {
	return len(page) > 0 && !slices.ContainsFunc(page, func(sb reconcile.Sandbox) bool {
		by, known := l.all[sb.ID]
		return !known || !by.beside(s) || !by.asked.Before(s.asked)
	})
}

func (l *sideBySide) take(ctx context.Context, s *stretch, page Page) (more bool, _ error) {
	l.pages++
	s.sandboxes += len(page.Sandboxes)
	if n := len(page.Sandboxes); n > 0 {
		if s.last = page.Sandboxes[n-1].CreatedAt; s.first.IsZero() {
			s.first = page.Sandboxes[0].CreatedAt
		}
		l.marks = append(l.marks, page.Sandboxes[n-1-n/markBefore].CreatedAt)
	}
	unmet, fresh, later := l.all.note(page.Sandboxes, s)
	if page.Sandboxes = unmet; len(unmet) == 0 {
		l.twice++
	}
	if err := l.visit(page); err != nil {
		l.failed = &visitError{err}
		l.cancel()
		return false, nil
	}
	if err := s.went(page.Next, fresh); err != nil {
		if s == l.whole {
			return false, err
		}
		l.odd()
		return false, nil
	}
	// What was made at the very moment at which the later one begins is all in that, in whichever order.
	if later != nil && s.last.After(later.first) {
		s.next = later
	}
	l.begin(ctx)
	return !s.whole && (l.alone || s.next == nil), nil
}

// inOrder notes whether a page is one of this stretch: made at its moment or later, and in order. What has no time has
// no place in the order.
func (s *stretch) inOrder(page []reconcile.Sandbox) bool {
	after := s.asked
	if s.last.After(after) {
		after = s.last
	}
	for i := range page {
		if at := page[i].CreatedAt; at.IsZero() || at.Before(after) {
			return false
		}
		after = page[i].CreatedAt
	}
	return true
}

// begin begins further stretches, as long as they are worth it.
func (l *sideBySide) begin(ctx context.Context) {
	for !l.alone && l.active < readers && (l.begun+1)*readAlone <= l.pages && l.twice*readAlone <= l.pages {
		at := l.where().Truncate(time.Millisecond)
		if at.IsZero() {
			return
		}
		l.beginAt(ctx, at)
	}
}

func (l *sideBySide) beginAt(ctx context.Context, at time.Time) {
	s := &stretch{read: l.from(at), of: l, asked: at}
	l.others = append(l.others, s)
	l.begun++
	l.active++
	l.wg.Go(func() { _ = l.readOn(ctx, ctx, s) }) // an error of it leaves the rest to the first
}

// where is the moment from which a further stretch is best read; zero: from none. Where nobody knows how far the
// listing goes, it is as far ahead as it may well go; else in the middle of what is left of the longest stretch.
func (l *sideBySide) where() time.Time {
	var at time.Time
	most := 2.0 * worthIt
	for _, s := range append([]*stretch{l.whole}, l.others...) {
		if s.whole || s.next != nil || s.sandboxes < 2 || !s.last.After(s.first) {
			continue
		}
		each := s.last.Sub(s.first) / time.Duration(s.sandboxes-1)
		page := float64(s.sandboxes) / float64(s.pages)
		end := l.endOf(s)
		if end.IsZero() {
			return s.last.Add(each * time.Duration(max(2*float64(l.pages), 2*worthIt)*page))
		}
		if left := float64(end.Sub(s.last)) / float64(max(each, 1)) / page; left >= most {
			most, at = left, s.last.Add(end.Sub(s.last)/2)
		}
	}
	return at
}

// endOf is where the stretch after this one begins, or the listing ends; zero: not known.
func (l *sideBySide) endOf(s *stretch) time.Time {
	end := l.end
	for _, o := range l.others {
		if o != s && o.asked.After(s.last) && (end.IsZero() || o.asked.Before(end)) {
			end = o.asked
		}
	}
	return end
}
