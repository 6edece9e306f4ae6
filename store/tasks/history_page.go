package tasks

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

const failStep = reconcile.StepFail

// A pastPage is one page of a history that is being read.
type pastPage struct {
	s *historyStatements
	h *historyReader

	byKey map[string][]int // places in what was found, by the key of their events
}

func historyPageOf(s *historyStatements, h *historyReader) *pastPage {
	h.found, h.events = h.found[:0], 0
	return &pastPage{s: s, h: h, byKey: map[string][]int{}}
}

// end is the id of the page's last row, "" when no row is left.
func (p *pastPage) end(ctx context.Context, tx pgx.Tx) (id string, err error) {
	after := p.h.seen.After
	sql, err := render("history_page", map[string]any{"ID": p.s.plan.columns["id"], "Table": p.s.plan.from.SQL,
		"From": p.s.from(after)})
	if err != nil {
		return "", err
	}
	args := pgx.StrictNamedArgs{"most": p.h.page}
	if after != "" {
		args["after"] = after
	}
	err = tx.QueryRow(ctx, sql, args).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return id, err
}

// rows reads the rows of the page that are wanted.
func (p *pastPage) rows(ctx context.Context, tx pgx.Tx, now time.Time, to string) error {
	after := p.h.seen.After
	_, key := p.s.eventKey()
	sql, err := render("history_rows", map[string]any{"Fields": p.s.pastSelection(), "Ended": p.s.ended, "Class": p.s.class,
		"Key": key, "Table": p.s.plan.from.SQL, "From": p.s.from(after), "To": p.s.compared("<=", "to"), "Alive": p.s.alive()})
	if err != nil {
		return err
	}
	args := p.s.withLive(pgx.StrictNamedArgs{"to": to, "since": p.h.ask.Since})
	if after != "" {
		args["after"] = after
	}
	rows, err := tx.Query(ctx, sql, args)
	if err != nil {
		return err
	}
	defer rows.Close()
	row := taskRow{attrs: make([]pgtype.Text, len(p.s.plan.mapping.Attrs))}
	var ended pgtype.Timestamptz
	var class, eventKey pgtype.Text
	targets := append(row.targets(), &ended, &class, &eventKey)
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		p.add(row.task(p.s.plan, now), taskTime(ended), class.String, eventKey.String, row.texts[2].String)
	}
	return rows.Err()
}

// pastSelection is what is read of a row; marks of work cost a look at other tables, and tell nothing of the past.
func (s *historyStatements) pastSelection() []selected {
	out := s.selection()
	for i := range out {
		if out[i].Name == "sk_activity_mark" || out[i].Name == "sk_attempt_mark" {
			out[i].SQL = "NULL::text"
		}
	}
	return out
}

// add keeps a row, unless the config leaves it out. That its user deleted it later is no end of its work.
func (p *pastPage) add(t reconcile.Task, ended time.Time, class, key, state string) {
	if t.Outside {
		return // never judged
	}
	if done := p.s.plan.stateOf(t.Status, state); done.Terminal() {
		t.State = done
	}
	past := reconcile.PastTask{Task: t}
	switch {
	case t.State.Terminal():
		if past.Ended = ended; ended.IsZero() {
			return // nothing tells when it was over
		}
	case !t.State.Live():
		return
	}
	if class != "" {
		past.Class = "task." + p.s.kind.Name + "=" + class
	}
	if key != "" {
		p.byKey[key] = append(p.byKey[key], len(p.h.found))
	}
	p.h.found = append(p.h.found, past)
}

// withEvents adds the events of the workers.
func (p *pastPage) withEvents(ctx context.Context, tx pgx.Tx) error {
	if p.s.plan.events == nil || len(p.byKey) == 0 {
		return nil
	}
	sql, err := p.s.eventsSQL()
	if err != nil {
		return err
	}
	args := p.s.readArgs()
	args["keys"] = reconcile.SortedKeys(p.byKey)
	rows, err := tx.Query(ctx, sql, args)
	if err != nil {
		return err
	}
	defer rows.Close()
	var key string
	var at time.Time
	var is [4]pgtype.Bool
	for rows.Next() {
		if err := rows.Scan(&key, &at, &is[0], &is[1], &is[2], &is[3]); err != nil {
			return err
		}
		p.event(key, reconcile.WorkerEvent{At: at.UTC(), Kind: eventKind(is)})
	}
	return rows.Err()
}

func eventKind(is [4]pgtype.Bool) (kind reconcile.EventKind) {
	for i, of := range [...]reconcile.EventKind{reconcile.EventStarted, reconcile.EventHeartbeat, reconcile.EventWaiting,
		reconcile.EventFinished} {
		if is[i].Bool {
			kind |= of
		}
	}
	return kind
}

// event gives an event to each task that it may be of: those that named its sandbox, and were made before it.
func (p *pastPage) event(key string, e reconcile.WorkerEvent) {
	p.h.events++
	for _, i := range p.byKey[key] {
		past := &p.h.found[i]
		switch {
		case e.At.Before(past.Task.CreatedAt):
		case len(past.Signs) < historyEventsMost:
			past.Signs = append(past.Signs, e)
		default:
			p.h.seen.LeftOut++
			*past = reconcile.PastTask{Task: reconcile.Task{ID: past.Task.ID}} // it counts for nothing
			p.byKey[key] = nil
			return
		}
	}
}
