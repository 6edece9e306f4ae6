package view

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// NoProof says why a row that names a sandbox does not prove that it is ours; "" when it does. Whoever may
// write rows could name any sandbox, so that a pass has to have seen the row live, and the sandbox has to be
// younger. What was over before the first full pass is believed: nobody has watched, and it would be nobody's for
// ever. Each is as old as its own clock says: the clocks are not compared.
func NoProof(s *reconcile.Snapshot, t *reconcile.Task, sb *reconcile.Sandbox) string {
	m := &s.Memory
	seen := m.Tasks.Of(t.ID)
	over := t.State.Terminal() && !m.LastFull.IsZero()
	switch {
	//guard:row-over P1
	case t.Outside, over && !sb.CalledBy(seen.Named) && !(sb.Task == t.ID && seen.WasLive()):
		return reconcile.UnseenLive // what a row that is over is made to name was never its own
	//guard:row-contradicted P1
	case sb.Task != "" && sb.Task != t.ID && s.Absent[sb.Task]:
		return reconcile.NamesNobodys
	case (t.CreatedAt.IsZero() || sb.CreatedAt.IsZero()) && m.LastFull.IsZero():
		return ""
	case t.CreatedAt.IsZero() || sb.CreatedAt.IsZero():
		return "when it was made, or its row, is not known (tasks.columns.created_at)"
	//guard:row-clock P1
	case !believesClock(s, m.Sources, sb.Ref):
		return reconcile.UnbelievedClock
	//guard:row-younger P1
	case sb.AsOf.Sub(sb.CreatedAt)-rowAge(m, t) > reconcile.ProviderSkew:
		return reconcile.OlderThanRow
	}
	return ""
}

// rowAge is for how long there has been a row: by its own clock, or for as long as it was watched, if that clock
// was set back since. Who writes a row writes when it was made, too: it is no older than the pass that did not see it.
func rowAge(m *reconcile.Memory, t *reconcile.Task) time.Duration {
	age := t.AsOf.Sub(t.CreatedAt)
	seen, known := m.Tasks.Get(t.ID)
	if known {
		age = max(age, m.Now.Sub(reconcile.Latest(seen.FirstSeen, m.WatchSince)))
	}
	//guard:row-backdated P1
	if at, watched := m.Unseen(t.ID); watched && !m.LastFull.IsZero() && (known || t.State.Live()) {
		age = min(age, m.Now.Sub(at))
	}
	return age
}

// A Prover settles which sandboxes are ours where only rows say so.
type Prover struct {
	s          *reconcile.Snapshot
	p          *reconcile.Policy
	live       map[string]*reconcile.Task
	named      map[reconcile.Ref][]*reconcile.Task
	successors Successors // nil until one is asked for
}

// NewProver makes the prover of a snapshot.
func NewProver(s *reconcile.Snapshot, p *reconcile.Policy) *Prover {
	v := &Prover{s: s, p: p, live: map[string]*reconcile.Task{}, named: map[reconcile.Ref][]*reconcile.Task{}}
	for i := range s.Tasks {
		t := &s.Tasks[i]
		v.live[t.ID] = t
		if t.Sandbox != "" {
			v.named[p.Named(t)] = append(v.named[p.Named(t)], t)
		}
	}
	return v
}

// Settle says whether a sandbox is ours, and whether that is proven.
func (v *Prover) Settle(sb *reconcile.Sandbox) {
	if sb.Owned && sb.Unproven == "" || !v.p.Providers[sb.Provider].ByRow(sb) {
		return
	}
	rows := v.liveRows(sb)
	row, named := v.s.Rows[sb.Task]
	if !named || sb.Task == "" {
		row, named = v.s.Named(sb)
	}
	switch {
	case v.Proved(sb):
		sb.Owned, sb.Unproven = true, ""
	//guard:rows-two P1
	case len(rows) > 1:
		sb.Owned, sb.Unproven = true, "several tasks name it"
	case len(rows) == 1:
		sb.Owned, sb.Unproven = true, NoProof(v.s, rows[0], sb)
	case named:
		sb.Owned, sb.Unproven = true, NoProof(v.s, &row, sb)
	default:
		sb.Owned = false
	}
}

// Proved reports whether the ledger has it that a row proved the sandbox to be ours, or one whose name it goes
// on with.
func (v *Prover) Proved(sb *reconcile.Sandbox) bool {
	// One that is dated later may be another's, however old it seems to be where a clock jumped.
	if seen := v.s.Memory.Sandboxes.Of(sb.Ref); seen.Task != "" && !seen.MadeLater(sb) {
		return true
	}
	if !sb.StableName {
		return false
	}
	if v.successors == nil {
		v.successors = successorsOf(&v.s.Memory)
	}
	return v.successors[reconcile.Ref{Provider: sb.Provider, ID: sb.Name}] != ""
}

// liveRows are the live tasks that name the sandbox, or that it names, each once.
func (v *Prover) liveRows(sb *reconcile.Sandbox) (rows []*reconcile.Task) {
	add := func(t *reconcile.Task) {
		for _, have := range rows {
			if t == have {
				return
			}
		}
		rows = append(rows, t)
	}
	for _, key := range sb.Keys() {
		for _, at := range [...]string{sb.Provider, ""} {
			for _, t := range v.named[reconcile.Ref{Provider: at, ID: key}] {
				add(t)
			}
		}
	}
	if t := v.live[sb.Task]; t != nil && sb.Task != "" {
		add(t)
	}
	return rows
}
