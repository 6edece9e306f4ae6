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
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// The bounds of a log that is read to save its end.
const (
	maxLog   = 4 << 20
	logLines = 2000
)

// log asks a Pod's node for what a container printed.
func (p *Provider) log(t target, lines, most int) wire.Call {
	query := url.Values{"container": {t.container}, "tailLines": {strconv.Itoa(lines)}, "limitBytes": {strconv.Itoa(most)}}
	return wire.Call{What: "logs", Accept: "text/plain, */*", Max: int64(most) + 1<<10,
		URL: p.at(pods, t.pod.namespace, t.pod.name, "log") + "?" + query.Encode()}
}

// Logs is the end of what the sandbox's container printed, at most limit bytes.
func (p *Provider) Logs(ctx context.Context, s reconcile.Sandbox, limit int) (string, error) {
	t, _, err := p.behind(ctx, s.ID, inAnyState)
	var a wire.Answer
	if err == nil {
		a, err = p.client.Read(ctx, p.log(t, logLines, maxLog))
	}
	if err == nil && !a.OK() {
		err = p.client.Refuse(a)
	}
	if err != nil {
		return "", p.base.Wrap("read logs of sandbox", s.ID, err)
	}
	return p.client.Tail(string(a.Body), limit), nil
}

// measured is a Pod as metrics.k8s.io shows it.
type measured struct {
	Containers []use `json:"containers"`
}

type use struct {
	Name  string  `json:"name"`
	Usage amounts `json:"usage"`
}

// Usage is what the sandbox's container uses of its limits, as metrics-server measured it.
// What has no limit cannot be told in percent, and is left out.
func (p *Provider) Usage(ctx context.Context, s reconcile.Sandbox) (reconcile.Resources, error) {
	out, err := p.usage(ctx, s.ID)
	return out, p.base.Wrap("measure sandbox", s.ID, err)
}

func (p *Provider) usage(ctx context.Context, id string) (reconcile.Resources, error) {
	t, o, err := p.behind(ctx, id, inAnyState)
	if err != nil {
		return reconcile.Resources{}, err
	}
	var in measured
	a, err := p.client.Get(ctx, wire.Call{What: "usage", URL: p.at(metrics, t.pod.namespace, t.pod.name)}, &in)
	switch {
	case a.Status == http.StatusNotFound:
		return reconcile.Resources{}, fmt.Errorf("the cluster has no measurement of it: is metrics-server there? %w", err)
	case err != nil:
		return reconcile.Resources{}, err
	}
	use := one(in.Containers, func(u *use) bool { return u.Name == t.container })
	if use == nil {
		return reconcile.Resources{}, fmt.Errorf("container %s was not measured", t.container)
	}
	limits := amounts{}
	if c := one(o.Spec.Containers, func(c *container) bool { return c.Name == t.container }); c != nil {
		limits = c.Resources.Limits
	}
	return used(use.Usage, limits)
}

// errUnlimited is of a container whose use means nothing: there is nothing to compare with.
var errUnlimited = errors.New("its container has no limit of CPU; set resources.limits")

func used(usage, limits amounts) (reconcile.Resources, error) {
	cpu, err := resource.ParseQuantity(usage.CPU)
	if err != nil {
		return reconcile.Resources{}, fmt.Errorf("read the measurement: cpu %q: %w", text.Clip(usage.CPU, 40), err)
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
