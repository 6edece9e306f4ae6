package view

import (
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// WantedRows are the rows to read besides the live ones: by id, those that were live or are named by a
// sandbox; by key, those that may name a sandbox which nothing explains yet.
func WantedRows(s *reconcile.Snapshot, p *reconcile.Policy, live map[string]bool, linked map[reconcile.Ref]bool,
) (ids, keys []string) {
	wanted := map[string]bool{}
	for id, kept := range s.OtherTasks() {
		if kept.Live() && !live[id] {
			wanted[id] = true
		}
	}
	if s.Kind == reconcile.Quick {
		wantStopped(s, live, wanted)
		for _, f := range nextInTurn(s, p, func(f *reconcile.Finding) bool {
			return f.Task != "" && !live[f.Task] && !reconcile.RuleNamed(f.Rule).FullOnly
		}) {
			wanted[f.Task] = true
		}
	} else {
		wantWatched(s, live, wanted)
	}
	var successors Successors // made for the first that asks: most passes have none
	for i := range s.Sandboxes {
		sb := &s.Sandboxes[i]
		task := sb.Task
		if sb.BadLink {
			continue
		}
		if task == "" {
			task = s.Memory.Sandboxes.Of(sb.Ref).Task
		}
		guessed := task == "" && sb.StableName
		if guessed {
			if successors == nil {
				successors = successorsOf(&s.Memory)
			}
			task = successors[reconcile.Ref{Provider: sb.Provider, ID: sb.Name}]
		}
		if task != "" && !live[task] {
			wanted[task] = true
		}
		//guard:heir-asked harm
		if !reconcile.Holds(linked, sb.Provider, sb.SandboxKey) && (task == "" || guessed || !live[task]) {
			keys = append(keys, sb.Keys()...)
		}
	}
	slices.Sort(keys)
	return reconcile.SortedKeys(wanted), slices.Compact(keys)
}

// wantStopped adds the stopped tasks whose sandbox is still there: a stop is acted on by the
// first quick pass after its grace, not by the next full one.
func wantStopped(s *reconcile.Snapshot, live, wanted map[string]bool) {
	for _, kept := range s.OtherSandboxes() {
		task := kept.Task()
		if kept.Gone() || live[task] {
			continue
		}
		was := s.Memory.TaskOf(kept)
		if was != nil && was.Seen().State == reconcile.TaskStopped {
			wanted[task] = true
		}
	}
}

// wantWatched adds the tasks that were marked failed a while ago: life refutes the verdict.
func wantWatched(s *reconcile.Snapshot, live, wanted map[string]bool) {
	for _, w := range MemoryWatched(&s.Memory) {
		if !live[w.Task] {
			wanted[w.Task] = true
		}
	}
}

// MemoryWatched are the verdicts of a memory that life could still refute, at most [reconcile.WatchMost] of
// them, the newest.
func MemoryWatched(m *reconcile.Memory) []*reconcile.Verdict {
	var out []*reconcile.Verdict
	for i := range m.Verdicts {
		w := &m.Verdicts[i]
		if reconcile.Watched(w.Rule) && w.Task != "" && !w.Over && w.FalsePositiveAt.IsZero() &&
			m.Now.Sub(w.At) < reconcile.WatchFor {
			out = append(out, w)
		}
	}
	return out[max(len(out)-reconcile.WatchMost, 0):]
}
