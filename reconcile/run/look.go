package run

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// lookMissing gets by id what the ledger knows and a listing did not show: to trust a
// shrunken listing or not, and to settle what is gone. So it gets what only a label in the listing makes ours.
func (k observer) lookMissing(ctx context.Context, s *reconcile.Snapshot) {
	var refs []reconcile.Ref
	for _, name := range k.Policy.ProviderNames() {
		if seen, ok := s.Listings[name]; !ok || seen.Error != "" || !seen.Complete {
			continue
		}
		missing, before, _ := view.MissingFrom(s, name)
		if len(missing)*2 > before {
			refs = append(refs, missing[:min(view.ShrinkLooks, len(missing))]...)
			continue
		}
		refs = append(refs, view.Rotated(missing, s.Memory.Now)[:min(view.MissingLooks, len(missing))]...)
	}
	labelled := view.Unconfirmed(s, &k.Policy)
	refs = append(refs, view.Rotated(labelled, s.Memory.Now)[:min(view.LooksPerPass, len(labelled))]...)
	if s.Kind == reconcile.Quick {
		refs = view.QuickLooks(s)
	}
	k.lookup(ctx, s, slices.DeleteFunc(refs, func(ref reconcile.Ref) bool {
		_, looked := s.Lookups[ref]
		return looked
	}))
}

// lookRelabelled gets by id what a listing shows as another task's than the live one whose it was. Where no look says
// so, too, it counts as not listed: the task that it was shown for may have nothing to do with it, and the one that it
// was taken from may be at work in it.
func (k observer) lookRelabelled(ctx context.Context, s *reconcile.Snapshot) {
	if len(s.Sandboxes) == 0 {
		return // as in a quick pass
	}
	live := make(map[string]bool, len(s.Tasks))
	for i := range s.Tasks {
		live[s.Tasks[i].ID] = true
	}
	shown := view.Relabelled(s, live)
	refs := make([]reconcile.Ref, len(shown))
	for i := range shown {
		refs[i] = shown[i].Ref
		s.Drop(refs[i])
	}
	k.lookup(ctx, s, view.Rotated(refs, s.Memory.Now)[:min(view.MissingLooks, len(refs))])
	for i := range shown {
		look, looked := s.Lookups[refs[i]]
		if looked && look.Error == "" && !look.Gone && look.Sandbox.Task == shown[i].Task {
			look.Listed = true
			s.Lookups[refs[i]] = look
			s.Add(shown[i])
		}
	}
}

// sightAgain gets by id what a quick pass sights again, and then reads the rows that may explain it: a row that was
// written before the look is seen with it.
func (k observer) sightAgain(ctx context.Context, s *reconcile.Snapshot) error {
	refs := view.SightAgain(s, &k.Policy)
	if len(refs) == 0 {
		return nil
	}
	k.lookup(ctx, s, refs)
	return k.readRows(ctx, s)
}

// lookSuspects looks directly at what a first judgement could not settle, and reports
// whether there was anything. Where there are more than one pass may look at, they take turns: the
// passes go round, and each suspect is reached within as many passes as [LookTurns] says.
func (k observer) lookSuspects(ctx context.Context, s *reconcile.Snapshot, j *decide.Judgement) bool {
	suspects := judgementSuspects(j)
	if len(suspects) == 0 {
		return false
	}
	var refs []reconcile.Ref
	var finds []*reconcile.Task
	turns := judgementTurns(j, suspects)
	//guard:look-turn P11
	now := int(uint64(k.turn) % uint64(len(turns)))
	for turn, list := range turns {
		for _, d := range list {
			if turn != now {
				s.Unlooked[d.Subject.ID] = true
				continue
			}
			refs = append(refs, j.View.LookRefs(d.Subject)...)
			if d.Subject.Task != nil {
				finds = append(finds, d.Subject.Task)
			}
		}
	}
	k.progress("looking again")
	k.lookup(ctx, s, refs)
	k.find(ctx, s, finds)
	return true
}

// lookPaired looks for what rows name, where tasks that seem to have no sandbox shield those of others. What nothing
// proves to be a task's the ledger does not remember, and its inventory does not show. It reports whether it looked.
func (k observer) lookPaired(ctx context.Context, s *reconcile.Snapshot, j *decide.Judgement) bool {
	var refs []reconcile.Ref
	var named []*reconcile.Task
	for i := range j.Decisions {
		d := j.Decisions[i].Subject
		here := d.HasBox(func(b *reconcile.SeenSandbox) bool { return b.Here })
		if len(j.View.Pairs) > 0 && d.Task != nil && d.Task.Sandbox != "" && !here && len(named) < view.LooksPerPass {
			refs, named = append(refs, j.View.LookRefs(d)...), append(named, d.Task)
		}
	}
	if len(named) == 0 {
		return false
	}
	k.lookup(ctx, s, refs)
	k.find(ctx, s, named)
	return true
}

// judgementSuspects are the decisions that wait for a direct look.
func judgementSuspects(j *decide.Judgement) []*decide.Decision {
	var out []*decide.Decision
	for i := range j.Decisions {
		if j.Decisions[i].Look {
			out = append(out, &j.Decisions[i])
		}
	}
	return out
}

// judgementTurns divides the suspects among as many passes as it takes: to each as many as it may look at.
func judgementTurns(j *decide.Judgement, suspects []*decide.Decision) (turns [][]*decide.Decision) {
	looks := 0
	for i, d := range suspects {
		n := len(j.View.LookRefs(d.Subject)) + 1
		if i == 0 || len(turns[len(turns)-1]) >= view.LooksPerPass || looks+n > 2*view.LooksPerPass {
			turns, looks = append(turns, nil), 0
		}
		turns[len(turns)-1] = append(turns[len(turns)-1], d)
		looks += n
	}
	return turns
}

// LookTurns is within how many passes each suspect is looked at, where so many did not get a look in
// this one.
func LookTurns(unlooked int) int { return (unlooked + view.LooksPerPass - 1) / view.LooksPerPass }

// lookup gets sandboxes by id and keeps what each look said. Where rows prove whose a sandbox is, the row that names
// one proves it by this look as by a listing, though it may be over before any listing shows it: its name is on record
// then, by which a later one of it is known.
func (k observer) lookup(ctx context.Context, s *reconcile.Snapshot, refs []reconcile.Ref) {
	k.lookupBut(ctx, s, refs, nil)
	//guard:look-by-row harm
	if len(refs) == 0 || !k.anyReferenced() {
		return
	}
	//guard:look-label P1
	labels := k.unreadLabels(s, refs)
	read := k.readByID(ctx, s, labels) == nil
	rows := view.NewProver(s, &k.Policy)
	for _, ref := range refs {
		look := s.Lookups[ref]
		if look.Gone || look.Error != "" || !read && slices.Contains(labels, look.Sandbox.Task) {
			continue
		}
		rows.Settle(&look.Sandbox)
		s.Lookups[ref] = look
		//guard:look-not-ours P1
		if !look.Sandbox.Owned && s.Lists(ref) && k.Policy.Providers[ref.Provider].ByRow(&look.Sandbox) {
			s.Drop(ref) // the listing showed it with the label of another, as no row names it
		}
		s.AddOwned(look.Sandbox)
	}
}

// unreadLabels are the tasks of which nobody knows yet whether they have rows, and whose labels these looks show: where
// one has none, the label speaks against the row that names its sandbox.
func (k observer) unreadLabels(s *reconcile.Snapshot, refs []reconcile.Ref) (ids []string) {
	live := make(map[string]bool, len(s.Tasks))
	for i := range s.Tasks {
		live[s.Tasks[i].ID] = true
	}
	for _, ref := range refs {
		sb := s.Lookups[ref].Sandbox
		_, known := s.Rows[sb.Task]
		known = known || live[sb.Task] || s.Absent[sb.Task] || s.Unparsable[sb.Task]
		if sb.Task != "" && !known && k.Policy.Providers[ref.Provider].ByRow(&sb) {
			ids = append(ids, sb.Task)
		}
	}
	return ids
}

// lookupBut does the same, but for what was looked at a moment ago.
func (k observer) lookupBut(ctx context.Context, s *reconcile.Snapshot, refs []reconcile.Ref,
	seen map[reconcile.Ref]reconcile.Lookup,
) {
	looks := k.looks(ctx, refs, seen)
	k.deaths(ctx, s, refs, looks)
	for i, ref := range refs {
		looks[i].Listed = s.Lists(ref)
		s.Lookups[ref] = looks[i]
		if !looks[i].Gone && looks[i].Error == "" {
			s.AddOwned(looks[i].Sandbox)
		}
	}
}

func (k observer) looks(ctx context.Context, refs []reconcile.Ref, seen map[reconcile.Ref]reconcile.Lookup,
) []reconcile.Lookup {
	return inParallel(refs, k.parallel(view.Lookers), func(ref reconcile.Ref) reconcile.Lookup {
		if look, known := seen[ref]; known {
			return look
		}
		return k.lookupOne(ctx, ref)
	})
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

func (k observer) lookupOne(ctx context.Context, ref reconcile.Ref) reconcile.Lookup {
	p, ok := k.Providers[ref.Provider]
	if !ok {
		return reconcile.Lookup{Error: "provider " + ref.Provider + " is not configured any more"}
	}
	within, end := k.spanOf(k.clocks.Watch(ctx, ref.Provider), "lookup", ref)
	sb, err := p.Get(within, ref.ID)
	end(unlessGone(err), slog.String("state", string(sb.State)))
	switch {
	//guard:look-not-found harm
	case errors.Is(err, reconcile.ErrNotFound):
		return reconcile.Lookup{Gone: true}
	//guard:look-no-id live
	case errors.Is(err, reconcile.ErrUnknownID) && k.Policy.Providers[ref.Provider].LinkTask:
		return reconcile.Lookup{Gone: true} // whether the task has a sandbox there tells the label
	case err != nil:
		return reconcile.Lookup{Error: text.Clip(err.Error(), 200)}
	//guard:look-other P4
	case sb.ID != ref.ID:
		return reconcile.Lookup{Error: "the provider answered with another sandbox, " + text.Clip(sb.ID, 60)}
	}
	k.Policy.Describe(&sb)
	return reconcile.Lookup{Sandbox: sb}
}

// find searches sandboxes by link at every provider where the task's may be.
func (k observer) find(ctx context.Context, s *reconcile.Snapshot, tasks []*reconcile.Task) {
	out := inParallel(tasks, k.parallel(view.Lookers),
		func(t *reconcile.Task) reconcile.FindLookup { return k.findOne(ctx, t) })
	k.lookFound(ctx, s, out)
	rows := view.NewProver(s, &k.Policy)
	for i, t := range tasks {
		s.Finds[t.ID] = k.believed(s, t, out[i])
		for j := range s.Finds[t.ID].Sandboxes {
			sb := &s.Finds[t.ID].Sandboxes[j]
			if look := s.Lookups[sb.Ref]; !look.Gone && look.Error == "" {
				rows.Settle(sb)
				s.AddOwned(*sb)
			}
		}
	}
}

// lookFound gets by id what searches found: an index may show a sandbox with the labels of another.
func (k observer) lookFound(ctx context.Context, s *reconcile.Snapshot, found []reconcile.FindLookup) {
	unseen := map[reconcile.Ref]bool{}
	for _, find := range found {
		for j := range find.Sandboxes {
			ref := find.Sandboxes[j].Ref
			if _, looked := s.Lookups[ref]; !looked {
				unseen[ref] = true
			}
		}
	}
	refs := slices.Collect(maps.Keys(unseen))
	reconcile.SortRefs(refs)
	k.lookup(ctx, s, refs)
}

// believed is what a search said, as far as the looks at what it found bear it out: each sandbox as it was looked at.
// A search that showed one as the task's that is not proves nothing, neither that there is another nor that there is
// none.
func (k observer) believed(s *reconcile.Snapshot, t *reconcile.Task, find reconcile.FindLookup) reconcile.FindLookup {
	found := find.Sandboxes
	find.Sandboxes = nil
	for i := range found {
		look := s.Lookups[found[i].Ref]
		switch sb := &look.Sandbox; {
		case look.Gone: // an index may be behind
			find.Sandboxes = append(find.Sandboxes, found[i])
		case look.Error != "":
			find.Sandboxes = append(find.Sandboxes, found[i])
			find.Error = text.Clip("look at what it found, "+found[i].ID+": "+look.Error, 200)
		//guard:find-lies P1
		case sb.Task != t.ID && !(k.Policy.Providers[sb.Provider].ByKey(t) && sb.CalledBy(t.Sandbox)):
			find.Error = text.Clip(sb.Provider+": it showed "+sb.ID+", which is not the task's when it is looked at", 200)
		default:
			find.Sandboxes = append(find.Sandboxes, *sb)
		}
	}
	return find
}

func (k observer) findOne(ctx context.Context, t *reconcile.Task) reconcile.FindLookup {
	var out reconcile.FindLookup
	for _, name := range k.Policy.Candidates(t) {
		p := k.Policy.Providers[name]
		if !p.LinkTask && !p.ByKey(t) {
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
func (k observer) findAt(
	ctx context.Context, name string, t *reconcile.Task,
) (found []reconcile.Sandbox, err error) {
	p := k.Policy.Providers[name]
	ctx = k.clocks.Watch(ctx, name)
	if p.LinkTask {
		if found, err = k.Providers[name].Find(ctx, t.ID); err != nil {
			return nil, err
		}
	}
	if p.ByKey(t) {
		asked := reconcile.CapabilitiesOf(k.Providers[name]).Named
		if asked == nil {
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
		k.Policy.Describe(&found[i])
	}
	slices.SortStableFunc(found, func(a, b reconcile.Sandbox) int { return reconcile.CompareRefs(a.Ref, b.Ref) })
	return slices.CompactFunc(found, func(a, b reconcile.Sandbox) bool { return a.Ref == b.Ref }), nil
}

// endsThatFailed tells the providers which ends were asked for and failed, before they are asked what became of them:
// whoever asked may have been another process.
func (k *Reconciler) endsThatFailed(now time.Time, open []reconcile.Action) {
	for i := range open {
		a := &open[i]
		asked := reconcile.Latest(a.FirstActed, a.ActedAt, a.AskedAt)
		unsure := reconcile.CapabilitiesOf(k.Providers[a.Provider]).Unsure
		//guard:end-failed-elsewhere lost
		if unsure != nil && a.Step == reconcile.StepTerminate && a.Outcome == reconcile.OutcomePending && !asked.IsZero() {
			unsure.EndFailed(a.Sandbox, now.Sub(asked))
		}
	}
}
