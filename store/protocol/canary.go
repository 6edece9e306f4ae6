package protocol

import (
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// CanarySlot names the slot of time that one canary is planted in.
func CanarySlot(now time.Time, every time.Duration) string {
	return fmt.Sprintf("%s/%d", every, now.UnixNano()/int64(max(every, time.Second)))
}

// WithoutCanaries takes out of an overview what was found of canaries: that is no fault of the platform.
func WithoutCanaries(o *reconcile.Overview) {
	planted := map[reconcile.Ref]bool{}
	for i := range o.Canaries {
		if c := &o.Canaries[i]; c.Sandbox != "" {
			planted[reconcile.Ref{Provider: c.Provider, ID: c.Sandbox}] = true
		}
	}
	if len(planted) == 0 {
		return
	}
	o.Findings = slices.DeleteFunc(o.Findings, func(f reconcile.FindingSeen) bool {
		of := planted[reconcile.Ref{Provider: f.Provider, ID: f.Sandbox}]
		if of {
			o.FindingsOpen[f.Rule]--
		}
		if of && o.FindingsOpen[f.Rule] == 0 {
			delete(o.FindingsOpen, f.Rule)
		}
		return of
	})
}
