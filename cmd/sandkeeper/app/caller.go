package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/tasks"
)

// headerIdempotency is the header by which a platform knows that a call is repeated
// (draft-ietf-httpapi-idempotency-key).
const headerIdempotency = "Idempotency-Key"

// A caller asks the platform, by its own API, to change a task. No error of it names more of the address than its
// host: people put credentials into the rest.
type caller struct {
	calls  map[reconcile.Step]config.CallConfig
	client *http.Client
	now    func() time.Time
}

var _ tasks.Caller = (*caller)(nil)

func callerOf(c *config.Config) *caller {
	return &caller{client: tellingClient(), now: time.Now, calls: map[reconcile.Step]config.CallConfig{
		reconcile.StepFail: c.Tasks.Fail.Call, reconcile.StepRequeue: c.Tasks.Requeue.Call,
	}}
}

// Call sends one request. Any answer but 2xx is an error, so it is sent again, with the same key.
func (c *caller) Call(ctx context.Context, call tasks.Call) error {
	how := c.calls[call.Step]
	ctx, cancel := context.WithTimeout(ctx, how.Timeout)
	defer cancel()
	at := hostOf(how.URL, "tasks."+string(call.Step)+".call")
	request, err := c.request(ctx, how, call)
	if err != nil {
		return fmt.Errorf("call the platform at %s: %w", at, plainly(err, how.Timeout))
	}
	answer, err := c.client.Do(request)
	if err == nil {
		err = accepted(answer)
	}
	if err != nil {
		return fmt.Errorf("call the platform at %s: %w", at, plainly(err, how.Timeout))
	}
	return nil
}

func (c *caller) request(ctx context.Context, how config.CallConfig, call tasks.Call) (*http.Request, error) {
	body, err := json.Marshal(bodyOf(how, call))
	if err != nil {
		return nil, err
	}
	if call.Task == "." || call.Task == ".." {
		return nil, fmt.Errorf("the id %q would be another path", call.Task)
	}
	address := strings.ReplaceAll(how.URL.Reveal(), "{id}", escaped(call.Task))
	request, err := http.NewRequestWithContext(ctx, how.Method, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	sign(request, how.Secret, c.now(), body)
	request.Header.Set(headerIdempotency, call.Action)
	switch {
	case how.Token.Empty():
	case how.Header != "":
		request.Header.Set(how.Header, how.Token.Reveal())
	default:
		request.Header.Set("Authorization", "Bearer "+how.Token.Reveal())
	}
	return request, nil
}

// escaped is a text that may stand in a path and in a query.
func escaped(id string) string { return strings.ReplaceAll(url.QueryEscape(id), "+", "%20") }

// bodyOf is what is sent: the fields of the config, or what is to be done, in the webhook's words.
func bodyOf(how config.CallConfig, call tasks.Call) map[string]string {
	if len(how.Body) == 0 {
		return map[string]string{"action": call.Action, "task": call.Task, "step": string(call.Step), "reason": call.Reason}
	}
	words := strings.NewReplacer("@id", call.Task, "@reason", call.Reason, "@action", call.Action)
	body := map[string]string{}
	for field, value := range how.Body {
		body[field] = words.Replace(value)
	}
	return body
}
