package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// The headers of a notice. The signature is "sha256=" and, in hex, the HMAC-SHA256 with the
// shared key over the timestamp, as it stands in its header, followed by the body.
const (
	headerSignature = "X-Sandkeeper-Signature"
	headerTimestamp = "X-Sandkeeper-Timestamp" // of this attempt, in Unix seconds
	headerDelivery  = "X-Sandkeeper-Delivery"  // the action: a notice that is repeated has the same
)

const maxNoticeAnswer = 4 << 10 // read of an answer, which says nothing to us

// A notifier tells the platform what was done to its tasks. No error of it names more of the
// address than its host: people put credentials into the rest.
type notifier struct {
	config config.WebhookConfig
	client *http.Client
	now    func() time.Time
}

var _ reconcile.Notifier = (*notifier)(nil)

// notifierOf is nil when the config names none.
func notifierOf(c *config.Config) *notifier {
	if c.Tasks.Webhook.URL.Empty() {
		return nil
	}
	return &notifier{config: c.Tasks.Webhook, now: time.Now, client: tellingClient()}
}

// wireNotice is a notice as the platform reads it.
type wireNotice struct {
	Action   string            `json:"action"`
	Task     string            `json:"task"`
	Sandbox  string            `json:"sandbox"`
	Provider string            `json:"provider"`
	Rule     string            `json:"rule"`
	Step     reconcile.Step    `json:"step"`
	Outcome  reconcile.Outcome `json:"outcome"`
	Reason   string            `json:"reason"`
	At       time.Time         `json:"at"`
}

// Notify delivers one notice. Any answer but 2xx is an error, so it is told again.
func (n *notifier) Notify(ctx context.Context, notice reconcile.Notice) error {
	ctx, cancel := context.WithTimeout(ctx, n.config.Timeout)
	defer cancel()
	request, err := n.request(ctx, notice)
	if err != nil {
		return n.failed(err)
	}
	answer, err := n.client.Do(request)
	if err != nil {
		return n.failed(err)
	}
	if err := accepted(answer); err != nil {
		return n.failed(err)
	}
	return nil
}

func (n *notifier) request(ctx context.Context, notice reconcile.Notice) (*http.Request, error) {
	body, err := json.Marshal(wireNotice{
		Action: notice.Action, Task: notice.Task, Sandbox: notice.Sandbox, Provider: notice.Provider, Rule: notice.Rule,
		Step: notice.Step, Outcome: notice.Outcome, Reason: notice.Reason, At: notice.At.UTC(),
	})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, n.config.URL.Reveal(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set(headerDelivery, notice.Action)
	sign(request, n.config.Secret, n.now(), body)
	return request, nil
}

// sign lets the receiver know that the request is ours and when it was sent, where both know a key.
func sign(request *http.Request, key config.Secret, now time.Time, body []byte) {
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "sandkeeper/"+Version())
	if key.Empty() {
		return
	}
	at := strconv.FormatInt(now.Unix(), 10)
	request.Header.Set(headerTimestamp, at)
	request.Header.Set(headerSignature, signed(key, at, body))
}

// failed names the receiver by its host alone; the errors of net/http show the whole address.
func (n *notifier) failed(err error) error {
	at := hostOf(n.config.URL, "tasks.webhook")
	return fmt.Errorf("notify the platform at %s: %w", at, plainly(err, n.config.Timeout))
}

// hostOf is the receiver's scheme and host; key where that is not known.
func hostOf(address config.Secret, key string) string {
	u, err := url.Parse(address.Reveal())
	if err != nil {
		return key
	}
	return u.Scheme + "://" + u.Host
}

// plainly is the error of a request without its address.
func plainly(err error, timeout time.Duration) error {
	var whole *url.Error
	if errors.As(err, &whole) {
		err = whole.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no answer within %s: %w", timeout, err)
	}
	return err
}

// accepted reads the answer of a request that was sent. Any status but 2xx is an error.
func accepted(answer *http.Response) error {
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(answer.Body, maxNoticeAnswer)); err != nil {
		return err
	}
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return fmt.Errorf("it answered %d %s, and only 2xx means delivered", answer.StatusCode,
			http.StatusText(answer.StatusCode))
	}
	return nil
}
