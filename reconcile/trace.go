package reconcile

import "strings"

// TraceEvidence is the evidence that a row names the trace of its work.
func TraceEvidence(t *Task) Evidence {
	return Evidence{Source: "tasks", At: t.AsOf, Fact: "the trace of its work is " + t.Trace}
}

// TraceKey is the key under which the trace of a task's own work is told of, in logs and spans.
const TraceKey = "task_trace"

// TraceID is the trace that a platform's row names: the id itself, or a traceparent of W3C Trace Context. "" for what
// is neither: rows hold texts of tenants.
func TraceID(said string) string {
	said = strings.ToLower(strings.TrimSpace(said))
	if parts := strings.Split(said, "-"); len(parts) == 4 && len(parts[0]) == 2 {
		said = parts[1]
	}
	said = strings.ReplaceAll(said, "-", "")
	if len(said) != 32 || strings.Trim(said, "0123456789abcdef") != "" || strings.Trim(said, "0") == "" {
		return ""
	}
	return said
}
