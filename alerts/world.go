package alerts

import (
	"maps"
	"slices"
	"strconv"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

func tasks(r *reading, put put) {
	for key, n := range r.Counts {
		if of := reconcile.ParseCount(key); of.What == reconcile.CountTasks {
			put(float64(n), of.State)
		}
	}
}

func tasksEnded(r *reading, put put) {
	if r.policy.Tasks.None {
		return
	}
	for _, state := range []reconcile.TaskState{
		reconcile.TaskCompleted, reconcile.TaskFailed, reconcile.TaskStopped, "deleted",
	} {
		put(0, string(state))
	}
	for _, c := range r.counters("tasks_ended") {
		put(float64(c.Value), c.What)
	}
}

func workAfterStop(r *reading, put put) { r.ofTasks("work_after_stop", put) }

// states are those that a sandbox can be billed in, or stands in the way.
var states = []reconcile.SandboxState{
	reconcile.SandboxCreating, reconcile.SandboxRunning, reconcile.SandboxSuspended,
	reconcile.SandboxStopped, reconcile.SandboxFailed, reconcile.SandboxDeleting,
}

// sandboxes are counted by the pass for the states that it saw. Those that it did not see
// are 0 where the listing is whole and trusted, and unknown everywhere else.
func sandboxes(r *reading, put put) {
	for key, n := range r.Counts {
		if of := reconcile.ParseCount(key); of.What == reconcile.CountSandboxes {
			put(float64(n), of.Provider, of.State)
		}
	}
	for _, s := range r.Sources {
		provider, ok := reconcile.OfKind(reconcile.SourceListing, s.Name)
		count := reconcile.Count{What: reconcile.CountOwned, Provider: provider}
		if _, measured := r.Counts[count.String()]; !ok || !s.Trusted || !measured {
			continue
		}
		for _, state := range states {
			put(0, provider, string(state))
		}
	}
}

func beyondUsual(r *reading, put put) {
	if n, measured := r.Counts[reconcile.CountBeyond]; measured {
		put(float64(n))
	}
}

func foreign(r *reading, put put) {
	for key, n := range r.Counts {
		if of := reconcile.ParseCount(key); of.What == reconcile.CountForeign {
			put(float64(n), of.Provider)
		}
	}
}

func probes(r *reading, put put) {
	for _, c := range r.counters("probes") {
		put(float64(c.Value), c.Provider, c.What)
	}
}

// ages are the histograms of the newest full pass, one a provider. They are no counters: each pass
// counts what is there.
func ages(r *reading) []histogram {
	of := map[string]*histogram{}
	for key, n := range r.Counts {
		c := reconcile.ParseCount(key)
		if c.What != reconcile.CountAge {
			continue
		}
		h := of[c.Provider]
		if h == nil {
			sum := reconcile.Count{What: reconcile.CountAges, Provider: c.Provider}
			h = &histogram{labels: []string{label(c.Provider)}, buckets: map[float64]uint64{},
				sum: float64(r.Counts[sum.String()])}
			of[c.Provider] = h
		}
		if bound, err := strconv.ParseFloat(c.State, 64); err == nil && c.State != "+Inf" {
			h.buckets[bound] = uint64(n) //nolint:gosec // a count is not negative
		} else {
			h.count = uint64(n) //nolint:gosec // a count is not negative
		}
	}
	out := make([]histogram, 0, len(of))
	for _, provider := range slices.Sorted(maps.Keys(of)) {
		of[provider].fill(reconcile.AgeBounds)
		out = append(out, *of[provider])
	}
	return out
}

func quotasUsed(r *reading, put put) { r.quotas(reconcile.CountQuotaUsed, put) }

func quotaLimits(r *reading, put put) { r.quotas(reconcile.CountQuotaLimit, put) }

// quotasLeft are of quotas of which both sides are known. What is used beyond a quota leaves nothing.
func quotasLeft(r *reading, put put) {
	for key, limit := range r.Counts {
		c := reconcile.ParseCount(key)
		if c.What != reconcile.CountQuotaLimit {
			continue
		}
		used := reconcile.Count{What: reconcile.CountQuotaUsed, Provider: c.Provider, State: c.State}
		if n, measured := r.Counts[used.String()]; measured && limit > 0 {
			put(float64(max(limit-n, 0)), c.Provider, c.State)
		}
	}
}

func (r *reading) quotas(what string, put put) {
	for key, n := range r.Counts {
		if c := reconcile.ParseCount(key); c.What == what {
			put(float64(n), c.Provider, c.State)
		}
	}
}
