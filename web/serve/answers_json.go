package serve

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web/api"
)

// failed answers with why there is no answer. What a ledger says goes to the log alone.
func (s *answers) failed(w http.ResponseWriter, r *http.Request, err error) {
	var asked *wrongRequest
	switch {
	case errors.As(err, &asked):
		problem(w, api.Problem{Status: asked.status, Detail: asked.why})
	case errors.Is(err, reconcile.ErrNotFound):
		problem(w, api.Problem{Status: http.StatusNotFound, Detail: "there is no such thing on record"})
	default:
		s.Log.WarnContext(r.Context(), "API without the ledger", "path", r.URL.Path, "err", err)
		problem(w, api.Problem{Status: http.StatusServiceUnavailable, Detail: errLedger.Error()})
	}
}

// json answers with a document and its ETag, or says that it is the one that is known already.
func (s *answers) json(w http.ResponseWriter, r *http.Request, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		s.Log.ErrorContext(r.Context(), "document not made", "err", err)
		problem(w, api.Problem{Status: http.StatusInternalServerError, Detail: "the document could not be made"})
		return
	}
	sendJSON(w, r, escaped(body))
}

// problem answers in the form of RFC 9457.
func problem(w http.ResponseWriter, p api.Problem) {
	p.Title = http.StatusText(p.Status)
	body, err := json.Marshal(p)
	if err != nil { // unreachable: texts and numbers
		body = []byte("{}")
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_, _ = w.Write(escaped(body)) // whoever asked has left
}

func sendJSON(w http.ResponseWriter, r *http.Request, body []byte) {
	if knows(w, r, body) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // whoever asked has left
}

// knows tags an answer, and reports whether who asks has it already. One that was sent packed has a weak tag.
func knows(w http.ResponseWriter, r *http.Request, body []byte) bool {
	sum := sha256.Sum256(body)
	tag := `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
	w.Header().Set("ETag", tag)
	known := strings.NewReplacer(",", " ", "W/", "").Replace(r.Header.Get("If-None-Match"))
	return slices.Contains(strings.Fields(known), tag)
}

// escaped writes what is not seen as JSON's escapes: a document may end on a terminal, or before a model. Such letters
// stand within texts alone.
func escaped(body []byte) []byte {
	out := make([]byte, 0, len(body))
	for i := 0; i < len(body); {
		r, n := utf8.DecodeRune(body[i:])
		switch high, low := utf16.EncodeRune(r); {
		case text.Lined(r) == r:
			out = append(out, body[i:i+n]...)
		case r > 0xffff:
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		i += n
	}
	return out
}
