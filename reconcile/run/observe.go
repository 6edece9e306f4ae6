package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// observeFirst reads the task database's clock and then the providers' listings, in the order
// that decides the race, and meanwhile what the ledger remembers.
func (k observer) observeFirst(ctx context.Context, kind reconcile.PassKind) (*reconcile.Snapshot, error) {
	s := unread(reconcile.Snapshot{Kind: kind, Pushed: k.pushed, Listings: map[string]reconcile.ListingSeen{},
		Clocks: k.clocks})
	if err := k.beforeLooking(ctx, s); err != nil {
		return nil, err
	}
	var wg sync.WaitGroup
	var failed error
	recalled := make(chan struct{})
	recall := func() {
		defer close(recalled)
		s.Memory, failed = k.Ledger.Recall(ctx)
	}
	if k.Parallel == 1 {
		recall()
	} else {
		wg.Go(recall)
	}
	if kind == reconcile.Full {
		k.progress("listing")
		k.list(ctx, s, recalled)
	}
	wg.Wait()
	if failed != nil {
		return nil, fmt.Errorf("recall the ledger: %w", failed)
	}
	k.circuitListed(s)
	if kind == reconcile.Quick {
		s.RecallTemplates()
	}
	s.Memory.WatchSince = reconcile.Watch(&s.Memory, &k.Policy)
	if k.Policy.Tasks.None {
		s.T0 = s.Memory.Now
	}
	return s, nil
}

// unread is a snapshot without rows and looks.
func unread(s reconcile.Snapshot) *reconcile.Snapshot {
	s.Rows, s.Absent, s.Unparsable = map[string]reconcile.Task{}, map[string]bool{}, map[string]bool{}
	s.ByKey, s.Explained = map[reconcile.Ref]reconcile.Task{}, map[reconcile.Ref]string{}
	s.Unlooked, s.Lookups = map[string]bool{}, map[reconcile.Ref]reconcile.Lookup{}
	s.Finds = map[string]reconcile.FindLookup{}
	return &s
}

// observe reads the rows, after the listings ended, looks at what they leave open, and judges. A quick pass of a large
// fleet keeps only the rows that are not plain, and reads everybody where that does not do.
func (k observer) observe(ctx context.Context, s *reconcile.Snapshot) (*decide.Judgement, error) {
	if sieve := k.sieve(s); sieve != nil {
		some := unread(*s)
		if err := k.readSome(ctx, some, sieve); err == nil {
			j, err := k.look(ctx, some)
			if err != nil || sieve.Stands(j) {
				return j, err
			}
		}
	}
	if err := k.readTasks(ctx, s); err != nil {
		return nil, err
	}
	return k.look(ctx, s)
}

// look looks at what the live rows leave open, and judges.
func (k observer) look(ctx context.Context, s *reconcile.Snapshot) (*decide.Judgement, error) {
	if err := k.readRows(ctx, s); err != nil {
		return nil, err
	}
	k.own(s)
	//guard:relabelled-looked harm
	k.lookRelabelled(ctx, s)
	s.Weigh()
	if err := k.sightAgain(ctx, s); err != nil {
		return nil, err
	}
	k.lookMissing(ctx, s)
	//guard:further-looked harm
	if !k.Policy.Tasks.None { // after the looks: a quick pass knows no other sandboxes
		if err := k.readFurther(ctx, s, s.Sandboxes); err != nil {
			return nil, err
		}
	}
	if s.Kind == reconcile.Full {
		k.readTemplates(ctx, s)
		k.readQuotas(ctx, s)
	}
	k.progress("judging")
	j := decide.Judge(s, &k.Policy)
	if k.lookSuspects(ctx, s, j) {
		j = decide.Judge(s, &k.Policy)
	}
	return j, context.Cause(ctx)
}

// beforeLooking reads t0 and which providers are not to be asked.
func (k observer) beforeLooking(ctx context.Context, s *reconcile.Snapshot) error {
	if k.Parallel == 1 {
		return errors.Join(k.readClock(ctx, s), k.circuitRefused(ctx, s.Kind))
	}
	var wg sync.WaitGroup
	var clock error
	wg.Go(func() { clock = k.readClock(ctx, s) })
	circuitOpen := k.circuitRefused(ctx, s.Kind)
	wg.Wait()
	return errors.Join(clock, circuitOpen)
}

func (k observer) readClock(ctx context.Context, s *reconcile.Snapshot) error {
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
func (k observer) list(ctx context.Context, s *reconcile.Snapshot, recalled <-chan struct{}) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	var all [][]reconcile.Sandbox
	for _, name := range k.Policy.ProviderNames() {
		wg.Go(func() {
			listed, seen := k.listOne(ctx, name, &remembering{s: s, done: recalled})
			mu.Lock()
			defer mu.Unlock()
			s.Listings[name] = seen
			all = append(all, listed)
		})
	}
	wg.Wait()
	if len(all) == 1 {
		s.Sandboxes = all[0]
	} else {
		s.Sandboxes = slices.Concat(all...)
	}
	reconcile.SortSandboxes(s)
	//guard:list-twice P12
	s.Sandboxes = slices.CompactFunc(s.Sandboxes, func(a, b reconcile.Sandbox) bool { return a.Ref == b.Ref })
}

// listOne keeps of a listing what judging needs, page by page.
func (k observer) listOne(
	ctx context.Context, name string, r *remembering,
) ([]reconcile.Sandbox, reconcile.ListingSeen) {
	referenced := k.Policy.Providers[name].Referenced
	pages := 0
	seen := reconcile.ListingSeen{Listing: reconcile.Listing{Provider: name}}
	within, end := k.span(k.clocks.Watch(ctx, name), "list", slog.String("provider", name))
	listing, err := k.Providers[name].List(within, func(page []reconcile.Sandbox) error {
		before := r.kept.Len()
		for i := range page {
			k.Policy.Describe(&page[i])
			//guard:list-owned live
			if page[i].Owned || referenced {
				r.keep(&page[i])
			}
		}
		kept := r.kept.Len() - before
		seen.Owned += kept
		seen.Foreign += len(page) - kept
		pages++
		r.page(name)
		return nil
	})
	end(err, slog.Int("pages", pages))
	seen.Listing = listing
	seen.Provider = name
	//guard:list-failed P3
	if err != nil {
		seen.Error, seen.Complete = text.Clip(listingCause(name, err), 300), false
		seen.CircuitOpen = errors.Is(err, errCircuitOpen)
		seen.Refused = !seen.CircuitOpen && errors.Is(err, reconcile.ErrUnauthorized)
		k.Log.WarnContext(ctx, "listing failed", "provider", name, "err", err)
	}
	return r.all(name), seen
}

// listingCause is why a listing failed, on one line. What was listed is left out: whoever tells
// the cause says so before.
func listingCause(provider string, err error) string {
	cause := strings.TrimPrefix(err.Error(), "list sandboxes of "+provider+": ")
	return strings.ReplaceAll(cause, "\n", "; ")
}

func (k observer) readTasks(ctx context.Context, s *reconcile.Snapshot) error {
	if k.Policy.Tasks.None {
		return nil
	}
	k.progress("reading tasks")
	if t, can := k.Tasks.(expecting); can {
		t.Expect(s.Memory.Tasks.Len()) // a list that grows is copied, and there twice meanwhile
	}
	rows, err := k.Tasks.Live(ctx)
	if err != nil {
		return fmt.Errorf("read the live tasks: %w", err)
	}
	take(s, rows.Tasks)
	return nil
}

// Sieved is from how many remembered tasks on a quick pass keeps only the rows that are not plain. Below it everybody
// is read: that costs little, and is simpler.
const sieved = 5000

// sieve is what tells plain rows from others; nil where everybody is to be read. So it is where one only looks, and
// where this very process is to act on what the ledger has open.
func (k observer) sieve(s *reconcile.Snapshot) *decide.Sieve {
	large := s.Memory.Tasks.Len() >= cmp.Or(k.Sieved, sieved)
	if k.turn == 0 || !large || k.acts && len(s.Memory.Actions) > 0 {
		return nil
	}
	return decide.NewSieve(s, &k.Policy)
}

// readSome reads the live tasks and keeps those that are not plain.
func (k observer) readSome(ctx context.Context, s *reconcile.Snapshot, sieve *decide.Sieve) error {
	k.progress("reading tasks")
	kept, err := k.leave(ctx, sieve)
	take(s, kept)
	s.Plain = sieve.Rows()
	return err
}

func (k observer) leave(ctx context.Context, sieve *decide.Sieve) (kept []reconcile.Task, err error) {
	if t, can := k.Tasks.(leaving); can {
		rows, err := t.LiveBut(ctx, sieve.Plain)
		return rows.Tasks, err
	}
	rows, err := k.Tasks.Live(ctx)
	for i := range rows.Tasks {
		if !sieve.Plain(&rows.Tasks[i]) {
			kept = append(kept, rows.Tasks[i])
		}
	}
	return kept, err
}

// take takes the live tasks.
func take(s *reconcile.Snapshot, tasks []reconcile.Task) {
	s.Tasks = tasks
	for i := range tasks {
		tasks[i].ShareTexts(&s.Memory)
	}
}

// Leaving is the part of some [reconcile.Tasks] that reads the live tasks and keeps only those that are not left out.
type leaving interface {
	LiveBut(ctx context.Context, plain func(*reconcile.Task) bool) (reconcile.Rows, error)
}

// Expecting is the part of some [reconcile.Tasks] that reads a known number of rows with less memory.
type expecting interface{ Expect(n int) }

// observer is the part of a [Reconciler] that reads: providers, rows, single sandboxes, and what one is doing. It
// changes nothing.
type observer struct{ *Reconciler }

func (k *Reconciler) observer() observer { return observer{k} }
