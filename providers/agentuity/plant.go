package agentuity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// canaryLasts is after how long without use the vendor ends a canary by itself, whatever becomes of sandkeeper.
const canaryLasts = 2 * time.Hour

// Plant makes a sandbox that no task explains, in the first region, of a snapshot. A listing shows no labels: its name
// is its label. The call is made once: who got no answer looks for it by its name.
func (p *Provider) Plant(ctx context.Context, template, name string) (string, error) {
	in := map[string]any{"name": name, "snapshot": template, "timeout": map[string]string{"idle": canaryLasts.String()}}
	if project := p.canaryProject(); project != "" {
		in["projectId"] = project
	}
	body, err := json.Marshal(in)
	if err != nil {
		return "", fmt.Errorf("plant canary %s: %w", name, err)
	}
	places, err := p.named(ctx)
	if err == nil && len(places) == 0 {
		err = errors.New("the control plane names no region")
	}
	if err != nil {
		return "", fmt.Errorf("plant canary %s: %w", name, err)
	}
	c := p.at(places[0], "plant canary "+name, url.Values{}, "sandbox")
	c.Method, c.Body = http.MethodPost, body
	made, _, err := ask[struct {
		ID string `json:"sandboxId"`
	}](ctx, p, c)
	switch {
	case err != nil:
		return "", fmt.Errorf("plant canary %s: %w", name, err)
	case made.Data.ID == "":
		return "", fmt.Errorf("plant canary %s: the answer names no sandbox", name)
	}
	return made.Data.ID, nil
}

// canaryProject is the project that a canary is made in: the entry's, or the one that proves whose it is.
func (p *Provider) canaryProject() string {
	if p.project != "" {
		return p.project
	}
	return p.entry.Owns.Labels[projectLabel]
}

// isCanary reports whether the name is that of a canary. It frees nothing alone: the ledger has to know of it.
func (p *Provider) isCanary(name string) bool {
	return strings.HasPrefix(name, p.entry.CanaryName(""))
}
