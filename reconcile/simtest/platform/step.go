package platform

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/run"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/history"
)

// A Step is one call of a process that came to the gate, with what became of it. The
// properties are checked after each.
type Step struct {
	N       int           // counts the calls of all processes
	At      time.Duration // since the history began
	Process string        // "once-3", "replica-1", "look-2"
	Call    string        // the method: "Terminate", "Write", "Claim", "List"
	Party   string        // whom it asked: "ledger", "tasks", or the provider entry
	ID      string        // the sandbox, task or action that it is about
	Args    any           // what it asked with, as the method takes it: a Write, a Claim, a Record
	Answer  any           // what came back to the process; nil when it failed
	Err     error         // what the process was told
	Effect  bool          // it took effect, whatever the process was told
	Struck  string        // the fault that struck it
}

// A Watcher is told of every step, and says what must never happen and did. The Platform has them.
type Watcher interface {
	// Step is called after every call that left a process.
	Step(s Step) []history.Violation
	// Pass is called after a process ended a pass, with its result; nil when it failed.
	Pass(process string, r *run.Result, err error) []history.Violation
	// End is called when the history is over.
	End() []history.Violation
}
