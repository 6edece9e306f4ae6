package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
)

func versionCommand(o *app.Options) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the version",
		Args:  verb.Needs(),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(o.Out, versionLine())
			return err
		},
	}
}

// versionLine is also what --version prints.
func versionLine() string {
	return fmt.Sprintf("sandkeeper %s %s %s/%s\n", app.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
