package simtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/history"
)

// The parties besides the providers.
const (
	partyTasks    = "tasks"
	partyLedger   = "ledger"
	partyQueue    = "queue"
	partyPlatform = "platform"
)

// A fault is what a party does wrong, to some calls, for a while.
type fault struct {
	party, call, kind string
	last, by          time.Duration
	count, skip       int
	chance, status    int
	id                string
}

// providerWords are the kinds of calls that a fault of a provider may strike.
var providerWords = []string{"any", "list", "get", "find", "delete", "stop", "start", "exec", "files", "toolbox",
	"logs", "usage", "queue", "snapshot", "activate", "account"}

// effects are the kinds of faults of a provider.
var effects = map[string]simulated.Effect{
	"error": simulated.Answer, "hang": simulated.Hang, "drop": simulated.Drop, "done-drop": simulated.DoneThenDrop,
	"done-error": simulated.DoneThenAnswer, "not-done": simulated.NotDone, "empty": simulated.EmptyList,
	"cut": simulated.CutPage, "repeat": simulated.Repeat, "same-page": simulated.SameCursor,
	"lie-failed": simulated.Forge, "lie-old": simulated.Forge, "lie-swapped": simulated.Forge,
	"lose-labels": simulated.LoseLabels, "omit": simulated.Omit, "stale": simulated.None, "slow": simulated.None,
}

// gateKinds are the kinds of faults of the other parties.
var gateKinds = []string{"error", "hang", "done-error", "slow", "standby", "lost", "twice"}

func (f *fault) ofProvider() bool {
	return f.party != partyTasks && f.party != partyLedger && f.party != partyQueue && f.party != partyPlatform
}

func parseFault(args []string) (fault, error) {
	w := &words{left: args}
	f := fault{party: w.next("the party")}
	if f.ofProvider() {
		f.call = w.oneOf("the call", providerWords...)
		f.kind = w.oneOf("the kind", history.SortedKeys(effects)...)
	} else {
		f.call = w.next("the call")
		f.kind = w.oneOf("the kind", gateKinds...)
	}
	err := w.options(map[string]func(*words, string){
		"for": timeIn(&f.last), "by": timeIn(&f.by), "count": numberIn(&f.count, 1, 1000),
		"skip": numberIn(&f.skip, 0, 1000), "chance": numberIn(&f.chance, 1, 100),
		"status": numberIn(&f.status, 400, 599), "id": wordIn(&f.id),
	})
	if err == nil && (f.kind == "slow" || f.kind == "stale") && f.by == 0 {
		err = errors.New("how slow or stale is missing: `by 30s`")
	}
	if err == nil && (f.kind == "lost" || f.kind == "twice") && f.party != partyQueue {
		err = fmt.Errorf("only the queue has the kind %q", f.kind)
	}
	return f, err
}

// inject puts a fault of a provider into its world.
func (f *fault) inject(w *simulated.World) (lift func()) {
	in := simulated.Fault{ID: f.id, Skip: f.skip, Count: f.count, Chance: float64(f.chance) / 100,
		Effect: effects[f.kind], Status: f.status}
	if f.call != "any" {
		in.On = simulated.Kind(f.call)
	}
	if f.status == 404 || f.status == 410 {
		in.ContentType = "text/html" // a gateway's, not the provider's own word that it is gone
	}
	switch f.kind {
	case "slow":
		in.Delay = f.by
	case "stale":
		in.Lag = f.by
	case "lie-failed", "lie-old", "lie-swapped":
		in.Forges, in.Name = liar(f.kind), f.kind
	}
	return w.Inject(in)
}

// liar is what a listing that lies on purpose makes of each sandbox: one that has failed long ago, that is a month
// old, or that has the labels of the one before it.
func liar(kind string) func(simulated.Sandbox) simulated.Sandbox {
	var before map[string]string
	return func(s simulated.Sandbox) simulated.Sandbox {
		switch kind {
		case "lie-failed":
			s.State, s.UpdatedAt = reconcile.SandboxFailed, s.CreatedAt
		case "lie-old":
			s.CreatedAt = s.CreatedAt.Add(-30 * 24 * time.Hour)
		case "lie-swapped":
			s.Labels, before = before, s.Labels
		}
		return s
	}
}

// label names the fault for coverage.
func (f *fault) label() string {
	party := f.party
	if f.ofProvider() {
		party = "provider"
	}
	if f.status > 0 {
		return fmt.Sprintf("%s %s %d", party, f.kind, f.status)
	}
	return party + " " + f.kind
}

// strikes reports whether the fault strikes this call of its party.
func (f *fault) strikes(c *query) bool {
	if f.party != c.party || f.id != "" && f.id != c.id || f.kind == "standby" && !c.writes {
		return false
	}
	switch f.call {
	case "any":
		return true
	case "reads":
		return !c.writes
	case "writes":
		return c.writes
	}
	return f.call == c.name
}

// An active fault is one that is in force at the gate.
type active struct {
	fault
	number int // of the fault, for chance
	struck int
}

// errStruck is what a process is told by a fault of a database.
var errStruck = errors.New("server closed the connection unexpectedly")

// errReadOnly is what a database that must not be written says.
var errReadOnly = errors.New("cannot execute this in a read-only transaction")

// told is what the process is told.
func (f *fault) told() error {
	switch {
	case f.kind == "standby":
		return fmt.Errorf("%s: %w", f.party, errReadOnly)
	case f.kind == "hang":
		return fmt.Errorf("%s: canceling statement due to statement timeout", f.party)
	}
	return fmt.Errorf("%s: %w", f.party, errStruck)
}

// strike is the fault that strikes a call at the gate; nil when none does.
func (e *engine) strike(t *turn) *active {
	for i, a := range e.faults {
		if !a.strikes(&t.query) {
			continue
		}
		if a.skip > 0 {
			a.skip--
			continue
		}
		if a.chance > 0 && int(mix(t.pri, uint64(a.number))%100) >= a.chance {
			continue
		}
		if a.struck++; a.struck == a.count {
			e.faults = slices.Delete(e.faults, i, i+1)
		}
		return a
	}
	return nil
}

// addFault lets a fault begin, and end after its time.
func (e *engine) addFault(f fault) {
	e.faultNumber++
	var lift func()
	if f.ofProvider() {
		w := e.place.World(f.party)
		if w == nil {
			return
		}
		lift = f.inject(w)
	} else {
		a := &active{fault: f, number: e.faultNumber}
		e.faults = append(e.faults, a)
		lift = func() {
			e.faults = slices.DeleteFunc(e.faults, func(o *active) bool { return o == a })
		}
	}
	if f.last > 0 {
		e.after(f.last, lift)
	}
}

// endFaults lifts all of them.
func (e *engine) endFaults() {
	e.faults = nil
	for _, name := range history.SortedKeys(e.place.Providers()) {
		e.place.World(name).Fix()
	}
}

// reached is told of every call that reaches a provider's world. It belongs to the call whose
// turn it is.
func (e *engine) reached(c simulated.Call, f simulated.Fault) {
	t := e.turn
	if t == nil {
		return // the platform's own call
	}
	if f.Effect != simulated.None || f.Lag > 0 || f.Delay > 0 {
		t.struck = nameOf(f)
		e.cover.add("fault", "provider "+t.struck)
	}
	if changes(c.Kind) {
		t.changed = f.Effect == simulated.None || f.Effect == simulated.DoneThenDrop || f.Effect == simulated.DoneThenAnswer
	}
}

func changes(k simulated.Kind) bool {
	return k == simulated.Delete || k == simulated.Stop || k == simulated.Start || k == simulated.Activate
}

// nameOf is the script's word for a fault of a provider.
func nameOf(f simulated.Fault) string {
	switch {
	case f.Lag > 0:
		return "stale"
	case f.Name != "":
		return f.Name
	case f.Effect == simulated.None:
		return "slow"
	}
	for _, name := range history.SortedKeys(effects) {
		if effects[name] != f.Effect {
			continue
		}
		if f.Status > 0 {
			return fmt.Sprintf("%s %d", name, f.Status)
		}
		return name
	}
	return strings.ReplaceAll(string(f.Effect), " ", "-")
}

// took reports whether a call of a provider took effect, by what reached its world.
func (t *turn) took(err error) bool {
	return t.changed && !errors.Is(err, reconcile.ErrNotFound)
}
