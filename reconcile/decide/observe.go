package decide

import (
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// HeldLabels keeps of a sandbox's labels only those that a hold names, so that a listing stays small.
func HeldLabels(labels map[string]string, holds []reconcile.Hold) map[string]string {
	var kept map[string]string
	for _, h := range holds {
		key, isLabel := strings.CutPrefix(h.Target, "label:")
		if !isLabel {
			continue
		}
		key, _, _ = strings.Cut(key, "=")
		if value, ok := labels[key]; ok {
			if kept == nil {
				kept = map[string]string{}
			}
			kept[key] = value
		}
	}
	return kept
}
