package reconcile

import "strings"

// A SubjectType says what kind of thing a finding, an action, a hold or a line of the timeline is about.
type SubjectType string

// The types of subjects.
const (
	SubjectTask     SubjectType = "task"
	SubjectSandbox  SubjectType = "sandbox"
	SubjectTemplate SubjectType = "template"
	SubjectIncident SubjectType = "incident"
	SubjectSource   SubjectType = "source"
	SubjectCapacity SubjectType = "capacity" // a quota of a provider, or a level of the whole fleet
	SubjectProvider SubjectType = "provider"
	SubjectRule     SubjectType = "rule"
	SubjectLabel    SubjectType = "label"   // KEY=VALUE, see [LabelParts]
	SubjectBreaker  SubjectType = "breaker" // of a rule
)

// A SubjectID names a subject in its parts. Its text is what the ledger keeps and people type:
// [SubjectID.String] says it, [ParseSubject] reads it.
type SubjectID struct {
	Type     SubjectType // "" for a text that names no type
	Provider string      // of a sandbox, a template and a quota
	ID       string
}

// String is the text: "task:ID", "sandbox:PROVIDER/ID".
func (s SubjectID) String() string {
	out := s.ID
	if s.Provider != "" {
		out = s.Provider + "/" + out
	}
	if s.Type != "" {
		out = string(s.Type) + ":" + out
	}
	return out
}

// ParseSubject reads what String said.
func ParseSubject(text string) SubjectID {
	kind, rest, typed := strings.Cut(text, ":")
	if !typed || kind == "" {
		return SubjectID{ID: text}
	}
	s := SubjectID{Type: SubjectType(kind), ID: rest}
	switch s.Type {
	case SubjectSandbox, SubjectTemplate, SubjectCapacity:
		if provider, id, found := strings.Cut(rest, "/"); found && provider != "" {
			s.Provider, s.ID = provider, id
		}
	}
	return s
}

// Within is the subject without its type: the id, with the provider in front where it has one.
func (s SubjectID) Within() string { return SubjectID{Provider: s.Provider, ID: s.ID}.String() }

// SubjectOf is the subject of a type that has no provider.
func SubjectOf(kind SubjectType, id string) string { return SubjectID{Type: kind, ID: id}.String() }

// TaskSubject is the subject that a task is.
func TaskSubject(id string) string { return SubjectOf(SubjectTask, id) }

// BoxSubject is the subject that a sandbox is.
func BoxSubject(ref Ref) string { return SubjectID{SubjectSandbox, ref.Provider, ref.ID}.String() }

// TemplateSubject is the subject that a template is.
func TemplateSubject(provider, name string) string {
	return SubjectID{SubjectTemplate, provider, name}.String()
}

// TypeOf is the type of a subject's text.
func TypeOf(subject string) SubjectType { return ParseSubject(subject).Type }

// OfType is what follows the type in a text of that type, "orphan" of "breaker:orphan"; of another one,
// it is the text itself.
func OfType(kind SubjectType, text string) (id string, is bool) {
	if s := ParseSubject(text); s.Type == kind {
		return s.Within(), true
	}
	return text, false
}

// TemplateOf is the name of the template that a subject is about; "" when it is about none.
func TemplateOf(subject, provider string) string {
	if s := ParseSubject(subject); s.Type == SubjectTemplate && s.Provider == provider {
		return s.ID
	}
	return ""
}

// LabelParts are the key and the value of "KEY=VALUE".
func LabelParts(label string) (key, value string) {
	key, value, _ = strings.Cut(label, "=")
	return key, value
}

// ParseRef reads "PROVIDER/ID".
func ParseRef(text string) (Ref, bool) {
	provider, id, found := strings.Cut(text, "/")
	return Ref{Provider: provider, ID: id}, found
}
