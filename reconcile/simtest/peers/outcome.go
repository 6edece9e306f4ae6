package peers

import (
	"slices"
	"strings"
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

// Attended is sandkeeper with an operator, who comes when a breaker, an incident or a freeze has held something for
// [operatorAfter], looks at what it holds, and releases what of that is truly wrong. Nothing of the others ever
// waits for one, so that with him their runs are the same.
const Attended = "sandkeeper, operator"

const operatorAfter = 10 * time.Minute

// An Outcome is what a world came to with one janitor in it.
type Outcome struct {
	Janitor, World string
	Lasted         time.Duration
	Wrongs         []*platform.Wrong
	Kills          []platform.Kill
	Violations     []history.Violation // of sandkeeper: its own properties are checked as well
	Waits          Waits               // of sandkeeper: why what was wrong was not dealt with at once
	Helped         bool                // its operator released something
}

// Janitors are the names of all that are compared.
func Janitors() []string {
	out := []string{Sandkeeper, Attended}
	for _, p := range All() {
		out = append(out, p.Name)
	}
	return out
}

// Play runs one world with one janitor, the policy of this name or sandkeeper, and for so long
// after its last fault.
func Play(t *testing.T, w World, janitor string, tail time.Duration) Outcome {
	t.Helper()
	account := bookkeeper{waits: Waits{}}
	exact, helped := map[string]bool{}, false
	begun := func(town *platform.Platform) {
		account.Account = town.Account()
		for name, p := range town.Policy().Providers {
			exact[name] = p.SandboxIsID
		}
	}
	o := simtest.Options{Collect: true, Tail: tail, Watch: []platform.Watcher{&account}, Begun: begun}
	if janitor == Attended {
		o.Operator, o.Wrong = operatorAfter, func(subjects []string) bool {
			wrong := account.wrong(subjects)
			helped = helped || wrong
			return wrong
		}
	}
	for _, p := range All() {
		if p.Name == janitor {
			o.Janitor, o.Every = p.plays(exact), p.Cadence()
		}
	}
	r := simtest.Run(t, w.Level(), o)
	if r.Err != nil {
		t.Fatalf("play %s with %s: %v", w.Name, janitor, r.Err)
	}
	out := Outcome{Janitor: janitor, World: w.Name, Lasted: r.Lasted, Wrongs: account.Wrongs, Kills: account.Kills,
		Helped: helped}
	if o.Janitor == nil {
		out.Violations, out.Waits = r.Violations, account.waits
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

// A bookkeeper notes at each pass what the open entries of the account wait for, and closes it when the history is
// over.
type bookkeeper struct {
	*platform.Account
	waits Waits
}

// wrong reports whether all of these subjects are open entries of the account.
func (b *bookkeeper) wrong(subjects []string) bool {
	open, _ := b.Open()
	return !slices.ContainsFunc(subjects, func(s string) bool {
		kind, id, _ := strings.Cut(s, ":")
		return !slices.ContainsFunc(open, func(w *platform.Wrong) bool { return w.Subject == kind+" "+id })
	})
}

// Step has nothing to add: the town itself counts the deeds.
func (*bookkeeper) Step(platform.Step) []history.Violation { return nil }

// Pass notes what waits for what.
func (b *bookkeeper) Pass(_ string, r *run.Result, _ error) []history.Violation {
	open, now := b.Open()
	for _, w := range open {
		b.waits.note(w, now, r)
	}
	return nil
}

// End closes the account.
func (b *bookkeeper) End() []history.Violation {
	b.Close()
	return nil
}
