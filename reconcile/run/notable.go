package run

import "context"

// notable tells the log what an operator must not overlook.
func (r *Result) notable(ctx context.Context) {
	log := r.reconciler.Log
	for _, u := range r.Judged.View.S.Memory.Controls.Unsigned {
		log.WarnContext(ctx, "operator request ignored", "subject", u.Subject, "what", u.What)
	}
	for name, b := range r.Plan.Blind {
		log.WarnContext(ctx, "could not be looked at", "provider", name, "subjects", b.Subjects, "subject", b.Subject,
			"err", b.Why)
	}
	for i := range r.Judged.Incidents {
		in := &r.Judged.Incidents[i]
		switch {
		case !in.ClosedAt.IsZero():
			log.InfoContext(ctx, "incident closed", "incident", in.ID, "rule", in.Rule, "failures", in.Count)
		case in.OpenedAt.Equal(r.At):
			log.WarnContext(ctx, "incident opened", "incident", in.ID, "rule", in.Rule, "provider", in.Provider,
				"failures", in.Count, "cause", in.Cause)
		}
	}
	for _, g := range r.Judged.FalsePositives {
		log.WarnContext(ctx, "false positive", "rule", g.Rule, "verdict", g.Verdict, "what", g.What)
	}
	for _, d := range r.Judged.Demoted {
		log.ErrorContext(ctx, "rule goes back to observe", "rule", d.Rule, "reason", d.Reason)
	}
}
