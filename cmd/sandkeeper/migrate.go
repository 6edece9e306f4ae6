package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func migrateCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "Bring the ledger's schema up to date",
		Long: `Migrate makes or updates the schema "sandkeeper" in the database of the config and
stamps it with the installation's name. It never touches the task table. Running it twice
is harmless; a ledger of another installation, or of a newer version, is refused.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := o.load()
			if err != nil {
				return err
			}
			w, err := o.openLedger(cmd.Context(), c)
			if err != nil {
				return err
			}
			defer w.close()
			if err := w.migrate(cmd.Context()); err != nil {
				return err
			}
			have, _, err := w.ledger.SchemaVersion(cmd.Context())
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(o.out, "ledger of %s is at schema version %d\n", c.Installation, have)
			return err
		},
	}
}
