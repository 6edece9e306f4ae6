package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

var fixes = wire.Fixes{
	Refused: "give sandkeeper's service account the Role of deploy/kubernetes-rbac.yaml, or name another credential",
	URL:     "set url: to the address of the API server, for example " + exampleURL,
}

// A right is one thing that the credential must be allowed.
type right struct {
	verb, subresource string
	kind              kind
}

func (r right) what() string {
	if r.subresource == "" {
		return r.verb + " " + r.kind.plural
	}
	return r.verb + " " + r.kind.plural + "/" + r.subresource
}

// rights are what the credential must be allowed for the kinds that are listed.
func (p *Provider) rights() []right {
	var out []right
	for _, k := range p.kinds {
		out = append(out, right{verb: "list", kind: k}, right{verb: "delete", kind: k})
		if k.word != pods.word {
			out = append(out, right{verb: "get", kind: k})
		}
	}
	if p.kinds[0].word == claims.word {
		out = append(out, right{verb: "get", kind: templates}, right{verb: "get", kind: pools})
	}
	return append(out, right{verb: "get", kind: pods}, right{verb: "create", kind: pods, subresource: "exec"},
		right{verb: "get", kind: pods, subresource: "exec"}, right{verb: "get", kind: pods, subresource: "log"})
}

// Check asks the cluster who the credential is and what it may do, and reads the first page
// of each listing.
func (p *Provider) Check(ctx context.Context) []reconcile.CheckResult {
	who, err := p.whoAmI(ctx)
	if err != nil {
		return []reconcile.CheckResult{fixes.Failed("credential", err)}
	}
	out := []reconcile.CheckResult{{What: "credential", OK: true, Said: "user " + who}}
	for _, namespace := range p.namespaces {
		for _, r := range p.rights() {
			out = append(out, p.may(ctx, namespace, r))
		}
		out = append(out, p.measures(ctx, namespace))
	}
	for _, scope := range p.scopes(p.entry.Owns.Labels) {
		line := p.frame.CheckListing(ctx, scope.Read, fixes)
		line.What += " of " + scope.Name
		out = append(out, line)
	}
	return out
}

// review posts a question about our own credential.
func (p *Provider) review(ctx context.Context, group, plural string, spec map[string]any, answer any) error {
	body, err := json.Marshal(map[string]any{"apiVersion": group + "/v1", "kind": kindsOfReviews[plural], "spec": spec})
	if err != nil {
		return err
	}
	a, err := p.client.Once(ctx, wire.Call{What: "ask for rights", Method: http.MethodPost,
		URL: p.client.At("apis", group, "v1", plural), Body: body})
	if err != nil {
		return err
	}
	return p.client.Decode(a, answer)
}

var kindsOfReviews = map[string]string{
	"selfsubjectreviews":       "SelfSubjectReview",
	"selfsubjectaccessreviews": "SelfSubjectAccessReview",
}

func (p *Provider) whoAmI(ctx context.Context) (string, error) {
	var in struct {
		Status struct {
			UserInfo struct {
				Username string `json:"username"`
			} `json:"userInfo"`
		} `json:"status"`
	}
	err := p.review(ctx, "authentication.k8s.io", "selfsubjectreviews", nil, &in)
	return wire.Clip(first(in.Status.UserInfo.Username, "without a name"), 120), err
}

// may is the line of one right in one namespace.
func (p *Provider) may(ctx context.Context, namespace string, r right) reconcile.CheckResult {
	line := reconcile.CheckResult{What: r.what() + " in " + namespace}
	var in struct {
		Status struct {
			Allowed bool   `json:"allowed"`
			Reason  string `json:"reason"`
		} `json:"status"`
	}
	err := p.review(ctx, "authorization.k8s.io", "selfsubjectaccessreviews", map[string]any{
		"resourceAttributes": map[string]any{"namespace": namespace, "verb": r.verb, "group": r.kind.group,
			"resource": r.kind.plural, "subresource": r.subresource}}, &in)
	switch {
	case err != nil:
		return fixes.Failed(line.What, err)
	case in.Status.Allowed:
		line.OK, line.Said = true, "allowed"
	default:
		line.Said = strings.TrimSuffix("not allowed: "+wire.Clip(in.Status.Reason, 120), ": ")
		line.Fix = fmt.Sprintf("allow %s in %s: %s", r.what(), namespace, fixes.Refused)
	}
	return line
}

// measures is the line of what can be done without: the measurements of metrics-server.
func (p *Provider) measures(ctx context.Context, namespace string) reconcile.CheckResult {
	line := reconcile.CheckResult{What: "usage of pods in " + namespace, OK: true, Said: "measured by metrics-server"}
	k := wire.Call{What: "measurements", URL: p.at(metrics, namespace) + "?limit=1", Max: wire.MaxPage}
	a, err := p.client.Read(ctx, k)
	if err == nil {
		err = p.client.Decode(a, &struct{}{})
	}
	if err != nil {
		line.Said = "not measured, so that the rule runaway finds nothing: " + wire.Clip(err.Error(), 160)
	}
	return line
}
