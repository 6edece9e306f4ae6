package store

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/store/ledger"
)

// scoreReadings read what the scores of the window that ends now are made of.
func scoreReadings(f *ledger.Facts, now time.Time) []reading {
	from := now.Add(-ledger.Window)
	return []reading{
		each("ledger_score_actions", pgx.StrictNamedArgs{"from": from, "overdue": now.Add(-ledger.MostOverdue)},
			scanTerminate, func(t ledger.Terminate) { f.Ends = append(f.Ends, t) }),
		each("ledger_score_verdicts", pgx.StrictNamedArgs{"from": from, "soon_us": ledger.FastSeen.Microseconds()},
			scanRuleVerdicts, func(v ledger.RuleVerdicts) { f.Verdicts = append(f.Verdicts, v) }),
		each("ledger_score_hours", pgx.StrictNamedArgs{"from_hour": ledger.Overlaps(from)},
			scanHourSum, func(h ledger.HourSum) { f.Hours = append(f.Hours, h) }),
	}
}

func scanTerminate(r pgx.Rows) (ledger.Terminate, error) {
	var t ledger.Terminate
	err := r.Scan(&t.Rule, (*string)(&t.Outcome), at(&t.Began), at(&t.FirstActed), at(&t.Ended))
	return t, err
}

func scanRuleVerdicts(r pgx.Rows) (ledger.RuleVerdicts, error) {
	var v ledger.RuleVerdicts
	err := r.Scan(&v.Rule, &v.All, &v.Known, &v.Soon)
	return v, err
}

func scanHourSum(r pgx.Rows) (ledger.HourSum, error) {
	var h ledger.HourSum
	err := r.Scan(&h.Lately, &h.Name, &h.What, &h.Value)
	return h, err
}
