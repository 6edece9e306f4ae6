package alerts

import (
	"cmp"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// mostTemplates bounds the series of templates: their names are the platform's.
const mostTemplates = 100

// templates are those that the last full passes could read: the unusable first, then those
// that expire soonest.
func (r *reading) templates() []reconcile.TemplateSeen {
	read := slices.DeleteFunc(slices.Clone(r.Templates), func(t reconcile.TemplateSeen) bool {
		return r.Now.Sub(t.LookedAt) > r.recent()
	})
	slices.SortFunc(read, func(a, b reconcile.TemplateSeen) int {
		return cmp.Or(cmp.Compare(urgency(&a), urgency(&b)), a.ExpiresAt.Compare(b.ExpiresAt),
			cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Name, b.Name))
	})
	return read[:min(len(read), mostTemplates)]
}

// recent is how long a look counts: as long as a pass may be old before that is an alert of
// its own.
func (r *reading) recent() time.Duration { return 3*r.policy.Full + 2*time.Minute }

func urgency(t *reconcile.TemplateSeen) int {
	switch {
	case t.State != reconcile.TemplateActive && t.State != reconcile.TemplateBuilding:
		return 0
	case !t.ExpiresAt.IsZero():
		return 1
	}
	return 2
}

func templateState(r *reading, put put) {
	for _, t := range r.templates() {
		put(1, t.Provider, t.Name, cmp.Or(string(t.State), "unknown"))
	}
}

func templateEnd(r *reading, put put) {
	for _, t := range r.templates() {
		if !t.ExpiresAt.IsZero() {
			put(seconds(t.ExpiresAt), t.Provider, t.Name)
		}
	}
}
