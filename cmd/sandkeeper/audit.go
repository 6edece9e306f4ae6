package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/store/ledger"
)

func auditCommand(o *app.Options) *cobra.Command {
	c := &cobra.Command{
		Use:   "audit",
		Short: "Look whether the record is what was written",
	}
	c.AddCommand(auditVerifyCommand(o))
	return c
}

func auditVerifyCommand(o *app.Options) *cobra.Command {
	head := ""
	c := &cobra.Command{
		Use:   "verify",
		Short: "Verify that no line of the timeline was changed, removed or slipped in",
		Long: `Each statement that adds lines to the timeline adds a link: its hash is of the hash before
and of each new line. Verify computes all of them again, from the lines that are there. Retention
deletes whole links from the beginning, and the chain remembers the last of them.

It prints the head, which names the chain up to now. Keep it somewhere else: with --head a later
verify knows that nothing before it was exchanged, and that the end was not cut off. It works with
a role that only reads.

Exit code 1: the record is broken; the first line that is wrong is named.`,
		Example: `  sandkeeper audit verify
  sandkeeper audit verify --head 4711:5f0c…`,
		Args: verb.Needs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withLedger(cmd.Context(), o, func(a *app.App) (string, error) { return auditVerify(cmd.Context(), a, head) })
		},
	}
	c.Flags().StringVar(&head, "head", "", "head that an earlier verify has printed")
	return c
}

func auditVerify(ctx context.Context, a *app.App, head string) (string, error) {
	if err := a.CheckSchema(ctx); err != nil {
		return "", err
	}
	found, err := a.Ledger.VerifyTimeline(ctx, strings.TrimSpace(head))
	if err != nil {
		return "", err
	}
	if found.Broken != "" {
		return "", fmt.Errorf("the record is broken: %s", text.Line(found.Broken))
	}
	return audited(&found), nil
}

// audited is what was verified, and what could not be.
func audited(found *ledger.Audit) string {
	said := "the record is whole: " + console.Plural(found.Lines, "line")
	if found.Purged > 0 {
		said += fmt.Sprintf("; %s deleted by retention, last at %s", console.Plural(int(found.Purged), "line"),
			text.Time(found.PurgedAt))
	}
	if found.Older > 0 {
		said += fmt.Sprintf("; %s from before the record was chained", console.Plural(found.Older, "line"))
	}
	return said + "\nhead " + found.Head
}
