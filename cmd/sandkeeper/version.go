package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
)

func versionCommand(o *app.Options) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(o.Out, "sandkeeper %s %s %s/%s\n", app.Version(), runtime.Version(),
				runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
