package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/store"
	"github.com/sandkeeper/sandkeeper/store/tasks/propose"
)

// The variables that a proposed config takes its databases from.
const (
	tasksVariable  = "TASKS_DATABASE_URL"
	ledgerVariable = "DATABASE_URL"
)

// initFlags are what init is told.
type initFlags struct {
	database, provider, providerURL, output, installation string
}

func initCommand(o *app.Options) *cobra.Command {
	f := &initFlags{}
	c := &cobra.Command{
		Use:   "init",
		Short: "Look at a database and propose a config; writes nothing to the database",
		Long: `Init looks at the tables of your platform's database, finds those that look like tasks and like their
workers' events, and writes a config in observe mode, with the reason for each line. What it could not
decide is at the top of the file, and a guess has a question mark. Then it runs check and the first plan,
where they can run. It never writes to the database, and asks nothing where there is no terminal.

Without --database it takes ` + tasksVariable + ` or ` + ledgerVariable + ` of the environment.`,
		Example: `  sandkeeper init --database postgres://reader@db/platform --provider daytona
  sandkeeper init --provider kubernetes --output -`,
		Args: verb.Needs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return runInit(cmd.Context(), o, f) },
	}
	c.Flags().StringVar(&f.database, "database", "", "PostgreSQL URL of the platform's database")
	verb.Word(c, &verb.WordValue{Flag: "provider", Value: &f.provider, Known: proposable()}, "",
		"kind of the provider: "+strings.Join(proposable(), ", "))
	c.Flags().StringVar(&f.providerURL, "provider-url", "", "address of its API, where it is not the vendor's")
	c.Flags().StringVar(&f.output, "output", "sandkeeper.yaml", "file to write; -: stdout, without check and plan")
	c.Flags().StringVar(&f.installation, "installation", "prod", "name of this installation")
	return c
}

func runInit(ctx context.Context, o *app.Options, f *initFlags) error {
	if err := f.complete(o); err != nil {
		return err
	}
	p, from, err := lookAt(ctx, f.database)
	if err != nil {
		return err
	}
	written, err := f.config(p, from)
	if err != nil {
		return err
	}
	if f.output == "-" {
		_, err := io.WriteString(o.Out, written)
		return err
	}
	if err := writeNew(f.output, written); err != nil {
		return err
	}
	if _, err := io.WriteString(o.Out, found(p, f.output)); err != nil {
		return err
	}
	return f.firstLook(ctx, o, written)
}

var safeInstallation = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// complete finds what no flag said: in the environment, or by asking on a terminal.
func (f *initFlags) complete(o *app.Options) error {
	if !safeInstallation.MatchString(f.installation) {
		return verb.Misused(fmt.Errorf("--installation %q is not a name of small letters, digits and hyphens",
			f.installation))
	}
	if _, err := os.Stat(f.output); err == nil && f.output != "-" {
		return fmt.Errorf("%s is there already; name another file with --output, or - for stdout", f.output)
	}
	for _, variable := range []string{tasksVariable, ledgerVariable} {
		if set, _ := o.Lookup(variable); f.database == "" {
			f.database = set
		}
	}
	ask := asker{in: bufio.NewReader(os.Stdin), out: o.Err,
		terminal: console.OnTerminal(o.Err) && term.IsTerminal(int(os.Stdin.Fd()))}
	return errors.Join(
		ask.fill(&f.database, "PostgreSQL URL of the platform's database", "--database, or "+tasksVariable),
		ask.fill(&f.provider, "kind of the provider ("+strings.Join(proposable(), ", ")+")", "--provider"), f.known())
}

// known refuses a provider that nothing is proposed for; one from a flag was looked at before.
func (f *initFlags) known() error {
	for _, kind := range proposable() {
		if kind == f.provider || f.provider == "" {
			return nil
		}
	}
	return verb.Misused(fmt.Errorf("provider %s: %s", text.Line(f.provider), text.Unknown(f.provider, proposable())))
}

// An asker asks a person, where there is one.
type asker struct {
	in       *bufio.Reader
	out      io.Writer
	terminal bool
}

func (a *asker) fill(value *string, what, flag string) error {
	if *value != "" {
		return nil
	}
	if !a.terminal {
		return verb.Misused(fmt.Errorf("%s is required where there is no terminal to ask at", flag))
	}
	fmt.Fprintf(a.out, "%s: ", what)
	line, err := a.in.ReadString('\n')
	if *value = strings.TrimSpace(line); *value == "" {
		return errors.Join(verb.Misused(fmt.Errorf("%s is required", flag)), err)
	}
	return nil
}

// lookAt looks at the platform's database, and says which it was.
func lookAt(ctx context.Context, url string) (*propose.Proposal, string, error) {
	pool, err := store.Open(ctx, url, store.OpenOptions{Name: "tasks"})
	if err != nil {
		return nil, "", err
	}
	defer pool.Close()
	cat, err := propose.Read(ctx, pool)
	if err != nil {
		return nil, "", err
	}
	return propose.Propose(cat), fmt.Sprintf("database %q", pool.Config().ConnConfig.Database), nil
}

// config is the proposal as a config that loads.
func (f *initFlags) config(p *propose.Proposal, from string) (string, error) {
	var refused error
	for _, entry := range f.entries(p) {
		written := p.YAML(propose.Frame{Installation: f.installation, From: from, Providers: entry})
		_, err := config.Parse(f.output, []byte(written), f.filled)
		if err == nil {
			return written, nil
		}
		refused = err
	}
	return "", fmt.Errorf("propose a config: what was proposed is not accepted, so nothing was written: %w", refused)
}

// filled stands for the variables that need not be set yet.
func (f *initFlags) filled(name string) (string, bool) {
	if name == tasksVariable || name == ledgerVariable {
		return f.database, true
	}
	return "unset", true
}

func writeNew(file, written string) error {
	const create = os.O_CREATE | os.O_EXCL | os.O_WRONLY
	out, err := os.OpenFile(file, create, 0o644) //nolint:gosec // no secret is in it: others may read it
	if err != nil {
		return fmt.Errorf("write the config: %w", err)
	}
	_, err = io.WriteString(out, written)
	return errors.Join(err, out.Close())
}

// found is what a person reads of a proposal.
func found(p *propose.Proposal, file string) string {
	var b bytes.Buffer
	switch {
	case p.None != "":
		fmt.Fprintf(&b, "no tasks: %s\n", text.Line(p.None))
	case p.Preset.Value != "":
		fmt.Fprintf(&b, "the platform is %s: %s\n", text.Line(p.Preset.Value), text.Line(p.Preset.Why))
	default:
		fmt.Fprintf(&b, "tasks: %s, %s\n", text.Line(p.Table.Value), text.Line(p.Table.Why))
	}
	for _, d := range p.Doubts {
		fmt.Fprintf(&b, "? %s\n", text.Line(d))
	}
	fmt.Fprintf(&b, "wrote %s: read the lines with ? first\n", text.Line(file))
	return b.String()
}

var variables = regexp.MustCompile(`\$\{([A-Z][A-Z0-9_]*)\}`)

// firstLook runs check and the first plan by the config that was written, where its variables are set.
func (f *initFlags) firstLook(ctx context.Context, o *app.Options, written string) error {
	look := *o
	look.ConfigFile, look.OnlyLook = f.output, true
	look.Getenv = func(name string) (string, bool) {
		value, set := o.Lookup(name)
		if (name == tasksVariable || name == ledgerVariable) && !set {
			return f.database, true
		}
		return value, set
	}
	var missing []string
	for _, m := range variables.FindAllStringSubmatch(written, -1) {
		if _, set := look.Getenv(m[1]); !set {
			missing = reconcile.AppendNew(missing, m[1])
		}
	}
	if len(missing) > 0 {
		_, err := fmt.Fprintf(o.Out, "next: set %s, %s and %s, then run:\n"+
			"  sandkeeper check -c %[4]s\n  sandkeeper plan -c %[4]s\n",
			strings.Join(missing, ", "), tasksVariable, ledgerVariable, shellWord(f.output))
		return err
	}
	return lookFirst(ctx, o, &look)
}

// lookFirst shows check and the first plan. What they find wrong is no failure of init: the config is written.
func lookFirst(ctx context.Context, o, look *app.Options) error {
	if _, set := o.Lookup(ledgerVariable); !set {
		fmt.Fprintf(o.Out, "%s is not set: for this look the ledger is where the tasks are; "+
			"give it a database of its own\n", ledgerVariable)
	}
	fmt.Fprintln(o.Out, "\nsandkeeper check:")
	if err := runCheck(ctx, look, 0); err != nil && ctx.Err() != nil {
		return err
	}
	fmt.Fprintln(o.Out, "\nsandkeeper plan:")
	plan := &planFlags{runFlags: runFlags{output: "text", timeout: 5 * time.Minute}, only: listFlags{limit: previewLines}}
	if err := runPlan(ctx, look, plan); err != nil {
		fmt.Fprintln(o.Out, "not possible yet:", console.Lines(err.Error()))
		return ctx.Err()
	}
	return nil
}
