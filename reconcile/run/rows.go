package run

import (
	"context"
	"fmt"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// readRows reads by key the rows that left the live set since the last pass, and those
// that may explain a sandbox, ignoring `where`.
func (k observer) readRows(ctx context.Context, s *reconcile.Snapshot) error {
	if k.Policy.Tasks.None {
		return nil
	}
	live := make(map[string]bool, len(s.Tasks))
	linked := make(map[reconcile.Ref]bool)
	for i := range s.Tasks {
		t := &s.Tasks[i]
		live[t.ID] = true
		if t.Sandbox != "" && k.Policy.Tasks.SandboxKnown {
			linked[k.Policy.Named(t)] = true
		}
	}
	ids, keys := view.WantedRows(s, &k.Policy, live, linked)
	if err := k.readByID(ctx, s, ids); err != nil {
		return err
	}
	return k.readByKey(ctx, s, keys)
}

func (k observer) readByID(ctx context.Context, s *reconcile.Snapshot, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	rows, err := k.Tasks.ByID(ctx, ids)
	if err != nil {
		return fmt.Errorf("read %d rows by key: %w", len(ids), err)
	}
	for _, id := range ids {
		s.Absent[id] = true
	}
	for _, id := range rows.Unparsable {
		s.Unparsable[id] = true
		delete(s.Absent, id)
	}
	for _, t := range rows.Tasks {
		s.Rows[t.ID] = t
		delete(s.Absent, t.ID)
	}
	return nil
}

func (k observer) readByKey(ctx context.Context, s *reconcile.Snapshot, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	rows, err := k.Tasks.BySandbox(ctx, keys)
	if err != nil {
		return fmt.Errorf("read the rows of %d sandboxes: %w", len(keys), err)
	}
	for _, key := range keys {
		s.Absent["sandbox:"+key] = true
	}
	for _, t := range rows.Tasks {
		delete(s.Absent, "sandbox:"+t.Sandbox)
		at := k.Policy.Named(&t)
		if before, ok := s.ByKey[at]; !ok || t.Before(&before) {
			s.ByKey[at] = t
			s.Rows[t.ID] = t
		}
	}
	return nil
}

// own settles who owns what at providers where owned means referenced from a row, now or
// as the ledger remembers. The others are foreign and leave the snapshot. What a row names and does not prove
// stays: it is shown, and what would be done with it is held.
func (k observer) own(s *reconcile.Snapshot) {
	if !k.anyReferenced() {
		return
	}
	rows := view.NewProver(s, &k.Policy)
	owned := s.Sandboxes[:0]
	s.Strays = nil
	for _, sb := range s.Sandboxes {
		rows.Settle(&sb)
		//guard:referenced-owned P1
		if sb.Owned {
			owned = append(owned, sb)
			continue
		}
		//guard:own-strays harm
		if p := k.Policy.Providers[sb.Provider]; p.GoesOnUnnamed() && p.ByRow(&sb) && sb.State.Exists() {
			s.Strays = append(s.Strays, sb)
		}
		seen := s.Listings[sb.Provider]
		seen.Owned--
		seen.Foreign++
		s.Listings[sb.Provider] = seen
	}
	s.Sandboxes = owned
}

func (k observer) anyReferenced() bool {
	for _, p := range k.Policy.Providers {
		if p.Referenced {
			return true
		}
	}
	return false
}

// referred is a sandbox of the task as the second look saw it. Where owned means that a row refers
// to it, the row of the task does, or the ledger remembers that one did.
func (o *recheck) referred(sb *reconcile.Sandbox, task string) reconcile.SeenSandbox {
	b := o.View.Box(sb)
	if b.Ours() || !o.View.P.Providers[sb.Provider].ByRow(sb) {
		return b
	}
	b.Own()
	row, read := o.View.S.Rows[task]
	proved := b.Seen().Task != "" || sb.StableName && o.View.Successor(&b) == task
	//guard:again-referred live
	if proved || read && (sb.Task == task || sb.CalledBy(row.Sandbox)) {
		b.Owned, b.Unproven = true, ""
	}
	if !proved {
		b.Unproven = view.NoProof(o.View.S, &row, sb)
	}
	return b
}
