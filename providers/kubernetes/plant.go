package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// canaryLasts is after how long the cluster ends what runs of a canary, whatever becomes of sandkeeper.
const canaryLasts = 24 * time.Hour

// Plant makes an object that no task explains: a Pod of the image that sleeps, and where only claims are listed one on
// the warm pool. The call is made once: who got no answer looks for it by its name.
func (p *Provider) Plant(ctx context.Context, template, called string) (string, error) {
	k, spec := pods, canaryPod(template)
	if p.kinds[len(p.kinds)-1].word != pods.word {
		k, spec = claims, map[string]any{"warmPoolRef": map[string]string{"name": template}, "lifecycle": map[string]string{
			"shutdownTime": time.Now().Add(canaryLasts).UTC().Format(time.RFC3339), "shutdownPolicy": "Delete"}}
	}
	version, what := "v1", "Pod"
	if k.group != "" {
		version, what = k.group+"/v1beta1", "SandboxClaim"
	}
	namespace := p.namespaces[0]
	body, err := json.Marshal(map[string]any{"apiVersion": version, "kind": what, "spec": spec, "metadata": map[string]any{
		"name": called, "namespace": namespace, "labels": p.entry.CanaryLabels(called)}})
	if err != nil {
		return "", fmt.Errorf("plant canary %s: %w", called, err)
	}
	var o object
	_, err = p.client.Alter(ctx, wire.Call{What: "plant canary " + called, Method: http.MethodPost,
		URL: p.at(k, namespace), Body: body}, &o)
	id := name{k, namespace, o.Metadata.Name, o.Metadata.UID}.id()
	switch {
	case err != nil:
		return "", fmt.Errorf("plant canary %s: %w", called, err)
	case id == "" || o.Metadata.Name != called:
		return "", fmt.Errorf("plant canary %s: the answer names %q", called, text.Clip(o.Metadata.Name, 80))
	}
	return id, nil
}

// canaryPod is what the Pod of a canary runs: nothing, with as little as a cluster gives, and no credential of it.
func canaryPod(image string) map[string]any {
	lasts := int(canaryLasts.Seconds())
	least := map[string]string{"cpu": "10m", "memory": "32Mi"}
	return map[string]any{"restartPolicy": "Never", "activeDeadlineSeconds": lasts, "automountServiceAccountToken": false,
		"enableServiceLinks": false, "terminationGracePeriodSeconds": 1, "containers": []any{map[string]any{"name": "canary",
			"image": image, "command": []string{"sleep", strconv.Itoa(lasts)}, "resources": map[string]any{"requests": least,
				"limits": least}, "securityContext": map[string]any{"allowPrivilegeEscalation": false}}}}
}
