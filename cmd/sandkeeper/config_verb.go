package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
)

func configCommand(o *app.Options) *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "What stands in the config file, and what may",
		Long:  `Config tells what is in force and where it comes from, and what may stand in the config file.`,
	}
	c.AddCommand(configShowCommand(o), configSchemaCommand(o))
	return c
}

func configSchemaCommand(o *app.Options) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the config file",
		Long: `Schema prints the JSON Schema of the config file as this version reads it, so that an editor
completes and checks its keys. It reads no config and asks nobody. An editor with the YAML
language server takes it from a comment in the first line of the config:

  # yaml-language-server: $schema=sandkeeper.schema.json`,
		Example: `  sandkeeper config schema > sandkeeper.schema.json`,
		Args:    verb.Needs(),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(o.Out, config.Schema)
			return err
		},
	}
}
