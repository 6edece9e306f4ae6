package tasks

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store"
)

// The bounds of reading a history. A page is made smaller or larger so that it has about so many events: memory and
// the length of a statement follow from that, and not from the size of the tables.
const (
	historyPage       = 200
	historyPageMost   = 2000
	historyEvents     = 50_000
	historyEventsMost = 200_000 // of one task; what has more is left out
	historyTries      = 5
)

// A HistoryRead says what is read of a history, and how gently.
type HistoryRead struct {
	Since time.Time
	After string  // the id after which to go on; "" from the beginning
	Share float64 // of the time in which the database may be kept at work; 0: all of it

	// Seen is told after each page what has been read so far; nil for nobody.
	Seen func(HistorySeen)
}

// HistorySeen is how far a history has been read.
type HistorySeen struct {
	After         string // where to go on
	Tasks, Events int    // that were read
	LeftOut       int    // tasks with more events than can be kept at once
}

// History hands the tasks that were over since a moment to a function, with all events of their workers, in no order
// of time. It reads page by page by the key of the table, each in a short transaction that only reads, and
// leaves the database alone in between. A page that fails for a lost connection is read again.
func (t *Tasks) History(ctx context.Context, ask HistoryRead, each func(*reconcile.PastTask)) error {
	h := &historyReader{t: t, ask: ask, seen: HistorySeen{After: ask.After}, page: historyPage}
	for {
		began := time.Now()
		last, err := h.next(ctx)
		worked := time.Since(began)
		if err != nil {
			return t.plain("read the history of the tasks", err)
		}
		for i := range h.found {
			each(&h.found[i])
		}
		if ask.Seen != nil {
			ask.Seen(h.seen)
		}
		if last {
			return nil
		}
		if err := rest(ctx, worked, time.Since(began), ask.Share); err != nil {
			return err
		}
	}
}

// rest waits so that the database worked for a share of the time. What was done without it meanwhile is rest as well.
func rest(ctx context.Context, worked, since time.Duration, share float64) error {
	if share <= 0 || share >= 1 {
		return nil
	}
	return waitFor(ctx, time.Duration(float64(worked)/share)-since)
}

func waitFor(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// A historyReader goes through a history.
type historyReader struct {
	t    *Tasks
	ask  HistoryRead
	seen HistorySeen
	page int

	found  []reconcile.PastTask
	events int
}

// next reads a page, again when the connection was lost, and in smaller pieces where a row has a value that cannot be
// read: one such row must not hide all the others.
func (h *historyReader) next(ctx context.Context) (last bool, err error) {
	for try := 1; ; {
		after, err := h.read(ctx)
		_, bad := unreadable(err)
		switch {
		case err == nil:
			return h.turn(after), nil
		case bad && h.page > 1:
			h.page /= 2
			continue
		case bad && after != "":
			h.found, h.seen.After = h.found[:0], after
			h.seen.LeftOut++
			return false, nil
		case try == historyTries || !store.Lost(err):
			return false, err
		}
		if err := waitFor(ctx, time.Duration(try)*time.Second); err != nil {
			return false, err
		}
		try++
	}
}

// turn notes what a page had, and fits the next one's size.
func (h *historyReader) turn(after string) (last bool) {
	h.seen.Tasks += len(h.found)
	h.seen.Events += h.events
	switch {
	case after == "":
		return true
	case h.events > historyEvents:
		h.page = max(1, h.page/2)
	case h.events < historyEvents/4:
		h.page = min(historyPageMost, h.page*2)
	}
	h.seen.After = after
	return false
}

// read reads one page; its end is "" after the last one.
func (h *historyReader) read(ctx context.Context) (after string, err error) {
	err = h.t.begin(ctx, taskRead, func(tx pgx.Tx, now time.Time) error {
		s, err := h.t.history(ctx, tx)
		if err != nil {
			return err
		}
		p := historyPageOf(s, h)
		if after, err = p.end(ctx, tx); err != nil || after == "" {
			return err
		}
		if err = p.rows(ctx, tx, now, after); err != nil {
			return err
		}
		return p.withEvents(ctx, tx)
	})
	return after, err
}

// history is the statements of histories: those of passes, and what tells ends and kinds of tasks.
func (t *Tasks) history(ctx context.Context, tx pgx.Tx) (*historyStatements, error) {
	s, err := t.statements(ctx, tx)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	known := t.past
	t.mu.Unlock()
	if known != nil && known.statements == s {
		return known, nil
	}
	out := &historyStatements{statements: s, ended: s.plan.endedSQL(), class: "NULL"}
	if out.kind, err = s.plan.kindColumn(ctx, tx); err != nil {
		return nil, fmt.Errorf("try the column that tells kinds of tasks apart: %w", err)
	}
	if out.kind.SQL != "" {
		out.class = out.kind.SQL
	}
	t.mu.Lock()
	t.past = out
	t.mu.Unlock()
	return out, nil
}
