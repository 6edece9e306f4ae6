package kubernetes

import (
	"cmp"
	"strings"
	"time"
)

// Labels of agent-sandbox.
const (
	spareLabel = agents + "/warm-pool-sandbox" // of what waits in a pool for a claim
	claimLabel = agents + "/claim-uid"
)

// name is the full name of an object of the kind.
func (o *object) name(k kind) name {
	return name{k, o.Metadata.Namespace, o.Metadata.Name, o.Metadata.UID}
}

// one is the item that it holds for; nil when there is none.
func one[T any](items []T, holds func(item *T) bool) *T {
	for i := range items {
		if holds(&items[i]) {
			return &items[i]
		}
	}
	return nil
}

// controller is who makes the object again when it is deleted; nil when nobody does.
func (o *object) controller() *owner {
	return one(o.Metadata.Owners, func(w *owner) bool { return w.Controller })
}

// apart reports whether the object is no sandbox of its own: a spare that nobody claimed, or
// what stands behind a claim or a Sandbox, which are what is listed and ended.
func (o *object) apart(k kind) bool {
	group := ""
	if by := o.controller(); by != nil {
		group, _, _ = strings.Cut(by.APIVersion, "/")
	}
	switch {
	case o.survives:
		return false
	case k.word == pods.word:
		return group == agents || o.Metadata.Labels[spareLabel] != ""
	case k.word == sandboxes.word:
		return group == extensions || o.Metadata.Labels[spareLabel] != "" || o.Metadata.Labels[claimLabel] != ""
	}
	return false
}

// claim is the uid of the claim that took a Sandbox; "" when none did.
func (o *object) claim() string {
	if by := o.controller(); by != nil && by.Kind == "SandboxClaim" {
		return by.UID
	}
	return o.Metadata.Labels[claimLabel]
}

// condition is the one of a type; nil when there is none.
func (o *object) condition(kind string) *condition {
	return one(o.Status.Conditions, func(c *condition) bool { return c.Type == kind })
}

// main is the container that is the sandbox: the one that the config names, else the Pod's
// default one, else the first.
func (o *object) main(configured string) string {
	first := ""
	if len(o.Spec.Containers) > 0 {
		first = o.Spec.Containers[0].Name
	}
	return cmp.Or(configured, o.Metadata.Annotations.Container, first)
}

// template is what the sandbox was made from: a Pod's image, a claim's warm pool.
func (o *object) template(k kind, configured string) string {
	if k.word == claims.word {
		return o.Spec.WarmPool.Name
	}
	if c := o.box(k, configured); c != nil {
		return c.Image
	}
	return ""
}

// box is the container that is the sandbox; nil where the object describes none.
func (o *object) box(k kind, configured string) *container {
	main := o.main(configured)
	return one(o.containers(k), func(c *container) bool { return c.Name == main || main == "" })
}

// containers are those that the object describes.
func (o *object) containers(k kind) []container {
	if k.word == sandboxes.word {
		return o.Spec.PodTemplate.Spec.Containers
	}
	return o.Spec.Containers
}

// changed is when the newest of its conditions changed.
func (o *object) changed() time.Time {
	newest, at := "", o.Metadata.CreationTimestamp.Time
	for i := range o.Status.Conditions {
		newest = max(newest, o.Status.Conditions[i].Since)
	}
	if then := moment(newest); then.After(at) {
		return then
	}
	return at
}

// moment is a time that may be missing or nonsense.
func moment(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}

// expires is when the cluster will end it by itself; zero when it does not say.
func (o *object) expires() time.Time {
	began := moment(o.Status.StartTime)
	switch {
	case !o.Spec.ShutdownTime.IsZero():
		return o.Spec.ShutdownTime.Time
	case !o.Spec.Lifecycle.ShutdownTime.IsZero():
		return o.Spec.Lifecycle.ShutdownTime.Time
	case o.Spec.ActiveDeadline > 0 && !began.IsZero():
		return began.Add(time.Duration(o.Spec.ActiveDeadline) * time.Second)
	}
	return time.Time{}
}
