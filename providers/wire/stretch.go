package wire

import (
	"context"
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A stretch is a listing, or a part of one, whose pages are read one after the other.
type stretch struct {
	read   ReadPage
	cursor string
	pages  int  // that were read
	whole  bool // there is no further page

	seen  map[string]bool // cursors
	empty int             // pages in a row that showed nothing new

	// Of one that others are read beside.
	of          *sideBySide
	asked       time.Time // nothing that was made before is shown; zero: all is
	first, last time.Time // when the first and the last sandbox of it that was read were made
	sandboxes   int       // that were read
	next        *stretch  // it met what this one, which begins later, has read
}

// ask reads the next page.
func (s *stretch) ask(ctx context.Context) (Page, error) {
	page, err := s.read(ctx, s.cursor)
	if err != nil {
		err = fmt.Errorf("page %d: %w", s.pages+1, err)
	}
	return page, err
}

// went notes that a page was read that leads to a next one and showed so many new sandboxes.
func (s *stretch) went(next string, shown int) error {
	s.pages++
	if s.empty++; shown > 0 {
		s.empty = 0
	}
	switch {
	case next == "":
		s.whole = true
		return nil
	case s.seen[next]:
		return fmt.Errorf("page %d leads back to a page that was read", s.pages)
	case s.empty == maxEmpty:
		return fmt.Errorf("%d pages in a row show nothing new, and there is always a next one", s.empty)
	case s.pages == MaxPages:
		return fmt.Errorf("more than %d pages", MaxPages)
	}
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	s.seen[next], s.cursor = true, next
	return nil
}

// Met is who read each sandbox last.
type met map[string]*stretch

// note leaves out of a page those that stood on an earlier one. Fresh is how many of it this stretch had not read,
// though another part of the listing may have. Later is a part that begins later and has read one of them.
func (m met) note(page []reconcile.Sandbox, s *stretch) (unmet []reconcile.Sandbox, fresh int, later *stretch) {
	kept := 0
	for i := range page {
		by, known := m[page[i].ID]
		m[page[i].ID] = s
		if known && by.beside(s) && by != s {
			fresh++
			if by.asked.After(s.asked) {
				later = by
			}
		}
		if known {
			continue
		}
		if kept != i {
			page[kept] = page[i]
		}
		kept++
	}
	return page[:kept], fresh + kept, later
}

// beside reports whether both are parts of one listing.
func (s *stretch) beside(o *stretch) bool { return s.of != nil && s.of == o.of }
