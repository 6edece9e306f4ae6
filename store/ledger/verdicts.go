package ledger

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// verdictWrites are what a pass came to say of failures: new verdicts, what became of
// earlier ones, incidents, and rules that lost their right to act.
func verdictWrites(r reconcile.Record, now time.Time) ([]write, error) {
	var writes []write
	if len(r.Verdicts) > 0 {
		writes = append(writes, putVerdicts(r.Verdicts))
	}
	if len(r.FalsePositives) > 0 {
		writes = append(writes, putFalsePositives(r.FalsePositives))
	}
	if len(r.Over) > 0 {
		writes = append(writes, write{"end_verdicts", pgx.StrictNamedArgs{"numbers": r.Over}})
	}
	if len(r.Incidents) > 0 {
		put, err := putIncidents(r.Incidents)
		if err != nil {
			return nil, err
		}
		writes = append(writes, put)
	}
	if amounts := slices.Concat(r.Tallies, r.Measured); len(amounts) > 0 {
		writes = append(writes, countWrite(amounts)) // one statement: totals are locked in one order
	}
	if len(r.Tallies) > 0 {
		writes = append(writes, countHour(r.Tallies, now))
	}
	if len(r.Demoted) > 0 {
		writes = append(writes, demote(r.Demoted, now)) // last, as it writes lines of the timeline
	}
	return writes, nil
}

func putVerdicts(vs []reconcile.Verdict) write {
	type verdict = reconcile.Verdict
	text := func(pick func(verdict) string) []string {
		return column(vs, func(v verdict) string { return clean(pick(v)) })
	}
	when := func(pick func(verdict) time.Time) []pgtype.Timestamptz {
		return column(vs, func(v verdict) pgtype.Timestamptz { return stamp(pick(v)) })
	}
	return write{"put_verdicts", pgx.StrictNamedArgs{
		"rules":      text(func(v verdict) string { return v.Rule }),
		"subjects":   text(func(v verdict) string { return v.Subject }),
		"tasks":      text(func(v verdict) string { return v.Task }),
		"providers":  text(func(v verdict) string { return v.Provider }),
		"sandboxes":  text(func(v verdict) string { return v.Sandbox }),
		"templates":  text(func(v verdict) string { return v.Template }),
		"regions":    text(func(v verdict) string { return v.Region }),
		"workers":    text(func(v verdict) string { return v.Worker }),
		"errors":     text(func(v verdict) string { return v.Error }),
		"signatures": text(func(v verdict) string { return v.Signature }),
		"reasons":    text(func(v verdict) string { return v.Reason }),
		"at":         when(func(v verdict) time.Time { return v.At }),
		"began":      when(func(v verdict) time.Time { return v.Began }),
		"late":       column(vs, func(v verdict) int64 { return v.Late.Microseconds() }),
		"task_at":    when(func(v verdict) time.Time { return v.TaskAt }),
		"signs":      when(func(v verdict) time.Time { return v.Sign }),
		"attempts":   column(vs, func(v verdict) int64 { return int64(v.Attempt) }), // the bits, read back the same way
		"enforced":   column(vs, func(v verdict) bool { return v.Enforced }),
		"costs":      column(vs, func(v verdict) float64 { return v.Cost }),
		"per_hour":   column(vs, func(v verdict) float64 { return v.PerHour }),
		"labels":     column(vs, func(v verdict) string { return labelsText(v.Kinds) }),
	}}
}

// labelsText is a list of labels as JSON: an array of arrays of different lengths is none in SQL.
func labelsText(labels []string) string {
	text, err := json.Marshal(column(labels, clean))
	if err != nil {
		return "[]" // unreachable: texts are JSON
	}
	return string(text)
}

func putFalsePositives(rs []reconcile.FalsePositive) write {
	rs = lastOf(rs, func(r reconcile.FalsePositive) int64 { return r.Verdict })
	return write{"put_regrets", pgx.StrictNamedArgs{
		"numbers": column(rs, func(r reconcile.FalsePositive) int64 { return r.Verdict }),
		"at":      column(rs, func(r reconcile.FalsePositive) pgtype.Timestamptz { return stamp(r.At) }),
		"what":    column(rs, func(r reconcile.FalsePositive) string { return clean(r.What) }),
	}}
}

func demote(ds []reconcile.Demotion, now time.Time) write {
	ds = lastOf(ds, func(d reconcile.Demotion) string { return d.Rule })
	return write{"demote", pgx.StrictNamedArgs{
		"rules":   column(ds, func(d reconcile.Demotion) string { return clean(d.Rule) }),
		"reasons": column(ds, func(d reconcile.Demotion) string { return clean(d.Reason) }),
		"author":  reconcile.AuthorSelf, "now": now,
	}}
}

func countHour(counts []reconcile.Counter, now time.Time) write {
	type counter = reconcile.Counter
	return write{"count_hour", pgx.StrictNamedArgs{
		"hour":   protocol.HourOf(now),
		"names":  column(counts, func(c counter) string { return clean(c.Name) }),
		"what":   column(counts, func(c counter) string { return clean(c.What) }),
		"values": column(counts, func(c counter) int64 { return c.Value }),
	}}
}

// verdictReadings are the verdicts of the last hours, and what each rule's come to.
func verdictReadings(m *reconcile.Memory) []reading {
	m.FalsePositives, m.RefutedBy, m.Armed = map[string]reconcile.Tally{}, map[string][]string{}, map[string]int64{}
	return []reading{
		each("recall_verdicts", pgx.StrictNamedArgs{
			"since": m.Now.Add(-protocol.Watched), "refutable": reconcile.WatchedRules(),
			"most_watched": protocol.MostWatched, "most_alike": protocol.MostAlike,
			"most_failures": protocol.MostFailures, "most_cleaned": protocol.MostCleaned,
		}, scanVerdict, func(v reconcile.Verdict) { m.Verdicts = append(m.Verdicts, v) }),
		tallies(m.FalsePositives, m.RefutedBy),
		each("recall_armed", nil, scanArming, func(a arming) { m.Armed[a.rule] = a.after }),
	}
}

// An arming forgives a rule its verdicts up to a number.
type arming struct {
	rule  string
	after int64
}

func scanArming(r pgx.Rows) (arming, error) {
	var a arming
	err := r.Scan(&a.rule, &a.after)
	return a, err
}

// tallies reads how often each rule was wrong recently, and about whose tasks, if that is asked for.
func tallies(into map[string]reconcile.Tally, refutedBy map[string][]string) reading {
	return each("tallies", pgx.StrictNamedArgs{"most": protocol.MostTallied}, scanTally, func(t ruleTally) {
		if into[t.rule] = t.Tally; refutedBy != nil && len(t.tenants) > 0 {
			refutedBy[t.rule] = t.tenants
		}
	})
}

type ruleTally struct {
	rule string
	reconcile.Tally
	tenants []string // of the false positives
}

func scanTally(r pgx.Rows) (ruleTally, error) {
	var t ruleTally
	err := r.Scan(&t.rule, &t.Verdicts, &t.FalsePositives, &t.tenants)
	return t, err
}

func scanVerdict(r pgx.Rows) (reconcile.Verdict, error) {
	var v reconcile.Verdict
	var late, attempt int64
	err := r.Scan(&v.Number, &v.Rule, &v.Subject, &v.Task, &v.Provider, &v.Sandbox, &v.Template, &v.Region, &v.Worker,
		&v.Error, &v.Signature, &v.Reason, at(&v.At), at(&v.Began), &late, at(&v.TaskAt), at(&v.Sign), &attempt,
		&v.Enforced, &v.Cost, &v.PerHour, at(&v.ActedAt), at(&v.FailedAt), &v.Over,
		at(&v.FalsePositiveAt), &v.FalsePositive)
	v.Late, v.Attempt = time.Duration(late)*time.Microsecond, uint64(attempt)
	return v, err
}
