// Package entry holds what the config says of one provider, and the pure questions that
// every adapter asks of it: is this sandbox ours, which task does it name. It is a leaf,
// so that the adapters and the switch over them can share it.
package entry

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// An Entry is one provider of the config, defaults filled in.
type Entry struct {
	Name, Kind string
	URL        string
	Token      string
	Owns       Owns
	Link       Link
	Rate       float64       // calls a second; 0 means no limit of our own
	Timeout    time.Duration // per call
	Templates  []string
	Hosts      []string // that requests may go to besides that of URL, *.HOST for those below one; nil: the vendor's
	Probe      reconcile.ProbePolicy
	Extra      map[string]string // keys of the kind's own: team, project, org, …
	API        *API              // what kind generic speaks; nil for the others
}

// Owns is the proof that a sandbox is this installation's. Labels and NamePrefix must all
// hold where given.
type Owns struct {
	Labels     map[string]string
	NamePrefix string
	Referenced bool  // owned means: a task row refers to it
	Exclusive  bool  // nobody else creates sandboxes that look like ours
	Except     Class // never ours, whatever else proves it: gateways, builders, sandboxes of what is no task
	Spares     Class // ours, and none has a task until one takes it: a warm pool
}

// A Class is what sandboxes have in common. Each of its parts is enough where given; of Labels all must hold.
type Class struct {
	Labels       map[string]string
	WithoutLabel string // a label that it has not
	NamePrefix   string
	Templates    []string
}

// Empty reports whether nothing is of the class.
func (x Class) Empty() bool {
	return len(x.Labels) == 0 && x.WithoutLabel == "" && x.NamePrefix == "" && len(x.Templates) == 0
}

// Holds reports whether a sandbox with this name, these labels and this template, which may go
// by several words, is of the class. What is not known of it makes it none.
func (x Class) Holds(name string, labels map[string]string, templates ...string) bool {
	return len(x.Labels) > 0 && Holds(x.Labels, labels) ||
		x.WithoutLabel != "" && labels[x.WithoutLabel] == "" ||
		x.NamePrefix != "" && strings.HasPrefix(name, x.NamePrefix) ||
		slices.ContainsFunc(templates, func(t string) bool { return t != "" && slices.Contains(x.Templates, t) })
}

// Options are what an adapter needs besides its entry. The zero value is for production.
type Options struct {
	Transport http.RoundTripper // nil: the adapter's own, with its own deadlines
	Log       *slog.Logger      // nil: silent
	Agent     string            // user agent; "" means sandkeeper
	Now       func() time.Time  // nil: time.Now

	// Heard is told of each call that was made: what it does in a word or two ("get", "list"), the status of
	// the answer or why there was none ("timeout", "error"), and how long it took. Nil: nobody is.
	Heard func(call, code string, took time.Duration)

	// Left is told what one of the provider's limiters says is left, by its own name; "" where it has none.
	// Nil: nobody is.
	Left func(limiter string, calls float64)

	// Turn waits until a call may be made, where processes share the entry's rate. An error
	// means that it was not made. Nil: the rate is a limit of this process alone.
	Turn func(ctx context.Context) error
}

// WithDefaults fills in what was left out.
func (o Options) WithDefaults() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Agent == "" {
		o.Agent = "sandkeeper"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Heard == nil {
		o.Heard = func(string, string, time.Duration) {}
	}
	if o.Left == nil {
		o.Left = func(string, float64) {}
	}
	return o
}

// Prove reports whether a sandbox with this name and these labels is this installation's.
// Without a label and without a prefix nothing is proven.
func (o Owns) Prove(name string, labels map[string]string) bool {
	if len(o.Labels) == 0 && o.NamePrefix == "" {
		return false
	}
	return Holds(o.Labels, labels) && strings.HasPrefix(name, o.NamePrefix)
}

// ByRowOnly reports whether a task row that refers to a sandbox is the only proof there is.
func (o Owns) ByRowOnly() bool { return o.Referenced && len(o.Labels) == 0 && o.NamePrefix == "" }

// Mark fills in what the entry makes of a sandbox's name, labels and template, which may have
// further words: whose it is, which task it names, and what a row would name it by.
func (e Entry) Mark(s *reconcile.Sandbox, further ...string) {
	s.Provider = e.Name
	templates := append([]string{s.Template}, further...)
	s.Excepted = e.Owns.Except.Holds(s.Name, s.Labels, templates...)
	s.Owned = !s.Excepted && e.Owns.Prove(s.Name, s.Labels)
	if e.Link.TaskLabel != "" {
		s.Task, s.Unsigned = e.Link.task(s.Labels[e.Link.TaskLabel])
	}
	s.Spare = s.Task == "" && s.Unsigned == "" && e.Owns.Spares.Holds(s.Name, s.Labels, templates...)
	_, s.Canary = s.Labels[reconcile.CanaryLabel]
	if said := s.Labels[e.Link.TenantLabel]; e.Link.TenantLabel != "" && said != "" {
		s.Tenant = reconcile.TenantName(said)
	}
	switch key, isLabel := strings.CutPrefix(e.Link.Sandbox, "label:"); {
	case isLabel:
		s.SandboxKey, s.AltKey = s.Labels[key], s.ID
	case e.Link.Sandbox == "id":
		s.SandboxKey = s.ID
	case e.Link.Sandbox == "name":
		s.SandboxKey, s.AltKey = s.Name, s.ID
	}
}

// OwnNamed makes a sandbox perhaps ours that a row names, or that names a task, where that is all the
// proof there may be. Whether it is one is settled by the row.
func (e Entry) OwnNamed(s *reconcile.Sandbox) {
	if !s.Owned && e.Owns.ByRowOnly() && !s.Excepted {
		s.Owned, s.Unproven = true, "nothing but a row says that it is ours"
	}
}

// OrName lets rows hold the sandbox's name in place of its id, where platforms store either.
func (e Entry) OrName(s *reconcile.Sandbox) {
	if e.Link.Sandbox == "id" && s.Name != s.ID {
		s.AltKey = s.Name
	}
}

// Passed reports whether a label hands a sandbox to another task by now, as a spare is that
// somebody claimed since expected was seen. What was too odd to be kept whole cannot be
// compared.
func (e Entry) Passed(expected, now reconcile.Sandbox) bool {
	byLabel := strings.HasPrefix(e.Link.Sandbox, "label:")
	return !expected.BadLink && (expected.Task != now.Task || byLabel && expected.SandboxKey != now.SandboxKey)
}

// LabelsOf are the labels of a sandbox of ours that is for the task.
func (e Entry) LabelsOf(task string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, e.Owns.Labels)
	out[e.Link.TaskLabel] = e.Link.Value(task)
	return out
}

// CanaryName is the name of a canary's sandbox: ours by the prefix, where that is what proves it.
func (e Entry) CanaryName(id string) string {
	return e.Owns.NamePrefix + reconcile.CanaryLabel + "-" + id
}

// CanaryLabels are the labels of a sandbox of ours that no task explains.
func (e Entry) CanaryLabels(name string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, e.Owns.Labels)
	out[reconcile.CanaryLabel] = name
	return out
}

// Holds reports whether all the wanted labels are there, with equal values.
func Holds(want, have map[string]string) bool {
	for key, value := range want {
		if got, ok := have[key]; !ok || got != value {
			return false
		}
	}
	return true
}
