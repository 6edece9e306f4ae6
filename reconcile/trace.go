package reconcile

// TraceEvidence is the evidence that a row names the trace of its work.
func TraceEvidence(t *Task) Evidence {
	return Evidence{Source: "tasks", At: t.AsOf, Fact: "the trace of its work is " + t.Trace}
}

// TraceKey is the key under which the trace of a task's own work is told of, in logs and spans.
const TraceKey = "task_trace"
