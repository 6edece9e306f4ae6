package decide

import (
	"cmp"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// TrustWords say what became of the trust in a source.
func TrustWords(s reconcile.SourceSeen) string {
	if s.Trusted {
		return "trusted again"
	}
	return "not trusted: " + s.Reason.String()
}

// SeenTemplates are the templates looked at in this pass, with the newest sandbox that was
// seen running from each.
func SeenTemplates(v *view.View, subs []Decision) []reconcile.TemplateSeen {
	if v.S.Kind != reconcile.Full {
		return nil // a quick pass looks at none
	}
	started := map[reconcile.Ref]time.Time{}
	for i := range subs {
		for _, b := range subs[i].Subject.Boxes {
			if ref := (reconcile.Ref{Provider: b.Provider, ID: b.Template}); b.Here && b.State == reconcile.SandboxRunning &&
				b.Template != "" {
				started[ref] = reconcile.Latest(started[ref], b.CreatedAt)
			}
		}
	}
	for provider, at := range v.S.Plain.At {
		for name, made := range at.Templates {
			ref := reconcile.Ref{Provider: provider, ID: name}
			started[ref] = reconcile.Latest(started[ref], made)
		}
	}
	var out []reconcile.TemplateSeen
	for _, t := range v.S.Templates {
		ref := reconcile.Ref{Provider: t.Provider, ID: t.Name}
		before := v.S.Memory.Templates[ref]
		out = append(out, reconcile.TemplateSeen{
			Provider: ref.Provider, Name: t.Name, State: t.State, Raw: t.Raw, Error: t.Error,
			LastStart: reconcile.Latest(
				before.LastStart,
				started[ref],
			), LastUsed: t.LastUsed, ExpiresAt: t.ExpiresAt, LookedAt: v.Now,
		})
	}
	slices.SortFunc(out, func(a, b reconcile.TemplateSeen) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Name, b.Name))
	})
	return out
}
