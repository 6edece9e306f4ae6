package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
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
		Args:    needs(),
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
	spanFlag(c, &timeout, "timeout", timeout, "give up after this time")
	c.Flags().BoolVar(&ready, "ready", false, "ask whether it is ready, not only alive")
	return c
}

func runHealthcheck(ctx context.Context, o *app.Options, path string) error {
	c, err := o.Load()
	if err != nil {
		return err
	}
	said, err := asked(ctx, c.Web.Listen, serve.TLS(c.Web.ConfigFile), path)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(o.Out, said)
	return err
}

// asked is what our own listener answers. Its certificate names the page's host, not this machine: it is not looked
// at, as nothing is told to it.
func asked(ctx context.Context, listen string, secure bool, path string) (string, error) {
	scheme := "http"
	if secure {
		scheme = "https"
	}
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // see above
	}}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+nearAddress(listen)+path, nil)
	if err != nil {
		return "", fmt.Errorf("ask %s%s: %w", listen, path, err)
	}
	answer, err := client.Do(r)
	if err != nil {
		return "", fmt.Errorf("ask for %s: %w; it is served by run and serve, at web.listen", path, err)
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(io.LimitReader(answer.Body, 4096))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s: %s", path, answer.Status, said)
	}
	return string(said), err
}

// nearAddress is where a listener is reached from its own machine.
func nearAddress(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil { // unreachable: the config was checked
		return listen
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
