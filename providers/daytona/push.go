package daytona

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// secretPrefix is how Svix, which sends Daytona's webhooks, shows the secret of an endpoint; the rest is base64.
const secretPrefix = "whsec_"

// Check is all that is wrong with the keys of an entry.
func Check(e entry.Entry) []entry.Mistake {
	out := Keys.Check(e)
	if given := e.Extra["push_secret"]; given != "" && pushKey(given) == nil {
		out = append(out, entry.Mistake{Key: "push_secret", Problem: "is not the secret of an endpoint of Daytona's webhooks",
			Fix: "copy it from the endpoint's page: " + secretPrefix + " and at least 24 letters of base64"})
	}
	return out
}

// pushKey is what a secret signs with, nil when it is none.
func pushKey(secret string) []byte {
	text, shown := strings.CutPrefix(secret, secretPrefix)
	key, err := base64.StdEncoding.DecodeString(text)
	if !shown || err != nil || len(key) < 16 {
		return nil
	}
	return key
}

// ReadPush reads a webhook as Svix sends it: svix-signature holds, behind "v1,", HMAC-SHA256 over id, time and body,
// one for each secret that is in force.
func ReadPush(secret string, header http.Header, body []byte) (wire.Push, error) {
	id, at := header.Get("svix-id"), header.Get("svix-timestamp")
	mac := hmac.New(sha256.New, pushKey(secret))
	mac.Write([]byte(id + "." + at + "."))
	mac.Write(body)
	want, fits := mac.Sum(nil), false
	for one := range strings.FieldsSeq(header.Get("svix-signature")) {
		text, known := strings.CutPrefix(one, "v1,")
		sent, err := base64.StdEncoding.DecodeString(text)
		fits = fits || known && err == nil && hmac.Equal(sent, want)
	}
	seconds, err := strconv.ParseInt(at, 10, 64)
	if !fits || err != nil || pushKey(secret) == nil {
		return wire.Push{}, wire.ErrForged
	}
	var event struct {
		ID       string `json:"id"`
		NewState string `json:"newState"`
	}
	if json.Unmarshal(body, &event) != nil {
		return wire.Push{}, wire.ErrUnreadable
	}
	out := wire.Push{ID: id, At: time.Unix(seconds, 0).UTC()}
	switch states[event.NewState] {
	case reconcile.SandboxRunning, reconcile.SandboxCreating:
	default:
		if event.NewState != "" {
			out.Sandbox = event.ID
		}
	}
	return out.Known()
}
