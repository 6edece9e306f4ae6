package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

func notifyCommand(o *app.Options) *cobra.Command {
	c := &cobra.Command{
		Use:   "notify",
		Short: "Who is told what is wrong, without an Alertmanager",
		Long: `Notify is about the receivers of alerts.notify: Slack, PagerDuty, Opsgenie, Teams, mail, ntfy, any
webhook. After each pass they are told of what is wrong, of what changed, and of what is over, in one
message and once over all replicas.`,
	}
	c.AddCommand(&cobra.Command{
		Use:   "test [RECEIVER]",
		Short: "Send a test message to each receiver, or to one",
		Long: `Test sends a message to each receiver of the config, or to one of them by its name, and says
what became of it. It needs no ledger and writes nothing.

Exit code 0: all have taken it. Exit code 1: one has not, or there is none.`,
		Example: "  sandkeeper notify test",
		Args:    cobra.MaximumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return notifyTest(cmd, o, args) },
	})
	return c
}

func notifyTest(cmd *cobra.Command, o *app.Options, args []string) error {
	c, err := o.Load()
	if err != nil {
		return err
	}
	receivers := slices.DeleteFunc(o.With(c).Receivers(), func(r app.Receiver) bool {
		return len(args) == 1 && r.Called() != args[0]
	})
	if len(receivers) == 0 {
		return errors.New("nobody to notify: name receivers in alerts.notify")
	}
	failed := false
	test := []reconcile.Alarm{{
		Key: "test", Kind: "test", Severity: reconcile.SeverityInfo, Version: "1", Since: time.Now(),
		Title: "This is a test of sandkeeper's notifications",
		Text:  "Nothing is wrong. You are told here when something is.",
	}}
	for _, r := range receivers {
		said := "sent"
		if err := r.Tell(cmd.Context(), test); err != nil {
			failed, said = true, err.Error()
		}
		if _, err := fmt.Fprintf(o.Out, "%s: %s\n", r.Called(), said); err != nil {
			return err
		}
	}
	if failed {
		return &verb.ExitError{Code: 1}
	}
	return nil
}
