package kubernetes

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// size is what the sandbox's container may use at most. What has no limit is not known.
func (c *container) size() reconcile.Size {
	if c == nil {
		return reconcile.Size{}
	}
	most := c.Resources.Limits
	return reconcile.Size{CPU: amount(most.CPU), GPU: amount(most.GPU), MemoryGiB: amount(most.Memory) / (1 << 30)}
}

func amount(said string) float64 {
	q, err := resource.ParseQuantity(said)
	if err != nil {
		return 0
	}
	return q.AsApproximateFloat64()
}
