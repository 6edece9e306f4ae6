package app

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app/webhooktest"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

func notifierTo(r *webhooktest.Receiver) *notifier {
	c := &config.Config{}
	c.Tasks.Webhook = config.WebhookConfig{
		URL: config.NewSecret(r.URL + "/hooks/tok-in-path?tok=in-query"), Secret: config.NewSecret(webhooktest.Key), Timeout: 10 * time.Second,
	}
	n := notifierOf(c)
	n.now = func() time.Time { return time.Unix(1769936400, 0) }
	return n
}

func aNotice() reconcile.Notice {
	return reconcile.Notice{
		Action: "act1", Task: "t-1", Provider: "vercel", Sandbox: "sbx_1", Rule: "sandbox-missing", Step: reconcile.StepFail,
		Outcome: reconcile.OutcomeDone, Reason: `gone "410" <&> [sandkeeper act1]`, Attempts: 3,
		At: time.Date(2026, 2, 1, 10, 0, 0, 500, time.FixedZone("", 3600)),
	}
}

func TestWebhookTells(t *testing.T) {
	r := webhooktest.NewReceiver(t)
	if err := notifierTo(r).Notify(t.Context(), aNotice()); err != nil {
		t.Fatal(err)
	}
	told := r.Told()
	if len(told) != 1 || told[0].Delivery != "act1" || told[0].At != "1769936400" {
		t.Fatalf("told %+v, want one notice of act1", told)
	}
	if !told[0].Verify(webhooktest.Key) || told[0].Verify(webhooktest.Key+"x") {
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
		return func(w http.ResponseWriter, r *http.Request) { http.Error(w, webhooktest.Key+r.URL.String(), code) }
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
		"no answer":   {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "no answer within 3s"},
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
			r := webhooktest.NewReceiver(t)
			r.Answer(c.answer)
			n := notifierTo(r)
			if name == "no answer" {
				n.config.Timeout = 3 * time.Second // enough to be asked
			}
			err := n.Notify(t.Context(), aNotice())
			if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("Notify = %v, want %q", err, c.says)
			}
			if n := len(r.Told()); n != 1 {
				t.Errorf("the receiver was asked %d times, want once", n)
			}
			noSecret(t, err)
			if err != nil && !strings.HasPrefix(err.Error(), "notify the platform at "+r.URL+": ") {
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
	for _, secret := range []string{webhooktest.Key, "tok-in-path", "in-query"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error shows %q: %v", secret, err)
		}
	}
}

// TestWebhookThatIsNotThere: nobody listens, the name is none, or the sender is stopped.
func TestWebhookThatIsNotThere(t *testing.T) {
	r := webhooktest.NewReceiver(t)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for name, address := range map[string]string{
		"nobody listens": "http://127.0.0.1:1/tok-in-path", "no address": "http://[::1/tok-in-path", "stopped": r.URL + "/tok-in-path",
	} {
		n := notifierTo(r)
		n.config.URL = config.NewSecret(address)
		ctx := t.Context()
		if name == "stopped" {
			ctx = stopped
		}
		err := n.Notify(ctx, aNotice())
		if err == nil {
			t.Errorf("%s: Notify = nil, want an error", name)
		}
		noSecret(t, err)
	}
	if n := len(r.Told()); n != 0 {
		t.Errorf("the receiver heard %d notices", n)
	}
	if n := notifierOf(&config.Config{}); n != nil {
		t.Error("a config without an address has a webhook")
	}
}
