package e2b

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
)

// ReadPush reads a webhook: e2b-signature is the unpadded base64 of SHA-256 over secret and body. That is no HMAC: who
// has seen one can sign the same body with more behind it. Such a body is no JSON, since what has to stand between the
// two is none, so that nothing but a whole body of JSON is read. No time is signed but the event's own.
func ReadPush(secret string, header http.Header, body []byte) (wire.Push, error) {
	h := sha256.New()
	h.Write([]byte(secret))
	h.Write(body)
	// The vendor's text says base64 and a library of it base64url: the bytes are compared.
	text := strings.NewReplacer("-", "+", "_", "/", "=", "").Replace(header.Get("e2b-signature"))
	sent, err := base64.RawStdEncoding.DecodeString(text)
	fits := err == nil && subtle.ConstantTimeCompare(sent, h.Sum(nil)) == 1
	if version := header.Get("e2b-signature-version"); !fits || secret == "" || version != "" && version != "v1" {
		return wire.Push{}, wire.ErrForged
	}
	var event struct {
		ID        string    `json:"id"`
		Type      string    `json:"type"`
		Timestamp time.Time `json:"timestamp"`
		Sandbox   string    `json:"sandboxId"`
		AsSent    string    `json:"sandbox_id"` // what is sent is in snake case, what its pages show is not
	}
	if json.Unmarshal(body, &event) != nil {
		return wire.Push{}, wire.ErrUnreadable
	}
	out := wire.Push{ID: event.ID, At: event.Timestamp.UTC()}
	switch strings.TrimPrefix(event.Type, "sandbox.lifecycle.") {
	case "killed", "paused":
		out.Sandbox = cmp.Or(event.Sandbox, event.AsSent)
	}
	return out.Known()
}
