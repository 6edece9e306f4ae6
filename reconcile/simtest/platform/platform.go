package platform

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/history"
	"github.com/sandkeeper/sandkeeper/store/memory"
)

// A Platform is what a user has and all that belongs to it: the task table, the orchestrator,
// workers, users, the sandboxes at their providers, and the truth of them. It belongs into a
// bubble of testing/synctest. Nothing in it runs by itself: [Platform.Advance] brings everybody
// up to the moment.
type Platform struct {
	Ledger *memory.Ledger // on the clock of the domain "ledger"

	mu       sync.Mutex
	began    time.Time
	clocks   *clocks
	agenda   agenda
	wait     func(ctx context.Context, d time.Duration) error
	kind     kind // which platform
	policy   reconcile.Policy
	clouds   map[string]*cloud
	names    []string // of the clouds, in order
	table    *table
	tasks    map[string]*task
	order    []*task
	boxes    map[reconcile.Ref]*box
	boxOrder []*box
	pipeline pipeline
	tenancy  tenancy
	specs    []string  // rows of the further table that explain sandboxes
	down     time.Time // until when the orchestrator does nothing
	calm     bool
	made     int // numbers things
	watched  time.Time

	telling  bool
	news     []string
	happened map[string]int

	watch   *watch   // what the properties remember
	account *Account // nil: nobody counts
}

// Domains of clocks besides the providers' names.
const (
	domainTasks  = "tasks"
	domainLedger = "ledger"
)

// New makes the world of a script's setup. wait is how slow and hanging calls of the
// providers wait; nil waits in the bubble's time.
func New(s *history.Script, wait func(ctx context.Context, d time.Duration) error) (*Platform, error) {
	t := &Platform{
		began: time.Now(), clocks: newClocks(), wait: wait, clouds: map[string]*cloud{}, tasks: map[string]*task{},
		boxes: map[reconcile.Ref]*box{}, happened: map[string]int{},
	}
	t.Ledger = memory.New(t.Clock(domainLedger))
	t.table = newTable(t)
	t.watch = newWatch(t)
	if err := t.settle(s); err != nil {
		return nil, err
	}
	return t, nil
}

// settle carries out the setup: the platform first, then its providers and rules, then the rest.
func (t *Platform) settle(s *history.Script) error {
	t.kind = kinds["full"]
	phases := [][]string{{"kind"}, {"provider"}, nil}
	for i, phase := range phases {
		if i == 1 {
			t.policy = t.kind.policy()
		}
		for _, e := range s.Setup {
			if !inPhase(e.Verb, phase, phases[:i]) || verbs[e.Verb].do == nil {
				continue
			}
			if err := t.do(e); err != nil {
				return err
			}
		}
		if i == 1 && len(t.clouds) == 0 {
			t.addCloud("lab", argsOf(nil))
		}
	}
	return nil
}

func inPhase(verb string, phase []string, before [][]string) bool {
	if phase != nil {
		return phase[0] == verb
	}
	for _, b := range before {
		if b[0] == verb {
			return false
		}
	}
	return true
}

// Clock is the clock of a domain.
func (t *Platform) Clock(domain string) func() time.Time {
	return func() time.Time { return t.clocks.of(domain) }
}

// Shift makes the clock of a domain jump.
func (t *Platform) Shift(domain string, by time.Duration) {
	t.clocks.shift(domain, by)
	t.tell("clock of %s jumps by %s", domain, by)
	t.count("clock jump " + domain)
}

// Do carries out one event now.
func (t *Platform) Do(e history.Event) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.advance()
	return t.do(e)
}

func (t *Platform) do(e history.Event) error {
	v, a := verbs[e.Verb], argsOf(e.Args)
	if v.do == nil {
		return fmt.Errorf("the platform has no verb %q", e.Verb)
	}
	if err := v.check(a); err != nil {
		return fmt.Errorf("%s: %w", e.Verb, err)
	}
	v.do(t, a)
	return nil
}

// Advance brings everybody up to now.
func (t *Platform) Advance() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.advance()
}

func (t *Platform) advance() {
	now := time.Now()
	if now.Equal(t.watched) && (len(t.agenda.items) == 0 || t.agenda.items[0].at.After(now)) {
		return
	}
	for {
		it, ok := t.agenda.due(now)
		if !ok {
			break
		}
		t.clocks.stand(it.at)
		t.fleet().look()
		it.do()
	}
	t.clocks.stand(time.Time{})
	t.fleet().look()
	t.watched = now
}

// later puts something down for after a while, unless the world is calm by then.
func (t *Platform) later(after time.Duration, do func()) {
	t.agenda.put(t.clocks.now().Add(after), do)
}

// now is the bubble's time, or the moment of the item that is carried out.
func (t *Platform) now() time.Time { return t.clocks.now() }

// tell keeps a line of what truly happened, for the trace.
func (t *Platform) tell(format string, args ...any) {
	if t.telling {
		t.news = append(t.news, fmt.Sprintf(format, args...))
	}
}

// count counts that something happened.
func (t *Platform) count(what string) { t.happened[what]++ }

// Tell makes the platform keep what truly happens, for [Platform.News].
func (t *Platform) Tell(on bool) { t.telling = on }

// News are the lines of what truly happened since it was asked last.
func (t *Platform) News() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := t.news
	t.news = nil
	return out
}

// Happened counts what happened, by kind.
func (t *Platform) Happened() map[string]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.happened
}
