package platform

import (
	"cmp"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A cloud is one account at a provider.
type cloud struct {
	name     string
	world    *simulated.World
	provider *simulated.Provider
	entry    entry.Entry
	byID     bool          // rows name its sandboxes by their ids
	byName   bool          // rows name them by their names
	byLabel  bool          // its sandboxes name their tasks by a label
	ends     bool          // it keeps a record of how sandboxes ended
	lasting  bool          // a name goes on: a later sandbox of it continues the work
	lag      time.Duration // by how much listings and searches are behind
}

// The labels of a sandbox: whose it is, and which task it works at.
const (
	labelOwner = "app"
	labelTask  = "task"
	labelSpec  = "spec" // of sandboxes that another table explains
)

func (t *Platform) addCloud(name string, a *args) {
	c := &cloud{name: name, lasting: a.yes("lasting"), lag: a.dur("lag", 0), ends: a.yes("ends")}
	c.link(t.kind.linkOf(a.text("link", t.kind.link)))
	c.world = simulated.New(simulated.Options{
		Now: t.Clock(name), Steady: t.now, Seed: uint64(len(t.clouds)) + 1, Wait: t.wait,
		StartAfter: a.dur("start", 5*time.Second), DeleteAfter: a.dur("delete", 20*time.Second),
		StopAfter: a.dur("stop", 5*time.Second), ActivateAfter: a.dur("activate", time.Minute),
		StopIdle: a.dur("idle", 0), IndexLag: c.lag, PageSize: a.num("page", 0),
		Limits: simulated.Limits{CPU: float64(a.num("cpu", 0))}, StableName: c.lasting,
		StaysOnRecord: a.yes("record"), TwoStores: a.yes("stores"),
	})
	c.entry = c.entryOf(a)
	c.provider = c.world.Provider(c.entry)
	for _, name := range []string{"light", "heavy"} {
		c.world.PutTemplate(simulated.Template{Name: name})
	}
	t.clouds[name] = c
	t.names = append(t.names, name)
	t.policy.Providers[name] = reconcile.ProviderPolicy{
		Name: name, Kind: "simulated", Exclusive: a.yes("exclusive"), Referenced: c.entry.Owns.Referenced,
		LinkTask: c.byLabel, LinkSandbox: c.byID || c.byName, SandboxIsID: c.byID,
		SandboxIsName: c.byName,
		LinkRequired:  a.text("required", "yes") == "yes", EndsAtRest: a.text("rests", "no") == "no",
		Templates: []string{"light"}, QuarantineFor: 10 * time.Minute, PricePerHour: Price,
		Prices: []reconcile.Price{{Size: reconcile.Size{CPU: LargeCPU}, PerHour: LargePrice}},
		Probe:  reconcile.ProbePolicy{Exec: "true", Path: "/", Every: 10 * time.Minute, Timeout: 5 * time.Second, Budget: 50},
	}
}

// Providers are the adapters of the clouds.
func (t *Platform) Providers() map[string]*simulated.Provider {
	out := map[string]*simulated.Provider{}
	for name, c := range t.clouds {
		out[name] = c.provider
	}
	return out
}

// Records reports whether a provider keeps a record of how its sandboxes ended.
func (t *Platform) Records(provider string) bool {
	return t.clouds[provider] != nil && t.clouds[provider].ends
}

// World is what one provider runs.
func (t *Platform) World(provider string) *simulated.World {
	if c := t.clouds[provider]; c != nil {
		return c.world
	}
	return nil
}

// cloud is the account of this name, else the first one.
func (t fleet) cloud(name string) *cloud {
	if c := t.clouds[name]; c != nil {
		return c
	}
	return t.clouds[t.names[0]]
}

// An owner says whose a sandbox truly is.
type owner string

const (
	ours    owner = "ours"
	twins   owner = "twin"    // another environment of the same platform, with the same labels
	foreign owner = "foreign" // somebody else's in the same account
	spec    owner = "spec"    // the platform's own, for work that has no task and a row in another table
)

// A box is one sandbox and the truth of it.
type box struct {
	ref       reconcile.Ref
	cloud     *cloud
	owner     owner
	task      *task // whose it truly is; nil for none
	worker    *worker
	name      string
	former    *box   // the sandbox of its name that it goes on with
	key       string // what rows and events name it by
	born      time.Time
	over      time.Time // since when it is gone or doomed; zero while it is there
	state     reconcile.SandboxState
	since     time.Time              // in this state
	perHour   float64                // USD that its provider truly charges for it
	lost      time.Time              // since when nothing runs in it, once it is over
	broken    time.Time              // since when nothing works inside; zero: it works
	used      time.Time              // when somebody last did something in it
	setUp     time.Time              // until when it is being set up for its worker
	probed    reconcile.ProbeOutcome // what the newest probe met
	failed    time.Time              // the first of the present run of failed probes
	proven    time.Time              // the newest probe that was answered
	shown     bool                   // a listing has shown that it is its task's
	noted     bool                   // and that could be proven then, so that the ledger remembers it
	kept      map[string]string      // its labels, while they are lost
	reused    bool                   // its id was another's before
	taken     bool                   // it was ours until its owner relabelled it
	unwatched bool                   // a row that names it may be older, for all that anybody could read

	labelled time.Time // when it got other labels
}

// put registers a sandbox of the world.
func (t fleet) put(c *cloud, s simulated.Sandbox, o owner) *box {
	ref := reconcile.Ref{Provider: c.name, ID: s.ID}
	b := &box{ref: ref, cloud: c, owner: o, name: s.FormerName(), born: t.now(), state: s.State, since: t.now(),
		used: t.now(), perHour: priceOf(s.Size)}
	b.key = c.keyOf(b)
	if old := t.boxes[ref]; old != nil { // an id that is used again
		old.over = cmp.Or(old.over, t.now())
	}
	t.boxes[ref] = b
	t.boxOrder = append(t.boxOrder, b)
	return b
}

// look brings what is known of the sandboxes up to the moment: who is no more, and whose
// worker went with it.
func (t fleet) look() {
	kept := t.boxOrder[:0]
	for _, b := range t.boxOrder {
		if t.boxes[b.ref] == b && b.over.IsZero() {
			t.lookAt(b)
		}
		if b.over.IsZero() || b.task != nil {
			kept = append(kept, b)
		}
	}
	t.boxOrder = kept
}

func (t fleet) lookAt(b *box) {
	now := t.now()
	s, there := b.cloud.world.Sandbox(b.ref.ID)
	if !there || s.Gone || s.Doomed {
		if b.lost = now; b.state == reconcile.SandboxStopped {
			b.lost = b.since
		}
		b.over, b.state, b.since = now, reconcile.SandboxEnded, now
		t.tell("sandbox %s is over", b.ref)
		b.endWork(now)
		return
	}
	if s.State != b.state {
		t.tell("sandbox %s goes from %s to %s", b.ref, b.state, s.State)
		b.state, b.since = s.State, now
		t.moved(b)
	}
	if b.worker == nil && now.Before(b.setUp) && b.state == reconcile.SandboxRunning {
		b.used = now // somebody installs in it what its worker needs
		b.cloud.world.TouchAt(b.ref.ID, t.clocks.then(b.cloud.name, now))
	}
	if w := b.worker; w != nil && b.state == reconcile.SandboxRunning {
		if at := w.lastAct(now); at.After(b.used) {
			b.used = at
			b.cloud.world.TouchAt(b.ref.ID, t.clocks.then(b.cloud.name, at))
		}
	}
}

// moved is what a change of the sandbox's state means for who works in it.
func (t fleet) moved(b *box) {
	w := b.worker
	if w == nil {
		return
	}
	switch b.state {
	case reconcile.SandboxStopped, reconcile.SandboxFailed, reconcile.SandboxEnded, reconcile.SandboxDeleting:
		b.endWork(b.since)
	case reconcile.SandboxSuspended, reconcile.SandboxCreating:
		w.pause(b.since)
	case reconcile.SandboxRunning:
		w.resume(b.since)
	case reconcile.SandboxUnknown: // nobody knows the word; whoever works, works on
	}
}

// endWork ends the worker inside, if there is one.
func (b *box) endWork(at time.Time) {
	if b.worker != nil {
		b.worker.end(at)
	}
}

// age is how old it is by its provider's clock.
func (b *box) age() time.Duration {
	s, _ := b.cloud.world.Sandbox(b.ref.ID)
	return b.cloud.world.Now().Sub(s.CreatedAt)
}

// there reports whether the sandbox exists and was not asked to go.
func (b *box) there() bool { return b != nil && b.over.IsZero() }
