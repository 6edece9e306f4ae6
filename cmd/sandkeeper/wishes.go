package main

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A wish is what every operator's verb records: who, why, and for how long.
type wish struct {
	author, reason string
	last           time.Duration
}

// add gives a verb the flags of a wish. forever tells whether it may last without end.
func (w *wish) add(c *cobra.Command, last time.Duration, lastHelp string) {
	c.Flags().StringVar(&w.author, "author", author(), "who asks for it; recorded")
	c.Flags().StringVar(&w.reason, "reason", "", "why; recorded and shown")
	if lastHelp != "" {
		c.Flags().DurationVar(&w.last, "for", last, lastHelp)
	}
}

func (w *wish) signature() reconcile.Signature {
	return reconcile.Signature{Author: w.author, Reason: firstText(w.reason, "no reason given")}
}

// until is when the wish ends, zero for never.
func (w *wish) until(now time.Time) time.Time {
	if w.last <= 0 {
		return time.Time{}
	}
	return now.Add(w.last)
}

// author is the person at the keyboard, as far as the system knows.
func author() string {
	for _, key := range []string{"SANDKEEPER_AUTHOR", "SUDO_USER", "USER"} {
		if name := os.Getenv(key); name != "" {
			return name
		}
	}
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "unknown"
}

// withLedger runs do with an open ledger and says on stdout what was done.
func withLedger(ctx context.Context, o *options, do func(*world) (string, error)) error {
	c, err := o.load()
	if err != nil {
		return err
	}
	w, err := o.openLedger(ctx, c)
	if err != nil {
		return err
	}
	defer w.close()
	said, err := do(w)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(o.out, said)
	return err
}

func pauseCommand(o *options) *cobra.Command {
	by := &wish{}
	c := &cobra.Command{
		Use:   "pause [all|rule:NAME|provider:NAME]",
		Short: "Stop acting: of everything, of a rule, or at a provider",
		Long: `Pause stops acting at once, over all replicas. Judging and probing go on, and what would
be done is shown as held by the pause.`,
		Example: `  sandkeeper pause --reason "provider maintenance" --for 2h
  sandkeeper pause rule:orphan --reason "wrong label rolled out"
  sandkeeper pause provider:daytona`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withLedger(cmd.Context(), o, func(w *world) (string, error) {
				now, err := w.ledger.Now(cmd.Context())
				if err != nil {
					return "", err
				}
				scope, err := w.scope(args)
				if err != nil {
					return "", err
				}
				s := by.signature()
				p := reconcile.Pause{Scope: scope, Author: s.Author, Reason: s.Reason, Until: by.until(now)}
				return "paused " + scope + lasting(p.Until), w.ledger.Pause(cmd.Context(), p)
			})
		},
	}
	by.add(c, 0, "end the pause by itself after this time (default: until resumed)")
	return c
}

// scope is what a pause is about; "rule orphan" is as good as "rule:orphan". A rule or a
// provider that does not exist is refused: the pause would hold nothing.
func (w *world) scope(args []string) (string, error) {
	scope := firstText(strings.Join(args, ":"), "all")
	kind, name, _ := strings.Cut(scope, ":")
	_, provider := w.config.Policy().Providers[name]
	switch {
	case scope == "all", kind == "rule" && slices.Contains(reconcile.RuleNames, name), kind == "provider" && provider:
		return scope, nil
	case kind == "rule":
		return "", unknownRule(name)
	case kind == "provider":
		return "", fmt.Errorf("no provider %q in the config", name)
	case slices.Contains(reconcile.RuleNames, scope):
		return "rule:" + scope, nil
	}
	return "", fmt.Errorf("%q is nothing that can be paused: say all, rule:NAME or provider:NAME", scope)
}

func unknownRule(name string) error {
	return fmt.Errorf("no rule %q; the rules are %s", name, strings.Join(reconcile.RuleNames, ", "))
}

func lasting(until time.Time) string {
	if until.IsZero() {
		return ""
	}
	return " until " + until.UTC().Format("2006-01-02 15:04:05 UTC")
}

func resumeCommand(o *options) *cobra.Command {
	by := &wish{}
	c := &cobra.Command{
		Use:     "resume [all|rule:NAME|provider:NAME]",
		Short:   "End a pause",
		Example: "  sandkeeper resume\n  sandkeeper resume rule:orphan",
		Args:    cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withLedger(cmd.Context(), o, func(w *world) (string, error) {
				scope, err := w.scope(args)
				if err != nil {
					return "", err
				}
				return "resumed " + scope, w.ledger.Resume(cmd.Context(), scope, by.signature())
			})
		},
	}
	by.add(c, 0, "")
	return c
}

func holdCommand(o *options) *cobra.Command {
	by := &wish{}
	c := &cobra.Command{
		Use:   "hold TARGET",
		Short: "Keep one task, sandbox, label or provider from being acted on",
		Long: `Hold keeps hands off: no step is taken against the target, by no rule, until it is
lifted or ends. TARGET is task:ID, sandbox:ID (or its name), label:KEY=VALUE or
provider:NAME; a bare id is held as a task and as a sandbox.`,
		Example: `  sandkeeper hold task:8c02ffe6-26b9-4b1c-9d6e-0d2f9d6a1c11 --reason "debugging with the customer" --for 4h
  sandkeeper hold label:team=research`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withLedger(cmd.Context(), o, func(w *world) (string, error) {
				wanted, err := targets(args[0])
				if err != nil {
					return "", err
				}
				return w.hold(cmd.Context(), wanted, by)
			})
		},
	}
	by.add(c, 0, "end the hold by itself after this time (default: until lifted)")
	return c
}

func (w *world) hold(ctx context.Context, targets []string, by *wish) (string, error) {
	now, err := w.ledger.Now(ctx)
	if err != nil {
		return "", err
	}
	s := by.signature()
	for _, target := range targets {
		h := reconcile.Hold{Target: target, Author: s.Author, Reason: s.Reason, Until: by.until(now)}
		if _, err := w.ledger.Hold(ctx, h); err != nil {
			return "", err
		}
	}
	return "holding " + strings.Join(targets, " and ") + lasting(by.until(now)), nil
}

// targets are what a person means by an argument: a bare id may be a task or a sandbox. A
// word before a colon that means nothing is refused: the hold would hold nothing.
func targets(arg string) ([]string, error) {
	kind, _, found := strings.Cut(arg, ":")
	switch {
	case !found:
		return []string{"task:" + arg, "sandbox:" + arg}, nil
	case slices.Contains([]string{"task", "sandbox", "label", "provider"}, kind):
		return []string{arg}, nil
	}
	return nil, fmt.Errorf("%q is nothing that can be held: say task:ID, sandbox:ID, label:KEY=VALUE or provider:NAME", arg)
}

func unholdCommand(o *options) *cobra.Command {
	by := &wish{}
	c := &cobra.Command{
		Use:     "unhold TARGET",
		Short:   "Lift a hold",
		Example: "  sandkeeper unhold task:8c02ffe6-26b9-4b1c-9d6e-0d2f9d6a1c11",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withLedger(cmd.Context(), o, func(w *world) (string, error) {
				wanted, err := targets(args[0])
				if err != nil {
					return "", err
				}
				return w.unhold(cmd.Context(), wanted, by)
			})
		},
	}
	by.add(c, 0, "")
	return c
}

func (w *world) unhold(ctx context.Context, targets []string, by *wish) (string, error) {
	lifted := 0
	var last error
	for _, target := range targets {
		n, err := w.ledger.Unhold(ctx, target, by.signature())
		lifted += n
		if err != nil {
			last = err
		}
	}
	if lifted == 0 && last != nil {
		return "", last
	}
	if lifted == 0 {
		return "", fmt.Errorf("nothing holds %s", strings.Join(targets, " or "))
	}
	return "lifted " + plural(lifted, "hold"), nil
}

func modeCommand(o *options) *cobra.Command {
	by := &wish{}
	c := &cobra.Command{
		Use:   "mode RULE observe|off|clear",
		Short: "Lower the mode of a rule at once, without a redeploy",
		Long: `Mode lowers a rule to observe or off in the ledger, over all replicas. It never raises
one: enforce is set in the config. "clear" gives the rule back to the config.`,
		Example: "  sandkeeper mode orphan observe --reason \"false alarms since noon\"",
		Args:    cobra.ExactArgs(2),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return reconcile.RuleNames, cobra.ShellCompDirectiveNoFileComp
			}
			return []string{"observe", "off", "clear"}, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(reconcile.RuleNames, args[0]) {
				return unknownRule(args[0])
			}
			return withLedger(cmd.Context(), o, func(w *world) (string, error) {
				return w.mode(cmd.Context(), args[0], args[1], by)
			})
		},
	}
	by.add(c, 0, "")
	return c
}

func (w *world) mode(ctx context.Context, rule, mode string, by *wish) (string, error) {
	switch mode {
	case "clear":
		return rule + " follows the config again", w.ledger.ClearMode(ctx, rule, by.signature())
	case "off", "observe":
		return rule + " is lowered to " + mode, w.ledger.SetMode(ctx, rule, reconcile.Mode(mode), by.signature())
	}
	return "", fmt.Errorf(
		"mode %q: a mode is lowered to observe or off, or cleared; enforce is set in the config",
		mode,
	)
}
