package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"

	fastjson "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// ErrNotAPI is an answer of something that is not the API, for example the dashboard's
// page.
var ErrNotAPI = errors.New("not an answer of the API")

// A Refusal is an answer that is no success.
type Refusal struct {
	Status int
	Words  string // the provider's own, one line
	Kind   error  // what it means to a caller, a sentinel of reconcile; nil when nothing certain
}

func (r *Refusal) Error() string {
	text := fmt.Sprintf("%d %s", r.Status, http.StatusText(r.Status))
	if r.Words != "" {
		text += ": " + r.Words
	}
	return strings.TrimSpace(text)
}

func (r *Refusal) Unwrap() error { return r.Kind }

// Decode reads a successful answer into v, and makes an error of any other.
func (c *Client) Decode(a Answer, v any) error {
	if err := c.readable(a); err != nil {
		return err
	}
	return Unmarshal(a.Body, v)
}

// DecodePage is [Client.Decode] in about half the time, for listings: 10,000 sandboxes are
// most of a pass's own work. A page that is odd in any way is read again with the patience
// of [Unmarshal]. Field names are matched exactly: give every field its tag.
func DecodePage[P any](c *Client, a Answer, v *P) error {
	if err := c.readable(a); err != nil {
		return err
	}
	odd := fastjson.Unmarshal(a.Body, v, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if odd == nil {
		return nil
	}
	var blank P
	*v = blank
	return Unmarshal(a.Body, v)
}

// Readable is nil for a successful answer in JSON, and the error of any other.
func (c *Client) Readable(a Answer) error { return c.readable(a) }

func (c *Client) readable(a Answer) error {
	if !a.OK() {
		return c.Refuse(a)
	}
	if !IsJSON(a.Header) {
		text := fmt.Sprintf("content type %q", text.Clip(c.Redact(a.Header.Get("Content-Type")), 80))
		if c.dialect.Hint != "" {
			text += "; " + c.dialect.Hint
		}
		return fmt.Errorf("%w: %s", ErrNotAPI, text)
	}
	return nil
}

// Unmarshal forgives a field of another type than expected, which is then left empty: the
// callers check what they cannot do without.
func Unmarshal(body []byte, v any) error {
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

// Refuse tells what an answer that is no success means. A 404 or 410 counts as "not there"
// only when the dialect is certain of it.
func (c *Client) Refuse(a Answer) error {
	said := c.APIError(a)
	r := &Refusal{Status: a.Status, Words: said.Text}
	switch a.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		r.Kind = reconcile.ErrUnauthorized
	case http.StatusTooManyRequests:
		r.Kind = reconcile.ErrThrottled
	case http.StatusNotFound, http.StatusGone:
		if c.dialect.Certain(a, said) {
			r.Kind = reconcile.ErrNotFound
		}
	}
	return r
}

// IsJSON reports whether the content type is JSON.
func IsJSON(h http.Header) bool {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json"))
}
