package protocol

import (
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Sought is what a person asked about, taken apart.
type Sought struct {
	Given string        // as it was typed
	ID    string        // without the kind in front: a task's id, or a sandbox's id or name
	Ref   reconcile.Ref // when it reads as provider/id
}

// Subject takes apart an id, a provider/id, or a subject like "task:ID" and
// "sandbox:PROVIDER/ID".
func Subject(given string) Sought {
	s := Sought{Given: given, ID: given}
	for _, kind := range []string{"task:", "sandbox:"} {
		s.ID = strings.TrimPrefix(s.ID, kind)
	}
	if provider, id, found := strings.Cut(s.ID, "/"); found {
		s.Ref = reconcile.Ref{Provider: provider, ID: id}
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
	named := []string{s.Given, "task:" + s.ID, "sandbox:" + s.ID}
	for _, t := range h.Tasks {
		named = append(named, "task:"+t.ID)
	}
	for _, b := range h.Sandboxes {
		named = append(named, "sandbox:"+b.Ref.String(), "sandbox:"+b.ID)
	}
	return named
}
