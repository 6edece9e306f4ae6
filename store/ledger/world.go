package ledger

import (
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// putTasks writes tasks, each once.
func putTasks(ts []reconcile.TaskSeen, now time.Time) write {
	type task = reconcile.TaskSeen
	text := func(pick func(*task) string) *picked[task, pgtype.Text] {
		return field(ts, func(t *task) pgtype.Text { return words(pick(t)) })
	}
	when := func(pick func(*task) time.Time) *picked[task, pgtype.Timestamptz] {
		return field(ts, func(t *task) pgtype.Timestamptz { return stamp(pick(t)) })
	}
	return write{"put_tasks", pgx.StrictNamedArgs{
		"now":           now,
		"hour":          protocol.HourOf(now),
		"ids":           text(func(t *task) string { return clean(t.ID) }),
		"statuses":      text(func(t *task) string { return clean(t.Status) }),
		"states":        text(func(t *task) string { return string(t.State) }),
		"sandboxes":     text(func(t *task) string { return clean(t.Sandbox) }),
		"since":         when(func(t *task) time.Time { return t.Since }),
		"first_seen":    when(func(t *task) time.Time { return t.FirstSeen }),
		"updated_at":    when(func(t *task) time.Time { return t.UpdatedAt }),
		"started_at":    when(func(t *task) time.Time { return t.StartedAt }),
		"stale_start":   when(func(t *task) time.Time { return t.StaleStart }),
		"ahead_sign":    when(func(t *task) time.Time { return t.AheadSign }),
		"ahead_since":   when(func(t *task) time.Time { return t.AheadSince }),
		"entry_sums":    field(ts, func(t *task) pgtype.Int8 { return number(t.EntrySum) }),
		"error_sums":    field(ts, func(t *task) pgtype.Int8 { return number(t.ErrorSum) }),
		"error_changed": field(ts, func(t *task) pgtype.Bool { return yes(t.ErrorChanged) }),
		"live":          field(ts, func(t *task) pgtype.Bool { return yes(t.Live) }),
		"turns":         field(ts, func(t *task) pgtype.Text { return attempts(t.Attempts) }),
		"recreated":     when(func(t *task) time.Time { return t.Recreated }),
		"late_sign":     when(func(t *task) time.Time { return t.LateSign }),
		"mark_sums":     field(ts, func(t *task) pgtype.Int8 { return number(t.MarkSum) }),
		"mark_at":       when(func(t *task) time.Time { return t.MarkAt }),
		"beat_at":       when(func(t *task) time.Time { return t.BeatAt }),
		"tenants":       text(func(t *task) string { return t.Tenant }),
		"named":         text(func(t *task) string { return clean(t.Named) }),
		"traces":        text(func(t *task) string { return t.Trace }),
		"beat_gaps":     field(ts, func(t *task) pgtype.Int8 { return number(int64(t.BeatGap)) }),
	}}
}

// attempts is a list of times as an array's text, null when there is none: arrays of arrays
// cannot be taken apart in SQL.
func attempts(list []time.Time) pgtype.Text {
	if len(list) == 0 {
		return pgtype.Text{}
	}
	times := column(list, func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) })
	return words("{" + strings.Join(times, ",") + "}")
}

// putSandboxes writes sandboxes, each once.
func putSandboxes(ss []reconcile.SandboxSeen) write {
	type sandbox = reconcile.SandboxSeen
	text := func(pick func(*sandbox) string) *picked[sandbox, pgtype.Text] {
		return field(ss, func(s *sandbox) pgtype.Text { return words(clean(pick(s))) })
	}
	when := func(pick func(*sandbox) time.Time) *picked[sandbox, pgtype.Timestamptz] {
		return field(ss, func(s *sandbox) pgtype.Timestamptz { return stamp(pick(s)) })
	}
	return write{"put_sandboxes", pgx.StrictNamedArgs{
		"providers":   text(func(s *sandbox) string { return s.Provider }),
		"ids":         text(func(s *sandbox) string { return s.ID }),
		"names":       text(func(s *sandbox) string { return s.Name }),
		"tasks":       text(func(s *sandbox) string { return s.Task }),
		"templates":   text(func(s *sandbox) string { return s.Template }),
		"states":      text(func(s *sandbox) string { return string(s.State) }),
		"raw":         text(func(s *sandbox) string { return s.Raw }),
		"created_at":  when(func(s *sandbox) time.Time { return s.CreatedAt }),
		"first_seen":  when(func(s *sandbox) time.Time { return s.FirstSeen }),
		"state_since": when(func(s *sandbox) time.Time { return s.StateSince }),
		"resumed_at":  when(func(s *sandbox) time.Time { return s.ResumedAt }),
		"ran_at":      when(func(s *sandbox) time.Time { return s.RanAt }),
		"gone_at":     when(func(s *sandbox) time.Time { return s.GoneAt }),
		"gone_by_us":  field(ss, func(s *sandbox) pgtype.Bool { return yes(s.GoneByUs) }),
		"worked_at":   when(func(s *sandbox) time.Time { return s.WorkedAt }),
		"regions":     text(func(s *sandbox) string { return s.Region }),
		"cpu":         field(ss, func(s *sandbox) pgtype.Float8 { return size(s.Size.CPU) }),
		"gpu":         field(ss, func(s *sandbox) pgtype.Float8 { return size(s.Size.GPU) }),
		"memory_gib":  field(ss, func(s *sandbox) pgtype.Float8 { return size(s.Size.MemoryGiB) }),
	}}
}

func putSources(seen []reconcile.SourceSeen) write {
	type source = reconcile.SourceSeen
	ss := lastOf(seen, func(s source) string { return s.Name })
	return write{"put_sources", pgx.StrictNamedArgs{
		"names":        column(ss, func(s source) string { return clean(s.Name) }),
		"trusted":      column(ss, func(s source) bool { return s.Trusted }),
		"reasons":      column(ss, func(s source) string { return clean(s.Reason.String()) }),
		"since":        column(ss, func(s source) pgtype.Timestamptz { return stamp(s.Since) }),
		"recovered_at": column(ss, func(s source) pgtype.Timestamptz { return stamp(s.RecoveredAt) }),
		"last_trusted": column(ss, func(s source) pgtype.Timestamptz { return stamp(s.LastTrusted) }),
		"clock":        column(ss, func(s source) pgtype.Timestamptz { return stamp(s.Clock) }),
		"set_back":     column(ss, func(s source) pgtype.Timestamptz { return stamp(s.SetBack) }),
		"beats":        column(ss, func(s source) int64 { return int64(s.Beat) }),
		"distrusts":    column(ss, func(s source) string { return distrust(s.Reason) }),
	}}
}

func putTemplates(seen []reconcile.TemplateSeen) write {
	type template = reconcile.TemplateSeen
	ts := lastOf(seen, func(t template) reconcile.Ref { return reconcile.Ref{Provider: t.Provider, ID: t.Name} })
	when := func(pick func(template) time.Time) []pgtype.Timestamptz {
		return column(ts, func(t template) pgtype.Timestamptz { return stamp(pick(t)) })
	}
	return write{"put_templates", pgx.StrictNamedArgs{
		"providers":  column(ts, func(t template) string { return clean(t.Provider) }),
		"names":      column(ts, func(t template) string { return clean(t.Name) }),
		"states":     column(ts, func(t template) string { return string(t.State) }),
		"raw":        column(ts, func(t template) string { return clean(t.Raw) }),
		"errors":     column(ts, func(t template) string { return clean(t.Error) }),
		"last_start": when(func(t template) time.Time { return t.LastStart }),
		"last_used":  when(func(t template) time.Time { return t.LastUsed }),
		"expires_at": when(func(t template) time.Time { return t.ExpiresAt }),
		"looked_at":  when(func(t template) time.Time { return t.LookedAt }),
	}}
}

// breakerWrites open these breakers. The end of the pass closes all others.
func breakerWrites(open map[string]reconcile.Breaker) ([]write, error) {
	type breaker = reconcile.Breaker
	var bs []breaker
	var subjects []string
	for rule, b := range open {
		b.Rule = rule
		bs = append(bs, b)
	}
	slices.SortFunc(bs, func(a, b breaker) int { return strings.Compare(a.Rule, b.Rule) })
	for _, b := range bs {
		text, err := jsonText(cleaned(b.Subjects))
		if err != nil {
			return nil, err
		}
		subjects = append(subjects, text)
	}
	rules := column(bs, func(b breaker) string { return clean(b.Rule) })
	if len(bs) == 0 {
		return nil, nil
	}
	return []write{{"put_breakers", pgx.StrictNamedArgs{
		"rules":     rules,
		"opened_at": column(bs, func(b breaker) pgtype.Timestamptz { return stamp(b.OpenedAt) }),
		"subjects":  subjects,
		"hashes":    column(bs, func(b breaker) string { return clean(b.Hash) }),
	}}}, nil
}

func putEvents(events []reconcile.TimelineEvent) write {
	type event = reconcile.TimelineEvent
	return write{"put_events", pgx.StrictNamedArgs{
		"at":       column(events, func(e event) pgtype.Timestamptz { return stamp(e.At) }),
		"subjects": column(events, func(e event) string { return clean(e.Subject) }),
		"kinds":    column(events, func(e event) string { return clean(e.Kind) }),
		"what":     column(events, func(e event) string { return clean(e.What) }),
	}}
}
