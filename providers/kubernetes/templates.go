package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// Template says whether sandboxes can be made from a template: for Pods that is an image,
// and the owned Pods that use it tell whether it was pulled; for agent-sandbox it is a
// SandboxTemplate, or the one of a SandboxWarmPool, and it is there or not.
func (p *Provider) Template(ctx context.Context, name string) (reconcile.Template, error) {
	return p.base.Template(ctx, "template", name, func(ctx context.Context, name string) (reconcile.Template, wire.Answer,
		error,
	) {
		t, a, err := p.template(ctx, name)
		t.Name = name
		return t, a, err
	})
}

func (p *Provider) template(ctx context.Context, name string) (t reconcile.Template, a wire.Answer, err error) {
	if p.kinds[0].word != claims.word || strings.ContainsAny(name, "/:@") {
		return p.image(ctx, name)
	}
	for _, namespace := range p.namespaces {
		if t, a, err = p.inNamespace(ctx, namespace, name); err != nil || t.State == reconcile.TemplateActive {
			break
		}
	}
	return t, a, err
}

// inNamespace looks for a template of the name, then for a pool and its template.
func (p *Provider) inNamespace(ctx context.Context, namespace, called string) (reconcile.Template, wire.Answer, error) {
	t, a, err := p.exists(ctx, name{templates, namespace, called, ""})
	if err != nil || t.State == reconcile.TemplateActive {
		return t, a, err
	}
	var pool object
	_, err = p.read(ctx, name{pools, namespace, called, ""}, &pool)
	switch {
	case errors.Is(err, reconcile.ErrNotFound):
		return t, a, nil
	case err != nil:
		return t, a, err
	}
	return p.exists(ctx, name{templates, namespace, pool.Spec.Template.Name, ""})
}

func (p *Provider) exists(ctx context.Context, n name) (reconcile.Template, wire.Answer, error) {
	var o object
	a, err := p.read(ctx, n, &o)
	if errors.Is(err, reconcile.ErrNotFound) {
		return reconcile.Template{Raw: "missing", State: reconcile.TemplateMissing,
			Error: fmt.Sprintf("there is no SandboxTemplate %s in %s", text.Clip(n.name, 80), n.namespace)}, a, nil
	}
	return reconcile.Template{ID: o.Metadata.UID, Raw: "exists", State: reconcile.TemplateActive}, a, err
}

// image looks at the owned Pods that use an image. The newest word counts; when no Pod says
// anything, nothing is known.
func (p *Provider) image(ctx context.Context, image string) (reconcile.Template, wire.Answer, error) {
	out, first := reconcile.Template{Raw: "no Pod uses it"}, wire.Answer{}
	var newest time.Time
	for _, namespace := range p.namespaces {
		err := wire.EachPage(ctx, p.pages(pods, namespace, p.entry.Owns.Labels), func(page wire.Page) error {
			if first.Date.IsZero() {
				first.Date = page.Date
			}
			for i := range page.Sandboxes {
				s := &page.Sandboxes[i]
				state := pulled[s.Raw]
				if s.Template == image && state != "" && !s.CreatedAt.Before(newest) {
					out.State, out.Raw, out.Error, newest = state, s.Raw, s.Error, s.CreatedAt
				}
			}
			return nil
		})
		if err != nil {
			return out, first, err
		}
	}
	return out, first, nil
}

// pulled is what a Pod's state says of its image; all others say nothing.
var pulled = map[string]reconcile.TemplateState{
	"ImagePullBackOff":  reconcile.TemplateFailed,
	"ErrImagePull":      reconcile.TemplateFailed,
	"InvalidImageName":  reconcile.TemplateFailed,
	"ErrImageNeverPull": reconcile.TemplateFailed,
	"Running":           reconcile.TemplateActive,
	"Succeeded":         reconcile.TemplateActive,
	"CrashLoopBackOff":  reconcile.TemplateActive,
}

// Activate cannot be: there is nothing that an image or a template waits for.
func (p *Provider) Activate(context.Context, string) error {
	return wire.Unable("a cluster has no inactive templates")
}
