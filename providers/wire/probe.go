package wire

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// Margin is what an answer may take beyond the time-out inside the sandbox.
const Margin = 2 * time.Second

// A ProbePart is what one half of a probe, or the whole, met. The zero value was not asked for.
type ProbePart struct {
	Outcome reconcile.ProbeOutcome
	Words   string
	Exit    *int // exit code of a command that the sandbox ran to its end

	missing bool // it is only the path that is not there
}

// Probe runs probe for a sandbox that is known to run, one at a time for each sandbox, and
// only when something is to be probed. Nothing is called for any other: a call into one
// that rests may wake it.
func (f *Base) Probe(ctx context.Context, s reconcile.Sandbox, policy reconcile.ProbePolicy,
	probe func(ctx context.Context) ProbePart,
) reconcile.ProbeResult {
	began := f.Now()
	h := f.probe(ctx, s, policy, probe)
	return reconcile.ProbeResult{
		Ref: s.Ref, At: began, Outcome: h.Outcome, Detail: f.redact(h.Words), Took: f.Now().Sub(began), Exit: h.Exit,
	}
}

func (f *Base) probe(ctx context.Context, s reconcile.Sandbox, policy reconcile.ProbePolicy,
	probe func(ctx context.Context) ProbePart,
) ProbePart {
	switch {
	case s.State != reconcile.SandboxRunning:
		return Barred("the sandbox is " + first(s.Raw, string(s.State), "in no known state"))
	case policy.Off, policy.Exec == "" && policy.Path == "":
		return Barred("no probe is configured")
	}
	if err := CheckID(s.ID); err != nil {
		return Unclear(err.Error())
	}
	if _, busy := f.probing.LoadOrStore(s.ID, true); busy {
		return Barred("another probe of it is under way")
	}
	defer f.probing.Delete(s.ID)
	return probe(ctx)
}

// Halves runs the halves of a probe that the policy asks for, both at once, and merges them.
// Each is told how long it may take inside the sandbox.
func Halves(policy reconcile.ProbePolicy, exec, files func(within time.Duration) ProbePart) ProbePart {
	var first, second ProbePart
	var both sync.WaitGroup
	if policy.Exec != "" {
		both.Go(func() { first = exec(Within(policy)).Named("exec") })
	}
	if policy.Path != "" {
		both.Go(func() { second = files(Within(policy)).Named("files of " + policy.Path) })
	}
	both.Wait()
	return Merge(first, second.besides(first, policy.Path))
}

// Missing is a half whose path is not there. It speaks against the sandbox, as what lost its
// file system, only where nothing says that it is the path: see [ProbePart.besides].
func Missing(said string) ProbePart {
	return ProbePart{Outcome: reconcile.CannotStart, Words: said, missing: true}
}

// besides is a listing of files beside a command: while commands run, a path that is not there
// may have been moved by its user, or never have been. Only the root is everywhere.
func (h ProbePart) besides(exec ProbePart, name string) ProbePart {
	if h.missing && exec.Outcome == reconcile.Answered && path.Clean(name) != "/" {
		return Unclear(h.Words + ", while commands run: is probe.path right?")
	}
	return h
}

// Named is the half with its name before what it met.
func (h ProbePart) Named(name string) ProbePart {
	h.Words = name + ": " + h.Words
	return h
}

// Within is how long one half may take inside the sandbox, in whole seconds, at least one.
func Within(policy reconcile.ProbePolicy) time.Duration {
	return time.Duration(Seconds(policy.Timeout)) * time.Second
}

// A Judge tells what the answers to a call into a sandbox mean.
type Judge struct {
	Ask     func(ctx context.Context, k Call) (Answer, error)    // makes the call; nil: [Client.Once]
	Good    func(a Answer, s APIError) (h ProbePart, known bool) // judges the answers that it knows
	Outcome func(a Answer, s APIError) reconcile.ProbeOutcome    // judges all others, by who gave them
}

// Judge makes a call into a sandbox and tells what its answer means.
func (c *Client) Judge(ctx context.Context, k Call, j Judge) ProbePart {
	ask := j.Ask
	if ask == nil {
		ask = c.Once
	}
	a, err := ask(ctx, k)
	if err != nil {
		return Silent(err, k.Timeout)
	}
	said := c.APIError(a)
	if h, known := j.Good(a, said); known {
		return h
	}
	return ProbePart{Outcome: j.Outcome(a, said),
		Words: text.Clip((&Refusal{Status: a.Status, Words: said.words()}).Error(),
			160)}
}

// Failed is a half that speaks against the sandbox: it cannot start anything.
func Failed(said string) ProbePart { return ProbePart{Outcome: reconcile.CannotStart, Words: said} }

// Barred is a half that was not to be asked for.
func Barred(said string) ProbePart { return ProbePart{Outcome: reconcile.NotAllowed, Words: said} }

// Merge is the verdict of all halves: a failure counts first, then that nothing is known.
func Merge(halves ...ProbePart) ProbePart {
	order := []reconcile.ProbeOutcome{reconcile.CannotStart, reconcile.Hung, reconcile.Infrastructure,
		reconcile.NotAllowed, reconcile.Answered}
	var said []string
	var exit *int
	met := map[reconcile.ProbeOutcome]bool{}
	for _, h := range halves {
		if met[h.Outcome] = true; h.Exit != nil {
			exit = h.Exit
		}
		if h.Words != "" {
			said = append(said, h.Words)
		}
	}
	for _, outcome := range order {
		if met[outcome] {
			return ProbePart{Outcome: outcome, Words: strings.Join(said, "; "), Exit: exit}
		}
	}
	return Barred("no probe is configured") // unreachable unless all halves are skipped
}

// Silent judges a call into a sandbox that got no answer. Only a request that was handed
// over and not answered in time speaks against the sandbox.
func Silent(err error, timeout time.Duration) ProbePart {
	var gone *Lost
	if errors.As(err, &gone) && gone.Slow && gone.Connected {
		return ProbePart{Outcome: reconcile.Hung, Words: fmt.Sprintf("no answer within %s", timeout)}
	}
	return Unclear(text.Clip(err.Error(), 160))
}

// Ran judges a command that the sandbox gave an exit code for. Whatever it is, the sandbox
// answered; only a negative one says that no process could be started.
func Ran(exit int, output string) ProbePart {
	if exit < 0 {
		said := strings.TrimSuffix(fmt.Sprintf("exit %d: %s", exit, text.Clip(output, 100)), ": ")
		return Failed(said)
	}
	return ProbePart{Outcome: reconcile.Answered, Words: fmt.Sprintf("exit %d", exit), Exit: &exit}
}

// Ended judges a command that came to its end, and whose exit code nobody told.
func Ended() ProbePart { return ProbePart{Outcome: reconcile.Answered, Words: "ended"} }

// Listed judges a listing of files that came.
func Listed(entries int) ProbePart {
	return ProbePart{Outcome: reconcile.Answered, Words: fmt.Sprintf("%d entries", entries)}
}

// Unclear is an answer that says nothing of the sandbox.
func Unclear(said string) ProbePart { return ProbePart{Outcome: reconcile.Infrastructure, Words: said} }

// MostLeft is how many executions probes may leave behind in one sandbox.
const MostLeft = 8

// MayLeave reports whether a probe may leave one more execution behind where some never came
// back, the newest of them since so long: freely at first, so that a verdict can be reached,
// then less and less, and at last not at all.
func MayLeave(left int, since time.Duration) bool {
	const freely, rare = 5, 10 * time.Minute
	return left < freely || left < MostLeft && since >= rare<<(left-freely)
}

// Seconds is a time-out in whole seconds, at least one.
func Seconds(d time.Duration) int { return max(1, int((d+time.Second-1)/time.Second)) }
