package ledger

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// The scanners read by position; each belongs to the column list of its queries.

// taskSeenRow is a row of task_states.
type taskSeenRow struct {
	reconcile.TaskSeen
	entry, sum, mark int64
	attempts         []instant
	texts            packed
}

func (t *taskSeenRow) columns() []any {
	return []any{t.texts.of(&t.ID, nil), word(&t.Status), word((*string)(&t.State)), t.texts.of(&t.Sandbox, nil),
		at(&t.Since), at(&t.FirstSeen),
		at(&t.UpdatedAt), at(&t.StartedAt), at(&t.StaleStart), at(&t.AheadSign), at(&t.AheadSince),
		&t.entry, &t.sum, &t.ErrorChanged, &t.Live, &t.attempts, at(&t.Recreated), at(&t.LateSign),
		&t.mark, at(&t.MarkAt), at(&t.BeatAt), (*int64)(&t.BeatGap), word(&t.Tenant), t.texts.of(&t.Named, &t.Sandbox),
		&t.Trace}
}

func (t *taskSeenRow) seen() reconcile.TaskSeen {
	t.EntrySum, t.ErrorSum, t.MarkSum = uint64(t.entry), uint64(t.sum), uint64(t.mark)
	t.Attempts = orNil(column(t.attempts, func(i instant) time.Time { return time.Time(i) }))
	return t.TaskSeen
}

func scanTask(r pgx.Rows) (reconcile.TaskSeen, error) {
	var t taskSeenRow
	err := r.Scan(t.columns()...)
	return t.seen(), err
}

// sandboxRow is a row of sandboxes, with what its probes come to.
type sandboxRow struct {
	reconcile.SandboxSeen
	probes probeSum
	texts  packed
}

func (s *sandboxRow) columns() []any {
	p := &s.probes
	return []any{word(&s.Provider), s.texts.of(&s.ID, nil), s.texts.of(&s.Name, nil), &s.Task,
		word(&s.Template), word((*string)(&s.State)), word(&s.Raw),
		at(&s.CreatedAt), at(&s.FirstSeen), at(&s.StateSince), at(&s.ResumedAt), at(&s.RanAt), at(&s.GoneAt), &s.GoneByUs,
		&p.outcome, &p.detail, at(&p.at), &p.took, at(&p.answered), &p.failures, &p.measurements, at(&s.WorkedAt),
		&p.worker, at(&p.workerAt), at(&p.runEnded), word(&s.Region), &s.Size.CPU, &s.Size.GPU, &s.Size.MemoryGiB}
}

func scanSandbox(r pgx.Rows) (reconcile.SandboxSeen, error) {
	var s sandboxRow
	err := r.Scan(s.columns()...)
	return s.SandboxSeen, err
}

// probeSum is what a sandbox's probes come to, as its row has it; at is zero when it was
// never probed.
type probeSum struct {
	outcome, detail string
	at, answered    time.Time
	took            int64
	failures        []byte
	measurements    []byte
	worker          pgtype.Text
	workerAt        time.Time
	runEnded        time.Time
}

func (p probeSum) seen(ref reconcile.Ref) (reconcile.ProbeSeen, error) {
	seen := reconcile.ProbeSeen{Ref: ref, LastAnswered: p.answered, WorkerAt: p.workerAt, RunEnded: p.runEnded}
	if !p.at.IsZero() {
		seen.Last = reconcile.ProbeResult{
			Ref: ref, Outcome: reconcile.ProbeOutcome(p.outcome), Detail: p.detail, At: p.at,
			Took: time.Duration(p.took) * time.Microsecond, Worker: reconcile.WorkerState(p.worker.String),
		}
	}
	for _, run := range []struct {
		text []byte
		into any
	}{{p.failures, &seen.Failures}, {p.measurements, &seen.Measurements}} {
		if run.text == nil {
			continue
		}
		if err := json.Unmarshal(run.text, run.into); err != nil {
			return seen, err
		}
	}
	return seen, nil
}

func scanProbeSum(r pgx.Rows) (reconcile.ProbeSeen, error) {
	var ref reconcile.Ref
	var p probeSum
	err := r.Scan(&ref.Provider, &ref.ID, &p.outcome, &p.detail, at(&p.at), &p.took, at(&p.answered), &p.failures,
		&p.measurements, &p.worker, at(&p.workerAt), at(&p.runEnded))
	if err != nil {
		return reconcile.ProbeSeen{}, err
	}
	return p.seen(ref)
}

func scanProbe(r pgx.Rows) (reconcile.ProbeResult, error) {
	var p reconcile.ProbeResult
	var took int64
	var worker pgtype.Text
	err := r.Scan(&p.Provider, &p.ID, (*string)(&p.Outcome), &p.Detail, at(&p.At), &took, &worker)
	p.Worker = reconcile.WorkerState(worker.String)
	p.Took = time.Duration(took) * time.Microsecond
	return p, err
}

func scanFinding(r pgx.Rows) (reconcile.FindingSeen, error) { return scanFindingAnd(r) }

// scanFindingAnd scans a finding's columns and those that follow them.
func scanFindingAnd(r pgx.Rows, more ...any) (reconcile.FindingSeen, error) {
	var f reconcile.FindingSeen
	var facts []byte
	var held []string
	into := []any{&f.Rule, &f.Subject, &f.Provider, &f.Sandbox, &f.Task, &f.Reason, &facts, at(&f.FirstSeen),
		at(&f.LastSeen), at(&f.SightedAt), &f.Sightings, &f.Due, &held, at(&f.OpenedAt), at(&f.ResolvedAt), &f.Incident}
	err := r.Scan(append(into, more...)...)
	if err != nil {
		return f, err
	}
	f.HeldBy = reconcile.HeldByOf(held...)
	f.Evidence, err = facing(facts)
	return f, err
}

// facing reads a list of facts, nil when there is none.
func facing(text []byte) ([]reconcile.Evidence, error) {
	var facts []reconcile.Evidence
	if err := json.Unmarshal(text, &facts); err != nil {
		return nil, err
	}
	return orNil(facts), nil
}

func orNil[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

func scanAction(r pgx.Rows) (reconcile.Action, error) {
	var a reconcile.Action
	return a, scanActionAnd(r, &a)
}

// scanActionAnd scans an action's columns and those that follow them.
func scanActionAnd(r pgx.Row, a *reconcile.Action, more ...any) error {
	var facts, before []byte
	var waits []string
	into := []any{&a.ID, &a.Remedy, &a.Seq, &a.Pass, &a.Rule, &a.Subject, &a.Provider, &a.Sandbox, &a.Task,
		(*string)(&a.Step), &a.Reason, &facts, &a.RowOnly, (*string)(&a.Outcome), &a.Detail, &a.Attempts, at(&a.PlannedAt),
		at(&a.ClaimedAt), &a.ClaimedBy, at(&a.ClaimEnds), at(&a.ActedAt), at(&a.ClosedAt), at(&a.NextAttempt),
		at(&a.FirstActed), at(&a.AskedAt), &a.Asks, at(&a.Began), &a.Signature, &a.Author, &a.Running, &a.Anyway, &before,
		&a.Seal, (*string)(&a.How), &waits}
	if err := r.Scan(append(into, more...)...); err != nil {
		return err
	}
	a.WaitsFor = reconcile.HeldByOf(waits...)
	var err error
	if a.Evidence, err = facing(facts); err != nil || before == nil {
		return err
	}
	a.Before = &reconcile.RowBefore{}
	return json.Unmarshal(before, a.Before)
}

func scanSource(r pgx.Rows) (reconcile.SourceSeen, error) {
	var s reconcile.SourceSeen
	var sentence string
	var distrust []byte
	err := r.Scan(&s.Name, &s.Trusted, &sentence, at(&s.Since), at(&s.RecoveredAt), at(&s.LastTrusted),
		at(&s.Clock), at(&s.SetBack), (*int64)(&s.Beat), &distrust)
	switch {
	case err != nil:
	case distrust == nil: // written by the version before
		s.Reason = reconcile.OldReason(sentence)
	default:
		err = json.Unmarshal(distrust, &s.Reason)
	}
	return s, err
}

func scanTemplate(r pgx.Rows) (reconcile.TemplateSeen, error) {
	var t reconcile.TemplateSeen
	err := r.Scan(&t.Provider, &t.Name, (*string)(&t.State), &t.Raw, &t.Error, at(&t.LastStart), at(&t.LastUsed),
		at(&t.ExpiresAt), at(&t.LookedAt))
	return t, err
}

func scanEvent(r pgx.Rows) (reconcile.TimelineEvent, error) {
	var e reconcile.TimelineEvent
	err := r.Scan(at(&e.At), &e.Subject, &e.Kind, &e.What)
	return e, err
}

func scanPass(r pgx.Rows) (reconcile.PassSeen, error) {
	var p reconcile.PassSeen
	err := r.Scan(&p.ID, (*string)(&p.Kind), &p.Holder, at(&p.BeganAt), at(&p.EndedAt), &p.Complete, &p.Error,
		&p.Kept, &p.Counts)
	return p, err
}

func scanText(r pgx.Rows) (string, error) {
	var s string
	return s, r.Scan(&s)
}

// kept scans a text that is mostly the one of the row before: then it is that one, and no further copy of it.
type kept string

// ScanBytes is asked by pgx.
func (k *kept) ScanBytes(v []byte) error {
	if string(*k) != string(v) {
		*k = kept(v)
	}
	return nil
}

// word lets a text be scanned as one that is [kept].
func word(t *string) *kept { return (*kept)(t) }

// packed keeps texts side by side in pieces: there are as many as tasks and sandboxes are alive, and each that stands
// alone takes more room, and is looked at whenever garbage is collected.
type packed struct{ piece strings.Builder }

const largestPiece = 32 << 10 // bytes

// of lets a text be scanned as one that is packed, or as another one of its row where they are the same.
func (p *packed) of(t, like *string) *packedText { return &packedText{p, t, like} }

type packedText struct {
	in       *packed
	to, like *string
}

// ScanBytes is asked by pgx.
func (t *packedText) ScanBytes(v []byte) error {
	if t.like != nil && string(v) == *t.like {
		*t.to = *t.like
		return nil
	}
	b := &t.in.piece
	if b.Cap()-b.Len() < len(v) {
		room := max(min(2*b.Cap(), largestPiece), len(v))
		b.Reset() // the texts keep the piece before
		b.Grow(room)
	}
	from := b.Len()
	b.Write(v)
	*t.to = b.String()[from:]
	return nil
}

// instant scans a timestamptz into a [time.Time] in UTC, null into the zero time.
type instant time.Time

// ScanTimestamptz is asked by pgx.
func (i *instant) ScanTimestamptz(v pgtype.Timestamptz) error {
	*i = instant{}
	if v.Valid {
		*i = instant(v.Time.UTC())
	}
	return nil
}

// at lets a time be scanned as an [instant].
func at(t *time.Time) *instant { return (*instant)(t) }
