package protocol

import "github.com/sandkeeper/sandkeeper/reconcile"

// Sought is what a person asked about, taken apart.
type Sought struct {
	Given string        // as it was typed
	ID    string        // without the kind in front: a task's id, or a sandbox's id or name
	Ref   reconcile.Ref // when it reads as provider/id
}

// Subject takes apart an id, a provider/id, or a subject like "task:ID" and
// "sandbox:PROVIDER/ID".
func Subject(given string) Sought {
	s := Sought{Given: given}
	s.ID, _ = reconcile.OfType(reconcile.SubjectTask, given)
	s.ID, _ = reconcile.OfType(reconcile.SubjectSandbox, s.ID)
	if ref, is := reconcile.ParseRef(s.ID); is {
		s.Ref = ref
	}
	return s
}

// Refs are the sandboxes that are meant: those of h, and the one that was named outright,
// which may be known from its findings alone.
func (s Sought) Refs(h reconcile.History) []reconcile.Ref {
	refs := []reconcile.Ref{s.Ref}
	for _, b := range h.Sandboxes {
		refs = append(refs, b.Ref)
	}
	return refs
}

// Tasks are the ids of the tasks that are meant, in the same way.
func (s Sought) Tasks(h reconcile.History) []string {
	tasks := []string{s.ID}
	for _, t := range h.Tasks {
		tasks = append(tasks, t.ID)
	}
	return tasks
}

// Subjects are all the names under which the timeline may hold what happened to the tasks
// and sandboxes of h, operators' holds among them.
func (s Sought) Subjects(h reconcile.History) []string {
	named := []string{s.Given, reconcile.TaskSubject(s.ID), reconcile.SubjectOf(reconcile.SubjectSandbox, s.ID)}
	for _, t := range h.Tasks {
		named = append(named, reconcile.TaskSubject(t.ID))
	}
	for _, b := range h.Sandboxes {
		named = append(named, reconcile.BoxSubject(b.Ref), reconcile.SubjectOf(reconcile.SubjectSandbox, b.ID))
	}
	return named
}
