package daytona

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/wire"
)

// The example of Svix's own documents: secret, id, time, body and signature.
const (
	svixSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	svixID     = "msg_p5jXN8AQM9LWM0D4loKWxJek"
	svixTime   = "1614265330"
	svixBody   = `{"test": 2432232314}`
	svixSigned = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
)

// TestReadPush: what is signed as the vendor's own example is read, and nothing that differs from it in anything.
func TestReadPush(t *testing.T) {
	other := "v1,AAAAAAAA+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	for name, c := range map[string]struct {
		secret, id, at, body, signed string
		want                         error
	}{
		"the vendor's example":       {svixSecret, svixID, svixTime, svixBody, svixSigned, nil},
		"beside an older secret's":   {svixSecret, svixID, svixTime, svixBody, other + " " + svixSigned, nil},
		"another secret's":           {"whsec_AAAA9r8GKYqrTwjUPD8ILPZIo2LaLaSw", svixID, svixTime, svixBody, svixSigned, wire.ErrForged},
		"another id":                 {svixSecret, svixID + "x", svixTime, svixBody, svixSigned, wire.ErrForged},
		"another time":               {svixSecret, svixID, "1614265331", svixBody, svixSigned, wire.ErrForged},
		"another body":               {svixSecret, svixID, svixTime, svixBody + " ", svixSigned, wire.ErrForged},
		"what moves a point":         {svixSecret, svixID + "." + svixTime, "", svixBody, svixSigned, wire.ErrForged},
		"no signature":               {svixSecret, svixID, svixTime, svixBody, "", wire.ErrForged},
		"an empty signature":         {svixSecret, svixID, svixTime, svixBody, "v1,", wire.ErrForged},
		"half a signature":           {svixSecret, svixID, svixTime, svixBody, svixSigned[:20], wire.ErrForged},
		"another version":            {svixSecret, svixID, svixTime, svixBody, "v2" + svixSigned[2:], wire.ErrForged},
		"a signature without one":    {svixSecret, svixID, svixTime, svixBody, svixSigned[3:], wire.ErrForged},
		"an entry without a secret":  {"", svixID, svixTime, svixBody, sign("", svixID, svixTime, svixBody), wire.ErrForged},
		"a time that is none":        {svixSecret, svixID, "soon", svixBody, sign(svixSecret, svixID, "soon", svixBody), wire.ErrForged},
		"signed, and no JSON":        {svixSecret, svixID, svixTime, "x", sign(svixSecret, svixID, svixTime, "x"), wire.ErrUnreadable},
		"signed, and without an id":  {svixSecret, "", svixTime, "{}", sign(svixSecret, "", svixTime, "{}"), wire.ErrUnreadable},
		"signed, and an endless one": {svixSecret, strings.Repeat("x", 201), svixTime, "{}", sign(svixSecret, strings.Repeat("x", 201), svixTime, "{}"), wire.ErrUnreadable},
	} {
		got, err := ReadPush(c.secret, headers(c.id, c.at, c.signed), []byte(c.body))
		if !errors.Is(err, c.want) || err == nil && (got.ID != svixID || !got.At.Equal(time.Unix(1614265330, 0))) {
			t.Errorf("%s: ReadPush = %+v, %v, want %v", name, got, err, c.want)
		}
	}
}

// TestPushNamesWhatMayHaveEnded: a sandbox that comes up is no reason to look.
func TestPushNamesWhatMayHaveEnded(t *testing.T) {
	for body, want := range map[string]string{
		`{"event":"sandbox.state.updated","id":"sb-1","oldState":"started","newState":"destroyed"}`: "sb-1",
		`{"event":"sandbox.state.updated","id":"sb-1","oldState":"started","newState":"stopped"}`:   "sb-1",
		`{"event":"sandbox.state.updated","id":"sb-1","oldState":"started","newState":"error"}`:     "sb-1",
		`{"event":"sandbox.state.updated","id":"sb-1","oldState":"started","newState":"melted"}`:    "sb-1", // a word that is new
		`{"event":"sandbox.state.updated","id":"sb-1","oldState":"starting","newState":"started"}`:  "",
		`{"event":"sandbox.created","id":"sb-1","state":"started"}`:                                 "",
		`{"event":"snapshot.created","id":"sn-1"}`:                                                  "",
	} {
		got, err := ReadPush(svixSecret, headers("m1", "1", sign(svixSecret, "m1", "1", body)), []byte(body))
		if err != nil || got.Sandbox != want {
			t.Errorf("%s names %q, %v, want %q", body, got.Sandbox, err, want)
		}
	}
}

// TestPushSecret: what is no secret of Svix is refused with the config, and not shown.
func TestPushSecret(t *testing.T) {
	for secret, well := range map[string]bool{svixSecret: true, "": true, svixSecret[6:]: false, "whsec_!": false, "whsec_": false,
		"whsec_c2hvcnQ=": false} {
		e := entry.Entry{Kind: "daytona", Token: "x", Extra: map[string]string{"push_secret": secret}}
		if got := Check(e); (len(got) == 0) != well || !well && (got[0].Key != "push_secret" || got[0].Shown) {
			t.Errorf("Check with the secret %q = %+v", secret, got)
		}
	}
}

func headers(id, at, signed string) http.Header {
	return http.Header{"Svix-Id": {id}, "Svix-Timestamp": {at}, "Svix-Signature": {signed}}
}

func sign(secret, id, at, body string) string {
	h := hmac.New(sha256.New, pushKey(secret))
	h.Write([]byte(id + "." + at + "." + body))
	return "v1," + base64.StdEncoding.EncodeToString(h.Sum(nil))
}
