package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// previewLines is how many sandboxes of each kind a preview names.
const previewLines = 20

// A cleanup is what an emergency clean-up is asked for with.
type cleanup struct {
	demand
	provider, confirm string
}

func emergencyCommand(o *app.Options) *cobra.Command {
	f := &cleanup{}
	c := &cobra.Command{
		Use:   "emergency",
		Short: "Terminate all sandboxes of this installation, after a preview and a typed confirmation",
		Long: `Emergency looks at both worlds and shows what it would terminate: every sandbox that is proven
ours, or those of one provider. It leaves what is held, what is not ours, and, by
default, where a task is assigned or runs (--include-running), and what rests on a source
that is not trusted or may be another environment's on the same account (--anyway, which takes
two operators where web.operators names two or more).

Nothing happens until the phrase that it shows is typed. Without a terminal the phrase and
the hash of the list are given by --confirm; when the list has changed meanwhile, it is
refused. All of it is recorded at once; a running daemon begins at once, else the next once
does it, and looks at each sandbox again right before. Share, per_pass and breaker
do not apply; holds, pauses, per_hour and the provider's rate do. What they keep from being
done for an hour is withdrawn: look again, and ask again. So a pause of all that lasts longer
takes back what is not begun yet.`,
		Example: `  sandkeeper emergency --reason "account compromised"
  sandkeeper emergency --provider daytona --include-running --reason "bill runs away" \
    --confirm "terminate 37 sandboxes of prod-eu 2f9k1"`,
		Args: verb.Needs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return withWorlds(cmd.Context(), o, func(ctx context.Context, a *app.App) (string, error) {
				return askEmergency(ctx, a, o, f)
			})
		},
	}
	f.add(c)
	c.Flags().StringVar(&f.provider, "provider", "", "only the sandboxes of this provider entry")
	c.Flags().StringVar(&f.confirm, "confirm", "", "the phrase and the hash, as they were shown")
	return c
}

func askEmergency(ctx context.Context, a *app.App, o *app.Options, f *cleanup) (string, error) {
	if _, known := a.Providers[f.provider]; f.provider != "" && !known {
		return "", a.Operator().UnknownProvider(f.provider)
	}
	r, err := look(ctx, a, o)
	if err != nil {
		return "", err
	}
	p := r.Emergency(f.provider, f.AskOptions)
	var b bytes.Buffer
	previewText(&b, p, previewLines)
	for _, wait := range p.Waits {
		fmt.Fprintf(&b, "  nothing is terminated before the end of the %s, which has to come within %s\n", text.Line(wait),
			requestTTL)
	}
	if most := a.Config.Policy().Limits.PerHour; len(p.End) > most {
		fmt.Fprintf(&b, "  at most %d are terminated in an hour (limits.per_hour): the rest must be asked for again\n", most)
	}
	if _, err := o.Out.Write(b.Bytes()); err != nil {
		return "", fmt.Errorf("write the preview: %w", err)
	}
	if len(p.End) == 0 {
		return "there is nothing to end", nil
	}
	if err := f.confirmed(o, p); err != nil {
		return "", err
	}
	by, err := f.signed(o, a.Config, "")
	if err != nil {
		return "", err
	}
	asked, err := a.Ledger.Ask(ctx, by, p.Actions(), nil)
	if err != nil {
		return "", err
	}
	return begun(ctx, a, p, asked) + "\nfollow it with: sandkeeper plan, or on the page under actions", nil
}

// confirmed is an error unless the person has said yes to this very list.
func (f *cleanup) confirmed(o *app.Options, p *run.Preview) error {
	switch {
	case f.confirm != "":
		return confirms(f.confirm, p)
	case !console.OnTerminal(o.Err) || !term.IsTerminal(int(os.Stdin.Fd())):
		return fmt.Errorf("not confirmed, nothing was recorded; if this is what you want, say it with: --confirm %q",
			p.Phrase()+" "+p.Hash())
	}
	return typed(os.Stdin, o.Err, p.Phrase())
}

// confirms compares a given confirmation with the list of now.
func confirms(given string, p *run.Preview) error {
	if strings.Join(strings.Fields(given), " ") == p.Phrase()+" "+p.Hash() {
		return nil
	}
	return fmt.Errorf("not confirmed, nothing was recorded: the list is not the one that --confirm speaks of; "+
		"look at it again, and say: --confirm %q", p.Phrase()+" "+p.Hash())
}

// typed asks for the phrase.
func typed(in io.Reader, out io.Writer, phrase string) error {
	fmt.Fprintf(out, "type this to go on: %s\n> ", phrase)
	line, err := bufio.NewReader(io.LimitReader(in, 1000)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the confirmation: %w", err)
	}
	if strings.Join(strings.Fields(line), " ") != phrase {
		return errors.New("not confirmed, nothing was recorded")
	}
	return nil
}
