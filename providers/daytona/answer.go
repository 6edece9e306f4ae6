package daytona

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// errNoJSON is an answer of something that is not the API, for example the dashboard's
// page.
var errNoJSON = errors.New("not an answer of the API")

// A refusal is an answer that is no success.
type refusal struct {
	status int
	words  string // the provider's own, one line
	kind   error  // what it means to a caller; nil when nothing certain
}

func (r *refusal) Error() string {
	text := fmt.Sprintf("%d %s", r.status, http.StatusText(r.status))
	if r.words != "" {
		text += ": " + r.words
	}
	return strings.TrimSpace(text)
}

func (r *refusal) Unwrap() error { return r.kind }

// decode reads a successful answer into v, and makes an error of any other.
func (c *client) decode(a answer, v any) error {
	if a.status/100 != 2 {
		return c.refuse(a)
	}
	if !isJSON(a.header) {
		return fmt.Errorf("%w: content type %q; is the url right, with /api at its end?", errNoJSON,
			a.header.Get("Content-Type"))
	}
	return unmarshal(a.body, v)
}

// unmarshal forgives a field of another type than expected, which is then left empty: the
// callers check what they cannot do without.
func unmarshal(body []byte, v any) error {
	if p, listing := v.(*page); listing && p.read(body) {
		return nil
	}
	err := json.Unmarshal(body, v)
	var odd *json.UnmarshalTypeError
	if errors.As(err, &odd) && odd.Field != "" {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the answer's JSON: %w", err)
	}
	return nil
}

// refuse tells what an answer that is no success means. A 404 counts only when the API
// itself says that the thing is not there. A 410 says nothing else, and no router says it for a
// url that is wrong; only a page of somebody else is not believed.
func (c *client) refuse(a answer) error {
	said := c.said(a)
	r := &refusal{status: a.status, words: said.line()}
	switch a.status {
	case http.StatusUnauthorized, http.StatusForbidden:
		r.kind = reconcile.ErrUnauthorized
	case http.StatusTooManyRequests:
		r.kind = reconcile.ErrThrottled
	case http.StatusNotFound:
		if said.certain() {
			r.kind = reconcile.ErrNotFound
		}
	case http.StatusGone:
		if isJSON(a.header) || len(a.body) == 0 {
			r.kind = reconcile.ErrNotFound
		}
	}
	return r
}

// said is an error in the provider's form.
type said struct {
	Status  int             `json:"statusCode"`
	Message json.RawMessage `json:"message"`
	Code    string          `json:"code"`
	text    string
}

func (c *client) said(a answer) said {
	var s said
	if !isJSON(a.header) || unmarshal(a.body, &s) != nil {
		return said{}
	}
	var many []string
	switch {
	case json.Unmarshal(s.Message, &s.text) == nil:
	case json.Unmarshal(s.Message, &many) == nil:
		s.text = strings.Join(many, ", ")
	}
	s.text = c.redact(clip(s.text, 300))
	return s
}

func (s said) line() string { return s.text }

// certain reports whether the API says that the thing itself is not there. "Cannot GET
// /x" comes from its router: the url is wrong, and nothing is known of the thing.
func (s said) certain() bool {
	return s.text != "" && (s.Status == 0 || s.Status == http.StatusNotFound) && !strings.HasPrefix(s.text, "Cannot ")
}

func isJSON(h http.Header) bool {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json"))
}

// clean takes the token out of an error's text. No layer below puts it there today.
func (c *client) clean(err error) error {
	if text := c.redact(err.Error()); text != err.Error() {
		return errors.New(text)
	}
	return err
}

// redact leaves very short tokens, which no real server gives out, because they stand in
// common words.
func (c *client) redact(text string) string {
	if len(c.token) < 6 {
		return text
	}
	return strings.ReplaceAll(text, c.token, "[token]")
}

// clip keeps a foreign text to one line of at most n bytes.
func clip(text string, n int) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}
