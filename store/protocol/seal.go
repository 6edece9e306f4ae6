package protocol

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// restoreTTL is for how long a signed request to bring something back may be carried out.
const restoreTTL = 24 * time.Hour

// Seals tells what an operator asked for from what somebody else wrote into the ledger: a request
// carries a signature by a key that only the program has. Without a key nothing is signed, and
// nothing has to be.
type Seals struct {
	Installation string   // a request to another installation is none
	Keys         [][]byte // the first signs, all of them verify
}

// On reports whether requests have to be signed.
func (s Seals) On() bool { return len(s.Keys) > 0 }

// Sign is the signature of a request, "" without a key.
func (s Seals) Sign(request []string) string {
	if !s.On() {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(s.mac(s.Keys[0], request))
}

// Holds reports whether the signature is one of this request, by any of the keys. Without a key
// every one is.
func (s Seals) Holds(seal string, request []string) bool {
	if !s.On() {
		return true
	}
	have, err := base64.RawURLEncoding.DecodeString(seal)
	if err != nil {
		return false
	}
	for _, key := range s.Keys {
		if hmac.Equal(have, s.mac(key, request)) {
			return true
		}
	}
	return false
}

// Renew is the signature of a request by the first key, and whether it has only one by a later key:
// one that will be removed.
func (s Seals) Renew(seal string, request []string) (string, bool) {
	first := s
	first.Keys = s.Keys[:min(len(s.Keys), 1)]
	if !s.On() || !s.Holds(seal, request) || first.Holds(seal, request) {
		return seal, false
	}
	return s.Sign(request), true
}

// mac is HMAC-SHA256 over the fields, each with its length in front of it: no two requests are the
// same bytes.
func (s Seals) mac(key []byte, request []string) []byte {
	h := hmac.New(sha256.New, key)
	for _, field := range append([]string{"sandkeeper request 1", s.Installation}, request...) {
		field = text.Stored(field, "\uFFFD") // as the ledger keeps it
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(field)))
		h.Write(length[:])
		h.Write([]byte(field)) // never fails
	}
	return h.Sum(nil)
}

// SignAction is the action with the signature of who asks for it now.
func (s Seals) SignAction(a reconcile.Action) reconcile.Action {
	a.Seal = s.Sign(actionRequest(&a))
	return a
}

// Checked is the action with the reason why it is not to be done: nobody with the key asked for
// it. What only operators ask for needs a signature whatever rule the row names.
func (s Seals) Checked(a reconcile.Action, now time.Time) reconcile.Action {
	back := a.Step == reconcile.StepResume || a.Step == reconcile.StepRestore
	if !s.On() || !a.Asked() && !back {
		return a
	}
	if s.Holds(a.Seal, actionRequest(&a)) && a.Asked() {
		if back && now.After(expiry(&a)) {
			a.Unsigned = "its signature expired " + text.Time(expiry(&a)) + ": ask again"
		}
		return a
	}
	a.Unsigned = fmt.Sprintf("not signed with the operator key, so not done; it names %s as who asked, for: %s",
		saidAuthor(a.Author), text.Clip(a.Reason, 200))
	return a
}

func saidAuthor(author string) string {
	if author == "" {
		return "nobody"
	}
	return text.Clip(author, 60)
}

// expiry is when a request is not to be done any more.
func expiry(a *reconcile.Action) time.Time {
	if a.Step == reconcile.StepTerminate || a.Step == reconcile.StepRequeue {
		return a.PlannedAt.Add(reconcile.RequestTTL)
	}
	return a.PlannedAt.Add(restoreTTL)
}

// actionRequest is all of an action that says what is done, to what, for whom and until when.
func actionRequest(a *reconcile.Action) []string {
	before, err := json.Marshal(a.Before)
	if err != nil {
		panic("a row of texts that is no JSON: " + err.Error()) // unreachable: texts always are
	}
	return []string{
		"action", a.ID, a.Remedy, strconv.Itoa(a.Seq), string(a.Step), a.Rule, a.Subject, a.Provider, a.Sandbox, a.Task,
		strconv.FormatBool(a.Running), strconv.FormatBool(a.Anyway), strconv.FormatBool(a.RowOnly), string(before),
		a.Author, a.Reason, instant(a.PlannedAt), instant(expiry(a)),
	}
}

// instant is a time as precise as PostgreSQL keeps it.
func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return strconv.FormatInt(t.UnixMicro(), 10)
}
