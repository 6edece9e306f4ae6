package kubernetes

import (
	"cmp"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// sandbox is the object in the words of the contract. Its texts are copies: it keeps
// nothing of the answer alive.
func (p *Provider) sandbox(k kind, o *object, asOf time.Time) reconcile.Sandbox {
	seen := o.look(k, p.container)
	s := reconcile.Sandbox{
		Ref:       reconcile.Ref{ID: o.name(k).id()},
		Name:      o.Metadata.Name,
		Raw:       seen.raw,
		State:     seen.state,
		Template:  o.template(k, p.container),
		Region:    cmp.Or(o.Spec.NodeName, o.Status.NodeName),
		Labels:    o.Metadata.Labels,
		CreatedAt: o.Metadata.CreationTimestamp.Time,
		UpdatedAt: o.changed(),
		ExpiresAt: o.expires(),
		AsOf:      asOf,
		Error:     wire.Clip(p.client.Redact(seen.why), 500),
	}
	p.entry.Mark(&s)
	if p.entry.Link.Sandbox == "name" {
		s.SandboxKey = p.key(o)
	}
	s.Owned = s.Owned && !o.apart(k)
	return s
}

// key is what a row names the sandbox by, where that is a name: its own, or what the key
// row_holds says.
func (p *Provider) key(o *object) string {
	switch p.entry.Extra["row_holds"] {
	case "uid":
		return o.Metadata.UID
	case "sandbox":
		return cmp.Or(o.Status.Sandbox.Name, o.Metadata.Name)
	}
	return o.Metadata.Name
}

// template is what the sandbox was made from: a Pod's image, a claim's warm pool.
func (o *object) template(k kind, container string) string {
	if k.word == claims.word {
		return o.Spec.WarmPool.Name
	}
	all := o.Spec.Containers
	if k.word == sandboxes.word {
		all = o.Spec.PodTemplate.Spec.Containers
	}
	main := o.main(container)
	for i := range all {
		if all[i].Name == main || main == "" {
			return all[i].Image
		}
	}
	return ""
}

// changed is when the newest of its conditions changed.
func (o *object) changed() time.Time {
	newest := ""
	for i := range o.Status.Conditions {
		newest = max(newest, o.Status.Conditions[i].Since)
	}
	if at := moment(newest); at.After(o.Metadata.CreationTimestamp.Time) {
		return at
	}
	return o.Metadata.CreationTimestamp.Time
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
	switch {
	case !o.Spec.ShutdownTime.IsZero():
		return o.Spec.ShutdownTime.Time
	case !o.Spec.Lifecycle.ShutdownTime.IsZero():
		return o.Spec.Lifecycle.ShutdownTime.Time
	case o.Spec.ActiveDeadline > 0 && !moment(o.Status.StartTime).IsZero():
		return moment(o.Status.StartTime).Add(time.Duration(o.Spec.ActiveDeadline) * time.Second)
	}
	return time.Time{}
}
