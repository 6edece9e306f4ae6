package alerts

import "github.com/sandkeeper/sandkeeper/reconcile"

func canaryLimit(r *reading, put put) {
	if r.policy.Canary.On() {
		put(r.policy.Canary.Within.Seconds())
	}
}

// canary is the newest canary of such a kind; nil when there is none, or none is planted any more.
func (r *reading) canary(such func(*reconcile.Canary) bool) *reconcile.Canary {
	if !r.policy.Canary.On() {
		return nil
	}
	for i := range r.Canaries {
		if such(&r.Canaries[i]) {
			return &r.Canaries[i]
		}
	}
	return nil
}

func canaryAge(r *reading, put put) {
	if c := r.canary(func(c *reconcile.Canary) bool { return !c.Over() }); c != nil {
		put(c.Took(r.Now).Seconds())
	}
}

func canaryCaught(r *reading, put put) {
	if c := r.canary((*reconcile.Canary).Caught); c != nil {
		put(seconds(c.GoneAt))
	}
}

func canaryStages(r *reading, put put) {
	c := r.canary((*reconcile.Canary).Caught)
	if c == nil {
		return
	}
	for _, s := range c.Stages() {
		put(s.Took.Seconds(), s.Name)
	}
}

func canaryFailed(r *reading, put put) {
	if c := r.canary(func(*reconcile.Canary) bool { return true }); c != nil {
		put(bit(c.Over() && !c.Caught()))
	}
}

// failedSince is the first of the newest canaries that all failed; nil when the newest did not.
func (r *reading) failedSince() *reconcile.Canary {
	var first *reconcile.Canary
	r.canary(func(c *reconcile.Canary) bool {
		failed := c.Over() && !c.Caught()
		if failed {
			first = c
		}
		return !failed
	})
	return first
}
