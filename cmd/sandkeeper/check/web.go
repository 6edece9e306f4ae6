package check

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/providers"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web/serve"
)

// checkWeb tells whether run and serve would serve the page there.
func checkWeb(ctx context.Context, a *app.App) []reconcile.CheckResult {
	web := a.Config.Web
	if err := serve.CheckListen(web.Listen, web.ConfigFile); err != nil {
		return []reconcile.CheckResult{{What: "listen", Said: err.Error(), Fix: "see web.listen and web.config_file"}}
	}
	out := reconcile.CheckResult{What: "listen", OK: true, Said: web.Listen}
	if serve.Open(web.Listen, web.ConfigFile) {
		out.Said += ", passwords and the page go over the network as they are"
		out.Fix = "add tls_server_config to web.config_file, or put a proxy with TLS before it"
	}
	return slices.Concat([]reconcile.CheckResult{out}, checkPushes(a.Config), checkPort(ctx, web))
}

// checkPushes tells where the pushes of providers are taken, and what they need to arrive there. Whether a provider
// sends any is known to nobody but itself.
func checkPushes(c *config.Config) (out []reconcile.CheckResult) {
	for _, e := range c.Entries() {
		if !providers.TakesPushes(e) {
			continue
		}
		r := reconcile.CheckResult{What: "pushes of " + e.Name, OK: true,
			Said: "taken at POST /push/" + e.Name + ", by their signature"}
		if host, _, err := net.SplitHostPort(c.Web.Listen); err == nil && text.Loopback(host) {
			r.Said += "; only this machine reaches " + c.Web.Listen
			r.Fix = "have a proxy with TLS pass /push/" + e.Name + " on to it; until then passes find the same a little later"
		}
		out = append(out, r)
	}
	return out
}

// checkPort tells who has the port of the page already. It takes the port for a moment, unless somebody has it.
func checkPort(ctx context.Context, web config.WebConfig) []reconcile.CheckResult {
	l, err := serve.Listen(ctx, "web.listen", web.Listen)
	if err == nil {
		_ = l.Close()
		return nil
	}
	if !errors.Is(err, syscall.EADDRINUSE) {
		return []reconcile.CheckResult{{What: "port", Said: err.Error(), Fix: "change web.listen"}}
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if said, err := Ask(ctx, web.Listen, serve.TLS(web.ConfigFile), "/healthz"); err == nil &&
		strings.TrimSpace(said) == "ok" {
		return []reconcile.CheckResult{{What: "port", OK: true,
			Said: fmt.Sprintf("%s is taken, by what answers as sandkeeper does: run or serve is there already", web.Listen)}}
	}
	return []reconcile.CheckResult{{What: "port", Said: fmt.Sprintf("%s is taken by another program", web.Listen),
		Fix: "stop what listens there, or change web.listen"}}
}
