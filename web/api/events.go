package api

import (
	"strconv"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A CloudEvent is one thing that happened, in the form of CloudEvents 1.0.
type CloudEvent struct {
	SpecVersion string `json:"specversion" jsonschema:"enum=1.0"`
	// Of the event, whoever asks for it and however often.
	ID string `json:"id"`
	// The installation: /sandkeeper/NAME.
	Source string `json:"source"`
	// sandkeeper.finding.opened, .finding.resolved, .action, .incident, .request, .source, .state, .seen, .probe,
	// .false_positive, and sandkeeper.pass.ended.
	Type string `json:"type"`
	// As the record writes it: task:ID, sandbox:PROVIDER/ID, rule:NAME.
	Subject     string    `json:"subject,omitempty" jsonschema_extras:"x-untrusted=true"`
	Time        time.Time `json:"time"`
	ContentType string    `json:"datacontenttype" jsonschema:"enum=application/json"`
	Data        EventData `json:"data"`
}

// EventData is what happened: a line of the record, or a pass.
type EventData struct {
	Event *Event `json:"event,omitempty"`
	Pass  *Pass  `json:"pass,omitempty"`
}

// eventTypes are the types of the record's lines, by kind.
var eventTypes = map[string]string{
	"finding": "finding.opened", "resolved": "finding.resolved", "operator": "request", "regret": "false_positive",
}

// CloudEventOf is what happened, as programs read it.
func CloudEventOf(e *reconcile.RecordEvent, source string) CloudEvent {
	out := CloudEvent{SpecVersion: "1.0", Source: source, ContentType: "application/json"}
	if e.Pass != nil {
		pass := PassOf(e.Pass)
		out.ID, out.Type = "pass-"+strconv.FormatInt(pass.ID, 10), "sandkeeper.pass.ended"
		out.Time, out.Data.Pass = pass.EndedAt, &pass
		return out
	}
	line := EventOf(&e.TimelineEvent)
	out.ID, out.Type = "line-"+strconv.FormatInt(e.Number, 10), "sandkeeper."+reconcile.FirstOf(eventTypes[e.Kind], e.Kind)
	out.Subject, out.Time, out.Data.Event = e.Subject, line.At, &line
	return out
}
