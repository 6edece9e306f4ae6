package simulated

import (
	"context"
	"math"
	"net/http"
	"slices"
	"time"
)

// A Kind is a kind of call.
type Kind string

// The kinds of calls. Any and Toolbox stand for several, in a fault.
const (
	Any       Kind = ""
	Toolbox   Kind = "toolbox" // exec, files, usage, logs
	List      Kind = "list"
	Get       Kind = "get"
	Find      Kind = "find"
	Create    Kind = "create"
	Delete    Kind = "delete"
	Stop      Kind = "stop"
	Start     Kind = "start"
	Label     Kind = "label"
	Exec      Kind = "exec"
	Files     Kind = "files"
	UsageOf   Kind = "usage"
	LogsOf    Kind = "logs"
	Queue     Kind = "queue" // executions, asked of the control plane
	Snapshot  Kind = "snapshot"
	Activate  Kind = "activate"
	AccountOf Kind = "account" // key, quotas
)

// A Call is one call that reached the provider.
type Call struct {
	Kind Kind
	ID   string // of the sandbox or template, or the task of a find
	Page int    // of a listing, from 1
	At   time.Time
}

// An Effect is what a fault does to a call.
type Effect string

// The effects.
const (
	None           Effect = ""                 // slower by Delay, else well
	Answer         Effect = "answer"           // Status, Body and so on, instead of doing it
	Hang           Effect = "hang"             // never answers
	Drop           Effect = "drop"             // the connection breaks before it is done
	DoneThenDrop   Effect = "done then drop"   // it is done, and the connection breaks
	DoneThenAnswer Effect = "done then answer" // it is done, and Status says otherwise
	NotDone        Effect = "not done"         // it answers well and does nothing
	EmptyList      Effect = "empty list"
	CutPage        Effect = "cut page" // the page ends in the middle
	Repeat         Effect = "repeat"   // pages overlap
	LoseLabels     Effect = "lose labels"
	Forge          Effect = "forge"     // the listing shows what Forges makes of each
	Omit           Effect = "omit"      // the listing leaves out what Omits says; nil: every other one
	SameCursor     Effect = "same page" // the cursor leads back
)

// A Fault is a scripted misbehaviour. The zero values of the first part match every call.
type Fault struct {
	Name   string // for people
	On     Kind
	ID     string          // only calls of this id
	Match  func(Call) bool // only calls that it accepts
	Page   int             // a listing's pages from this one on
	Skip   int             // so many matching calls go well first
	Count  int             // strikes so often; 0: until lifted
	Chance float64         // of striking; 0: always

	Effect      Effect
	Delay       time.Duration // before the effect
	Lag         time.Duration // a listing that is older by this
	Status      int           // of Answer and DoneThenAnswer; 0 means 500
	Body        string        // "" means an error in the provider's form
	ContentType string        // "" means JSON
	Header      map[string]string
	Omits       func(Sandbox) bool
	Forges      func(Sandbox) Sandbox
}

type scripted struct {
	Fault
	struck int
	lifted bool
}

// Inject adds a fault, and returns what lifts it. The first one that matches strikes.
func (w *World) Inject(f Fault) (lift func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := &scripted{Fault: f}
	w.faults = append(w.faults, s)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		s.lifted = true
		w.faults = slices.DeleteFunc(w.faults, func(other *scripted) bool { return other == s })
	}
}

// Fix lifts all faults.
func (w *World) Fix() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = nil
}

// journalSize is how many calls are remembered; the oldest are forgotten.
const journalSize = 100_000

// Observe tells seen of every call that reaches the world from now on, with the fault that
// strikes it. It is told while the call is being made, and must not call the world.
func (w *World) Observe(seen func(Call, Fault)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = seen
}

// Called journals a call and says which fault strikes it. The zero Fault strikes nothing.
func (w *World) Called(c Call) Fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.strike(c)
	if w.seen != nil {
		w.seen(c, f)
	}
	return f
}

func (w *ground) strike(c Call) Fault {
	c.At = w.o.Now()
	if len(w.journal) == journalSize {
		w.journal = slices.Delete(w.journal, 0, journalSize/2)
	}
	w.journal = append(w.journal, c)
	for _, f := range w.faults {
		if !f.matches(c) || f.Chance > 0 && w.rng.Float64() >= f.Chance {
			continue
		}
		if f.Skip > 0 {
			f.Skip--
			continue
		}
		f.struck++
		if f.struck == f.Count {
			w.faults = slices.DeleteFunc(w.faults, func(other *scripted) bool { return other == f })
		}
		return f.Fault
	}
	return Fault{}
}

func (f *scripted) matches(c Call) bool {
	toolbox := c.Kind == Exec || c.Kind == Files || c.Kind == UsageOf || c.Kind == LogsOf
	kind := f.On == Any || f.On == c.Kind || f.On == Toolbox && toolbox
	return kind && (f.ID == "" || f.ID == c.ID) && c.Page >= f.Page && (f.Match == nil || f.Match(c))
}

// Wait waits as the fault wants it, before anything else happens to the call.
func (w *World) Wait(ctx context.Context, f Fault) error {
	if f.Effect == Hang {
		return w.o.Wait(ctx, time.Duration(math.MaxInt64))
	}
	if f.Delay > 0 {
		return w.o.Wait(ctx, f.Delay)
	}
	return ctx.Err()
}

// Code is the status that the fault answers.
func (f Fault) Code() int {
	if f.Status == 0 {
		return http.StatusInternalServerError
	}
	return f.Status
}

func (f Fault) omits(s Sandbox) bool {
	if f.Omits == nil {
		return s.ID[len(s.ID)-1]%2 == 0
	}
	return f.Omits(s)
}

// Calls are the calls since the last reset, oldest first.
func (w *World) Calls() []Call {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.journal)
}

// Destructive are the calls that tried to end something: deletes and stops.
func (w *World) Destructive() []Call {
	return slices.DeleteFunc(w.Calls(), func(c Call) bool { return c.Kind != Delete && c.Kind != Stop })
}

// ResetCalls forgets the journal.
func (w *World) ResetCalls() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.journal = nil
}
