package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// The bounds of one pass's look-ups, so that a mass failure cannot turn a pass into a
// flood of calls. What is not looked at now is looked at by a later pass.
const (
	looksPerPass = 300
	missingLooks = 50
	lookers      = 8
)

// firstLook reads the task database's clock and then the providers' listings, in the order
// that decides the race, and meanwhile what the ledger remembers.
func (k *Keeper) firstLook(ctx context.Context, kind PassKind) (*Snapshot, error) {
	s := &Snapshot{
		Kind: kind,
		Rows: map[string]Task{}, Absent: map[string]bool{}, Unparsable: map[string]bool{}, ByKey: map[string]Task{},
		Listings: map[string]ListingSeen{}, Looks: map[Ref]Look{}, Finds: map[string]FindLook{},
	}
	if err := k.readClock(ctx, s); err != nil {
		return nil, err
	}
	if err := k.shutRefused(ctx); err != nil {
		return nil, err
	}
	var wg sync.WaitGroup
	var failed error
	recall := func() { s.Memory, failed = k.Ledger.Recall(ctx) }
	if k.Parallel == 1 {
		recall()
	} else {
		wg.Go(recall)
	}
	if kind == Full {
		k.progress("listing")
		k.list(ctx, s)
	}
	wg.Wait()
	if failed != nil {
		return nil, fmt.Errorf("recall the ledger: %w", failed)
	}
	s.Memory.WatchSince = watch(&s.Memory, &k.Policy)
	if k.Policy.Tasks.None {
		s.T0 = s.Memory.Now
	}
	for i := range s.Sandboxes {
		s.Sandboxes[i].Labels = heldLabels(s.Sandboxes[i].Labels, s.Memory.Controls.Holds)
	}
	return s, nil
}

// observe reads the rows, after the listings ended, looks at what they leave open, and
// judges.
func (k *Keeper) observe(ctx context.Context, s *Snapshot) (*Judgement, error) {
	if err := k.readTasks(ctx, s); err != nil {
		return nil, err
	}
	if err := k.readRows(ctx, s); err != nil {
		return nil, err
	}
	k.own(s)
	s.weigh()
	k.lookMissing(ctx, s)
	if s.Kind == Full {
		k.readTemplates(ctx, s)
	}
	k.progress("judging")
	j := Judge(s, &k.Policy)
	if k.lookSuspects(ctx, s, j) {
		j = Judge(s, &k.Policy)
	}
	return j, context.Cause(ctx)
}

func (k *Keeper) readClock(ctx context.Context, s *Snapshot) error {
	if k.Policy.Tasks.None {
		return nil
	}
	clock, err := k.Tasks.Clock(ctx)
	if err != nil {
		return fmt.Errorf("read the task database's clock: %w", err)
	}
	s.Clock, s.T0 = clock, clock.Now
	return nil
}

// list reads every provider, each on its own: one that fails says nothing of the others. A
// sandbox that stands on two pages, as it may when one is created meanwhile, counts once.
func (k *Keeper) list(ctx context.Context, s *Snapshot) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, name := range k.Policy.providerNames() {
		wg.Go(func() {
			listed, seen := k.listOne(ctx, name)
			mu.Lock()
			defer mu.Unlock()
			s.Listings[name] = seen
			s.Sandboxes = append(s.Sandboxes, listed...)
		})
	}
	wg.Wait()
	sortSandboxes(s)
	s.Sandboxes = slices.CompactFunc(s.Sandboxes, func(a, b Sandbox) bool { return a.Ref == b.Ref })
}

// listOne keeps of a listing what judging needs.
func (k *Keeper) listOne(ctx context.Context, name string) ([]Sandbox, ListingSeen) {
	referenced := k.Policy.Providers[name].Referenced
	var kept []Sandbox
	seen := ListingSeen{Listing: Listing{Provider: name}}
	listing, err := k.Providers[name].List(ctx, func(page []Sandbox) error {
		for _, sb := range page {
			sb.scrub()
			if !sb.Owned && !referenced {
				seen.Foreign++
				continue
			}
			kept = append(kept, sb)
		}
		return nil
	})
	seen.Listing = listing
	seen.Provider = name
	if err != nil {
		seen.Error, seen.Complete = clip(err.Error(), 300), false
		seen.Shut = errors.Is(err, errShut)
		seen.Refused = !seen.Shut && errors.Is(err, ErrUnauthorized)
		k.Log.WarnContext(ctx, "listing failed", "provider", name, "err", err)
	}
	seen.Owned = len(kept)
	return kept, seen
}

// heldLabels keeps of a sandbox's labels only those that a hold names, so that a listing stays small.
func heldLabels(labels map[string]string, holds []Hold) map[string]string {
	var kept map[string]string
	for _, h := range holds {
		key, isLabel := strings.CutPrefix(h.Target, "label:")
		if !isLabel {
			continue
		}
		key, _, _ = strings.Cut(key, "=")
		if value, ok := labels[key]; ok {
			if kept == nil {
				kept = map[string]string{}
			}
			kept[key] = value
		}
	}
	return kept
}

func (k *Keeper) readTasks(ctx context.Context, s *Snapshot) error {
	if k.Policy.Tasks.None {
		return nil
	}
	k.progress("reading tasks")
	rows, err := k.Tasks.Live(ctx)
	if err != nil {
		return fmt.Errorf("read the live tasks: %w", err)
	}
	s.Tasks = rows.Tasks
	return nil
}

// readRows reads by key the rows that left the live set since the last pass, and those
// that may explain a sandbox, ignoring `where`.
func (k *Keeper) readRows(ctx context.Context, s *Snapshot) error {
	if k.Policy.Tasks.None {
		return nil
	}
	live := make(map[string]bool, len(s.Tasks))
	linked := make(map[string]bool)
	for _, t := range s.Tasks {
		live[t.ID] = true
		if t.Sandbox != "" && k.Policy.Tasks.SandboxKnown {
			linked[t.Sandbox] = true
		}
	}
	ids, keys := wantedRows(s, live, linked)
	if err := k.readByID(ctx, s, ids); err != nil {
		return err
	}
	return k.readByKey(ctx, s, keys)
}

func wantedRows(s *Snapshot, live, linked map[string]bool) (ids, keys []string) {
	wanted := map[string]bool{}
	for id, seen := range s.Memory.Tasks {
		if seen.Live && !live[id] {
			wanted[id] = true
		}
	}
	for i := range s.Sandboxes {
		sb := &s.Sandboxes[i]
		task := sb.Task
		if sb.OddLink {
			continue
		}
		if task == "" {
			task = s.Memory.Sandboxes[sb.Ref].Task
		}
		if task != "" && !live[task] {
			wanted[task] = true
		}
		if sb.Task == "" && sb.SandboxKey != "" && !linked[sb.SandboxKey] {
			keys = append(keys, sb.SandboxKey)
		}
	}
	slices.Sort(keys)
	return sortedKeys(wanted), slices.Compact(keys)
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
		if before, ok := s.ByKey[t.Sandbox]; !ok || !before.State.Live() {
			s.ByKey[t.Sandbox] = t
			s.Rows[t.ID] = t
		}
	}
	return nil
}

// own settles who owns what at providers where owned means referenced from a row, now or
// as the ledger remembers. The others are foreign and leave the snapshot.
func (k *Keeper) own(s *Snapshot) {
	if !k.anyReferenced() {
		return
	}
	referenced := map[string]bool{}
	for _, t := range s.Tasks {
		referenced[t.Sandbox] = true
		referenced["task:"+t.ID] = true
	}
	owned := s.Sandboxes[:0]
	for _, sb := range s.Sandboxes {
		if !sb.Owned && k.Policy.Providers[sb.Provider].Referenced {
			_, row := s.Rows[sb.Task]
			_, key := s.ByKey[sb.SandboxKey]
			known := s.Memory.Sandboxes[sb.Ref].Task != ""
			sb.Owned = row && sb.Task != "" || key && sb.SandboxKey != "" || known ||
				sb.SandboxKey != "" && referenced[sb.SandboxKey] || sb.Task != "" && referenced["task:"+sb.Task]
		}
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

func (k *Keeper) anyReferenced() bool {
	for _, p := range k.Policy.Providers {
		if p.Referenced {
			return true
		}
	}
	return false
}

// lookMissing gets by id what the ledger knows and a listing did not show: to trust a
// shrunken listing or not, and to settle what is gone.
func (k *Keeper) lookMissing(ctx context.Context, s *Snapshot) {
	var refs []Ref
	for _, name := range k.Policy.providerNames() {
		if seen, ok := s.Listings[name]; !ok || seen.Error != "" || !seen.Complete {
			continue
		}
		missing, before := missingFrom(s, name)
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
// live set, and those that fail their probes.
func quickLooks(s *Snapshot) []Ref {
	var refs []Ref
	for ref, seen := range s.Memory.Sandboxes {
		if !seen.GoneAt.IsZero() {
			continue
		}
		row, left := s.Rows[seen.Task]
		if left && row.State.Terminal() || len(s.Memory.Probes[ref].Failures) > 0 {
			refs = append(refs, ref)
		}
	}
	sortRefs(refs)
	return refs[:min(len(refs), looksPerPass)]
}

// lookSuspects looks directly at what a first judgement could not settle, and reports
// whether there was anything.
func (k *Keeper) lookSuspects(ctx context.Context, s *Snapshot, j *Judgement) bool {
	var refs []Ref
	var finds []*Task
	for _, i := range rotated(indices(len(j.Decisions)), s.Memory.Now) {
		d := &j.Decisions[i]
		if !d.Look || len(refs)+len(finds) >= looksPerPass {
			continue
		}
		refs = append(refs, j.view.lookRefs(&d.Subject)...)
		finds = append(finds, d.Subject.Task)
	}
	if len(finds) == 0 {
		return false
	}
	k.progress("looking again")
	k.look(ctx, s, refs)
	k.find(ctx, s, finds)
	return true
}

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
		if !b.Here && !b.Gone {
			refs = append(refs, b.Ref)
		}
	}
	if s.Task == nil || s.Task.Sandbox == "" {
		return refs
	}
	for _, provider := range v.candidates(s.Task) {
		ref := Ref{provider, s.Task.Sandbox}
		if v.p.Providers[provider].SandboxIsID && !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	return refs
}

// look gets sandboxes by id and keeps what each look said.
func (k *Keeper) look(ctx context.Context, s *Snapshot, refs []Ref) {
	looks := k.looks(ctx, refs)
	for i, ref := range refs {
		s.Looks[ref] = looks[i]
		if !looks[i].Gone && looks[i].Error == "" {
			s.addOwned(looks[i].Sandbox)
		}
	}
}

// addOwned adds one that a look found and no listing showed, if it is ours.
func (s *Snapshot) addOwned(sb Sandbox) {
	if sb.Owned {
		s.add(sb)
	}
}

func (k *Keeper) looks(ctx context.Context, refs []Ref) []Look {
	out := make([]Look, len(refs))
	var g errgroup.Group
	g.SetLimit(k.parallel(lookers))
	for i, ref := range refs {
		g.Go(func() error {
			out[i] = k.lookAt(ctx, ref)
			return nil
		})
	}
	_ = g.Wait() // looks carry their own errors
	return out
}

func (k *Keeper) lookAt(ctx context.Context, ref Ref) Look {
	p, ok := k.Providers[ref.Provider]
	if !ok {
		return Look{Error: "provider " + ref.Provider + " is not configured any more"}
	}
	sb, err := p.Get(ctx, ref.ID)
	switch {
	case errors.Is(err, ErrNotFound):
		return Look{Gone: true}
	case err != nil:
		return Look{Error: clip(err.Error(), 200)}
	case sb.ID != ref.ID:
		return Look{Error: "the provider answered with another sandbox, " + clip(sb.ID, 60)}
	}
	sb.scrub()
	return Look{Sandbox: sb}
}

// find searches sandboxes by link at every provider where the task's may be.
func (k *Keeper) find(ctx context.Context, s *Snapshot, tasks []*Task) {
	out := make([]FindLook, len(tasks))
	var g errgroup.Group
	g.SetLimit(k.parallel(lookers))
	for i, t := range tasks {
		g.Go(func() error {
			out[i] = k.findOne(ctx, t)
			return nil
		})
	}
	_ = g.Wait() // looks carry their own errors
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
		if !k.Policy.Providers[name].LinkTask {
			continue
		}
		found, err := k.Providers[name].Find(ctx, t.ID)
		if err != nil {
			out.Error = clip(name+": "+err.Error(), 200)
			continue
		}
		for i := range found {
			found[i].scrub()
		}
		out.Asked = append(out.Asked, name)
		out.Sandboxes = append(out.Sandboxes, found...)
	}
	return out
}

func (k *Keeper) candidates(t *Task) []string {
	v := view{p: &k.Policy}
	return v.candidates(t)
}

// readTemplates looks at the templates that the config names and that living sandboxes
// came from. One that cannot be measured is left out: it accuses nobody.
func (k *Keeper) readTemplates(ctx context.Context, s *Snapshot) {
	for _, name := range k.Policy.providerNames() {
		p, ok := k.Providers[name].(Templates)
		if !ok {
			continue
		}
		for _, wanted := range wantedTemplates(s, name, k.Policy.Providers[name].Templates) {
			t, err := p.Template(ctx, wanted)
			if err != nil {
				k.Log.WarnContext(ctx, "template not measured", "provider", name, "template", wanted, "err", err)
				continue
			}
			if t.Name == "" {
				t.Name = wanted
			}
			s.Templates = append(s.Templates, t)
			s.TemplateOf = append(s.TemplateOf, name)
		}
	}
}

// templatesPerPass bounds the look-ups of templates in use.
const templatesPerPass = 20

func wantedTemplates(s *Snapshot, provider string, configured []string) []string {
	names := slices.Clone(configured)
	used := map[string]bool{}
	for _, sb := range s.Sandboxes {
		if sb.Provider == provider && sb.Template != "" && !slices.Contains(configured, sb.Template) {
			used[sb.Template] = true
		}
	}
	more := sortedKeys(used)
	return append(names, more[:min(len(more), templatesPerPass)]...)
}
