package reconcile

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// The bounds of one pass's look-ups, so that a mass failure cannot turn a pass into a
// flood of calls. What is not looked at now is looked at by a later pass.
const (
	looksPerPass = 300
	missingLooks = 50
	lookers      = 8
)

// lookMissing gets by id what the ledger knows and a listing did not show: to trust a
// shrunken listing or not, and to settle what is gone.
func (k *Keeper) lookMissing(ctx context.Context, s *Snapshot) {
	var refs []Ref
	for _, name := range k.Policy.providerNames() {
		if seen, ok := s.Listings[name]; !ok || seen.Error != "" || !seen.Complete {
			continue
		}
		missing, before, _ := missingFrom(s, name)
		if len(missing)*2 > before {
			refs = append(refs, missing[:min(shrinkLooks, len(missing))]...)
			continue
		}
		refs = append(refs, rotated(missing, s.Memory.Now)[:min(missingLooks, len(missing))]...)
	}
	if s.Kind == Quick {
		refs = quickLooks(s)
	}
	k.look(ctx, s, refs)
}

// rotated begins at another place each second, so that items which never settle do not
// starve the others.
func rotated[T any](list []T, now time.Time) []T {
	if len(list) == 0 {
		return nil
	}
	from := int(uint64(now.Unix()) % uint64(len(list)))
	return append(slices.Clone(list[from:]), list[:from]...)
}

// quickLooks are the sandboxes that a quick pass gets by id: those of tasks that left the
// live set, those that fail their probes, and those whose executions wait.
func quickLooks(s *Snapshot) []Ref {
	var refs []Ref
	for ref, seen := range s.Memory.Sandboxes {
		if !seen.GoneAt.IsZero() {
			continue
		}
		row, left := s.Rows[seen.Task]
		probes := s.Memory.Probes[ref]
		if left && row.State.Terminal() || len(probes.Failures) > 0 || probes.queues() {
			refs = append(refs, ref)
		}
	}
	sortRefs(refs)
	return refs[:min(len(refs), looksPerPass)]
}

// lookSuspects looks directly at what a first judgement could not settle, and reports
// whether there was anything. Where there are more than one pass may look at, they take turns: the
// passes go round, and each suspect is reached within as many passes as [LookTurns] says.
func (k *Keeper) lookSuspects(ctx context.Context, s *Snapshot, j *Judgement) bool {
	suspects := j.suspects()
	if len(suspects) == 0 {
		return false
	}
	var refs []Ref
	var finds []*Task
	turns := j.turns(suspects)
	//guard:look-turn P11
	now := int(uint64(k.turn) % uint64(len(turns)))
	for turn, list := range turns {
		for _, d := range list {
			if turn != now {
				s.Unlooked[d.Subject.ID] = true
				continue
			}
			refs = append(refs, j.view.lookRefs(d.Subject)...)
			finds = append(finds, d.Subject.Task)
		}
	}
	k.progress("looking again")
	k.look(ctx, s, refs)
	k.find(ctx, s, finds)
	return true
}

// suspects are the decisions that wait for a direct look.
func (j *Judgement) suspects() []*Decision {
	var out []*Decision
	for i := range j.Decisions {
		if j.Decisions[i].Look {
			out = append(out, &j.Decisions[i])
		}
	}
	return out
}

// turns divides the suspects among as many passes as it takes: to each as many as it may look at.
func (j *Judgement) turns(suspects []*Decision) (turns [][]*Decision) {
	looks := 0
	for i, d := range suspects {
		n := len(j.view.lookRefs(d.Subject)) + 1
		if i == 0 || len(turns[len(turns)-1]) >= looksPerPass || looks+n > 2*looksPerPass {
			turns, looks = append(turns, nil), 0
		}
		turns[len(turns)-1] = append(turns[len(turns)-1], d)
		looks += n
	}
	return turns
}

// LookTurns is within how many passes each suspect is looked at, where so many did not get a look in
// this one.
func LookTurns(unlooked int) int { return (unlooked + looksPerPass - 1) / looksPerPass }

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// lookRefs are the sandboxes of a subject to be got by id.
func (v *view) lookRefs(s *Subject) []Ref {
	var refs []Ref
	for _, b := range s.Boxes {
		if !b.Here && !b.Gone || b.Here && b.State == SandboxDeleting {
			refs = append(refs, b.Ref)
		}
	}
	if s.Task == nil || s.Task.Sandbox == "" {
		return refs
	}
	for _, provider := range v.candidates(s.Task) {
		ref := Ref{provider, s.Task.Sandbox}
		here := s.hasBox(func(b *Box) bool {
			return b.Here && (b.Ref == ref || b.Provider != provider && b.calledBy(s.Task.Sandbox))
		})
		if v.p.Providers[provider].SandboxIsID && !here && !v.anothers(s.Task, provider) && !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	return refs
}

// anothers reports whether the id that the row holds is known to be another provider's: this one need
// not be asked for it, which may be down, or refuse what is no id of its own.
func (v *view) anothers(t *Task, provider string) bool {
	if v.has(t, provider) {
		return false
	}
	return slices.ContainsFunc(v.candidates(t), func(other string) bool {
		return v.p.Providers[other].SandboxIsID && v.has(t, other)
	})
}

// has reports whether the provider shows the sandbox that the row names by its id, or did, as the
// task's own.
func (v *view) has(t *Task, provider string) bool {
	ref := Ref{provider, t.Sandbox}
	at, listed := v.s.place(ref)
	seen, known := v.s.Memory.Sandboxes[ref]
	return known && seen.Task == t.ID || listed && (v.s.Sandboxes[at].Task == "" || v.s.Sandboxes[at].Task == t.ID)
}

// look gets sandboxes by id and keeps what each look said.
func (k *Keeper) look(ctx context.Context, s *Snapshot, refs []Ref) {
	looks := k.looks(ctx, refs)
	for i, ref := range refs {
		looks[i].listed = s.lists(ref)
		s.Looks[ref] = looks[i]
		if !looks[i].Gone && looks[i].Error == "" {
			s.addOwned(looks[i].Sandbox)
		}
	}
}

// addOwned adds one that a look found and no listing showed, if it is ours.
func (s *Snapshot) addOwned(sb Sandbox) {
	//guard:look-owned P1
	if sb.Owned {
		s.add(sb)
	}
}

func (k *Keeper) looks(ctx context.Context, refs []Ref) []Look {
	return inParallel(refs, k.parallel(lookers), func(ref Ref) Look { return k.lookAt(ctx, ref) })
}

// inParallel does the same with each of a list, so many at once. Results carry their own
// errors, so that one never hides another's.
func inParallel[T, R any](list []T, limit int, do func(T) R) []R {
	out := make([]R, len(list))
	var g errgroup.Group
	g.SetLimit(limit)
	for i, item := range list {
		g.Go(func() error {
			out[i] = do(item)
			return nil
		})
	}
	_ = g.Wait() // no function of it fails
	return out
}

func (k *Keeper) lookAt(ctx context.Context, ref Ref) Look {
	p, ok := k.Providers[ref.Provider]
	if !ok {
		return Look{Error: "provider " + ref.Provider + " is not configured any more"}
	}
	sb, err := p.Get(ctx, ref.ID)
	switch {
	//guard:look-not-found harm
	case errors.Is(err, ErrNotFound):
		return Look{Gone: true}
	//guard:look-no-id live
	case errors.Is(err, ErrUnknownID) && k.Policy.Providers[ref.Provider].LinkTask:
		return Look{Gone: true} // whether the task has a sandbox there tells the label
	case err != nil:
		return Look{Error: text.Clip(err.Error(), 200)}
	//guard:look-other P4
	case sb.ID != ref.ID:
		return Look{Error: "the provider answered with another sandbox, " + text.Clip(sb.ID, 60)}
	}
	k.Policy.describe(&sb)
	return Look{Sandbox: sb}
}

// find searches sandboxes by link at every provider where the task's may be.
func (k *Keeper) find(ctx context.Context, s *Snapshot, tasks []*Task) {
	out := inParallel(tasks, k.parallel(lookers), func(t *Task) FindLook { return k.findOne(ctx, t) })
	for i, t := range tasks {
		s.Finds[t.ID] = out[i]
		for _, sb := range out[i].Sandboxes {
			s.addOwned(sb)
		}
	}
}

func (k *Keeper) findOne(ctx context.Context, t *Task) FindLook {
	var out FindLook
	for _, name := range k.candidates(t) {
		p := k.Policy.Providers[name]
		if !p.LinkTask && !p.byKey(t) {
			continue
		}
		found, err := k.findAt(ctx, name, t)
		//guard:find-failed P3
		if err != nil {
			out.Error = text.Clip(name+": "+err.Error(), 200)
			continue
		}
		out.Asked = append(out.Asked, name)
		out.Sandboxes = append(out.Sandboxes, found...)
	}
	return out
}

// findAt searches a task's sandboxes at one provider: by the label that names the task, and by
// what its row holds, where that is no id.
func (k *Keeper) findAt(ctx context.Context, name string, t *Task) (found []Sandbox, err error) {
	p := k.Policy.Providers[name]
	if p.LinkTask {
		if found, err = k.Providers[name].Find(ctx, t.ID); err != nil {
			return nil, err
		}
	}
	if p.byKey(t) {
		asked, can := k.Providers[name].(Named)
		if !can {
			//guard:find-named P4
			return nil, errors.New("it cannot be asked for a sandbox by what rows hold")
		}
		named, err := asked.Named(ctx, t.Sandbox)
		if err != nil {
			return nil, err
		}
		found = append(found, named...)
	}
	for i := range found {
		k.Policy.describe(&found[i])
	}
	slices.SortStableFunc(found, func(a, b Sandbox) int { return compareRefs(a.Ref, b.Ref) })
	return slices.CompactFunc(found, func(a, b Sandbox) bool { return a.Ref == b.Ref }), nil
}

func (k *Keeper) candidates(t *Task) []string {
	v := view{p: &k.Policy}
	return v.candidates(t)
}
