package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Template says whether sandboxes can be made from a template: for Pods that is an image,
// and the owned Pods that use it tell whether it was pulled; for agent-sandbox it is a
// SandboxTemplate, or the one of a SandboxWarmPool, and it is there or not.
func (p *Provider) Template(ctx context.Context, name string) (reconcile.Template, error) {
	t, err := p.template(ctx, name)
	if err != nil {
		return reconcile.Template{}, fmt.Errorf("read template %s of %s: %w", name, p.entry.Name, err)
	}
	t.Name = name
	return t, nil
}

func (p *Provider) template(ctx context.Context, name string) (reconcile.Template, error) {
	if err := wire.CheckID(name); err != nil {
		return reconcile.Template{}, err
	}
	if p.kinds[0].word != claims.word || strings.ContainsAny(name, "/:@") {
		return p.image(ctx, name)
	}
	var t reconcile.Template
	for _, namespace := range p.namespaces {
		var err error
		if t, err = p.inNamespace(ctx, namespace, name); err != nil || t.State == reconcile.TemplateActive {
			return t, err
		}
	}
	return t, nil
}

// inNamespace looks for a template of the name, then for a pool and its template.
func (p *Provider) inNamespace(ctx context.Context, namespace, called string) (reconcile.Template, error) {
	t, err := p.exists(ctx, name{templates, namespace, called, ""})
	if err != nil || t.State == reconcile.TemplateActive {
		return t, err
	}
	var pool object
	_, err = p.read(ctx, name{pools, namespace, called, ""}, &pool)
	if errors.Is(err, reconcile.ErrNotFound) {
		return t, nil
	}
	if err != nil {
		return t, err
	}
	return p.exists(ctx, name{templates, namespace, pool.Spec.Template.Name, ""})
}

func (p *Provider) exists(ctx context.Context, n name) (reconcile.Template, error) {
	var o object
	a, err := p.read(ctx, n, &o)
	if errors.Is(err, reconcile.ErrNotFound) {
		return reconcile.Template{Raw: "missing", State: reconcile.TemplateMissing, AsOf: a.Date,
			Error: fmt.Sprintf("there is no SandboxTemplate %s in %s", wire.Clip(n.name, 80), n.namespace)}, nil
	}
	return reconcile.Template{ID: o.Metadata.UID, Raw: "exists", State: reconcile.TemplateActive, AsOf: a.Date}, err
}

// image looks at the owned Pods that use an image. The newest word counts; when no Pod says
// anything, nothing is known.
func (p *Provider) image(ctx context.Context, image string) (reconcile.Template, error) {
	out := reconcile.Template{Raw: "no Pod uses it"}
	var newest time.Time
	for _, namespace := range p.namespaces {
		err := wire.EachPage(ctx, p.pages(pods, namespace, p.entry.Owns.Labels), func(page wire.Page) error {
			if out.AsOf.IsZero() {
				out.AsOf = page.Date
			}
			for i := range page.Sandboxes {
				if s := &page.Sandboxes[i]; s.Template == image && !s.CreatedAt.Before(newest) {
					if state := pulled(s); state != reconcile.TemplateUnknown {
						out.State, out.Raw, out.Error, newest = state, s.Raw, s.Error, s.CreatedAt
					}
				}
			}
			return nil
		})
		if err != nil {
			return reconcile.Template{}, err
		}
	}
	return out, nil
}

// pulled is what a Pod says of its image; unknown when it says nothing.
func pulled(s *reconcile.Sandbox) reconcile.TemplateState {
	switch s.Raw {
	case "ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull":
		return reconcile.TemplateFailed
	case "Running", "Succeeded", "CrashLoopBackOff":
		return reconcile.TemplateActive
	}
	return reconcile.TemplateUnknown
}

// Activate cannot be: there is nothing that an image or a template waits for.
func (p *Provider) Activate(context.Context, string) error {
	return wire.Unable("a cluster has no inactive templates")
}
