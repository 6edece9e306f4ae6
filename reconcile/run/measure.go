package run

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// The bounds of what is measured beside a probe.
const (
	measureTime = 3 * time.Second // of each measurement
	logExcerpt  = 8 << 10         // bytes of a log's end that are searched
)

// policyNeeds reports whether a rule that is judged needs this.
func policyNeeds(p *reconcile.Policy, what reconcile.Needs) bool {
	return slices.ContainsFunc(reconcile.Rules, func(r reconcile.Rule) bool {
		return r.Needs&what != 0 &&
			p.Judges(r.Name)
	})
}

// measures reports whether anything is to be measured beside the probes of a provider.
func (k observer) measures(provider string) bool {
	can := reconcile.CapabilitiesOf(k.Providers[provider])
	return can.Executions != nil && policyNeeds(&k.Policy, reconcile.NeedExecutions) ||
		can.Usage != nil && policyNeeds(&k.Policy, reconcile.NeedUsage)
}

// examine probes a sandbox and measures it, as far as a rule asks for it. What is queued is
// read before the probe, which may queue a command of its own; what a measurement of itself
// takes never counts as the sandbox's.
func (k observer) examine(ctx context.Context, ruling decide.Ruling, sb reconcile.Sandbox,
	p reconcile.ProbePolicy) reconcile.ProbeResult {
	var seen reconcile.Measurements
	late, asked := false, time.Now()
	if policyNeeds(&k.Policy, reconcile.NeedExecutions) {
		seen.Executions, late = k.executionsOf(ctx, sb)
	}
	result := k.probe(ctx, ruling, sb, p)
	//guard:probe-late-beside harm
	if late && result.Outcome.Failed() {
		result.Outcome = reconcile.Infrastructure
		result.Detail = text.Clip("its executions were not told in time either; "+result.Detail, 300)
	}
	k.askWorker(ctx, ruling, sb, p, &result, asked)
	if policyNeeds(&k.Policy, reconcile.NeedUsage) {
		k.useOf(ctx, sb, &seen)
	}
	if seen.Measured() {
		result.Measurements = &seen
	}
	return result
}

// probeResultStamped is the result as of a moment of the ledger's clock.
func probeResultStamped(p reconcile.ProbeResult, at time.Time) reconcile.ProbeResult {
	p.At = at
	if p.Measurements != nil {
		p.Measurements.At = at
	}
	return p
}

// executionsOf is nil when they cannot be measured, which is not none; late says that the provider did not
// tell in time.
func (k observer) executionsOf(ctx context.Context, sb reconcile.Sandbox) (e *reconcile.ExecutionsSeen, late bool) {
	source := reconcile.CapabilitiesOf(k.Providers[sb.Provider]).Executions
	if source == nil {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(ctx, measureTime)
	defer cancel()
	seen, err := source.Executions(ctx, sb)
	if err != nil {
		k.unmeasured(ctx, sb, "executions", err)
		return nil, errors.Is(err, context.DeadlineExceeded)
	}
	return &seen, false
}

// useOf measures what the sandbox uses and, where that is odd, searches the end of its log.
func (k observer) useOf(ctx context.Context, sb reconcile.Sandbox, seen *reconcile.Measurements) {
	source := reconcile.CapabilitiesOf(k.Providers[sb.Provider]).Usage
	if source == nil {
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
		seen.Memory = &reconcile.MemoryUse{Used: used.MemoryUsed, Total: used.MemoryTotal}
	}
	if seen.Strained() {
		seen.Signs = k.signsOf(ctx, sb)
	}
}

func (k observer) signsOf(ctx context.Context, sb reconcile.Sandbox) []string {
	source := reconcile.CapabilitiesOf(k.Providers[sb.Provider]).Logs
	if source == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, measureTime)
	defer cancel()
	excerpt, err := source.Logs(ctx, sb, logExcerpt)
	if err != nil {
		k.unmeasured(ctx, sb, "log", err)
		return nil
	}
	return reconcile.SignsIn(excerpt)
}

func (k observer) unmeasured(ctx context.Context, sb reconcile.Sandbox, what string, err error) {
	k.Log.DebugContext(ctx, "not measured", "what", what, "provider", sb.Provider, "sandbox", sb.ID, "err", err)
}

// finalQueue is the final look at the executions of a sandbox, and reports whether more has to be
// known.
func (r *prober) finalQueue(ctx context.Context, f *gathered, sb reconcile.Sandbox) bool {
	seen, _ := r.k.observer().executionsOf(ctx, sb)
	f.mixed = true
	f.Probe, f.ProbeSaid = decide.QueueSays(reconcile.QueueOf(seen))
	return f.Probe == decide.ProbeAgrees
}
