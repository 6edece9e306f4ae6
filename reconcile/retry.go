package reconcile

import (
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// RetryWaits says what a retry waits for, by what the ledger knows; "" for nothing. An attempt beside an old one that
// still runs would do the same work twice.
func RetryWaits(m *Memory, c *Controls, a *Action) string {
	if id := c.Incident(a.Signature); id != "" {
		return "incident " + id + " holds it: release it once its cause is fixed"
	}
	for _, b := range boxesOf(m, a.Task) {
		if b.GoneAt.IsZero() && b.State != SandboxEnded && !b.State.AtRest() {
			return "its sandbox " + text.Clip(b.Ref.String(), 100) + " is not gone yet"
		}
	}
	return ""
}

// boxesOf are the sandboxes on record that name the task, in their order.
func boxesOf(m *Memory, task string) []SandboxSeen {
	var all []SandboxSeen
	for _, b := range m.Sandboxes.All() {
		if b.Task == task && task != "" {
			all = append(all, b)
		}
	}
	slices.SortFunc(all, func(a, b SandboxSeen) int { return CompareRefs(a.Ref, b.Ref) })
	return all
}
