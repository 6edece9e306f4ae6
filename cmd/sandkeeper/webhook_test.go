package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

const webhookKey = "a key of thirty-two characters.."

// A receiver is the platform's end of the webhook: it keeps what it was told and answers
// what the test says.
type receiver struct {
	*testing.T
	url string

	mu      sync.Mutex
	heard   []heard
	answers http.HandlerFunc // nil: 204
}

type heard struct {
	Delivery, At, Signature string
	Body                    string
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{T: t}
	server := httptest.NewServer(http.HandlerFunc(r.hear))
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

func (r *receiver) hear(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return // the sender went away
	}
	r.mu.Lock()
	h := request.Header
	r.heard = append(r.heard, heard{h.Get("X-Sandkeeper-Delivery"), h.Get("X-Sandkeeper-Timestamp"),
		h.Get("X-Sandkeeper-Signature"), string(body)})
	answers := r.answers
	r.mu.Unlock()
	if request.Method != http.MethodPost || h.Get("Content-Type") != "application/json" {
		r.Errorf("a notice came as %s %s", request.Method, h.Get("Content-Type"))
	}
	if answers != nil {
		answers(w, request)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (r *receiver) answer(h http.HandlerFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers = h
}

func (r *receiver) told() []heard {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]heard(nil), r.heard...)
}

// verify is what the docs tell a receiver to do.
func (h heard) verify(key string) bool {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(h.At + h.Body))
	return hmac.Equal([]byte(h.Signature), []byte("sha256="+hex.EncodeToString(mac.Sum(nil))))
}

func (r *receiver) webhook() *webhook {
	c := &config.Config{}
	c.Tasks.Webhook = config.WebhookConfig{
		URL: config.NewSecret(r.url + "/hooks/tok-in-path?tok=in-query"), Secret: config.NewSecret(webhookKey), Timeout: 10 * time.Second,
	}
	hook := webhookOf(c)
	hook.now = func() time.Time { return time.Unix(1769936400, 0) }
	return hook
}

func aNotice() reconcile.Notice {
	return reconcile.Notice{
		Action: "act1", Task: "t-1", Provider: "vercel", Sandbox: "sbx_1", Rule: "sandbox-missing", Step: reconcile.StepFail,
		Outcome: reconcile.OutcomeDone, Reason: `gone "410" <&> [sandkeeper act1]`, Attempts: 3,
		At: time.Date(2026, 2, 1, 10, 0, 0, 500, time.FixedZone("", 3600)),
	}
}

func TestWebhookTells(t *testing.T) {
	r := newReceiver(t)
	if err := r.webhook().Notify(t.Context(), aNotice()); err != nil {
		t.Fatal(err)
	}
	told := r.told()
	if len(told) != 1 || told[0].Delivery != "act1" || told[0].At != "1769936400" {
		t.Fatalf("told %+v, want one notice of act1", told)
	}
	if !told[0].verify(webhookKey) || told[0].verify(webhookKey+"x") {
		t.Errorf("the signature %s is not that of the key", told[0].Signature)
	}
	var got map[string]string
	if err := json.Unmarshal([]byte(told[0].Body), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"action": "act1", "task": "t-1", "sandbox": "sbx_1", "provider": "vercel", "rule": "sandbox-missing", "step": "fail",
		"outcome": "done", "reason": `gone "410" <&> [sandkeeper act1]`, "at": "2026-02-01T09:00:00.0000005Z",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("body (-want +got)\n%s", diff)
	}
}

// TestWebhookAnswers: only 2xx means told. Nothing in an error is a secret.
func TestWebhookAnswers(t *testing.T) {
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Error(w, webhookKey+r.URL.String(), code) }
	}
	cases := map[string]struct {
		answer http.HandlerFunc
		says   string // "" when it counts as told
	}{
		"done":                  {status(200), ""},
		"accepted":              {status(202), ""},
		"the last that is good": {status(299), ""},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, "answered 307 Temporary Redirect"},
		"not found":   {status(404), "answered 404 Not Found"},
		"at fault":    {status(500), "answered 500 Internal Server Error"},
		"no answer":   {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "no answer within 50ms"},
		"it hangs up": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
		"it talks without end": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		}, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newReceiver(t)
			r.answer(c.answer)
			hook := r.webhook()
			if name == "no answer" {
				hook.config.Timeout = 50 * time.Millisecond
			}
			err := hook.Notify(t.Context(), aNotice())
			if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("Notify = %v, want %q", err, c.says)
			}
			if n := len(r.told()); n != 1 {
				t.Errorf("the receiver was asked %d times, want once", n)
			}
			noSecret(t, err)
			if err != nil && !strings.HasPrefix(err.Error(), "tell the platform at "+r.url+": ") {
				t.Errorf("Notify = %v, which does not name the receiver", err)
			}
		})
	}
}

func noSecret(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	for _, secret := range []string{webhookKey, "tok-in-path", "in-query"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error shows %q: %v", secret, err)
		}
	}
}

// TestWebhookThatIsNotThere: nobody listens, the name is none, or the sender is stopped.
func TestWebhookThatIsNotThere(t *testing.T) {
	r := newReceiver(t)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for name, address := range map[string]string{
		"nobody listens": "http://127.0.0.1:1/tok-in-path", "no address": "http://[::1/tok-in-path", "stopped": r.url + "/tok-in-path",
	} {
		hook := r.webhook()
		hook.config.URL = config.NewSecret(address)
		ctx := t.Context()
		if name == "stopped" {
			ctx = stopped
		}
		err := hook.Notify(ctx, aNotice())
		if err == nil {
			t.Errorf("%s: Notify = nil, want an error", name)
		}
		noSecret(t, err)
	}
	if n := len(r.told()); n != 0 {
		t.Errorf("the receiver heard %d notices", n)
	}
	if hook := webhookOf(&config.Config{}); hook != nil {
		t.Error("a config without an address has a webhook")
	}
}
