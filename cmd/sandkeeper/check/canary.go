package check

import (
	"context"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// checkCanary says of the provider where canaries are planted whether that can be done.
func checkCanary(ctx context.Context, a *app.App, name string, can reconcile.Capabilities) []reconcile.CheckResult {
	p := a.Config.Policy().Canary
	if !p.On() || p.Provider != name {
		return nil
	}
	out := reconcile.CheckResult{What: "canary", OK: true, Said: "one from " + p.Template + " each " +
		text.Exact(p.Every) + ", to be gone within " + text.Exact(p.Within)}
	switch {
	case can.Planter == nil:
		out.OK, out.Said, out.Fix = false, "nothing can be made here", "remove canary"
	case can.Templates != nil:
		if t := checkTemplate(ctx, can.Templates, p.Template); !t.OK {
			out.OK, out.Said, out.Fix = false, "template "+p.Template+" "+t.Said, t.Fix
		}
	}
	return []reconcile.CheckResult{out}
}
