package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
)

func migrateCommand(o *app.Options) *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "Bring the ledger's schema up to date",
		Long: `Migrate makes or updates the schema "sandkeeper" in the database of the config and
stamps it with the installation's name. It never touches the task table. Running it twice
is harmless; a ledger of another installation, or of a newer version, is refused. So is
one that others could change or plant something in: the error says what mends it. That is
also so where one login does for tasks and ledger, rules that act write rows, what runs with
them is somebody else's, and no operator_key_file is given.`,
		Args: verb.Needs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := o.Load()
			if err != nil {
				return err
			}
			a, err := o.OpenLedger(cmd.Context(), c)
			if err != nil {
				return err
			}
			defer a.Close()
			if err := a.Migrate(cmd.Context()); err != nil {
				return err
			}
			have, _, err := a.Ledger.SchemaVersion(cmd.Context())
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(o.Out, "ledger of %s is at schema version %d\n", c.Installation, have)
			return err
		},
	}
}
