// Package webhooktest is the platform's end of the webhook, for tests.
package webhooktest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Key is what the notices are signed with.
const Key = "a key of thirty-two characters.."

// A Receiver is the platform's end of the webhook: it keeps what it was told and answers
// what the test says.
type Receiver struct {
	*testing.T
	URL string

	mu      sync.Mutex
	heard   []Heard
	answers http.HandlerFunc // nil: 204
}

// Heard is one notice as it came.
type Heard struct {
	Delivery, At, Signature string
	Body                    string
}

// NewReceiver listens until the test ends.
func NewReceiver(t *testing.T) *Receiver {
	t.Helper()
	r := &Receiver{T: t}
	server := httptest.NewServer(http.HandlerFunc(r.hear))
	t.Cleanup(server.Close)
	r.URL = server.URL
	return r
}

func (r *Receiver) hear(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return // the sender went away
	}
	r.mu.Lock()
	h := request.Header
	r.heard = append(r.heard, Heard{h.Get("X-Sandkeeper-Delivery"), h.Get("X-Sandkeeper-Timestamp"),
		h.Get("X-Sandkeeper-Signature"), string(body)})
	answers := r.answers
	r.mu.Unlock()
	t := h.Get("Content-Type")
	if request.Method != http.MethodPost || t != "application/json" && t != "application/cloudevents+json" {
		r.Errorf("a notice came as %s %s", request.Method, t)
	}
	if answers != nil {
		answers(w, request)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// Answer has the receiver answer so from now on; nil: 204.
func (r *Receiver) Answer(h http.HandlerFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers = h
}

// Told is what it was told so far.
func (r *Receiver) Told() []Heard {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Heard(nil), r.heard...)
}

// Verify is what the docs tell a receiver to do.
func (h Heard) Verify(key string) bool {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(h.At + h.Body))
	return hmac.Equal([]byte(h.Signature), []byte("sha256="+hex.EncodeToString(mac.Sum(nil))))
}
