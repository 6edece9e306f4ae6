package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/fleet"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// observeFirst reads the task database's clock and then the providers' listings, in the order
// that decides the race, and meanwhile what the ledger remembers. What was listed is not in the snapshot yet.
func (k observer) observeFirst(ctx context.Context, kind reconcile.PassKind,
) (*reconcile.Snapshot, *fleet.Listing, error) {
	s := unread(reconcile.Snapshot{Kind: kind, Pushed: k.pushed, Listings: map[string]reconcile.ListingSeen{},
		Clocks: k.clocks})
	if err := k.beforeLooking(ctx, s); err != nil {
		return nil, nil, err
	}
	listed := fleet.NewListing(&s.Memory)
	var wg sync.WaitGroup
	var failed error
	recalled := make(chan struct{})
	recall := func() {
		defer close(recalled)
		s.Memory, failed = k.recall(ctx, kind)
	}
	if k.Parallel == 1 {
		recall()
	} else {
		wg.Go(recall)
	}
	if kind == reconcile.Full {
		k.progress("listing")
		k.list(ctx, s, listed, recalled)
	}
	wg.Wait()
	if failed != nil {
		return nil, nil, fmt.Errorf("recall the ledger: %w", failed)
	}
	k.circuitListed(s)
	k.endsThatFailed(s.Memory.Now, s.Memory.Actions)
	if kind == reconcile.Quick {
		if err := k.circuitRemembered(ctx, kind, s.Memory.Sources); err != nil {
			return nil, nil, err
		}
		s.RecallTemplates()
	}
	s.Memory.WatchSince = reconcile.Watch(&s.Memory, &k.Policy)
	if k.Policy.Tasks.None {
		s.T0 = s.Memory.Now
	}
	return s, listed, nil
}

// unread is a snapshot without rows and looks.
func unread(s reconcile.Snapshot) *reconcile.Snapshot {
	s.Rows, s.Absent, s.Unparsable = map[string]reconcile.Task{}, map[string]bool{}, map[string]bool{}
	s.ByKey, s.Explained = map[reconcile.Ref]reconcile.Task{}, map[reconcile.Ref]string{}
	s.Unlooked, s.Lookups = map[string]bool{}, map[reconcile.Ref]reconcile.Lookup{}
	s.Finds = map[string]reconcile.FindLookup{}
	return &s
}

// observe reads the rows, after the listings ended, looks at what they leave open, and judges. A pass of a large fleet
// keeps only the rows that are not plain, and reads everybody where that does not do.
func (k observer) observe(ctx context.Context, s *reconcile.Snapshot, listed *fleet.Listing,
) (*decide.Judgement, error) {
	j, done, tried, err := k.observeAgain(ctx, s)
	if done || err != nil {
		return j, err
	}
	if sieve := k.sieve(s, listed); sieve != nil && !tried {
		some := unread(*s)
		err := k.readSome(ctx, some, sieve)
		if err != nil && ctx.Err() == nil {
			k.Log.WarnContext(ctx, "rows that are not plain cannot be read alone: everybody is read", "err", err)
		}
		if err == nil && fewLeft(some) {
			inOrder(some, listed.Rest())
			j, err := k.look(ctx, some)
			if err != nil || sieve.Stands(j) {
				return j, err
			}
		}
		if k.Vain != nil && s.Kind == reconcile.Full {
			k.Vain.Store(unsieved)
		}
	}
	inOrder(s, listed.All())
	if err := k.readTasks(ctx, s); err != nil {
		return nil, err
	}
	return k.look(ctx, s)
}

// fewLeft reports whether so many rows are plain that it is worth trying what the others come to: where it does not do,
// all was for nothing. A quick pass looks at little.
func fewLeft(s *reconcile.Snapshot) bool {
	return s.Kind == reconcile.Quick || len(s.Tasks) <= s.Plain.Tasks
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
		k.readAccounts(ctx, s)
	}
	k.progress("judging")
	j := decide.Judge(s, &k.Policy)
	if k.lookSuspects(ctx, s, j) {
		j = decide.Judge(s, &k.Policy)
	}
	return j, context.Cause(ctx)
}

// readAccounts reads what providers say of templates and quotas, at once: an answer may take long.
func (k observer) readAccounts(ctx context.Context, s *reconcile.Snapshot) {
	if k.Parallel == 1 {
		k.readTemplates(ctx, s)
		k.readQuotas(ctx, s)
		return
	}
	var wg sync.WaitGroup
	wg.Go(func() { k.readTemplates(ctx, s) })
	k.readQuotas(ctx, s)
	wg.Wait()
}

// beforeLooking reads t0, and before a listing which providers are not to be asked.
func (k observer) beforeLooking(ctx context.Context, s *reconcile.Snapshot) error {
	if s.Kind == reconcile.Quick {
		return k.readClock(ctx, s)
	}
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
		return err // it says what was being read
	}
	s.Clock, s.T0 = clock, clock.Now
	return nil
}

// list reads every provider, each on its own: one that fails says nothing of the others.
func (k observer) list(ctx context.Context, s *reconcile.Snapshot, into *fleet.Listing, recalled <-chan struct{}) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, name := range k.Policy.ProviderNames() {
		wg.Go(func() {
			seen := k.listOne(ctx, name, &remembering{s: s, done: recalled, into: into, mu: &mu})
			mu.Lock()
			defer mu.Unlock()
			s.Listings[name] = seen
		})
	}
	wg.Wait()
}

// listOne keeps of a listing what judging needs, page by page.
func (k observer) listOne(ctx context.Context, name string, r *remembering) reconcile.ListingSeen {
	referenced := k.Policy.Providers[name].Referenced
	pages := 0
	seen := reconcile.ListingSeen{Listing: reconcile.Listing{Provider: name}}
	began := time.Now()
	within, end := k.span(k.clocks.Watch(ctx, name), "list", slog.String("provider", name))
	listing, err := k.Providers[name].List(within, func(page []reconcile.Sandbox) error {
		kept := 0
		for i := range page {
			k.Policy.Describe(&page[i])
			//guard:list-owned live
			if page[i].Owned || referenced {
				r.keep(&page[i])
				kept++
			}
		}
		seen.Owned += kept
		seen.Foreign += len(page) - kept
		pages++
		r.page()
		return nil
	})
	end(err, slog.Int("pages", pages))
	seen.Listing = listing
	seen.Took = time.Since(began)
	seen.Calls = max(pages, k.clocks.Calls(name).Answered)
	seen.Provider = name
	//guard:list-failed P3
	if err != nil {
		seen.Error, seen.Complete = text.Clip(listingCause(name, err), 300), false
		seen.CircuitOpen = errors.Is(err, errCircuitOpen)
		seen.Refused = !seen.CircuitOpen && errors.Is(err, reconcile.ErrUnauthorized)
		k.Log.WarnContext(ctx, "listing failed", "provider", name, "err", err)
	}
	r.end()
	return seen
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
		return err // it says what was being read
	}
	take(s, rows.Tasks)
	return nil
}

// Sieved is from how many remembered tasks or listed sandboxes on a pass keeps only the rows that are not plain. Below
// it everybody is read: that costs little, and is simpler.
const sieved = 5000

// Unsieved is how many full passes read everybody at once after one for which it was in vain to leave rows out: that
// cost a second reading, and the next one finds much the same fleet.
const unsieved = 10

// sieve is what tells plain rows from others; nil where everybody is to be read. So it is where one only looks, and
// where this very process is to act on what the ledger has open.
func (k observer) sieve(s *reconcile.Snapshot, listed *fleet.Listing) *decide.Sieve {
	if !k.sieves(s, listed.Len()) {
		return nil
	}
	if s.Kind == reconcile.Full && k.Vain != nil && k.Vain.Add(-1) >= 0 {
		return nil
	}
	return decide.NewSieve(s, &k.Policy, listed)
}

// sieves reports whether the fleet is large, and nobody looks or acts at once on what is open.
func (k observer) sieves(s *reconcile.Snapshot, listed int) bool {
	return k.turn != 0 && k.large(max(s.Memory.Tasks.Len(), listed)) && (!k.acts || len(s.Memory.Actions) == 0)
}

// large reports whether there are so many tasks that a pass leaves out plain rows.
func (k *Reconciler) large(tasks int) bool { return tasks >= cmp.Or(k.Sieved, sieved) }

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
