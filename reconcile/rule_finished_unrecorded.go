package reconcile

import "fmt"

// finishedUnrecorded finds a task whose worker says that it finished while the row is
// still live: somebody lost the result. It is reported, and nobody may fail the row.
func finishedUnrecorded(v *view, s *Subject) answer {
	t := s.Task
	if t == nil || s.Fate != FateLive {
		return v.apart(s, "live tasks are")
	}
	if t.Events.Finished.IsZero() {
		return fine("its worker has not said that it finished")
	}
	start := latest(t.Events.Started, s.presentStart(), t.AssignedAt)
	//guard:unrecorded-present live an earlier attempt's end would keep this one for ever
	if !t.Events.Finished.After(start) {
		return v.no(func() string {
			return fmt.Sprintf("its worker finished at %s, before the last start at %s", stamp(t.Events.Finished), stamp(start))
		})
	}
	return answer{
		found: true, due: true, report: true, veto: true,
		reason: "the worker finished at " + stamp(t.Events.Finished) + ", the row still says " + t.Status,
		evidence: []Evidence{
			{Source: "events", At: t.Events.Finished, Fact: "finished event, newer than the last start"},
			{Source: "tasks", At: t.AsOf, Fact: "status " + t.Status},
		},
	}
}
