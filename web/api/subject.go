package api

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A Subject is what a finding, an action or a request is about.
type Subject struct {
	// What it is: task, sandbox, template, source, incident, rule, provider, label, capacity, breaker.
	Type string `json:"type,omitempty"`
	ID   string `json:"id" jsonschema_extras:"x-untrusted=true"`
	// The entry of the config, of a sandbox and a template.
	Provider string `json:"provider,omitempty"`
}

// SubjectOf takes a subject's text apart.
func SubjectOf(text string) Subject {
	s := reconcile.ParseSubject(text)
	switch s.Type {
	case reconcile.SubjectSandbox, reconcile.SubjectTemplate:
		return Subject{Type: string(s.Type), ID: s.ID, Provider: s.Provider}
	}
	return Subject{Type: string(s.Type), ID: s.Within()}
}

// A List is a part of a collection, in its order.
type List[T any] struct {
	Items []T `json:"items"`
	// What to ask for the part after this one with, as cursor; absent when this is the last.
	Next string `json:"next,omitempty"`
}

// ListOf makes the items of a list.
func ListOf[From, To any](all []From, of func(*From) To) List[To] {
	out := List[To]{Items: make([]To, 0, len(all))}
	for i := range all {
		out.Items = append(out.Items, of(&all[i]))
	}
	return out
}

// utc is a time as it is written; zero stays zero, and is left out.
func utc(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC()
}

// seconds is a duration as it is written.
func seconds(d time.Duration) float64 { return d.Seconds() }
