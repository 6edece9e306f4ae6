package e2b

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
)

// canaryLasts is after how long the vendor ends a canary by itself, whatever becomes of sandkeeper: as long as a
// sandbox may run on the smallest plan.
const canaryLasts = time.Hour

// Plant makes a sandbox that no task explains. Its label is its name, for sandboxes have none here. The call is made
// once: who got no answer looks for it by that label.
func (p *Provider) Plant(ctx context.Context, template, name string) (string, error) {
	body, err := json.Marshal(map[string]any{"templateID": template, "timeout": int(canaryLasts.Seconds()),
		"metadata": p.entry.CanaryLabels(name)})
	if err != nil {
		return "", fmt.Errorf("plant canary %s: %w", name, err)
	}
	var b struct {
		ID string `json:"sandboxID"`
	}
	_, err = p.client.Alter(ctx, wire.Call{What: "plant canary " + name, Method: http.MethodPost,
		URL: p.client.At("v2", "sandboxes"), Body: body}, &b)
	switch {
	case err != nil:
		return "", fmt.Errorf("plant canary %s: %w", name, err)
	case b.ID == "":
		return "", fmt.Errorf("plant canary %s: the answer names no sandbox", name)
	}
	return b.ID, nil
}
