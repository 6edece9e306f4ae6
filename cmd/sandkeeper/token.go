package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// tokenLasts is for how long a token counts where nobody says so.
const tokenLasts = 90 * 24 * time.Hour

func tokenCommand(o *app.Options) *cobra.Command {
	c := &cobra.Command{
		Use:   "token",
		Short: "Tokens by which programs read the page and the API, or act by it",
	}
	c.AddCommand(tokenCreateCommand(o), tokenListCommand(o), tokenRevokeCommand(o))
	return c
}

func tokenCreateCommand(o *app.Options) *cobra.Command {
	by, scope := &request{}, ""
	c := &cobra.Command{
		Use:   "create USER",
		Short: "Make a token in the name of a user, and show its secret once",
		Long: `Create makes a token and prints its secret, which is kept nowhere: the ledger has a hash of it.
A program sends it as "Authorization: Bearer SECRET".

With the scope read it reads what the user may read. With the scope act it also asks, in the user's
name, for what operators may ask for, when web.operators names the user. It has an end, after a year at
most. With an operator key it is signed: a token that somebody else wrote into the ledger is none.`,
		Example: `  sandkeeper token create prometheus --reason "scrapes /metrics"
  sandkeeper token create ana --scope act --for 30d --reason "deploys hold their tasks"`,
		Args: verb.Needs("USER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if by.Reason == "" {
				return verb.Misused(errors.New("--reason is required; it is recorded, and shown by `sandkeeper token list`"))
			}
			return withLedger(cmd.Context(), o, func(a *app.App) (string, error) {
				return createToken(cmd.Context(), a, reconcile.Token{User: args[0], Scope: reconcile.TokenScope(scope)}, by)
			})
		},
	}
	by.add(c, tokenLasts, "how long the token counts, a year at most")
	c.Flags().StringVar(&scope, "scope", string(reconcile.TokenReads), "what it is good for: read, or act")
	return c
}

func createToken(ctx context.Context, a *app.App, t reconcile.Token, by *request) (string, error) {
	now, err := a.Ledger.Now(ctx)
	if err != nil {
		return "", err
	}
	signed := by.Signed()
	t.User, t.Author, t.Reason, t.Until = text.Line(t.User), signed.Author, signed.Reason, by.Until(now)
	secret, made, err := a.Ledger.CreateToken(ctx, t)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("token %s for %s, scope %s%s; its secret is shown this once:\n%s", made.ID, made.User, made.Scope,
		app.Lasting(made.Until), secret), nil
}

func tokenListCommand(o *app.Options) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the tokens, without their secrets",
		Args:  verb.Needs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return onLedger(cmd.Context(), o, func(a *app.App) error {
				now, err := a.Ledger.Now(cmd.Context())
				if err != nil {
					return err
				}
				tokens, err := a.Ledger.Tokens(cmd.Context())
				if err != nil {
					return err
				}
				return printTokens(o, tokens, now)
			})
		},
	}
}

func printTokens(o *app.Options, tokens []reconcile.Token, now time.Time) error {
	var b bytes.Buffer
	if len(tokens) == 0 {
		fmt.Fprintln(&b, "there are no tokens")
		return console.Print(o.Out, &b)
	}
	w := console.Table(&b)
	fmt.Fprintln(w, "ID\tUSER\tSCOPE\tCOUNTS\tMADE BY\tREASON")
	for _, t := range tokens {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", text.Line(t.ID), text.Clip(t.User, 60), t.Scope, tokenCounts(t, now),
			text.Clip(t.Author, 60), text.Clip(t.Reason, 200))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("line up the tokens: %w", err)
	}
	return console.Print(o.Out, &b)
}

func tokenCounts(t reconcile.Token, now time.Time) string {
	switch {
	case !t.Revoked.IsZero():
		return "revoked " + text.Time(t.Revoked)
	case !t.Until.After(now):
		return "over since " + text.Time(t.Until)
	}
	return "until " + text.Time(t.Until)
}

func tokenRevokeCommand(o *app.Options) *cobra.Command {
	by := &request{}
	c := &cobra.Command{
		Use:     "revoke ID",
		Short:   "Take a token back; it counts no more from the next request on",
		Example: `  sandkeeper token revoke k3f9xq2m7a --reason "it was in a log"`,
		Args:    verb.Needs("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withLedger(cmd.Context(), o, func(a *app.App) (string, error) {
				err := a.Ledger.RevokeToken(cmd.Context(), args[0], by.Signed())
				if errors.Is(err, reconcile.ErrNotFound) {
					err = fmt.Errorf("no token %s counts; `sandkeeper token list` has them", text.Line(args[0]))
				}
				return "revoked token " + text.Line(args[0]), err
			})
		},
	}
	by.add(c, 0, "")
	return c
}
