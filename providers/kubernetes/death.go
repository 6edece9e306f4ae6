package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Death is what the object's own status says of its end, while the object is there: of a Pod when and how its
// container ended, or what disrupted it; of a Sandbox or a claim only since when it is finished, for the controller
// tells no cause. With the object the record goes.
func (p *Provider) Death(ctx context.Context, id string) (reconcile.Death, error) {
	return p.base.Death(ctx, id, func(ctx context.Context) (reconcile.Death, error) {
		n, err := parseID(id)
		if err != nil {
			return reconcile.Death{}, err
		}
		var o object
		a, err := p.read(ctx, n, &o)
		if err != nil {
			return reconcile.Death{}, err
		}
		at, why := o.end(n.kind, p.container)
		if at.IsZero() {
			return reconcile.Death{}, wire.NoRecord("its status tells no end")
		}
		return reconcile.Death{At: at, AsOf: a.Date, Reason: why, Incarnation: o.Metadata.UID,
			Record: "status of the " + n.word}, nil
	})
}

// end is when and how what the object stands for ended; zero while it runs, comes up, or is being deleted.
func (o *object) end(k kind, container string) (time.Time, string) {
	seen := o.look(k, container)
	if seen.state != reconcile.SandboxStopped && seen.state != reconcile.SandboxFailed {
		return time.Time{}, ""
	}
	why := cmp.Or(seen.why, seen.raw)
	if k.word != pods.word {
		return o.since("Finished"), why
	}
	main := o.main(container)
	run := one(o.Status.Containers, func(r *run) bool { return r.Name == main })
	if run == nil || run.State.Terminated == nil || run.State.Terminated.FinishedAt.IsZero() {
		return o.since("DisruptionTarget"), why
	}
	end := run.State.Terminated
	return end.FinishedAt.Time, cmp.Or(why, end.String()) + signal(end)
}

func signal(t *terminated) string {
	if t.Signal == 0 {
		return ""
	}
	return fmt.Sprintf(", signal %d", t.Signal)
}

// since is since when a condition holds.
func (o *object) since(name string) time.Time {
	c := o.condition(name)
	if c == nil || c.Status != "True" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, c.Since)
	if err != nil {
		return time.Time{}
	}
	return at
}
