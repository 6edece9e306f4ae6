package kubernetes

import "strings"

// name is the full name of an object of the kind.
func (o *object) name(k kind) name {
	return name{k, o.Metadata.Namespace, o.Metadata.Name, o.Metadata.UID}
}

// controller is who makes the object anew when it is deleted; nil when nobody does.
func (o *object) controller() *owner {
	for i := range o.Metadata.Owners {
		if o.Metadata.Owners[i].Controller {
			return &o.Metadata.Owners[i]
		}
	}
	return nil
}

// group is the API group of an owner.
func (w *owner) group() string {
	group, _, _ := strings.Cut(w.APIVersion, "/")
	return group
}

// Labels of agent-sandbox.
const (
	spareLabel = agents + "/warm-pool-sandbox" // of what waits in a pool for a claim
	claimLabel = agents + "/claim-uid"
)

// apart reports whether the object is no sandbox of its own: a spare that nobody claimed, or
// what stands behind a claim or a Sandbox, which are what is listed and ended.
func (o *object) apart(k kind) bool {
	by := o.controller()
	switch {
	case k.word == pods.word:
		return by != nil && by.group() == agents || o.Metadata.Labels[spareLabel] != ""
	case k.word == sandboxes.word:
		return by != nil && by.group() == extensions || o.Metadata.Labels[spareLabel] != "" ||
			o.Metadata.Labels[claimLabel] != ""
	}
	return false
}

// condition is the one of a type; nil when there is none.
func (o *object) condition(kind string) *condition {
	for i := range o.Status.Conditions {
		if o.Status.Conditions[i].Type == kind {
			return &o.Status.Conditions[i]
		}
	}
	return nil
}

// main is the container that is the sandbox: the one that the config names, else the Pod's
// default one, else the first.
func (o *object) main(configured string) string {
	switch {
	case configured != "":
		return configured
	case o.Metadata.Annotations.Container != "":
		return o.Metadata.Annotations.Container
	case len(o.Spec.Containers) > 0:
		return o.Spec.Containers[0].Name
	}
	return ""
}

// runOf is how a container of the Pod is; nil when it does not say.
func (o *object) runOf(container string) *run {
	for i := range o.Status.Containers {
		if o.Status.Containers[i].Name == container {
			return &o.Status.Containers[i]
		}
	}
	return nil
}
