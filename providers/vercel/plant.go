package vercel

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// canaryLasts is after how long the vendor stops a canary by itself, whatever becomes of sandkeeper: as long as a
// session may run on the smallest plan.
const canaryLasts = 45 * time.Minute

// Plant makes a sandbox that no task explains, of a snapshot (snap_…), an image (with a slash), or a runtime. It is
// not persistent: nothing is kept of it. The call is made once: who got no answer looks for it by its name.
func (p *Provider) Plant(ctx context.Context, template, name string) (string, error) {
	in := map[string]any{"projectId": p.project, "name": name, "persistent": false, "ports": []int{},
		"timeout": canaryLasts.Milliseconds(), "tags": p.entry.CanaryLabels(name)}
	version := "v3"
	switch {
	case strings.HasPrefix(template, "snap_"):
		in["source"] = map[string]string{"type": "snapshot", "snapshotId": template}
	case strings.Contains(template, "/"):
		in["image"] = template
	default:
		in["runtime"], version = template, "v2"
	}
	body, err := json.Marshal(in)
	if err != nil {
		return "", fmt.Errorf("plant canary %s: %w", name, err)
	}
	var out struct {
		Sandbox record  `json:"sandbox"`
		Session session `json:"session"`
	}
	_, err = p.client.Alter(ctx, wire.Call{What: "plant canary " + name, Method: http.MethodPost,
		URL: p.client.At(version, "sandboxes") + "?" + p.team.Encode(), Body: body}, &out)
	switch {
	case err != nil:
		return "", fmt.Errorf("plant canary %s: %w", name, err)
	case out.Session.ID == "" || out.Sandbox.Name != name:
		return "", fmt.Errorf("plant canary %s: the answer names sandbox %q", name, text.Clip(out.Sandbox.Name, 80))
	}
	return out.Session.ID, nil
}
