package app

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// vendors are the services that people are told by, at their real names: each request to anywhere comes here, by TLS,
// and is answered as its vendor documents, with a refusal where the request is not as documented.
type vendors struct {
	mu    sync.Mutex
	heard map[string][]map[string]any // by host
}

// newVendors stands in for the internet until the test ends.
func newVendors(t *testing.T, of map[string]func(*http.Request, []byte) (status int, answer string)) *vendors {
	t.Helper()
	v := &vendors{heard: map[string][]map[string]any{}}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		answers, known := of[r.Host]
		if err != nil || !known {
			http.Error(w, "no such service", http.StatusNotFound)
			return
		}
		status, answer := answers(r, body)
		var said map[string]any
		if json.Unmarshal(body, &said) == nil && status < 300 {
			v.mu.Lock()
			v.heard[r.Host] = append(v.heard[r.Host], said)
			v.mu.Unlock()
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	usual := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = usual })
	trusts := server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	http.DefaultTransport = &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
		},
		TLSClientConfig: &tls.Config{RootCAs: trusts, ServerName: "example.com", MinVersion: tls.VersionTLS12},
	}
	return v
}

func (v *vendors) told(host string) []map[string]any {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.heard[host]
}

// strictly decodes a body that has no other keys than those of the form.
func strictly(body []byte, form any) bool {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	return d.Decode(form) == nil
}

// slackSays answers as an incoming webhook of Slack: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
// and, for attachments, https://docs.slack.dev/legacy/legacy-messaging/legacy-secondary-message-attachments.
func slackSays(r *http.Request, body []byte) (int, string) {
	var m struct {
		Text        string `json:"text"`
		Attachments []struct {
			Title, Fallback, Text, Color string
		} `json:"attachments"`
	}
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/services/"), "/")
	switch {
	case r.Method != http.MethodPost || !strings.HasPrefix(r.URL.Path, "/services/") || len(parts) != 3:
		return http.StatusNotFound, "no_service"
	case !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") || !strictly(body, &m):
		return http.StatusBadRequest, "invalid_payload"
	case m.Text == "" && len(m.Attachments) == 0:
		return http.StatusBadRequest, "no_text"
	case len(m.Attachments) > 100:
		return http.StatusBadRequest, "too_many_attachments"
	}
	return http.StatusOK, "ok"
}

// teamsSays answers as a workflow of Teams that waits for a webhook:
// https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using
func teamsSays(r *http.Request, body []byte) (int, string) {
	var m card
	if r.Method != http.MethodPost || r.URL.Query().Get("sig") == "" {
		return http.StatusUnauthorized, "DirectApiAuthorizationRequired"
	}
	if !strictly(body, &m) || m.Type != "message" || len(m.Attachments) != 1 || len(body) > 28<<10 ||
		m.Attachments[0].ContentType != "application/vnd.microsoft.card.adaptive" {
		return http.StatusBadRequest, "TriggerInputSchemaMismatch"
	}
	c := m.Attachments[0].Content
	if c.Type != "AdaptiveCard" || !slices.Contains([]string{"1.2", "1.3", "1.4"}, c.Version) || len(c.Body) == 0 {
		return http.StatusBadRequest, "no card"
	}
	for _, block := range c.Body {
		if block.Type != "RichTextBlock" || len(block.Inlines) != 1 || block.Inlines[0].Type != "TextRun" || block.Inlines[0].Text == "" {
			return http.StatusBadRequest, "no element of a card"
		}
	}
	return http.StatusAccepted, ""
}

// opsgenieSays answers as https://docs.opsgenie.com/docs/alert-api#create-alert documents.
func opsgenieSays(r *http.Request, body []byte) (int, string) {
	var m struct {
		Message, Alias, Description, Source, Priority, Entity, User, Note string
	}
	switch {
	case r.Header.Get("Authorization") != "GenieKey 01234567-89ab":
		return http.StatusUnauthorized, `{"message":"Could not authenticate"}`
	case r.Method != http.MethodPost || r.URL.Path != "/v2/alerts" || !strictly(body, &m):
		return http.StatusBadRequest, `{"message":"Body is not as documented"}`
	case m.Message == "" || utf8.RuneCountInString(m.Message) > 130, len(m.Alias) > 512, len(m.Description) > 15000,
		len(m.Source) > 100, !slices.Contains([]string{"", "P1", "P2", "P3", "P4", "P5"}, m.Priority):
		return http.StatusUnprocessableEntity, `{"message":"Request body is not processable"}`
	}
	return http.StatusAccepted, `{"result":"Request will be processed","took":0.1,"requestId":"43a29c5c"}`
}

// TestTellsVendors: by the address that an operator writes, through the whole of what sends, to a receiver that refuses
// what its vendor would.
func TestTellsVendors(t *testing.T) {
	v := newVendors(t, map[string]func(*http.Request, []byte) (int, string){
		"hooks.slack.com": slackSays, "prod-1.westus.logic.azure.com": teamsSays, "api.opsgenie.com:443": opsgenieSays,
		"api.opsgenie.com": opsgenieSays,
	})
	long := someAlarms()
	long[0].Title += strings.Repeat(" of a very long name", 9)
	for address, want := range map[string][]string{
		"slack://hook:AAAAAAAAA-BBBBBBBBB-123456789123456789123456@webhook":                  {"The breaker of orphan", "RESOLVED: tasks"},
		"opsgenie://api.opsgenie.com/01234567-89ab":                                          {"prod/breaker:orphan", "The breaker of orphan"},
		"teams+https://prod-1.westus.logic.azure.com/workflows/x/invoke?sig=s&api-version=1": {"CRITICAL: The breaker", "RESOLVED: tasks", "https://keeper.example/"},
	} {
		r := receiverAt(address)
		r.client = http.DefaultClient
		if err := r.Tell(t.Context(), long); err != nil {
			t.Errorf("%s: %v", address, err)
		}
		said := ""
		for host := range v.heard {
			for _, m := range v.told(host) {
				text, err := json.Marshal(m)
				if err != nil {
					t.Fatal(err)
				}
				said += string(text)
			}
		}
		for _, words := range want {
			if !strings.Contains(said, words) {
				t.Errorf("%s was not told %q: %s", address, words, said)
			}
		}
		clear(v.heard)
	}
}

// TestRefusedByVendors: what they refuse is an error that says so, and it shows no key.
func TestRefusedByVendors(t *testing.T) {
	newVendors(t, map[string]func(*http.Request, []byte) (int, string){
		"prod-1.westus.logic.azure.com": teamsSays, "api.opsgenie.com:443": opsgenieSays, "api.opsgenie.com": opsgenieSays})
	for address, want := range map[string]string{
		"opsgenie://api.opsgenie.com/98765432-wrong": "401", "slack://hook:AAAAAAAAA-BBBBBBBBB-123456789123456789123456@webhook": "",
		"teams+https://prod-1.westus.logic.azure.com/workflows/x/invoke?code=s3cretKey": "401",
	} {
		r := receiverAt(address)
		r.client = http.DefaultClient
		err := r.Tell(t.Context(), someAlarms())
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "98765432") ||
			strings.Contains(err.Error(), "s3cretKey") || strings.Contains(err.Error(), "AAAAAAAAA") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestNoCardIsMarkup: a name that somebody gave a sandbox makes no link in a card.
func TestNoCardIsMarkup(t *testing.T) {
	r := Receiver{NotifyConfig: config.NotifyConfig{}, Installation: "prod"}
	c := r.card([]reconcile.Alarm{{Title: "[click](https://evil.example)", Version: "1"}}).Attachments[0].Content
	for _, b := range c.Body {
		if b.Type != "RichTextBlock" {
			t.Errorf("a block of type %s, in which a foreign text may be a link", b.Type)
		}
	}
}
