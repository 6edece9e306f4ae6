package e2b

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
)

// A push as it is sent, signed as the vendor's document says (base64 of SHA-256 over secret and body, without "="), by
// another program than this one. The vendor shows no example with its signature.
const (
	pushSecret = "secret-for-event-signature-verification"
	pushBody   = `{"version":"v2","id":"evt_1","type":"sandbox.lifecycle.killed","event_data":{"kill_reason":"timeout"},` +
		`"sandbox_id":"isb1","timestamp":"2026-11-27T10:00:00Z"}`
	pushSigned = "GtfVCDnLayGLiaj6CCAMHj0VHDhtq/MOtxaSuB+VPhM"

	// What somebody can sign who has seen it, without the secret: the hash goes on where it ended.
	pushLonger   = ",{\"id\":\"evt_2\"}"
	longerSigned = "SPd3qZbAZx+4fm+pudLIJEf7jIkerPTAYKRztum8xNs"
)

// TestReadPush: what is signed as the vendor says is read, and nothing that differs from it in anything.
func TestReadPush(t *testing.T) {
	for name, c := range map[string]struct {
		secret, body, signed, version string
		want                          error
	}{
		"as the vendor says":          {pushSecret, pushBody, pushSigned, "v1", nil},
		"in the letters of addresses": {pushSecret, pushBody, strings.NewReplacer("+", "-", "/", "_").Replace(pushSigned), "", nil},
		"padded":                      {pushSecret, pushBody, pushSigned + "=", "v1", nil},
		"another version":             {pushSecret, pushBody, pushSigned, "v2", wire.ErrForged},
		"another secret":              {pushSecret + "x", pushBody, pushSigned, "v1", wire.ErrForged},
		"another body":                {pushSecret, pushBody + " ", pushSigned, "v1", wire.ErrForged},
		"a part of the secret before": {pushSecret[:10], pushSecret[10:] + pushBody, pushSigned, "v1", wire.ErrUnreadable},
		"no signature":                {pushSecret, pushBody, "", "v1", wire.ErrForged},
		"half a signature":            {pushSecret, pushBody, pushSigned[:20], "v1", wire.ErrForged},
		"no secret":                   {"", pushBody, pushSigned, "v1", wire.ErrForged},
		"a body that was made longer": {pushSecret, pushBody + glue(len(pushSecret+pushBody)) + pushLonger, longerSigned, "v1", wire.ErrUnreadable},
	} {
		got, err := ReadPush(c.secret, headers(c.signed, c.version), []byte(c.body))
		if !errors.Is(err, c.want) || err == nil && (got != wire.Push{ID: "evt_1", Sandbox: "isb1", At: time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC)}) {
			t.Errorf("%s: ReadPush = %+v, %v, want %v", name, got, err, c.want)
		}
	}
}

// TestPushNamesWhatMayHaveEnded: by each of the two spellings that the vendor has, and not what comes up.
func TestPushNamesWhatMayHaveEnded(t *testing.T) {
	const of = `"id":"evt_1","timestamp":"2026-11-27T10:00:00Z"`
	for body, want := range map[string]string{
		`{` + of + `,"type":"sandbox.lifecycle.killed","sandboxId":"isb1"}`:       "isb1",
		`{` + of + `,"type":"sandbox.lifecycle.killed","sandbox_id":"isb1"}`:      "isb1",
		`{` + of + `,"type":"sandbox.lifecycle.paused","sandbox_id":"isb1"}`:      "isb1",
		`{` + of + `,"type":"sandbox.lifecycle.created","sandbox_id":"isb1"}`:     "",
		`{` + of + `,"type":"sandbox.lifecycle.resumed","sandbox_id":"isb1"}`:     "",
		`{` + of + `,"type":"template.lifecycle.deleted","sandbox_id":"isb1"}`:    "",
		`{"id":"evt_1","type":"sandbox.lifecycle.killed","sandbox_id":"isb1"}`:    "none", // when it was is not known
		`{"timestamp":"2026-11-27T10:00:00Z","type":"sandbox.lifecycle.killed"}`:  "none",
		`{` + of + `,"type":"sandbox.lifecycle.killed","sandbox_id":["a","b"]}`:   "none",
		`{` + of + `,"type":"sandbox.lifecycle.killed","sandbox_id":"isb1"} {} {`: "none",
	} {
		got, err := ReadPush(pushSecret, headers(signed(body), "v1"), []byte(body))
		if refused := errors.Is(err, wire.ErrUnreadable); refused != (want == "none") || !refused && got.Sandbox != want {
			t.Errorf("%s names %q, %v, want %q", body, got.Sandbox, err, want)
		}
	}
}

// glue is what SHA-256 puts behind a text of so many bytes.
func glue(size int) string {
	end := binary.BigEndian.AppendUint64(nil, uint64(size)*8)
	return "\x80" + strings.Repeat("\x00", (119-size%64)%64) + string(end)
}

func headers(signed, version string) http.Header {
	h := http.Header{"E2b-Signature": {signed}}
	if version != "" {
		h.Set("e2b-signature-version", version)
	}
	return h
}

func signed(body string) string {
	sum := sha256.Sum256([]byte(pushSecret + body))
	return base64.RawStdEncoding.EncodeToString(sum[:])
}
