package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/backtest"
	"github.com/sandkeeper/sandkeeper/store/tasks"
)

// proofSpan is how far back the history is read. Where that takes too long, what lies in lastDays may prove a rule at
// once, while the next runs read on.
const (
	proofSpan = 30 * 24 * time.Hour
	lastDays  = 3 * 24 * time.Hour
)

// mostProgress is how many bytes of what was read are kept between two runs: those of some millions of tasks.
const mostProgress = 64 << 20

var (
	// errLong is what the reading of a history is that takes longer than it may.
	errLong = errors.New("the history takes longer to read than it may")
	// errShare is the same of one that the next run goes on with.
	errShare = errors.New("the history was read in part, and the next run goes on")
)

// A part is a history that is read, by this run or by several, one after the other.
type part struct {
	reconcile.ReadProgress
	replay  *backtest.Replay
	resumed bool
}

// read plays as much of the history to the rules as can be read in the time. What was read of the whole is kept for the
// next run.
func (p *proving) read(ctx context.Context, policy *reconcile.Policy, rules []string) (*backtest.Replay, error) {
	p.taken, p.partly = time.Now(), false
	whole, err := p.resume(ctx, policy, rules)
	if err != nil {
		return nil, err
	}
	within := p.within
	if !whole.resumed {
		within = within * 2 / 3 // the rest is for the last days
	}
	err = p.readPart(ctx, whole, within)
	if err == nil {
		p.tasksNow = whole.Until
		return whole.replay, p.Ledger.DropProgress(ctx, whole.Key)
	}
	kept := p.keepPart(ctx, whole)
	switch {
	case !errors.Is(err, errLong):
		return nil, err
	case kept && whole.resumed:
		return nil, errShare
	}
	last, err := p.begin(ctx, policy, rules, lastDays)
	if err == nil {
		err = p.readPart(ctx, last, p.within/3)
	}
	if kept && errors.Is(err, errLong) {
		return nil, errShare
	}
	p.tasksNow, p.partly = last.Until, kept
	return last.replay, err
}

// begin is a history of which nothing is read yet.
func (p *proving) begin(ctx context.Context, policy *reconcile.Policy, rules []string, back time.Duration,
) (*part, error) {
	clock, err := p.Tasks.Clock(ctx)
	if err != nil {
		return &part{}, fmt.Errorf("hold rules against the history: %w", err)
	}
	out := &part{ReadProgress: reconcile.ReadProgress{Since: clock.Now.Add(-back), Until: clock.Now}}
	out.replay = backtest.New(policy, out.Since, out.Until, rules...)
	return out, nil
}

// resume goes on with the whole history where the run before stopped, or begins with it.
func (p *proving) resume(ctx context.Context, policy *reconcile.Policy, rules []string) (*part, error) {
	sums := make([]string, len(rules))
	for i, rule := range rules {
		sums[i] = rule + "=" + policy.ProofSum(rule, reconcile.ProofBacktest)
	}
	sum := sha256.Sum256([]byte(strings.Join(sums, " ")))
	key := hex.EncodeToString(sum[:])
	before, err := p.Ledger.Progress(ctx, key)
	if err == nil {
		var replay *backtest.Replay
		if replay, err = backtest.Resume(policy, before.Since, before.Until, before.State, rules...); err == nil {
			before.State = nil
			return &part{before, replay, true}, nil
		}
	}
	if !errors.Is(err, reconcile.ErrNotFound) {
		p.Log.WarnContext(ctx, "what was read of the history cannot be gone on with: it is read again", "err", err)
	}
	out, err := p.begin(ctx, policy, rules, proofSpan)
	out.Key = key
	return out, err
}

// readPart reads on, for so long.
func (p *proving) readPart(ctx context.Context, of *part, within time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, within, errLong)
	defer cancel()
	err := p.Tasks.History(ctx, tasks.HistoryRead{Since: of.Since, After: of.After, Share: proveShare,
		Seen: func(s tasks.HistorySeen) {
			of.After = s.After
			p.keep(ctx)
		}}, of.replay.Add)
	if err != nil && errors.Is(context.Cause(ctx), errLong) {
		return errLong
	}
	if err != nil {
		return fmt.Errorf("hold rules against the history: %w", err)
	}
	return nil
}

// keepPart keeps what was read for the next run, also while the process is being stopped, and reports whether it did.
func (p *proving) keepPart(ctx context.Context, of *part) bool {
	if of.After == "" {
		return false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	var err error
	of.Tasks = of.replay.Tasks
	if of.State, err = of.replay.Save(); err == nil && len(of.State) > mostProgress {
		err = fmt.Errorf("it is of %d MB, more than %d", len(of.State)>>20, mostProgress>>20)
	}
	if err == nil {
		err = p.Ledger.SaveProgress(ctx, &of.ReadProgress)
	}
	if err != nil {
		p.Log.WarnContext(ctx, "what was read of the history is not kept", "err", err)
		return false
	}
	p.Log.InfoContext(ctx, "history read in part, the next run goes on", "tasks", of.Tasks, "since", of.Since)
	return true
}
