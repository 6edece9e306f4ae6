package memory

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// Claim takes the right to carry out an action, reserving its budget.
func (g *Ledger) Claim(ctx context.Context, l reconcile.Lease, c reconcile.Claim) (reconcile.Action, error) {
	var claimed reconcile.Action
	err := g.working(ctx, l, func(now time.Time) error {
		a, found := g.actions[c.Action]
		if !found {
			return reconcile.ErrNotFound
		}
		request := g.request(a, c, now)
		if err := request.Refuse(c, now); err != nil {
			return err
		}
		if request.Begins() {
			a.begunAt, a.begunPass, a.begunShared = now, c.Pass, request.Spends(c)
			if protocol.Asks(a.Action) {
				a.begunPass = 0 // no pass's: they are numbered from 1
			}
		}
		a.ClaimedAt, a.ClaimedBy, a.ClaimEnds, a.epoch = now, l.Holder, now.Add(c.TTL), l.Epoch
		a.Attempts++
		g.actions[a.ID] = a
		claimed = g.seals.Checked(copied(a.Action), now)
		return nil
	})
	if err != nil {
		return reconcile.Action{}, fmt.Errorf("claim action %s: %w", c.Action, err)
	}
	return claimed, nil
}

func (g *tables) request(a action, c reconcile.Claim, now time.Time) protocol.Request {
	r := protocol.Request{Action: a.Action, ClaimEpoch: a.epoch, Epoch: g.lease.Epoch, Begun: !a.begunAt.IsZero()}
	for _, s := range g.steps(a.Remedy) {
		r.Shares = r.Shares || !s.RowOnly
		if s.Seq < a.Seq {
			r.Earlier = append(r.Earlier, s.Action)
		}
	}
	for _, other := range g.actions {
		if other.begunAt.IsZero() {
			continue
		}
		own := other.begunPass == c.Pass && other.begunPass != 0
		//guard:spent-pass P7
		if own {
			r.Spent.Total++
		}
		//guard:spent-share P7
		if own && other.begunShared {
			r.Spent.Shared++
		}
		//guard:spent-hour P7
		if other.begunAt.After(now.Add(-protocol.Hour)) {
			r.Spent.Hour++
		}
	}
	return r
}

// claimed is the action whose claim by l is still this very one.
func (g *actionTable) claimed(l reconcile.Lease, a reconcile.Action) (action, error) {
	own, found := g.actions[a.ID]
	//guard:settle-attempt once
	if !found || own.Outcome.Closed() || own.ClaimedBy != l.Holder || own.epoch != l.Epoch || own.Attempts != a.Attempts {
		return action{}, protocol.ClaimLost(a)
	}
	return own, nil
}

// RenewClaim extends a claim that still stands.
func (g *Ledger) RenewClaim(ctx context.Context, l reconcile.Lease, a reconcile.Action, ttl time.Duration) error {
	err := g.working(ctx, l, func(now time.Time) error {
		own, err := g.claimed(l, a)
		if err != nil {
			return err
		}
		//guard:renew-in-time once
		if !own.ClaimEnds.After(now) {
			return protocol.ClaimLost(a)
		}
		own.ClaimEnds = now.Add(ttl)
		g.actions[a.ID] = own
		return nil
	})
	if err != nil {
		return fmt.Errorf("renew claim of action %s: %w", a.ID, err)
	}
	return nil
}

// Settle writes what became of a claimed action and frees the claim, for as long as nobody
// has taken the lease or the claim over.
func (g *Ledger) Settle(ctx context.Context, l reconcile.Lease, a reconcile.Action) error {
	err := g.locked(ctx, func(now time.Time) error {
		if err := protocol.CheckOutcome(a.Outcome); err != nil {
			return err
		}
		if err := protocol.FenceLate(g.lease, l); err != nil {
			return err
		}
		own, err := g.claimed(l, a)
		if err == nil {
			g.settle(own, a, now)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("settle action %s as %s: %w", a.ID, a.Outcome, err)
	}
	return nil
}

// Confirm closes terminations that were accepted, of these those that nobody has claimed.
func (g *Ledger) Confirm(ctx context.Context, l reconcile.Lease, ids []string) ([]reconcile.Action, error) {
	var confirmed []reconcile.Action
	err := g.working(ctx, l, func(now time.Time) error {
		for _, id := range slices.Sorted(slices.Values(ids)) {
			own, found := g.actions[id]
			if !found || !protocol.MayConfirm(own.Action, now) {
				continue
			}
			own.ClaimedAt, own.epoch = now, l.Epoch
			own.Attempts++
			over := own.Action
			over.Outcome = reconcile.OutcomeConfirmed
			g.settle(own, over, now)
			confirmed = append(confirmed, g.seals.Checked(copied(g.actions[id].Action), now))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("confirm %d actions: %w", len(ids), err)
	}
	return confirmed, nil
}

func (g *tables) settle(own action, a reconcile.Action, now time.Time) {
	own.Outcome, own.Detail, own.NextAttempt = a.Outcome, a.Detail, a.NextAttempt
	own.How, own.WaitsFor = a.How, slices.Clone(a.WaitsFor)
	own.ClaimedBy, own.ClaimEnds = "", time.Time{}
	protocol.CountAsk(&own.Action, a)
	if !a.ActedAt.IsZero() {
		own.ActedAt = a.ActedAt
		if own.FirstActed.IsZero() {
			own.FirstActed = a.ActedAt
		}
	}
	if len(a.Evidence) > 0 {
		own.Evidence = slices.Clone(a.Evidence)
	}
	if a.Before != nil {
		own.Before = copied(a).Before
	}
	if a.Outcome.Closed() {
		own.ClosedAt = now
	}
	if protocol.GivesBack(own.Action) {
		own.begunAt, own.begunPass = time.Time{}, 0
	}
	g.actions[own.ID] = own
	g.count("actions", own.Rule, own.Provider, string(own.Step)+":"+string(own.Outcome))
	for _, c := range protocol.Gone(own.Action) {
		g.counters[counter{c.Name, c.Rule, c.Provider, c.What}] += c.Value
	}
	g.carryOut(own.Action, now)
	told := own.Action
	told.Announce = a.Announce
	if n, tell := protocol.Notice(told, now); tell {
		g.addNotice(n)
	}
	g.tellSettled(own.Action, now)
	g.endRemedy(own.Action, now)
	g.keepFor(own.Action, protocol.Keeps(own.Action, now))
	g.endSandbox(own.Action, now)
}

func (g *tables) tellSettled(a reconcile.Action, now time.Time) {
	g.tell(reconcile.TimelineEvent{At: now, Subject: a.Subject, Kind: "action", What: protocol.Announced(a)})
}

// endRemedy withdraws the later steps of a remedy that has lost its ground.
func (g *tables) endRemedy(a reconcile.Action, now time.Time) {
	end := protocol.EndsRemedy(a)
	for _, s := range g.steps(a.Remedy) {
		if end.Ends(a, s.Action) {
			s.How, s.WaitsFor = "", nil
			g.close(s, reconcile.OutcomeWithdrawn, end.Why, now)
			g.tellSettled(g.actions[s.ID].Action, now)
		}
	}
}

// keepFor moves the terminate after a quarantine, which has begun later than was planned.
func (g *actionTable) keepFor(a reconcile.Action, later time.Duration) {
	for _, s := range g.steps(a.Remedy) {
		own := s.Seq > a.Seq && s.Provider == a.Provider && s.Sandbox == a.Sandbox
		if later > 0 && own && !s.Outcome.Closed() && !s.NextAttempt.IsZero() {
			s.NextAttempt = s.NextAttempt.Add(later)
			g.actions[s.ID] = s
		}
	}
}

// endSandbox remembers that a sandbox is gone, as the provider confirmed, and that we ended it, where we asked for it.
// What we ended before any pass took it down is remembered as well.
func (g *worldTable) endSandbox(a reconcile.Action, now time.Time) {
	ref := reconcile.Ref{Provider: a.Provider, ID: a.Sandbox}
	s, found := g.sandboxes[ref]
	if !protocol.EndsSandbox(a) || !found && !protocol.EndedByUs(a) {
		return
	}
	if !found {
		s = reconcile.SandboxSeen{Ref: ref, FirstSeen: now}
	}
	s.GoneByUs = s.GoneByUs || protocol.EndedByUs(a)
	if s.GoneAt.IsZero() {
		s.GoneAt = now
	}
	if s.State != reconcile.SandboxEnded {
		s.State, s.StateSince = reconcile.SandboxEnded, now
	}
	g.sandboxes[ref] = s
}
