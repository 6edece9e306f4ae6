package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/check"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/web/serve"
)

func healthcheckCommand(o *app.Options) *cobra.Command {
	timeout, ready := 3*time.Second, false
	c := &cobra.Command{
		Use:   "healthcheck",
		Short: "Ask the run or serve on this machine whether it is alive: for an image without a shell",
		Long: `Healthcheck asks /healthz of the address that web.listen names, on this machine. With --ready it asks
/readyz: whether the database answers, the schema is current and passes come. Exit code 0 or 1.`,
		Example: "  HEALTHCHECK CMD [\"/sandkeeper\", \"healthcheck\"]",
		Args:    verb.Needs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			path := "/healthz"
			if ready {
				path = "/readyz"
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			return runHealthcheck(ctx, o, path)
		},
	}
	verb.Span(c, &timeout, "timeout", timeout, "give up after this time")
	c.Flags().BoolVar(&ready, "ready", false, "ask whether it is ready, not only alive")
	return c
}

func runHealthcheck(ctx context.Context, o *app.Options, path string) error {
	c, err := o.Load()
	if err != nil {
		return err
	}
	said, err := check.Ask(ctx, c.Web.Listen, serve.TLS(c.Web.ConfigFile), path)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(o.Out, said)
	return err
}
