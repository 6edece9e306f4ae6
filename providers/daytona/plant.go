package daytona

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// canaryLasts is after how long the vendor deletes a canary by itself, whatever becomes of sandkeeper.
const canaryLasts = 24 * time.Hour

// Plant makes a sandbox that no task explains. The call is made once: who got no answer looks for it by its name.
func (p *Provider) Plant(ctx context.Context, template, name string) (string, error) {
	body, err := json.Marshal(map[string]any{"snapshot": template, "name": name, "ttlMinutes": int(canaryLasts.Minutes()),
		"labels": p.entry.CanaryLabels(name)})
	if err != nil {
		return "", fmt.Errorf("plant canary %s: %w", name, err)
	}
	var b box
	_, err = p.client.Alter(ctx, wire.Call{What: "plant canary " + name, Method: http.MethodPost,
		URL: p.client.At("sandbox"), Body: body}, &b)
	switch {
	case err != nil:
		return "", fmt.Errorf("plant canary %s: %w", name, err)
	case b.ID == "" || b.Name != name:
		return "", fmt.Errorf("plant canary %s: the answer names sandbox %q", name, text.Clip(b.Name, 80))
	}
	return b.ID, nil
}
