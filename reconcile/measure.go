package reconcile

import (
	"context"
	"math"
	"slices"
	"time"
)

// The bounds of what is measured beside a probe.
const (
	measureTime = 3 * time.Second // of each measurement
	logExcerpt  = 8 << 10         // bytes of a log's end that are searched
)

// needs reports whether a rule that is judged needs this.
func (p *Policy) needs(what Needs) bool {
	return slices.ContainsFunc(Rules, func(r Rule) bool { return r.Needs&what != 0 && p.judges(r.Name) })
}

// measures reports whether anything is to be measured beside the probes of a provider.
func (k *Keeper) measures(provider string) bool {
	p := k.Providers[provider]
	_, queue := p.(Executions)
	_, usage := p.(Usage)
	return queue && k.Policy.needs(NeedExecutions) || usage && k.Policy.needs(NeedUsage)
}

// examine probes a sandbox and measures it, as far as a rule asks for it. What is queued is
// read before the probe, which may queue a command of its own; what a measurement of itself
// takes never counts as the sandbox's.
func (k *Keeper) examine(ctx context.Context, sb Sandbox, p ProbePolicy) ProbeResult {
	var seen Vitals
	if k.Policy.needs(NeedExecutions) {
		seen.Executions = k.executionsOf(ctx, sb)
	}
	result := k.probe(ctx, sb, p)
	k.askWorker(ctx, sb, p, &result)
	if k.Policy.needs(NeedUsage) {
		k.useOf(ctx, sb, &seen)
	}
	if seen.measured() {
		result.Vitals = &seen
	}
	return result
}

// stamped is the result as of a moment of the ledger's clock.
func (p ProbeResult) stamped(at time.Time) ProbeResult {
	p.At = at
	if p.Vitals != nil {
		p.Vitals.At = at
	}
	return p
}

// executionsOf is nil when they cannot be measured, which is not none.
func (k *Keeper) executionsOf(ctx context.Context, sb Sandbox) *ExecutionsSeen {
	source, ok := k.Providers[sb.Provider].(Executions)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, measureTime)
	defer cancel()
	seen, err := source.Executions(ctx, sb)
	if err != nil {
		k.unmeasured(ctx, sb, "executions", err)
		return nil
	}
	return &seen
}

// useOf measures what the sandbox uses and, where that is odd, searches the end of its log.
func (k *Keeper) useOf(ctx context.Context, sb Sandbox, seen *Vitals) {
	source, ok := k.Providers[sb.Provider].(Usage)
	if !ok {
		return
	}
	within, cancel := context.WithTimeout(ctx, measureTime)
	defer cancel()
	used, err := source.Usage(within, sb)
	if err != nil {
		k.unmeasured(ctx, sb, "usage", err)
		return
	}
	if cpu := used.CPUPercent; cpu >= 0 && !math.IsInf(cpu, 0) { // false for NaN
		seen.CPU = &cpu
	}
	if used.MemoryTotal > 0 && used.MemoryUsed >= 0 {
		seen.Memory = &MemoryUse{Used: used.MemoryUsed, Total: used.MemoryTotal}
	}
	if seen.strained() {
		seen.Signs = k.signsOf(ctx, sb)
	}
}

func (k *Keeper) signsOf(ctx context.Context, sb Sandbox) []string {
	source, ok := k.Providers[sb.Provider].(Logs)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, measureTime)
	defer cancel()
	text, err := source.Logs(ctx, sb, logExcerpt)
	if err != nil {
		k.unmeasured(ctx, sb, "log", err)
		return nil
	}
	return signsIn(text)
}

func (k *Keeper) unmeasured(ctx context.Context, sb Sandbox, what string, err error) {
	k.Log.DebugContext(ctx, "not measured", "what", what, "provider", sb.Provider, "sandbox", sb.ID, "err", err)
}

// queueAgain is the final look at the executions of the sandbox that the finding is about.
func (r *run) queueAgain(ctx context.Context, a Action, o *second) (out Action, stop bool) {
	for i := range o.subject.Boxes {
		if b := &o.subject.Boxes[i]; b.ID == o.finding.Sandbox && b.Provider == o.finding.Provider {
			return r.finalQueue(ctx, a, b.Sandbox)
		}
	}
	return a, false
}

// finalQueue is the final probe of a verdict of executions-stuck: executions that move
// refute it; what cannot be measured proves nothing, and the action waits.
func (r *run) finalQueue(ctx context.Context, a Action, sb Sandbox) (out Action, stop bool) {
	switch queueOf(r.k.executionsOf(ctx, sb)) {
	case queueUnknown:
		return r.later(a, "its executions could not be measured right before"), true
	case queueMoving:
		return r.withdraw(a, "looked again: its executions are not stuck any more"), true
	}
	return a, false
}
