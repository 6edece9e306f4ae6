package simulated

import (
	"cmp"
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A World is the fleet of one account. It is safe for concurrent use.
type World struct{ ground }

// ground is what a world is made of, under its mutex.
type ground struct {
	mu        sync.Mutex
	o         Options
	rng       *rand.Rand
	boxes     map[string]*box
	order     []*box // by creation, then id
	templates map[string]*Template
	faults    []*scripted
	journal   []Call
	made      int
	seen      func(Call, Fault) // told of every call; may be nil
}

// Options are the world's clock and pace.
type Options struct {
	Now func() time.Time // nil: time.Now
	// Steady is a clock that never jumps, by which listings lag; nil: Now. A Now that is set back
	// would have them show what was changed long ago.
	Steady func() time.Time
	Seed   uint64 // of the faults that strike by chance, and of ids

	StartAfter    time.Duration // from creating to running
	StopAfter     time.Duration // from stopping to stopped
	DeleteAfter   time.Duration // from an accepted delete to gone
	ActivateAfter time.Duration // from building to active, of a template
	StopIdle      time.Duration // running sandboxes without activity stop; 0: never
	IndexLag      time.Duration // listings show the world as it was this long ago
	TwoStores     bool          // says that a get and a listing read two stores, which is true of every world here
	PageSize      int           // of a listing that does not say; 0 means 200
	StableName    bool          // a sandbox's name goes on: a later one of that name continues it
	StaysOnRecord bool          // what is gone is still told by its id, as ended

	// Wait is how slow and hanging calls wait; nil waits in real time. A simulation with a
	// clock of its own advances it here, or returns context.DeadlineExceeded at once.
	Wait func(ctx context.Context, d time.Duration) error

	Limits Limits

	// IDs makes the n-th sandbox's id, where the vendor's have a form of their own; nil: UUIDs.
	IDs func(n int) string
}

// Limits are the account's quotas. A sandbox takes 1 CPU, 1 GiB of memory and 3 GiB of
// disk. Zero means 1000.
type Limits struct{ CPU, MemoryGiB, DiskGiB float64 }

func (l Limits) orMany() Limits {
	return Limits{CPU: cmp.Or(l.CPU, 1000), MemoryGiB: cmp.Or(l.MemoryGiB, 1000), DiskGiB: cmp.Or(l.DiskGiB, 1000)}
}

// A box is a sandbox with its former versions, newest last, for listings that lag.
type box struct {
	Sandbox
	past []Sandbox
}

// versions is how many former versions of a sandbox a lagging listing can go back.
const versions = 8

// New makes an empty world.
func New(o Options) *World {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Steady == nil {
		o.Steady = o.Now
	}
	if o.Wait == nil {
		o.Wait = reconcile.Sleep
	}
	o.Limits = o.Limits.orMany()
	return &World{ground{
		o: o, rng: rand.New(rand.NewPCG(o.Seed, 0x5a4d)),
		boxes: map[string]*box{}, templates: map[string]*Template{},
	}}
}

// Now is the world's clock.
func (w *World) Now() time.Time { return w.o.Now() }

// Put places a sandbox into the world as it is, without any call. An id, a name and clocks
// that are missing are made up.
func (w *World) Put(s Sandbox) Sandbox {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.put(s)
}

func (w *ground) put(s Sandbox) Sandbox {
	now := w.o.Now()
	w.made++
	if s.ID == "" {
		s.ID = w.newID()
	}
	s.Name = cmp.Or(s.Name, s.ID)
	if s.State == reconcile.SandboxUnknown && s.Raw == "" {
		s.State = reconcile.SandboxRunning
	}
	if s.Doomed && s.doomedAt.IsZero() {
		s.doomedAt = now
	}
	if s.CreatedAt.IsZero() {
		s.CreatedAt = now
	}
	if s.UpdatedAt.IsZero() {
		s.UpdatedAt = s.CreatedAt
	}
	if s.LastActivityAt.IsZero() {
		s.LastActivityAt = s.CreatedAt
	}
	s.Labels = maps.Clone(s.Labels)
	s.seenAt = w.o.Steady().Add(-max(now.Sub(s.CreatedAt), 0)) // one of long ago is in every listing
	w.insert(&box{Sandbox: s})
	return s
}

func (w *ground) insert(b *box) {
	if old, ok := w.boxes[b.ID]; ok {
		w.order = slices.DeleteFunc(w.order, func(o *box) bool { return o == old })
	}
	w.boxes[b.ID] = b
	at, _ := slices.BinarySearchFunc(w.order, b, func(x, y *box) int { return x.compare(y.CreatedAt, y.ID) })
	w.order = slices.Insert(w.order, at, b)
}

func (b *box) compare(created time.Time, id string) int {
	return cmp.Or(b.CreatedAt.Compare(created), cmp.Compare(b.ID, id))
}

// Change changes a sandbox by the test's own hand, and reports whether there is one.
func (w *World) Change(id string, change func(*Sandbox)) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := w.boxes[id]
	if b == nil {
		return false
	}
	w.settle(b)
	w.alter(b, func(s *Sandbox) {
		s.Labels = maps.Clone(s.Labels)
		change(s)
	})
	return true
}

// alter keeps the former version for listings that lag.
func (w *ground) alter(b *box, change func(*Sandbox)) {
	b.past = append(b.past, b.Sandbox)
	if len(b.past) > versions {
		b.past = slices.Delete(b.past, 0, 1)
	}
	change(&b.Sandbox)
	b.seenAt = w.o.Steady()
}

// Sandbox is one sandbox as it really is, also when it is gone.
func (w *World) Sandbox(id string) (Sandbox, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := w.boxes[id]
	if b == nil {
		return Sandbox{}, false
	}
	w.settle(b)
	return b.Sandbox, true
}

// Sandboxes are all sandboxes that are not gone, as they really are, oldest first.
func (w *World) Sandboxes() []Sandbox {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.settleAll()
	var out []Sandbox
	for _, b := range w.order {
		if !b.Gone {
			out = append(out, b.Sandbox)
		}
	}
	return out
}
