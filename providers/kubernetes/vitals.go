package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// The bounds of a log that is read to save its end.
const (
	maxLog   = 4 << 20
	logLines = 2000
)

// Logs is the end of what the sandbox's container printed, at most limit bytes.
func (p *Provider) Logs(ctx context.Context, s reconcile.Sandbox, limit int) (string, error) {
	text, err := p.logs(ctx, s.ID)
	if err != nil {
		return "", fmt.Errorf("read logs of sandbox %s of %s: %w", s.ID, p.entry.Name, err)
	}
	return p.client.Tail(text, limit), nil
}

func (p *Provider) logs(ctx context.Context, id string) (string, error) {
	n, o, err := p.podOf(ctx, id)
	if err != nil {
		return "", err
	}
	query := url.Values{"container": {o.main(p.container)}, "tailLines": {strconv.Itoa(logLines)},
		"limitBytes": {strconv.Itoa(maxLog)}}
	address := p.at(pods, n.namespace, n.name, "log") + "?" + query.Encode()
	a, err := p.client.Read(ctx, wire.Call{What: "logs", URL: address, Accept: "text/plain, */*", Max: maxLog + 1<<10})
	switch {
	case err != nil:
		return "", err
	case !a.OK():
		return "", p.client.Refuse(a)
	}
	return string(a.Body), nil
}

// podOf is the Pod behind an id, also one that does not run.
func (p *Provider) podOf(ctx context.Context, id string) (name, object, error) {
	var o object
	n, err := parseID(id)
	if err == nil {
		_, err = p.read(ctx, n, &o)
	}
	for err == nil && n.word != pods.word {
		if n, err = p.behind(ctx, n, &o); err == nil {
			_, err = p.read(ctx, n, &o)
		}
	}
	return n, o, err
}

// measured is a Pod as metrics.k8s.io shows it.
type measured struct {
	Containers []struct {
		Name  string  `json:"name"`
		Usage amounts `json:"usage"`
	} `json:"containers"`
}

// Usage is what the sandbox's container uses of its limits, as metrics-server measured it.
// What has no limit cannot be told in percent, and is left out.
func (p *Provider) Usage(ctx context.Context, s reconcile.Sandbox) (reconcile.Resources, error) {
	out, err := p.usage(ctx, s.ID)
	if err != nil {
		return reconcile.Resources{}, fmt.Errorf("measure sandbox %s of %s: %w", s.ID, p.entry.Name, err)
	}
	return out, nil
}

func (p *Provider) usage(ctx context.Context, id string) (reconcile.Resources, error) {
	n, o, err := p.podOf(ctx, id)
	if err != nil {
		return reconcile.Resources{}, err
	}
	var in measured
	a, err := p.client.Get(ctx, wire.Call{What: "usage", URL: p.at(metrics, n.namespace, n.name)}, &in)
	if a.Status == http.StatusNotFound {
		return reconcile.Resources{}, fmt.Errorf("the cluster has no measurement of it: is metrics-server there? %w", err)
	}
	if err != nil {
		return reconcile.Resources{}, err
	}
	main := o.main(p.container)
	limits := o.limits(main)
	for _, c := range in.Containers {
		if c.Name == main {
			return used(c.Usage, limits)
		}
	}
	return reconcile.Resources{}, fmt.Errorf("container %s was not measured", main)
}

func (o *object) limits(container string) amounts {
	for i := range o.Spec.Containers {
		if o.Spec.Containers[i].Name == container {
			return o.Spec.Containers[i].Resources.Limits
		}
	}
	return amounts{}
}

// errUnlimited is of a container whose use means nothing: there is nothing to compare with.
var errUnlimited = errors.New("its container has no limit of CPU; set resources.limits")

func used(usage, limits amounts) (reconcile.Resources, error) {
	cpu, err := resource.ParseQuantity(usage.CPU)
	if err != nil {
		return reconcile.Resources{}, fmt.Errorf("read the measurement: cpu %q: %w", wire.Clip(usage.CPU, 40), err)
	}
	most, err := resource.ParseQuantity(limits.CPU)
	if err != nil || most.IsZero() {
		return reconcile.Resources{}, errUnlimited
	}
	out := reconcile.Resources{
		CPUPercent: float64(cpu.ScaledValue(resource.Nano)) * 100 / float64(most.ScaledValue(resource.Nano)),
	}
	memory, err := resource.ParseQuantity(usage.Memory)
	total, none := resource.ParseQuantity(limits.Memory)
	if err == nil && none == nil {
		out.MemoryUsed, out.MemoryTotal = memory.Value(), total.Value()
	}
	return out, nil
}
