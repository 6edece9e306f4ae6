package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/store"
)

// An attempt is one guarded write on its way.
type attempt struct {
	reconcile.Write
	s      *statements
	change change
	id     string // as the database prints it
	reason string
	before []*string // what the written columns held when the row was locked, as text
	lost   error     // why the event was not added
}

// Write changes one row, guarded: it does nothing when the row has moved. It touches the
// status and the columns of fail.set or requeue.set, and no terminal row whatever its
// arguments say.
func (t *Tasks) Write(ctx context.Context, w reconcile.Write) (reconcile.Written, *reconcile.RowBefore, error) {
	if _, called := t.plan.calls[w.Step]; called {
		written, err := t.ask(ctx, w)
		if err != nil {
			return "", nil, t.plain(fmt.Sprintf("%s task %s by tasks.%s.call", w.Step, w.Task.ID, w.Step), err)
		}
		return written, nil, nil
	}
	var written reconcile.Written
	var before *reconcile.RowBefore
	var lost error
	how := taskWrite
	if t.plan.several(t.plan.changes[w.Step]) {
		how = taskWrites
	}
	err := t.begin(ctx, how, func(tx pgx.Tx, _ time.Time) error {
		s, err := t.statements(ctx, tx)
		if err != nil {
			return err
		}
		a, err := s.attempt(w)
		if err != nil {
			return err
		}
		if a.id == "" {
			written = reconcile.WriteMoved // an id that is none of this table names no row
			return nil
		}
		written, before, err = a.run(ctx, tx)
		lost = a.lost
		return err
	})
	if err != nil {
		return "", nil, t.plain(fmt.Sprintf("%s task %s", w.Step, w.Task.ID), err)
	}
	if lost != nil {
		t.reportLost(ctx, w.Task.ID, lost)
	}
	return written, before, nil
}

// logger is told of what a read or a write leaves undone.
func (t *Tasks) logger() *slog.Logger {
	if t.log == nil {
		return slog.Default()
	}
	return t.log
}

// reportLost says that a task was failed and the events table does not tell of it.
func (t *Tasks) reportLost(ctx context.Context, task string, err error) {
	if unfit(err) {
		t.forget()
	}
	t.logger().ErrorContext(ctx, "the task was failed, but the event sandkeeper.failed could not be added", "task", task,
		"error", t.plainEvent(err))
}

func (s *statements) attempt(w reconcile.Write) (*attempt, error) {
	ch, ok := s.plan.changes[w.Step]
	if !ok {
		return nil, fmt.Errorf("tasks.%s is not configured: there is nothing to set", w.Step)
	}
	id, _ := s.cat.fields["id"].canonical(w.Task.ID)
	return &attempt{Write: w, s: s, change: ch, id: id, reason: fit(w.Reason, s.reasonLimit(ch))}, nil
}

func (a *attempt) run(ctx context.Context, tx pgx.Tx) (reconcile.Written, *reconcile.RowBefore, error) {
	// A statement sees what was there when it began, also when it then waits for the row. So
	// the row is locked first: the update after it sees every sign of life that came meanwhile,
	// and overwrites just what was read here for restore.
	if held, err := a.s.lock(ctx, tx, a.id, "NOWAIT"); err != nil || !held {
		return reconcile.WriteMoved, nil, err
	}
	if written, err := a.look(ctx, tx, true); err != nil || written != reconcile.WriteBusy {
		return written, nil, err
	}
	version, err := a.update(ctx, tx)
	if err != nil {
		return "", nil, err
	}
	if version == "" {
		written, err := a.look(ctx, tx, false)
		return written, nil, err
	}
	if a.several() {
		return reconcile.WriteDone, nil, a.tell(ctx, tx) // nobody knows what was changed elsewhere: no way back
	}
	return reconcile.WriteDone, a.rowBefore(version), a.tell(ctx, tx)
}

// several reports whether a change writes more than the one row that was read, or another one: what it became is seen
// at the end.
func (c *Compiled) several(ch change) bool { return len(ch.after) > 0 || c.from.apart }

func (a *attempt) several() bool { return a.s.plan.several(a.change) }

// rowBefore is what restore needs to take the write back.
func (a *attempt) rowBefore(version string) *reconcile.RowBefore {
	_, mark := reconcile.SplitMark(a.reason)
	columns := map[string]*string{}
	for i, name := range a.s.plan.columnsOf(a.change) {
		columns[name] = a.before[i]
	}
	return &reconcile.RowBefore{After: version, Mark: mark, Columns: columns}
}

// update changes the row, and what the config says besides. It answers the row's version after it, "" when it changed
// nothing.
func (a *attempt) update(ctx context.Context, tx pgx.Tx) (version string, err error) {
	if !a.several() {
		return a.set(ctx, tx)
	}
	// By all of its statements or by none.
	err = pgx.BeginFunc(ctx, tx, func(inner pgx.Tx) error {
		before, err := a.now(ctx, inner)
		if err != nil || before == nil || !a.Lock && before.Version != a.Task.Version {
			return err
		}
		if a.change.status != "" || len(a.change.sets) > 0 {
			if version, err = a.set(ctx, inner); err != nil || version == "" {
				return err
			}
		}
		version, err = a.follow(ctx, inner)
		return err
	})
	return version, err
}

// follow runs the statements of the config behind the change of the row, which must have become what it was to be.
func (a *attempt) follow(ctx context.Context, tx pgx.Tx) (string, error) {
	for i, s := range a.change.after {
		args := pgx.StrictNamedArgs{}
		if s.named["id"] {
			args["id"] = a.id
		}
		if s.named["reason"] {
			args["reason"] = a.reason
		}
		if _, err := tx.Exec(ctx, s.SQL, args); err != nil {
			return "", fmt.Errorf("tasks.%s.sql[%d]: %w", a.Step, i, err)
		}
	}
	after, err := a.now(ctx, tx)
	if err != nil {
		return "", err
	}
	if after == nil {
		return "", fmt.Errorf("after tasks.%s.sql no row has the id %s; nothing was written", a.Step, a.id)
	}
	return after.Version, a.became(after.State)
}

// now is the row as this transaction sees it; nil when there is none.
func (a *attempt) now(ctx context.Context, tx pgx.Tx) (*rowAfter, error) {
	sql, err := a.s.now(&a.Write)
	if err != nil {
		return nil, err
	}
	return writeOne(ctx, tx, sql, pgx.StrictNamedArgs{"id": a.id})
}

// set is the one statement that changes the row. It answers the row's version after it, "" when it changed nothing.
func (a *attempt) set(ctx context.Context, tx pgx.Tx) (string, error) {
	sql, err := a.s.write(&a.Write)
	if err != nil {
		return "", err
	}
	args := a.args()
	if a.change.status != "" {
		args["new_status"] = a.change.status
	}
	if slices.ContainsFunc(a.change.sets, func(set assignment) bool { return set.reason }) {
		args["reason"] = a.reason
	}
	if !a.Lock {
		args["version"] = a.Task.Version
	}
	after, err := writeOne(ctx, tx, sql, args)
	if err != nil || after == nil {
		return "", err
	}
	if a.several() {
		return after.Version, nil // what it became is seen when all statements are done
	}
	return after.Version, a.became(after.State)
}

// A rowAfter is a row as a write left it.
type rowAfter struct{ State, Version string }

// writeOne runs a statement that may change one row, and refuses to change more.
func writeOne(ctx context.Context, tx pgx.Tx, sql string, args pgx.StrictNamedArgs) (*rowAfter, error) {
	rows, err := tx.Query(ctx, sql, args)
	if err != nil {
		return nil, err
	}
	after, err := pgx.CollectRows(rows, pgx.RowToAddrOfStructByName[rowAfter])
	switch {
	case err != nil || len(after) == 0:
		return nil, err
	case len(after) > 1:
		return nil, fmt.Errorf("%d rows have the id %s: tasks.columns.id must be unique; nothing was written",
			len(after), args["id"])
	}
	return after[0], nil
}

// comesTo reports whether a row in the state is what the change was for. A task that is failed may end in any state
// that is over: some platforms have one status for all ends.
func (c change) comesTo(state reconcile.TaskState) bool {
	return state == c.state || c.state == reconcile.TaskFailed && state.Terminal()
}

// became refuses a write that did not come to what it was for: by a state expression that
// reads other columns, or by a trigger.
func (a *attempt) became(word string) error {
	state := a.s.plan.stateOf(word, word)
	if !a.change.comesTo(state) {
		return fmt.Errorf("after the write the row would be %q and not %s: correct tasks.%s, or the trigger on the table; "+
			"nothing was written", word, a.change.state, a.Step)
	}
	return nil
}

// args are what the guard compares with.
func (a *attempt) args() pgx.StrictNamedArgs {
	args := a.s.withLive(pgx.StrictNamedArgs{"id": a.id, "status": a.Task.Status, "sandbox": a.Task.Sandbox})
	if a.Refutable {
		_, signs := a.s.newerSign(&a.Write)
		maps.Copy(args, signs)
	}
	return args
}

// look says why the row is not written: it moved, it is alive, or only its version
// differs. Locking, "busy" means that nothing but the version can be in the way, and the
// update after it sees every sign of life that came while the lock was waited for.
func (a *attempt) look(ctx context.Context, tx pgx.Tx, lock bool) (reconcile.Written, error) {
	sql, err := a.s.look(&a.Write, lock, a.s.plan.columnsOf(a.change))
	if err != nil {
		return "", err
	}
	var stands, alive bool
	err = tx.QueryRow(ctx, sql, a.args()).Scan(&stands, &alive, &a.before)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return reconcile.WriteMoved, nil
	case err != nil:
		return "", err
	case !stands:
		return reconcile.WriteMoved, nil
	case alive:
		return reconcile.WriteAlive, nil
	}
	return reconcile.WriteBusy, nil
}

// tell adds the event and the notification that the config asks for, in the same
// transaction.
func (a *attempt) tell(ctx context.Context, tx pgx.Tx) error {
	if a.s.plan.mapping.Events.Write && a.Step == reconcile.StepFail &&
		(a.Task.Sandbox != "" || a.s.plan.events.byTask) {
		a.lost = pgx.BeginFunc(ctx, tx, func(inner pgx.Tx) error { return a.addEvent(ctx, inner) })
		// The row is failed also when its event is refused, else it would stay as it is for ever.
		if status := tx.Conn().PgConn().TxStatus(); a.lost != nil && status != inTransaction {
			return fmt.Errorf("add a sandkeeper.failed event: %w", a.lost)
		}
	}
	return a.s.notify(ctx, tx, map[string]string{"task": a.id, "status": a.change.status, "step": string(a.Step)})
}

// inTransaction is the status of a connection whose transaction can go on.
const inTransaction = 'T'

// noticeBytes is what a notification may hold; PostgreSQL takes less than 8000 bytes.
const noticeBytes = 7500

// notify tells the channel of the config, if there is one, when the transaction ends well. What cannot be
// told undoes no repair: an id that is too long is cut, and "cut" says so.
func (s *statements) notify(ctx context.Context, tx pgx.Tx, facts map[string]string) error {
	channel := s.plan.mapping.Notify
	if channel == "" {
		return nil
	}
	payload, err := json.Marshal(facts)
	if len(payload) > noticeBytes {
		facts["task"], facts["cut"] = text.Clip(facts["task"], 1000), "true"
		payload, err = json.Marshal(facts)
	}
	if err != nil {
		return fmt.Errorf("write the notification: %w", err)
	}
	err = pgx.BeginFunc(ctx, tx, func(inner pgx.Tx) error {
		_, err := inner.Exec(ctx, queries["notify"], pgx.StrictNamedArgs{"channel": channel, "payload": string(payload)})
		return err
	})
	if err != nil && tx.Conn().PgConn().TxStatus() == inTransaction {
		s.log.ErrorContext(ctx, "the row was written, but the notification of tasks.notify could not be sent",
			"channel", channel, "task", text.Clip(facts["task"], 60), "err", err)
		return nil
	}
	return err
}

func (a *attempt) addEvent(ctx context.Context, tx pgx.Tx) error {
	sql, err := a.s.event()
	if err != nil {
		return err
	}
	args := pgx.StrictNamedArgs{"type": "sandkeeper.failed"}
	e := a.s.plan.events
	if e.plain["sandbox"] != "" {
		args["sandbox"] = a.Task.Sandbox
	}
	if e.plain["data"] != "" {
		data, err := json.Marshal(map[string]string{"task": a.id, "task_id": a.id, "reason": a.reason})
		if err != nil {
			return err
		}
		args["data"] = string(data)
	}
	if e.plain["task"] != "" {
		args["task"] = a.id
	}
	if slices.ContainsFunc(e.sets, func(set assignment) bool { return set.reason }) {
		args["reason"] = a.reason
	}
	_, err = tx.Exec(ctx, sql, args)
	return err
}

// columnsOf are the columns that a change sets, the status first, where it is a column.
func (c *Compiled) columnsOf(ch change) []string {
	var columns []string
	if status := c.plain["status"]; status != "" {
		columns = append(columns, status)
	}
	for _, a := range ch.sets {
		columns = append(columns, a.name)
	}
	return columns
}

// writtenNames are the columns that fail and requeue change, each once.
func (c *Compiled) writtenNames() []string {
	if len(c.changes) == 0 {
		return nil
	}
	var columns []string
	if c.changes[reconcile.StepFail].status+c.changes[reconcile.StepRequeue].status != "" {
		columns = append(columns, c.plain["status"])
	}
	for _, step := range []reconcile.Step{reconcile.StepFail, reconcile.StepRequeue} {
		for _, a := range c.changes[step].sets {
			if !slices.Contains(columns, a.name) {
				columns = append(columns, a.name)
			}
		}
	}
	return columns
}

// written are the same, quoted.
func (c *Compiled) written() []string {
	columns := c.writtenNames()
	for i, name := range columns {
		columns[i] = store.Quoted(name)
	}
	return columns
}
