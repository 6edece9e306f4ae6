package alerts

import "github.com/sandkeeper/sandkeeper/reconcile"

func tasks(r *reading, put put) {
	for key, n := range r.Counts {
		if of := reconcile.ParseCount(key); of.What == reconcile.CountTasks {
			put(float64(n), of.State)
		}
	}
}

func tasksEnded(r *reading, put put) {
	for _, state := range []reconcile.TaskState{
		reconcile.TaskCompleted, reconcile.TaskFailed, reconcile.TaskStopped, "deleted",
	} {
		put(0, string(state))
	}
	for _, c := range r.counters("tasks_ended") {
		put(float64(c.Value), c.What)
	}
}

func workAfterStop(r *reading, put put) { r.byProvider("work_after_stop", put) }

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
