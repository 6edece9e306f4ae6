package main

import (
	"context"
	"log/slog"
	"net"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/web"
)

func serveCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Serve the status page and the metrics; change nothing outside",
		Long: `Serve shows what the ledger knows: the status page at /, /metrics, /healthz and /readyz,
as "run" does. It makes no pass, asks no provider and reads no task. A role that may only
read the schema "sandkeeper" is enough. Put it beside a CronJob of "once".`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runServe(cmd.Context(), o) },
	}
}

func runServe(ctx context.Context, o *options) error {
	c, err := o.load()
	if err != nil {
		return err
	}
	front, err := listen(ctx, c.Web)
	if err != nil {
		return err
	}
	defer front.close()
	w, err := o.openLedger(ctx, c)
	if err != nil {
		return err
	}
	defer w.close()
	w.log.InfoContext(ctx, "serving", "version", version(), "installation", c.Installation, "page", front.url())
	return front.serve(ctx, w.site(), w.log)
}

// A front is where the page is served.
type front struct {
	listener net.Listener
	config   config.WebConfig
}

// listen takes the address of the page, so that a process that may not or cannot have it
// ends before it begins anything.
func listen(ctx context.Context, c config.WebConfig) (*front, error) {
	if err := web.CheckListen(c.Listen, c.ConfigFile); err != nil {
		return nil, err
	}
	l, err := web.Listen(ctx, c.Listen)
	if err != nil {
		return nil, err
	}
	return &front{listener: l, config: c}, nil
}

func (f *front) close() { _ = f.listener.Close() } // a second time it says so, which is no news

// url is the address of the page for a person on this machine.
func (f *front) url() string {
	scheme := "http"
	if web.TLS(f.config.ConfigFile) {
		scheme = "https"
	}
	return scheme + "://" + f.listener.Addr().String() + "/"
}

func (f *front) serve(ctx context.Context, h http.Handler, log *slog.Logger) error {
	s := web.Server{Listener: f.listener, Handler: h, ConfigFile: f.config.ConfigFile, Log: log}
	return s.Serve(ctx)
}
