package ledger

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// scoreReadings read what the scores of the window that ends now are made of.
func scoreReadings(f *protocol.Facts, now time.Time) []reading {
	from := now.Add(-protocol.Window)
	return []reading{
		each("score_actions", pgx.StrictNamedArgs{"from": from, "overdue": now.Add(-protocol.MostOverdue),
			"unclaimed": []string{string(reconcile.HowAdopted), string(reconcile.HowUnsure)}}, scanTerminate,
			func(t protocol.Terminate) { f.Ends = append(f.Ends, t) }),
		each("score_verdicts", pgx.StrictNamedArgs{"from": from, "soon_us": protocol.FastSeen.Microseconds()},
			scanRuleVerdicts, func(v protocol.RuleVerdicts) { f.Verdicts = append(f.Verdicts, v) }),
		each("score_hours", pgx.StrictNamedArgs{"from_hour": protocol.Overlaps(from)},
			scanHourSum, func(h protocol.HourSum) { f.Hours = append(f.Hours, h) }),
	}
}

func scanTerminate(r pgx.Rows) (protocol.Terminate, error) {
	var t protocol.Terminate
	err := r.Scan(&t.Rule, (*string)(&t.Outcome), at(&t.Began), at(&t.FirstActed), at(&t.Ended))
	return t, err
}

func scanRuleVerdicts(r pgx.Rows) (protocol.RuleVerdicts, error) {
	var v protocol.RuleVerdicts
	err := r.Scan(&v.Rule, &v.All, &v.Known, &v.Soon)
	return v, err
}

func scanHourSum(r pgx.Rows) (protocol.HourSum, error) {
	var h protocol.HourSum
	err := r.Scan(&h.Lately, &h.Name, &h.What, &h.Value)
	return h, err
}
