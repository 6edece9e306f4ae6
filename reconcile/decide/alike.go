package decide

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// leastAlike is how many sandboxes that nothing explains make a group.
const leastAlike = 3

// mostTraits is how much of what they have in common is told.
const mostTraits = 4

// alike says, by provider, what sandboxes that nothing explains have in common and no other one has: gateways,
// builders, spares and other environments show by it that a word is missing in the config, and not a task.
func alike(v *view.View, subs []reconcile.Subject) map[string]string {
	loose, out := map[string][]*reconcile.Sandbox{}, map[string]string{}
	existing(v, subs, func(b *reconcile.SeenSandbox, explained bool) {
		if !explained {
			loose[b.Provider] = append(loose[b.Provider], b.Sandbox)
		}
	})
	maps.DeleteFunc(loose, func(_ string, group []*reconcile.Sandbox) bool { return len(group) < leastAlike })
	if len(loose) == 0 {
		return out // as in most passes: of a large fleet nobody else is to be gathered
	}
	others := map[string][]*reconcile.Sandbox{}
	existing(v, subs, func(b *reconcile.SeenSandbox, explained bool) {
		if explained {
			others[b.Provider] = append(others[b.Provider], b.Sandbox)
		}
	})
	for provider, group := range loose {
		traits := sharedTraits(group, others[provider], v.S.Plain.At[provider])
		if len(traits) > 0 {
			out[provider] = fmt.Sprintf("%d sandboxes that nothing explains, and no other, have in common: %s; if no task is "+
				"behind them, say so in owns.except or tasks.explained_by", len(group), strings.Join(traits, ", "))
		}
	}
	return out
}

// existing are the sandboxes of ours that exist, each with whether something explains it, or may.
func existing(v *view.View, subs []reconcile.Subject, take func(b *reconcile.SeenSandbox, explained bool)) {
	for i := range subs {
		s := &subs[i]
		explained := s.Task != nil || s.LinkState == reconcile.LinkExplained || s.LinkState == reconcile.LinkUnread
		for j := range s.Boxes {
			if b := &s.Boxes[j]; b.Here && b.Owned && b.State.Exists() && !isCanary(v, s) {
				take(b, explained)
			}
		}
	}
}

// sharedTraits are the labels and the template that all of a group have and none of the others, nor any plain one:
// those have no label that is kept.
func sharedTraits(group, others []*reconcile.Sandbox, plain *reconcile.PlainAt) (traits []string) {
	of := func(has func(*reconcile.Sandbox) bool) bool {
		return !slices.ContainsFunc(others, has) &&
			!slices.ContainsFunc(group, func(b *reconcile.Sandbox) bool { return !has(b) })
	}
	first := group[0]
	for _, key := range reconcile.SortedKeys(first.Labels) {
		value := first.Labels[key]
		if of(func(b *reconcile.Sandbox) bool { is, ok := b.Labels[key]; return ok && is == value }) {
			traits = append(traits, "label "+text.Clip(key, 60)+"="+text.Clip(value, 60))
		}
	}
	used := false
	if plain != nil {
		_, used = plain.Templates[first.Template]
	}
	if t := first.Template; t != "" && !used && of(func(b *reconcile.Sandbox) bool { return b.Template == t }) {
		traits = append(traits, "template "+text.Clip(t, 60))
	}
	return traits[:min(len(traits), mostTraits)]
}

// Of sandboxes that name tasks which nobody here ever knew, and that the ledger has known for this long, this many,
// and more than a tenth of all that are ours at a provider, are not leaks of ours alone. Many that come at once are:
// budgets and the breaker are there for them.
const (
	strangersStay  = 24 * time.Hour
	strangersLeast = 10
	strangersPart  = 10
)

// strangers are the providers that `exclusive` is contradicted for, each with what contradicts it: another
// installation, whose tasks are in no table of ours, makes sandboxes there that look like ours.
func strangers(v *view.View, subs []reconcile.Subject) map[string]string {
	all, unknown := map[string]int{}, map[string]int{}
	for name, at := range v.S.Plain.At {
		all[name] = at.Sandboxes
	}
	for i := range subs {
		for j := range subs[i].Boxes {
			b := &subs[i].Boxes[j]
			if !b.Here || !b.Owned {
				continue
			}
			all[b.Provider]++
			stays := b.Known && v.Now.Sub(b.Seen().FirstSeen) >= strangersStay
			if stays && subs[i].LinkState == reconcile.LinkUnknown {
				unknown[b.Provider]++
			}
		}
	}
	out := map[string]string{}
	for provider, n := range unknown {
		if v.P.Providers[provider].Exclusive && n >= strangersLeast && n*strangersPart > all[provider] {
			out[provider] = fmt.Sprintf("%d of %d sandboxes of %s name, for a day and longer, tasks that nobody "+
				"here ever knew, which contradicts `exclusive`: if they are another installation's, write "+
				"`exclusive: false`, or owns.except for them; if all are leaks, terminate "+
				"them by `sandkeeper terminate`", n, all[provider], provider)
		}
	}
	return out
}
