package decide

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// breakers open when the steps due for one rule exceed the share of the fleet, and stay
// open for the subjects that they list until a person releases these or they are healthy.
// A pass that cannot judge them, or in which something else holds them, closes nothing.
func breakers(v *view.View, drafts []*draft, j *Judgement, out *Plan) {
	due, planted := map[string][]*draft{}, []*draft{}
	for name := range v.S.Memory.Controls.Breakers {
		due[name] = nil
	}
	for _, r := range drafts {
		if isCanary(v, r.subject) {
			planted = append(planted, r)
			continue // it opens no breaker, and keeps none open
		}
		breaker := reconcile.SubjectOf(reconcile.SubjectBreaker, r.finding.Rule)
		if len(r.holds) == 0 && !r.rowOnly && !v.ReleasedSubject(breaker, r.finding.Subject) {
			due[r.finding.Rule] = append(due[r.finding.Rule], r)
		}
	}
	for _, name := range reconcile.SortedKeys(due) {
		listed := stillListed(v, name, j)
		over := func(n int) bool { return n > 10 && float64(n) > v.P.Limits.Breaker*float64(j.Fleet) }
		//guard:breaker-trips P7
		//guard:breaker-stays live
		if over(len(due[name])) || len(listed) > 0 {
			out.Breakers[name] = trip(v, name, listed, byTenant(v, listed, due[name], over), j.Fleet)
		}
	}
	holdPlanted(planted, out.Breakers)
}

// holdPlanted holds a canary by the breaker that its rule is held by.
func holdPlanted(planted []*draft, open map[string]reconcile.Breaker) {
	for _, r := range planted {
		if b, is := open[r.finding.Rule]; is {
			r.holds = append(r.holds, reconcile.Held{Kind: reconcile.HeldBreaker, Reason: fmt.Sprintf(
				"%d due; release with: sandkeeper release %s --hash %s", len(b.Subjects), b.Rule, b.Hash)})
		}
	}
}

// byTenant is what an open breaker holds of what is due: all, or, where rows say whose they are and only some
// tenants' are too many, what is theirs.
func byTenant(v *view.View, listed []string, due []*draft, over func(int) bool) []*draft {
	if !v.P.Tasks.Tenants {
		return due
	}
	held, of, rest := map[string]bool{}, map[string]int{}, 0
	for _, subject := range listed {
		held[v.TenantOfSubject(subject)] = true
	}
	for _, r := range due {
		tenant := v.TenantOfSubject(r.finding.Subject)
		of[tenant]++
		if !held[tenant] {
			rest++
		}
	}
	for tenant, n := range of {
		if over(n) && !held[tenant] {
			held[tenant], rest = true, rest-n
		}
	}
	//guard:breaker-tenants P7
	if over(rest) || len(held) > 1 && len(held)*2 > len(of) || held[""] {
		return due
	}
	return slices.DeleteFunc(slices.Clone(due), func(r *draft) bool {
		//guard:breaker-tenant live
		return !held[v.TenantOfSubject(r.finding.Subject)]
	})
}

// stillListed are the subjects of an open breaker that nobody released and whose finding
// is still open, seen in this pass or not.
func stillListed(v *view.View, name string, j *Judgement) []string {
	var listed []string
	for _, subject := range v.S.Memory.Controls.Breakers[name].Subjects {
		key := reconcile.FindingKey{Rule: name, Subject: subject}
		_, known := v.S.Memory.Findings[key]
		breaker := reconcile.SubjectOf(reconcile.SubjectBreaker, name)
		if (known && !slices.Contains(j.Resolved, key) || j.found(key)) && !v.ReleasedSubject(breaker, subject) {
			listed = append(listed, subject)
		}
	}
	return listed
}

// found reports whether the pass saw the finding.
func (j *Judgement) found(key reconcile.FindingKey) bool {
	at, ok := j.place(key.Subject)
	return ok && slices.ContainsFunc(j.Decisions[at].Findings, func(f reconcile.Finding) bool { return f.Key() == key })
}

// trip holds all that is due for a rule, and says how to release it.
func trip(v *view.View, name string, listed []string, due []*draft, fleet int) reconcile.Breaker {
	b := reconcile.Breaker{Rule: name, OpenedAt: v.S.Memory.Controls.Breakers[name].OpenedAt, Subjects: listed}
	if b.OpenedAt.IsZero() {
		b.OpenedAt = v.Now
	}
	for _, r := range due {
		b.Subjects = append(b.Subjects, r.finding.Subject)
	}
	slices.Sort(b.Subjects)
	b.Subjects = slices.Compact(b.Subjects)
	b.Hash = reconcile.SubjectsHash(b.Subjects)
	for _, r := range due {
		r.holds = append(r.holds, reconcile.HeldByBreaker(&b, fleet, percent(v.P.Limits.Breaker)))
	}
	return b
}

func percent(share float64) string { return fmt.Sprintf("%g%%", share*100) }

// budgets hold what does not fit into this pass and this hour. What makes room in a full
// quota comes first and takes no part of share; then remedies that were planned before and
// not begun, then the oldest findings.
func budgets(v *view.View, drafts []*draft, fleet int, open map[reconcile.StepKey]*reconcile.Action) {
	total, shared := v.P.Limits.PerPass, v.P.Limits.Shared(fleet)
	//guard:plan-spent P7
	hour := v.P.Limits.PerHour - v.S.Memory.Spent.Hour
	room := makeRoom(drafts, Crowded(v))
	ready := slices.Clone(drafts)
	slices.SortStableFunc(ready, func(a, b *draft) int {
		return cmp.Or(
			cmp.Compare(rankOf(room[b]), rankOf(room[a])),
			cmp.Compare(planned(b, open), planned(a, open)),
			a.finding.FirstSeen.Compare(b.finding.FirstSeen),
		)
	})
	inTurns(v, ready, room)
	for _, r := range ready {
		if len(r.holds) > 0 {
			continue
		}
		switch {
		//guard:plan-per-hour P7
		case hour <= 0:
			r.holds = append(r.holds, heldByBudget("per_hour %d", v.P.Limits.PerHour))
		//guard:plan-per-pass P7
		case total <= 0:
			r.holds = append(r.holds, heldByBudget("per_pass %d", v.P.Limits.PerPass))
		//guard:plan-share P7
		case !r.rowOnly && !room[r] && shared <= 0:
			r.holds = append(r.holds, heldByBudget("share %s of %d sandboxes", percent(v.P.Limits.Share), fleet))
		default:
			hour--
			total--
			if !r.rowOnly && !room[r] {
				shared--
			}
		}
	}
}

// inTurns lets tenants take turns, where rows say whose they are: who has much that is due holds up nobody else.
func inTurns(v *view.View, ready []*draft, room map[*draft]bool) {
	if !v.P.Tasks.Tenants {
		return
	}
	turns, turn := map[string]int{}, map[*draft]int{}
	for _, r := range ready {
		if len(r.holds) == 0 {
			tenant := v.TenantOfSubject(r.finding.Subject)
			turn[r] = turns[tenant]
			turns[tenant]++
		}
	}
	slices.SortStableFunc(ready, func(a, b *draft) int {
		return cmp.Or(cmp.Compare(rankOf(room[b]), rankOf(room[a])), cmp.Compare(turn[a], turn[b]))
	})
}

func heldByBudget(format string, args ...any) reconcile.Held {
	return reconcile.Held{Kind: reconcile.HeldBudget, What: fmt.Sprintf(format, args...)}
}

// makeRoom finds the remedies that go first because a quota of their provider is nearly used
// up. The breaker has counted them by now; of share they take nothing, here and at the claim.
func makeRoom(drafts []*draft, crowded map[string]bool) map[*draft]bool {
	room := map[*draft]bool{}
	for _, r := range drafts {
		if MakesRoom(crowded, r.finding.Rule, r.finding.Provider) {
			room[r] = true
		}
	}
	return room
}

func rankOf(first bool) int {
	if first {
		return 1
	}
	return 0
}

func planned(r *draft, open map[reconcile.StepKey]*reconcile.Action) int {
	return rankOf(open[actionKey(&r.steps[0])] != nil)
}
