package view

import "github.com/sandkeeper/sandkeeper/reconcile"

// HeldLabels keeps of a sandbox's labels only those that a hold names, so that a listing stays small.
func HeldLabels(labels map[string]string, holds []reconcile.Hold) map[string]string {
	var kept map[string]string
	for _, h := range holds {
		label, isLabel := reconcile.OfType(reconcile.SubjectLabel, h.Target)
		if !isLabel {
			continue
		}
		key, _ := reconcile.LabelParts(label)
		if value, ok := labels[key]; ok {
			if kept == nil {
				kept = map[string]string{}
			}
			kept[key] = value
		}
	}
	return kept
}
