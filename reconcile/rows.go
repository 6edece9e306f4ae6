package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// readRows reads by key the rows that left the live set since the last pass, and those
// that may explain a sandbox, ignoring `where`.
func (k *Keeper) readRows(ctx context.Context, s *Snapshot) error {
	if k.Policy.Tasks.None {
		return nil
	}
	live := make(map[string]bool, len(s.Tasks))
	linked := make(map[Ref]bool)
	for i := range s.Tasks {
		t := &s.Tasks[i]
		live[t.ID] = true
		if t.Sandbox != "" && k.Policy.Tasks.SandboxKnown {
			linked[k.Policy.named(t)] = true
		}
	}
	ids, keys := wantedRows(s, live, linked)
	if err := k.readByID(ctx, s, ids); err != nil {
		return err
	}
	if err := k.readByKey(ctx, s, keys); err != nil {
		return err
	}
	return k.readFurther(ctx, s, s.Sandboxes)
}

func wantedRows(s *Snapshot, live map[string]bool, linked map[Ref]bool) (ids, keys []string) {
	wanted := map[string]bool{}
	for id, seen := range s.Memory.Tasks {
		if seen.Live && !live[id] {
			wanted[id] = true
		}
	}
	if s.Kind == Quick {
		wantStopped(s, live, wanted)
	} else {
		wantWatched(s, live, wanted)
	}
	heirs := sync.OnceValue(s.Memory.heirs)
	for i := range s.Sandboxes {
		sb := &s.Sandboxes[i]
		task := sb.Task
		if sb.OddLink {
			continue
		}
		if task == "" {
			task = s.Memory.Sandboxes[sb.Ref].Task
		}
		if task == "" && sb.Lasting {
			task = heirs()[Ref{sb.Provider, sb.Name}]
		}
		if task != "" && !live[task] {
			wanted[task] = true
		}
		if !holds(linked, sb.Provider, sb.SandboxKey) && (task == "" || !live[task]) {
			keys = append(keys, sb.keys()...)
		}
	}
	slices.Sort(keys)
	return sortedKeys(wanted), slices.Compact(keys)
}

// wantStopped adds the stopped tasks whose sandbox is still there: a stop is acted on by the
// first quick pass after its grace, not by the next full one.
func wantStopped(s *Snapshot, live, wanted map[string]bool) {
	for _, seen := range s.Memory.Sandboxes {
		if seen.GoneAt.IsZero() && !live[seen.Task] && s.Memory.Tasks[seen.Task].State == TaskStopped {
			wanted[seen.Task] = true
		}
	}
}

// wantWatched adds the tasks that were called dead a while ago: life refutes the verdict.
func wantWatched(s *Snapshot, live, wanted map[string]bool) {
	for _, w := range s.Memory.watched() {
		if !live[w.Task] {
			wanted[w.Task] = true
		}
	}
}

func (k *Keeper) readByID(ctx context.Context, s *Snapshot, ids []string) error {
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

func (k *Keeper) readByKey(ctx context.Context, s *Snapshot, keys []string) error {
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
		at := k.Policy.named(&t)
		if before, ok := s.ByKey[at]; !ok || t.before(&before) {
			s.ByKey[at] = t
			s.Rows[t.ID] = t
		}
	}
	return nil
}

// before reports whether the row, of two that name one sandbox, says what it is for: a live one
// comes first, an ended one last; of those alike, the one that was at it, or keeps it, the longest.
func (t *Task) before(other *Task) bool {
	if one, two := t.State.Live(), other.State.Live(); one != two {
		return one
	}
	if one, two := t.State.Terminal(), other.State.Terminal(); one != two {
		return two
	}
	//guard:rows-newest harm
	return cmp.Or(t.heldUntil().Compare(other.heldUntil()), cmp.Compare(t.ID, other.ID)) > 0
}

// heldUntil is the last moment at which the row itself says that its task needed its sandbox.
func (t *Task) heldUntil() time.Time {
	return latest(t.CreatedAt, t.AssignedAt, t.StartedAt, t.UpdatedAt, t.KeepAliveUntil)
}

// named is the row that says what the sandbox is for, of those that were read by key.
func (s *Snapshot) named(sb *Sandbox) (row Task, ok bool) {
	for _, key := range sb.keys() {
		for _, at := range [...]string{sb.Provider, ""} {
			if t, read := s.ByKey[Ref{at, key}]; read && (!ok || t.before(&row)) {
				row, ok = t, true
			}
		}
	}
	return row, ok
}

// named is what the row says of its sandbox: the value, and the entry that it means; "" where it
// names none of ours.
func (p *Policy) named(t *Task) Ref {
	_, ours := p.Providers[t.Provider]
	//guard:link-elsewhere harm
	if ours {
		return Ref{t.Provider, t.Sandbox}
	}
	return Ref{"", t.Sandbox}
}

// own settles who owns what at providers where owned means referenced from a row, now or
// as the ledger remembers. The others are foreign and leave the snapshot.
func (k *Keeper) own(s *Snapshot) {
	if !k.anyReferenced() {
		return
	}
	live, linked := map[string]bool{}, map[Ref]bool{}
	for i := range s.Tasks {
		live[s.Tasks[i].ID], linked[k.Policy.named(&s.Tasks[i])] = true, true
	}
	heirs := sync.OnceValue(s.Memory.heirs)
	owned := s.Sandboxes[:0]
	for _, sb := range s.Sandboxes {
		if !sb.Owned && k.Policy.Providers[sb.Provider].byRow(&sb) {
			_, row := s.Rows[sb.Task]
			_, named := s.named(&sb)
			known := s.Memory.Sandboxes[sb.Ref].Task != ""
			heir := sb.Lasting && heirs()[Ref{sb.Provider, sb.Name}] != ""
			// Who goes on in a new machine of a name is not nobody.
			sb.Owned = sb.Task != "" && (row || live[sb.Task]) || named || known || heir ||
				slices.ContainsFunc(sb.keys(), func(key string) bool { return holds(linked, sb.Provider, key) })
		}
		//guard:referenced-owned P1
		if sb.Owned {
			owned = append(owned, sb)
			continue
		}
		seen := s.Listings[sb.Provider]
		seen.Owned--
		seen.Foreign++
		s.Listings[sb.Provider] = seen
	}
	s.Sandboxes = owned
}

// holds reports whether a row holds the value and may mean a sandbox of the provider: it says so, or
// names none of our entries.
func holds(linked map[Ref]bool, provider, value string) bool {
	return linked[Ref{provider, value}] || linked[Ref{"", value}]
}

// byRow reports whether a row may make the sandbox ours.
func (p ProviderPolicy) byRow(sb *Sandbox) bool {
	//guard:referenced-excepted P1
	return p.Referenced && !sb.Excepted
}

func (k *Keeper) anyReferenced() bool {
	for _, p := range k.Policy.Providers {
		if p.Referenced {
			return true
		}
	}
	return false
}

// referred is a sandbox of the task as the second look saw it. Where owned means that a row refers
// to it, the row of the task does, or the ledger remembers that one did.
func (o *second) referred(sb *Sandbox, task string) Box {
	b := o.view.box(sb)
	row := o.view.s.Rows[task]
	//guard:again-referred live
	if o.view.p.Providers[sb.Provider].byRow(sb) && (b.Seen.Task != "" || sb.Task == task || sb.calledBy(row.Sandbox) ||
		sb.Lasting && o.view.heir(&b) == task) {
		b.Owned = true
	}
	return b
}
