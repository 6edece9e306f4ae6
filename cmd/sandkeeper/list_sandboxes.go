package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// stateGone is the state of sandboxes that were seen to be gone.
const stateGone = "gone"

func sandboxesCommand(o *app.Options) *cobra.Command {
	f := &listFlags{}
	c := &cobra.Command{
		Use:   "sandboxes",
		Short: "List the sandboxes of this installation, as the ledger last saw them",
		Long: `Sandboxes lists the sandboxes that exist, with their tasks, as the last passes saw them. It asks no
provider. --state gone lists those that are gone and still on record.`,
		Example: `  sandkeeper sandboxes --provider daytona --state running
  sandkeeper sandboxes --text omoios-e359 -o json`,
		Args: verb.Needs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return list(cmd.Context(), o, f, listSandboxes) },
	}
	f.add(c)
	f.addProvider(c)
	f.addState(c, "creating, running, suspended, stopped, failed, deleting, ended or gone (default all but gone)",
		string(reconcile.SandboxCreating), string(reconcile.SandboxRunning), string(reconcile.SandboxSuspended),
		string(reconcile.SandboxStopped), string(reconcile.SandboxFailed), string(reconcile.SandboxDeleting),
		string(reconcile.SandboxEnded), stateGone)
	f.addTemplate(c)
	f.addText(c, "only with this part of an id, of a name or of a task's id")
	return c
}

// A seenReport is a sandbox as the ledger last saw it. Its JSON is a public contract.
type seenReport struct {
	Provider      string     `json:"provider"`
	Sandbox       string     `json:"sandbox"`
	Name          string     `json:"name,omitempty"`
	Task          string     `json:"task,omitempty"`
	State         string     `json:"state"` // unknown for a word of the provider that is not known; gone
	ProviderState string     `json:"provider_state,omitempty"`
	Template      string     `json:"template,omitempty"`
	CreatedAt     *time.Time `json:"created_at,omitempty"` // by the provider's clock; the others by the ledger's
	FirstSeen     *time.Time `json:"first_seen,omitempty"`
	StateSince    *time.Time `json:"state_since,omitempty"`
	GoneAt        *time.Time `json:"gone_at,omitempty"`
	Region        string     `json:"region,omitempty"`
	CPU           float64    `json:"cpu,omitempty"` // 0: not said
	GPU           float64    `json:"gpu,omitempty"`
	MemoryGiB     float64    `json:"memory_gib,omitempty"`
}

func listSandboxes(ctx context.Context, a *app.App, f *listFlags) (*listing, error) {
	now, err := a.Ledger.Now(ctx)
	if err != nil {
		return nil, err
	}
	items, more, err := f.inventory(ctx, a)
	if err != nil {
		return nil, err
	}
	l := &listing{name: "sandboxes", narrow: 6, none: "no such sandbox", items: items, more: more,
		head: []string{"provider", "sandbox", "state", "task", "age", "template", "name", "provider state", "created",
			"first seen", "gone"}}
	for _, r := range items {
		l.rows = append(l.rows, []string{r.Provider, r.Sandbox, r.State, r.Task, r.age(now), r.Template, r.Name,
			r.ProviderState,
			console.Stamp(r.CreatedAt), console.Stamp(r.FirstSeen), console.Stamp(r.GoneAt)})
	}
	return l, nil
}

// inventory reads part after part of what the flags choose, until the list is full.
func (f *listFlags) inventory(ctx context.Context, a *app.App) (items []seenReport, more bool, err error) {
	part := f.chosen()
	part.State = f.state
	items = []seenReport{}
	for {
		found, next, err := a.Ledger.Sandboxes(ctx, part)
		if err != nil {
			return nil, false, err
		}
		for i := range found {
			if f.full(len(items)) {
				return items, true, nil
			}
			items = append(items, seenOf(&found[i]))
		}
		if part.After = next; next == (reconcile.Cursor{}) {
			return items, false, nil
		}
	}
}

// age is since the ledger saw it first: the provider's clock is another one.
func (r *seenReport) age(now time.Time) string {
	if r.FirstSeen == nil {
		return ""
	}
	return text.Coarse(now.Sub(*r.FirstSeen))
}

func seenOf(s *reconcile.SandboxSeen) seenReport {
	state := reconcile.FirstOf(string(s.State), "unknown")
	if !s.GoneAt.IsZero() {
		state = stateGone
	}
	return seenReport{Provider: s.Provider, Sandbox: s.ID, Name: s.Name, Task: s.Task, State: state, ProviderState: s.Raw,
		Template: s.Template, CreatedAt: console.When(s.CreatedAt), FirstSeen: console.When(s.FirstSeen),
		StateSince: console.When(s.StateSince), GoneAt: console.When(s.GoneAt),
		Region: s.Region, CPU: s.Size.CPU, GPU: s.Size.GPU, MemoryGiB: s.Size.MemoryGiB}
}
