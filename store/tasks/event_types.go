package tasks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/store"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

// eventKinds are what a type of event may mean, in the words of the config.
var eventKinds = []string{"started", "heartbeat", "waiting", "finished"}

// key is the column that a row's events are found by; "" for an expression.
func (e *compiledEvents) key() string {
	if e.byTask {
		return e.plain["task"]
	}
	return e.plain["sandbox"]
}

// eventTypes compiles the conditions, and refuses a type that is a heartbeat and something
// more: a worker that is waiting or done would look merely alive. With a condition each, the
// conditions tell them apart.
func (c *compiler) eventTypes(out *compiledEvents) {
	for _, kind := range eventKinds {
		for i, t := range c.m.Events.Of(kind) {
			key := fmt.Sprintf("events.%s[%d]", kind, i)
			if t.Type == "" || !text.Storable(t.Type) {
				c.wrong(key, fmt.Sprintf("%q is no type of event", t.Type), "name the type, as the table has it")
			}
			if t.Where != "" {
				out.narrowed[kind] = append(out.narrowed[kind], narrowedType{t.Type, c.sql(key+".where", t.Where).SQL()})
			}
		}
	}
	for _, kind := range []string{"finished", "started", "waiting"} {
		for _, t := range c.m.Events.Of(kind) {
			if slices.ContainsFunc(c.m.Events.Heartbeat, func(h mapping.EventType) bool { return h.Clashes(t) }) {
				c.wrong("events."+kind, fmt.Sprintf("%q is also a heartbeat", t.Type), "an event type is one or the other")
			}
		}
	}
}

// A narrowedType is a type of event that means something only where a condition holds.
type narrowedType struct{ typ, where string }

// is the condition that an event is of a kind. The plain types are a parameter; each other
// is asked about its condition only when the type is right, so that the condition meets no
// data of another form.
func (e *compiledEvents) is(kind string) string {
	typ := "(" + e.columns["type"] + ")::text"
	var b strings.Builder
	fmt.Fprintf(&b, "%s = ANY (@%s::text[])", typ, kind)
	for _, n := range e.narrowed[kind] {
		b.WriteString(" OR " + e.onlyIf(n))
	}
	return b.String()
}

// onlyIf is the condition that an event is of such a type.
func (e *compiledEvents) onlyIf(n narrowedType) string {
	return fmt.Sprintf("CASE WHEN (%s)::text = %s THEN %s ELSE false END", e.columns["type"], store.Literal(n.typ),
		e.holds(n.where))
}

// holds is whether a condition of the config holds of an event. `data` in it is the mapped
// column, whatever its own name is and whatever other columns are called.
func (e *compiledEvents) holds(where string) string {
	from := ""
	if data := e.columns["data"]; data != "" {
		from = " FROM (SELECT (" + data + ")::jsonb AS data) AS d"
	}
	return "coalesce((SELECT (" + where + ")" + from + "), false)"
}
