package decide

import (
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// isCanary reports whether the subject is a sandbox that sandkeeper made to be found, and that no task explains. Rules
// other than [reconcile.CanaryRule], incidents, the breaker, proofs and what is counted of leaks leave it out: it says
// nothing of the platform.
func isCanary(v *view.View, s *reconcile.Subject) bool {
	return s != nil && s.Task == nil && len(s.Boxes) == 1 && v.S.Memory.CanaryOf(s.Boxes[0].Sandbox) != nil
}
