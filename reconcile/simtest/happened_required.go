package simtest

import "slices"

// Required is what must happen in a default run of the simulation, by the names of
// [Report.Coverage]: each fault, each way to die or to stand still, each rule that acts, each
// outcome, each brake. What never happens there is not proved by it.
func Required() []string {
	return slices.Concat(
		each("do: ", "assigned-stale fail", "assigned-stale requeue", "deadline-exceeded fail", "duplicate terminate",
			"errored terminate", "executions-stuck fail", "finished-lingering quarantine",
			"finished-lingering terminate",
			"heartbeat-lost fail", "heartbeat-lost requeue", "idle-broken fail", "idle-broken terminate", "inactive fail",
			"orphan quarantine", "orphan terminate", "over-age terminate", "record-without-container terminate",
			"sandbox-missing fail", "stop-ignored terminate", "template-unusable activate"),
		each("finding: ", "capacity", "clock-untrusted", "finished-unrecorded", "looping", "pending-stuck",
			"systemic", "template-unusable", "terminating-stuck"),
		each("outcome: ", "activate confirmed", "fail done", "fail pending", "fail withdrawn", "quarantine accepted",
			"quarantine done", "requeue done", "resume done", "terminate accepted", "terminate confirmed", "terminate pending",
			"terminate withdrawn"),
		each("frozen: ", "activity", "clock", "credential", "events", "link", "listing", "probes", "tasks"),
		each("held: ", "breaker", "budget", "hold", "incident", "not-exclusive", "observe", "pause", "rollout", "veto"),
		each("brake: ", "breaker", "incident", "regret"),
		each("pass: ", "failed", "full", "plain rows", "quick", "quick, lists too"),
		each("probe: ", "answered", "cannot-start", "hung", "infrastructure"),
		each("termination: ", "Suspend accepted", "Terminate accepted", "Terminate gone"),
		requiredFaults(),
		requiredLife(),
		each("operator: ", operatorRequests...),
	)
}

func requiredFaults() []string {
	return slices.Concat(
		each("fault: provider ", "cut", "done-drop", "done-error 500", "drop", "empty", "error 401", "error 403",
			"error 404", "error 410", "error 429", "error 500", "error 502", "error 503", "hang", "lose-labels", "not-done",
			"omit", "repeat", "same-page", "slow", "stale"),
		each("fault: ledger ", "done-error", "error", "hang", "slow"),
		each("fault: tasks ", "done-error", "error", "hang", "slow", "standby"),
		each("fault: queue ", "error", "lost", "twice"),
		each("fault: platform ", "error"),
		each("crash before: ", "ByID", "Claim", "Controls", "Get", "Record", "Settle", "Terminate"),
		each("crash after: ", "ByID", "Claim", "Probe", "Record", "Settle", "Terminate", "Write"),
		each("freeze before: ", "Claim", "Terminate"),
		each("lease before: ", "Record"),
		each("clock: ", "lab jump ahead", "lab jump back", "lab drift", "ledger jump ahead", "ledger jump back",
			"ledger drift", "tasks jump ahead", "tasks jump back", "tasks drift"),
		each("event: ", "config at", "config limits", "config rule", "config version", verbPush),
	)
}

// requiredLife is what happens to tasks, workers and sandboxes, and to the platform as a whole.
func requiredLife() []string {
	return slices.Concat(
		each("town: orchestrator ", "crash bind", "crash row", "crash sandbox", "down"),
		each("town: worker ", "ahead", "die", "finish", "hang", "lose", "never started", "silent", "slow", "started", "wait",
			"wake"),
		each("town: user ", "answer", "continue", "continue anew", "delete", "keep", "retry", "stop", "touch"),
		each("town: finish ", "late", "lost", "row"),
		each("town: left ", "keep", "linger", "now"),
		each("town: sandbox ", "break", "die", "hang", "hollow", "pause", "queue", "refuse", "relabel", "resume", "reuse",
			"renew", "disown", "adopt", "spin", "stop", "stuck", "unlabel", "vanish"),
		each("town: template ", "expiring", "failed", "inactive", "missing"),
		each("town: platform ", "back", "backup", "batch", "empty", "foreign", "labels", "leak", "massacre", "restore",
			"standby", "twins"),
		each("town: events ", "down", "late"),
		each("town: ", "fall-back to image", "start refused", "name used again"),
		each("call: ", "Named"),
	)
}

func each(kind string, what ...string) []string {
	out := make([]string, len(what))
	for i, w := range what {
		out[i] = kind + w
	}
	return out
}
