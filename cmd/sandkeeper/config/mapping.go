package config

import (
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/store/tasks"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

// Mapping returns the sections `tasks` and `events` as they are given, for tasks.Compile.
// Attrs are the further columns that overrides ask for.
func (c *Config) Mapping() mapping.Mapping {
	t := c.Tasks
	return mapping.Mapping{
		Preset: t.Preset, Table: t.Table, From: t.From, Key: t.Key, Where: t.Where, Timezone: t.Timezone,
		Columns: t.Columns, Statuses: t.Statuses,
		Fail: mapping.RowChange{None: t.Fail.None, Status: t.Fail.Status, Set: t.Fail.Set, SQL: t.Fail.SQL,
			Call: t.Fail.Call.given()},
		Requeue: mapping.RowChange{None: t.Requeue.None || t.Fail.None && !t.Requeue.given(), Status: t.Requeue.Status,
			Set: t.Requeue.Set,
			SQL: t.Requeue.SQL, Call: t.Requeue.Call.given()},
		Many:   t.PerTask == "many" || t.PerTask == "" && reconcile.ShapeNamed(c.shape()).Many,
		Notify: t.Notify, Attrs: c.attrs(),
		Events: mapping.EventMapping{
			Table: c.Events.Table, From: c.Events.From, Columns: c.Events.Columns,
			Started: eventTypes(c.Events.Started), Heartbeat: eventTypes(c.Events.Heartbeat),
			Waiting: eventTypes(c.Events.Waiting), Finished: eventTypes(c.Events.Finished),
			Write: c.Events.Write, Set: c.Events.Set,
		},
		ExplainedBy: explainers(t.ExplainedBy), Entries: c.entryNames(),
	}
}

// entryNames are what the rows call the entries.
func (c *Config) entryNames() (out []mapping.Entry) {
	for _, p := range c.Providers {
		out = append(out, mapping.Entry{Name: p.Name, Rows: p.Rows})
	}
	return out
}

// shape is the class of the platform: the config's word, else the preset's.
func (c *Config) shape() string {
	if c.Tasks.Shape != "" {
		return c.Tasks.Shape
	}
	return mapping.PresetShape(c.Tasks.Preset)
}

// eventTypes is nil for a list that is not given, which a preset fills.
func eventTypes(list []EventTypeConfig) []mapping.EventType {
	if list == nil {
		return nil
	}
	out := make([]mapping.EventType, len(list))
	for i, t := range list {
		out[i] = mapping.EventType{Type: t.Type, Where: t.Where}
	}
	return out
}

// explainers is nil for a list that is not given, which a preset fills.
func explainers(list []ExplainerConfig) []mapping.Explainer {
	if list == nil {
		return nil
	}
	out := make([]mapping.Explainer, len(list))
	for i, e := range list {
		out[i] = mapping.Explainer{Table: e.Table, Key: e.Key, Where: e.Where, Label: e.Label, Name: e.Name}
	}
	return out
}

// tasksPolicy says what the task mapping offers, its preset filled in.
func (c *Config) tasksPolicy() reconcile.TasksPolicy {
	if c.Tasks.None {
		return reconcile.TasksPolicy{None: true}
	}
	m := c.Mapping().WithPreset()
	mapped := func(field string) bool { return m.Columns[field] != "" }
	p := reconcile.TasksPolicy{
		Events:      m.Events.Mapped(),
		Heartbeats:  mapped("heartbeat_at") || m.Events.Mapped() && len(m.Events.Heartbeat) > 0,
		Requeue:     mapped("attempts") && mapped("max_attempts"),
		HasAssigned: mapped("assigned_at"),
		HasUpdated:  mapped("updated_at"),
		Tenants:     mapped("tenant"),
		Traces:      mapped("trace"),
		ErrorMapped: mapped("error"),
		FailsRows:   m.Fail.Whole(),
		Requeues:    m.Requeue.Whole(),

		KeepSandboxes: c.Tasks.Sandboxes == "keep" || c.Tasks.Sandboxes == "" && reconcile.ShapeNamed(c.shape()).Keep,

		TellsUse:      mapped("keep_alive_until"),
		DeadlineFails: mapped("fails_at"),
	}
	for _, e := range m.ExplainedBy {
		p.ExplainedBy = append(p.ExplainedBy, reconcile.Explanation{Table: e.Table, Label: e.Label})
	}
	for _, entry := range c.Providers {
		p.SandboxKnown = p.SandboxKnown || entry.Link.Sandbox != ""
	}
	return p
}

func (c *Config) checkTasks(r *report) {
	switch {
	case c.Tasks.None && r.given("events") && c.Events.Table != "none":
		r.fail("events", "events without tasks tell nothing", "remove them, or describe the task table")
	case !c.Tasks.None && !r.given("tasks"):
		r.fail("tasks", "is not given", "describe the task table, or write tasks: none for sandbox-side rules only")
	case !c.Tasks.None && !r.unreadable("tasks") && !r.unreadable("events"):
		c.checkMapping(r)
		c.checkWebhook(r)
		c.checkCalls(r)
	}
}

// MaxNoticeTime is the most that a notice may take: nobody waits longer for the platform.
const MaxNoticeTime = 15 * time.Second

// checkWebhook never shows the address: people put credentials into it.
func (c *Config) checkWebhook(r *report) {
	const key = "tasks.webhook"
	w := c.Tasks.Webhook
	if !r.given(key) || r.unreadable(key) {
		return
	}
	u, err := url.Parse(w.URL.Reveal())
	switch {
	case w.URL.Empty():
		r.fail(key+".url", "is not given", "name the address that takes the notices")
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		r.fail(key+".url", "is not an address of https or http", "write it like https://host/path")
	case u.User != nil:
		r.fail(key+".url", "holds a credential", "remove it: the receiver knows us by the signature")
	case u.Scheme == "http" && !text.Loopback(u.Hostname()):
		r.warn(key+".url", "the notices go over the network unencrypted", "use https")
	}
	if w.Secret.Empty() && !r.bad[key+".secret"] {
		r.fail(key+".secret", "is not given: the receiver could not tell our notices from anybody's",
			"give secret or secret_file")
	}
	r.checkSecret(key+".secret", w.Secret)
	if w.Timeout > MaxNoticeTime {
		r.fail(key+".timeout", text.Exact(w.Timeout)+" is above the cap of "+text.Exact(MaxNoticeTime),
			"use at most "+text.Exact(MaxNoticeTime))
	}
}

// calls are the calls of the platform's own API, by the step that they do.
func (c *Config) calls() map[string]*CallConfig {
	return map[string]*CallConfig{"fail": &c.Tasks.Fail.Call, "requeue": &c.Tasks.Requeue.Call}
}

// checkCalls never shows an address: people put credentials into it.
func (c *Config) checkCalls(r *report) {
	for step, call := range c.calls() {
		if key := "tasks." + step + ".call"; r.given(key) && !r.unreadable(key) {
			call.check(r, key)
		}
	}
}

func (c *CallConfig) check(r *report, key string) {
	u, err := url.Parse(c.URL.Reveal())
	switch {
	case c.URL.Empty():
		r.fail(key+".url", "is not given", "name the address of the platform's API, with {id} for the task")
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		r.fail(key+".url", "is not an address of https or http", "write it like https://host/tasks/{id}/cancel")
	case u.User != nil:
		r.fail(key+".url", "holds a credential", "move it to token")
	case !strings.Contains(c.URL.Reveal(), "{id}") && !c.names("@id") && len(c.Body) > 0:
		r.fail(key, "neither url nor body names the task", "put {id} into the path, or @id into the body")
	case u.Scheme == "http" && !text.Loopback(u.Hostname()):
		r.warn(key+".url", "the calls and their credential go over the network unencrypted", "use https")
	}
	if c.Token.Empty() && c.Secret.Empty() && !r.bad[key+".token"] && !r.bad[key+".secret"] {
		r.warn(key, "nothing shows the platform that the call is ours", "give token, or secret for a signature")
	}
	r.checkSecret(key+".secret", c.Secret)
	if c.Timeout > MaxNoticeTime {
		r.fail(key+".timeout", text.Exact(c.Timeout)+" is above the cap of "+text.Exact(MaxNoticeTime),
			"use at most "+text.Exact(MaxNoticeTime))
	}
}

// names reports whether the body has the word.
func (c *CallConfig) names(word string) bool {
	for _, value := range c.Body {
		if strings.Contains(value, word) {
			return true
		}
	}
	return false
}

// checkMapping reports what store has against the mapping with the other mistakes.
func (c *Config) checkMapping(r *report) {
	_, err := tasks.Compile(c.Mapping().WithPreset())
	for _, m := range mistakesIn(err) {
		if strings.Contains(r.raw[m.Key], "${") { // its sentence may show what a variable holds
			m.Problem = r.quote(m.Key) + " holds what cannot stand here"
		}
		r.fail(m.Key, m.Problem, m.Fix)
	}
}

// mistakesIn takes joined errors apart.
func mistakesIn(err error) []mapping.Error {
	var many interface{ Unwrap() []error }
	if !errors.As(err, &many) {
		return nil
	}
	var out []mapping.Error
	for _, one := range many.Unwrap() {
		var m *mapping.Error
		if errors.As(one, &m) {
			out = append(out, *m)
		}
	}
	return out
}
