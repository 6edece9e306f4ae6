package peers

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/run"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/history"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/platform"
)

// Tail is how long a world lives on after its last fault, so that the longest published
// threshold, the 4 hours of kortix, has its chance.
const Tail = 5 * time.Hour

// Sandkeeper is the name of sandkeeper in a comparison: it has no [Policy], it runs as it is.
const Sandkeeper = "sandkeeper"

// An Outcome is what a world came to with one janitor in it.
type Outcome struct {
	Janitor, World string
	Lasted         time.Duration
	Wrongs         []*platform.Wrong
	Kills          []platform.Kill
	Violations     []history.Violation // of sandkeeper: its own properties are checked as well
}

// Janitors are the names of all that are compared.
func Janitors() []string {
	out := []string{Sandkeeper}
	for _, p := range All() {
		out = append(out, p.Name)
	}
	return out
}

// Play runs one world with one janitor, the policy of this name or sandkeeper, and for so long
// after its last fault.
func Play(t *testing.T, w World, janitor string, tail time.Duration) Outcome {
	t.Helper()
	var account bookkeeper
	exact := map[string]bool{}
	begun := func(town *platform.Platform) {
		account.Account = town.Account()
		for name, p := range town.Policy().Providers {
			exact[name] = p.SandboxIsID
		}
	}
	o := simtest.Options{Collect: true, Tail: tail, Watch: []platform.Watcher{&account}, Begun: begun}
	for _, p := range All() {
		if p.Name == janitor {
			o.Janitor, o.Every = p.plays(exact), p.Cadence()
		}
	}
	r := simtest.Run(t, w.Level(), o)
	if r.Err != nil {
		t.Fatalf("play %s with %s: %v", w.Name, janitor, r.Err)
	}
	out := Outcome{Janitor: janitor, World: w.Name, Lasted: r.Lasted, Wrongs: account.Wrongs, Kills: account.Kills}
	if o.Janitor == nil {
		out.Violations = r.Violations
	}
	return out
}

// plays makes the policy's janitor, and again after each crash.
func (p Policy) plays(exact map[string]bool) func(simtest.Views) simtest.Janitor {
	memory := &Memory{}
	return func(v simtest.Views) simtest.Janitor {
		return &Janitor{Policy: p, Tasks: v.Tasks, Providers: v.Providers, Exact: exact, Now: v.Now, Memory: memory}
	}
}

var _ simtest.Janitor = (*Janitor)(nil)

// A bookkeeper closes the account when the history is over.
type bookkeeper struct{ *platform.Account }

// Step has nothing to add: the town itself counts the deeds.
func (*bookkeeper) Step(platform.Step) []history.Violation { return nil }

// Pass has nothing to add either.
func (*bookkeeper) Pass(string, *run.Result, error) []history.Violation { return nil }

// End closes the account.
func (b *bookkeeper) End() []history.Violation {
	b.Close()
	return nil
}
