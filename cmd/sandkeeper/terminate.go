package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// lookFor is how long an operator's verb looks at the two worlds.
const lookFor = 2 * time.Minute

// requestTTL is for how long what was asked for may wait, for people.
const requestTTL = "an hour"

// A demand is what somebody wants ended, and how much they insist on it.
type demand struct {
	request
	reconcile.AskOptions
	second, passwordFile string // another operator who says yes to it, and where his password is; "": he types it
}

func (d *demand) add(c *cobra.Command) {
	d.request.add(c, 0, "")
	c.Flags().BoolVar(&d.Running, "include-running", false, "also where a task is assigned to it or runs in it")
	c.Flags().BoolVar(&d.Anyway, "anyway", false, "also while a listing, the tasks or the link are not trusted")
	c.Flags().StringVar(&d.second, "second", "",
		"the operator who says yes to --anyway, where web.operators names two or more; he types his password")
	c.Flags().StringVar(&d.passwordFile, "second-password-file", "",
		"where there is no terminal: a file with his password")
}

// check refuses what nobody could explain afterwards.
func (d *demand) check() error {
	if strings.TrimSpace(d.Reason) == "" {
		return verb.Misused(errors.New("--reason is required; it is recorded and shown on the page"))
	}
	return nil
}

func terminateCommand(o *app.Options) *cobra.Command {
	d := &demand{}
	c := &cobra.Command{
		Use:   "terminate ID",
		Short: "Terminate one sandbox, or those of one task, now",
		Long: `Terminate looks at both worlds, shows what it found, and records that the sandbox is to be
terminated. A running daemon begins at once, else the next once does it. ID is a sandbox's id or
name, provider/id, or a task's id: then all sandboxes of the task.

It asks for no rule, so modes, rollout and incidents do not hold it; holds, pauses, per_hour
and the provider's rate do, for an hour at most: what is not done by then is withdrawn and has
to be asked for again. Right before the termination everything is looked at again. What is not ours is
refused, and so is a sandbox that a task is assigned to or runs in, without --include-running.
It takes the place of a termination that a pass planned and that has not begun. The task's row is
not written.`,
		Example: `  sandkeeper terminate daytona/7d3a… --reason "customer asked, ticket 4711"
  sandkeeper terminate 8c02ffe6-26b9-4b1c-9d6e-0d2f9d6a1c11 --include-running --reason "mines coins"`,
		Args: verb.Needs("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := d.check(); err != nil {
				return err
			}
			return withWorlds(cmd.Context(), o, func(ctx context.Context, a *app.App) (string, error) {
				return terminate(ctx, a, o, args[0], d)
			})
		},
	}
	d.add(c)
	return c
}

// withWorlds runs do with both worlds open, on a ledger of this program's schema, and says
// on stdout what was done.
func withWorlds(ctx context.Context, o *app.Options, do func(context.Context, *app.App) (string, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, lookFor, fmt.Errorf("not finished within %s", lookFor))
	defer cancel()
	a, err := o.Open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	if err := a.CheckSchema(ctx); err != nil {
		return err
	}
	said, err := do(ctx, a)
	if err != nil {
		return usage(err)
	}
	_, err = fmt.Fprintln(o.Out, said)
	return err
}

func terminate(ctx context.Context, a *app.App, o *app.Options, id string, d *demand) (string, error) {
	history, err := readHistory(ctx, a, id)
	if err != nil {
		return "", err
	}
	r, err := look(ctx, a, o)
	if err != nil {
		return "", err
	}
	if meant := r.Meant(id); len(meant) > 1 {
		return "", severalGoBy(id, meant)
	}
	decision := r.Decision(id, history)
	if decision == nil {
		return "", unknownID(ctx, a, id, r.Frozen())
	}
	preview := r.Ending(decision, id, d.AskOptions)
	if len(preview.End) == 0 {
		return "", nothingOf(id, preview)
	}
	var b bytes.Buffer
	previewText(&b, preview, len(preview.End)+len(preview.Left))
	by, err := d.signed(o, a.Config, b.String())
	if err != nil {
		return "", err
	}
	asked, err := a.Ledger.Ask(ctx, by, preview.Actions(), nil)
	if err != nil {
		return "", err
	}
	fmt.Fprint(&b, begun(ctx, a, preview, asked))
	fmt.Fprintf(&b, "\nfollow it with: sandkeeper explain %s", text.Line(id))
	return b.String(), nil
}

// severalGoBy refuses an id that is not one thing's alone.
func severalGoBy(id string, meant []*decide.Decision) error {
	var all []string
	for _, d := range meant {
		all = append(all, d.Subject.ID)
	}
	return fmt.Errorf("terminate %s: several go by it: %s; say which: the task's id, or provider/id", id,
		strings.Join(all, ", "))
}

// look is one full look at both worlds, which changes nothing.
func look(ctx context.Context, a *app.App, o *app.Options) (*run.Result, error) {
	show := console.NewProgress(o.Err)
	defer show.End()
	return a.Keeper(show.Stage).Plan(ctx, reconcile.Full)
}

// nothingOf says why nothing of it can be ended.
func nothingOf(id string, p *run.Preview) error {
	if len(p.Left) == 0 {
		return fmt.Errorf("terminate %s: there is no sandbox to end", id)
	}
	var errs []error
	for i := range p.Left {
		errs = append(errs, fmt.Errorf("terminate sandbox %s: %s", p.Left[i].Ref, p.Left[i].Why))
	}
	return errors.Join(errs...)
}

// unknownID says what an id is that no subject of ours has: somebody else's sandbox, or nothing, or that nobody can say
// because a source could not be read.
func unknownID(ctx context.Context, a *app.App, id string, frozen []reconcile.SourceSeen) error {
	ref, isRef := reconcile.ParseRef(id)
	for _, name := range slices.Sorted(maps.Keys(a.Providers)) {
		wanted := id
		if isRef && name == ref.Provider {
			wanted = ref.ID
		}
		sb, err := a.Providers[name].Get(ctx, wanted)
		if err == nil && !sb.Owned {
			return fmt.Errorf("terminate %s: it is a sandbox of %s that is not proven ours; sandkeeper never touches it",
				id, name)
		}
		if err != nil && !errors.Is(err, reconcile.ErrNotFound) {
			return fmt.Errorf("terminate %s: neither a task nor a sandbox that a pass knows; %s says: %w", id, name, err)
		}
	}
	if len(frozen) == 0 {
		return fmt.Errorf("terminate %s: no task and no sandbox of ours has this id", id)
	}
	var why []string
	for _, s := range frozen {
		why = append(why, s.Name+" is not trusted: "+s.Reason.String())
	}
	return fmt.Errorf("terminate %s: nobody can say what it is: %s; find the cause with sandkeeper check, and ask again "+
		"once it can be read, or end it at its provider", id, strings.Join(why, "; "))
}

// begun tells the daemon of what was asked for, and the person what happens next.
func begun(ctx context.Context, a *app.App, p *run.Preview, asked []reconcile.Action) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "recorded: the end of %s", sandboxes(len(asked)))
	if len(asked) == 1 {
		fmt.Fprintf(&b, ", action %s", asked[0].ID)
	}
	if left := len(p.End) - len(asked); left > 0 {
		fmt.Fprintf(&b, "; %d had been recorded already", left)
	}
	for _, wait := range p.Waits {
		fmt.Fprintf(&b, "\nit waits for the end of the %s, for %s at most", text.Line(wait), requestTTL)
	}
	fmt.Fprintf(&b, "\n%s", a.Operator().Kicked(ctx, asked))
	return b.String()
}

// previewText shows what is ended and what is left, at most so many lines of each.
func previewText(b *bytes.Buffer, p *run.Preview, most int) {
	for i := range p.End {
		if i == most {
			fmt.Fprintf(b, "  and %d more\n", len(p.End)-most)
			break
		}
		fmt.Fprintf(b, "  end   %s\n", previewed(&p.End[i]))
	}
	leftText(b, p, most)
	if p.Foreign > 0 {
		fmt.Fprintf(b, "  leave %s of others\n", sandboxes(p.Foreign))
	}
}

// leftText is what is left, by the reason: which sandboxes they are matters less than why.
func leftText(b *bytes.Buffer, p *run.Preview, most int) {
	why := map[string][]*run.Previewed{}
	for i := range p.Left {
		why[p.Left[i].Why] = append(why[p.Left[i].Why], &p.Left[i])
	}
	for _, reason := range reconcile.SortedKeys(why) {
		of := why[reason]
		if len(of) == 1 {
			fmt.Fprintf(b, "  leave %s: %s\n", previewed(of[0]), text.Line(reason))
			continue
		}
		fmt.Fprintf(b, "  leave %s: %s\n", sandboxes(len(of)), text.Line(reason))
		for _, one := range of[:min(len(of), most)] {
			fmt.Fprintf(b, "    %s\n", previewed(one))
		}
		if len(of) > most {
			fmt.Fprintf(b, "    and %d more\n", len(of)-most)
		}
	}
}

func previewed(p *run.Previewed) string {
	out := p.String()
	if p.Name != "" && p.Name != p.ID {
		out += fmt.Sprintf(" %q", p.Name)
	}
	out += " (" + reconcile.FirstOf(p.Raw, "not seen now") + ")"
	switch {
	case p.Status != "":
		out += fmt.Sprintf(", task %s (%s)", p.Task, p.Status)
	case p.Task != "":
		out += ", task " + p.Task
	}
	return text.Line(out)
}

func sandboxes(n int) string {
	if n == 1 {
		return "1 sandbox"
	}
	return fmt.Sprintf("%d sandboxes", n)
}
