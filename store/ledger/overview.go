package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// Overview reads what the status page shows, each list cut to most, in one snapshot. It
// writes nothing: a role that may only read is enough, and a database that was never
// migrated is a fresh overview.
func (g *Reader) Overview(ctx context.Context, most int) (reconcile.Overview, error) {
	now, err := g.setClock(ctx)
	if err != nil {
		return reconcile.Overview{}, err
	}
	o := reconcile.Overview{Now: now}
	if err = g.lately(ctx, g.pool); err == nil {
		err = g.readOverview(ctx, &o, max(most, 0))
	}
	if errors.Is(err, errNoSchema) {
		return reconcile.Overview{Now: now, Fresh: true}, nil
	}
	if err != nil {
		return reconcile.Overview{}, fmt.Errorf("read overview: %w", err)
	}
	return o, nil
}

// inSnapshot runs do in one snapshot of a ledger that this program can use, or could a moment ago.
func (g *base) inSnapshot(ctx context.Context, do func(tx pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, g.pool, snapshot, func(tx pgx.Tx) error {
		if err := g.lately(ctx, tx); err != nil {
			return err
		}
		return do(tx)
	})
}

func (g *Reader) readOverview(ctx context.Context, o *reconcile.Overview, most int) error {
	var passes []reconcile.PassSeen
	readings := overviewPasses(o, &passes, most)
	readings = append(readings, overviewFindings(o, most)...)
	readings = append(readings, overviewActions(o, most)...)
	readings = append(readings, trustReadings(&o.Sources, &o.Templates)...)
	readings = append(readings, controlReadings(&o.Controls, o.Now, g.seals.Load())...)
	readings = append(readings, overviewVerdicts(o, most, g.seals.Load())...)
	readings = append(readings, canaryReading(&o.Canaries))
	var facts protocol.Facts
	readings = append(readings, scoreReadings(&facts, o.Now)...)
	if err := readAtOnce(ctx, g.pool, readings); err != nil {
		return err
	}
	protocol.WithoutCanaries(o)
	protocol.Belong(o.Findings, o.Controls.Incidents)
	newest := protocol.Newest(passes)
	o.LastPass, o.LastFull = newest[reconcile.Quick].EndedAt, newest[reconcile.Full].EndedAt
	o.Counts = protocol.Counts(passes)
	facts.Passes = passes
	o.Scores = protocol.Score(facts)
	o.Incidents = o.Incidents[:min(len(o.Incidents), most)]
	protocol.SortSources(o.Sources)
	protocol.SortTemplates(o.Templates)
	return nil
}

// overviewPasses reads the newest passes, and what [protocol.Newest] and [protocol.Counts] choose from.
func overviewPasses(o *reconcile.Overview, passes *[]reconcile.PassSeen, most int) []reading {
	head := pgx.StrictNamedArgs{"now": o.Now}
	return []reading{
		{"overview_head", head, func(rows pgx.Rows) error { return takeHead(rows, o) }},
		each("overview_passes", pgx.StrictNamedArgs{"most": most}, scanNewPass, func(p newPass) {
			if p.newest {
				*passes = append(*passes, p.PassSeen)
			} else {
				o.Passes = append(o.Passes, p.PassSeen)
			}
		}),
	}
}

func takeHead(rows pgx.Rows, o *reconcile.Overview) error {
	defer rows.Close()
	for rows.Next() {
		var l reconcile.Lease
		var providers []string
		var ahead []float64
		if err := rows.Scan(&o.Installation, &l.Holder, &l.Epoch, at(&l.Until), at(&l.At), &providers, &ahead); err != nil {
			return err
		}
		o.Lease = l
		for i, name := range providers {
			if o.CallsAhead == nil {
				o.CallsAhead = map[string]time.Duration{}
			}
			o.CallsAhead[name] = time.Duration(ahead[i] * float64(time.Second))
		}
	}
	return rows.Err()
}

// newestPasses reads what [protocol.Newest] and [protocol.Counts] choose from.
func newestPasses(passes *[]reconcile.PassSeen) reading {
	return each("newest_passes", nil, scanPass, func(p reconcile.PassSeen) { *passes = append(*passes, p) })
}

func overviewFindings(o *reconcile.Overview, most int) []reading {
	o.FindingsOpen = map[string]int{}
	cut := pgx.StrictNamedArgs{"most": most}
	return []reading{
		each("overview_findings", cut, scanFinding,
			func(f reconcile.FindingSeen) { o.Findings = append(o.Findings, f) }),
		each("overview_resolved", cut, scanFinding,
			func(f reconcile.FindingSeen) { o.Resolved = append(o.Resolved, f) }),
		each("overview_rules", nil, scanRuleCount, func(c ruleCount) { o.FindingsOpen[c.rule] = c.count }),
	}
}

func overviewActions(o *reconcile.Overview, most int) []reading {
	cut := pgx.StrictNamedArgs{"most": most}
	return []reading{
		each("overview_actions", cut, scanAction, func(a reconcile.Action) { o.Open = append(o.Open, a) }),
		each("overview_open_total", nil, scanCount, func(n int) { o.OpenTotal = n }),
		each("overview_recent", cut, scanAction, func(a reconcile.Action) { o.Recent = append(o.Recent, a) }),
	}
}

func overviewVerdicts(o *reconcile.Overview, most int, seals *protocol.Seals) []reading {
	o.Tallies = map[string]reconcile.Tally{}
	regretted := each("regretted", pgx.StrictNamedArgs{"most": most}, scanVerdict,
		func(v reconcile.Verdict) { o.FalsePositives = append(o.FalsePositives, v) })
	return append(incidentReadings(&o.Incidents, most, seals), tallies(o.Tallies, nil), regretted)
}

// trustReadings are the sources and the templates as the last pass left them.
func trustReadings(sources *[]reconcile.SourceSeen, templates *[]reconcile.TemplateSeen) []reading {
	return []reading{
		each("recall_sources", nil, scanSource, func(s reconcile.SourceSeen) { *sources = append(*sources, s) }),
		each("recall_templates", nil, scanTemplate,
			func(t reconcile.TemplateSeen) { *templates = append(*templates, t) }),
	}
}

// A newPass is one of the newest, or besides the newest of its kind that is complete, or that is not.
type newPass struct {
	newest bool
	reconcile.PassSeen
}

func scanNewPass(r pgx.Rows) (newPass, error) {
	var p newPass
	err := r.Scan(&p.newest, &p.ID, (*string)(&p.Kind), &p.Holder, at(&p.BeganAt), at(&p.EndedAt), &p.Complete, &p.Error,
		&p.Kept, &p.Counts)
	return p, err
}

type ruleCount struct {
	rule  string
	count int
}

func scanRuleCount(r pgx.Rows) (ruleCount, error) {
	var c ruleCount
	err := r.Scan(&c.rule, &c.count)
	return c, err
}
