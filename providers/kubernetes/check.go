package kubernetes

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

var fixes = wire.Fixes{
	Refused: "give sandkeeper's service account the Role of deploy/kubernetes-rbac.yaml, or name another credential",
	URL:     "set url: to the address of the API server, for example " + exampleURL,
}

// A right is one thing that the credential must be allowed.
type right struct {
	verb        string
	kind        kind
	subresource string
}

// checks are what the cluster is asked of our own credential.
type checks struct{ *Provider }

// rights are what the credential must be allowed for the kinds that are listed.
func (p checks) rights() []right {
	var out []right
	for _, k := range p.kinds {
		out = append(out, right{"list", k, ""}, right{"delete", k, ""})
		if k.word != pods.word {
			out = append(out, right{"get", k, ""})
		}
		if p.streams() {
			out = append(out, right{"watch", k, ""})
		}
	}
	if p.kinds[0].word == claims.word {
		out = append(out, right{"get", templates, ""}, right{"get", pools, ""})
	}
	if p.through {
		out = append(out, right{"get", jobKind, ""}, right{"delete", jobKind, ""}, right{"get", replicaSetKind, ""},
			right{"patch", replicaSetKind, ""}, right{"get", deploymentKind, ""}, right{"patch", deploymentKind, ""},
			right{"get", statefulSetKind, ""}, right{"patch", statefulSetKind, ""})
	}
	return append(out, right{"get", pods, ""}, right{"create", pods, "exec"}, right{"get", pods, "exec"},
		right{"get", pods, "log"})
}

// Check asks the cluster who the credential is and what it may do, and reads the first page
// of each listing. A question that the cluster does not know says nothing of the credential.
func (p *Provider) Check(ctx context.Context) []reconcile.CheckResult { return checks{p}.all(ctx) }

func (p checks) all(ctx context.Context) []reconcile.CheckResult {
	const what = "credential"
	in, a, err := p.review(ctx, "authentication.k8s.io", "SelfSubjectReview", nil)
	out := []reconcile.CheckResult{wire.Well(what, "user "+text.Clip(cmp.Or(in.User.Name, "without a name"), 120))}
	switch {
	case a.Status == http.StatusNotFound: // before 1.28
		out[0] = wire.Well(what, "the cluster does not tell whose it is")
	case err != nil:
		return []reconcile.CheckResult{fixes.Failed(what, err)}
	}
	for _, namespace := range p.namespaces {
		for _, r := range p.rights() {
			out = append(out, p.may(ctx, namespace, r))
		}
		out = append(out, p.measures(ctx, namespace))
	}
	for _, scope := range p.scopes(p.entry.Owns.Labels) {
		line := p.base.CheckListing(ctx, scope.Read, fixes)
		line.What += " of " + scope.Name
		out = append(out, line)
		if p.container != "" && strings.HasPrefix(scope.Name, pods.plural+" ") {
			out = append(out, p.containerOf(ctx, scope))
		}
	}
	return out
}

// containerOf refuses a key container that names none of our Pods' containers: nothing would
// ever be probed. Each container has an image.
func (p checks) containerOf(ctx context.Context, scope wire.Scope) reconcile.CheckResult {
	what := "container " + p.container + " of " + scope.Name
	in, err := scope.Read(ctx, "")
	ours, have := 0, 0
	for i := range in.Sandboxes {
		if s := &in.Sandboxes[i]; s.Owned {
			ours++
			if s.Template != "" {
				have++
			}
		}
	}
	said := fmt.Sprintf("%d of %d Pods have it", have, ours)
	switch {
	case err != nil || ours == 0:
		return wire.Well(what, "no Pod of ours is there to see it in")
	case have == 0:
		return wire.Ill(what, said+", so that none is probed",
			"set container: to the name of the container that is the sandbox, or leave it out for a Pod's default one")
	}
	return wire.Well(what, said)
}

// A verdict is what the cluster says of our own credential.
type verdict struct {
	Allowed bool   `json:"allowed"`
	Reason  string `json:"reason"`
	User    struct {
		Name string `json:"username"`
	} `json:"userInfo"`
}

// review posts a question about our own credential.
func (p checks) review(ctx context.Context, group, kind string, spec map[string]any) (verdict, wire.Answer, error) {
	body, _ := json.Marshal(map[string]any{"apiVersion": group + "/v1", "kind": kind, "spec": spec}) // texts
	var in struct {
		Status verdict `json:"status"`
	}
	a, err := p.client.Ask(ctx, wire.Call{What: "ask for rights", Method: http.MethodPost,
		URL: p.client.At("apis", group, "v1", strings.ToLower(kind)+"s"), Body: body}, &in)
	return in.Status, a, err
}

// may is the line of one right in one namespace.
func (p checks) may(ctx context.Context, namespace string, r right) reconcile.CheckResult {
	thing := strings.TrimSuffix(r.verb+" "+r.kind.plural+"/"+r.subresource, "/") + " in " + namespace
	in, a, err := p.review(ctx, "authorization.k8s.io", "SelfSubjectAccessReview", map[string]any{
		"resourceAttributes": map[string]any{"namespace": namespace, "verb": r.verb, "group": r.kind.group,
			"resource": r.kind.plural, "subresource": r.subresource}})
	switch {
	case a.Status == http.StatusNotFound:
		return wire.Well(thing, "the cluster does not tell whether it is allowed")
	case err != nil:
		return fixes.Failed(thing, err)
	case in.Allowed:
		return wire.Well(thing, "allowed")
	}
	return wire.Ill(thing, strings.TrimSuffix("not allowed: "+text.Clip(in.Reason, 120), ": "),
		fmt.Sprintf("allow %s: %s", thing, fixes.Refused))
}

// measures is the line of what can be done without: the measurements of metrics-server.
func (p checks) measures(ctx context.Context, namespace string) reconcile.CheckResult {
	said := "measured by metrics-server"
	k := wire.Call{What: "measurements", URL: p.at(metrics, namespace) + "?limit=1", Max: wire.MaxPage}
	if _, err := p.client.Get(ctx, k, &struct{}{}); err != nil {
		said = "not measured, so that the rule runaway finds nothing: " + text.Clip(err.Error(), 160)
	}
	return wire.Well("usage of pods in "+namespace, said)
}
