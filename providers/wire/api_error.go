package wire

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// APIError is an error in the provider's words.
type APIError struct {
	Status int    // that the body itself names; 0 when none
	Code   string // of the vendor: "sandbox_stopped"
	Text   string // one line, without secrets
	Field  string // where in the body the text stood: "message", "error.message", …
}

// words are the text with the vendor's code before it, where that is a word.
func (s APIError) words() string {
	if _, err := strconv.Atoi(s.Code); err == nil || strings.Contains(s.Text, s.Code) {
		return s.Text
	}
	return strings.TrimSpace(s.Code + " " + s.Text)
}

// APIError is what an answer says against a call, one line and without secrets.
func (c *Client) APIError(a Answer) APIError {
	s := c.dialect.APIError(a)
	s.Text = text.Clip(c.Redact(s.Text), 300) // cut first, a part of a secret could stay
	s.Code = text.Clip(c.Redact(s.Code), 80)
	return s
}

// errorBody holds the usual places of an error. Everything may be missing or of another
// type.
type errorBody struct {
	Status  int             `json:"statusCode"`
	Message json.RawMessage `json:"message"`
	Code    json.RawMessage `json:"code"`
	Error   json.RawMessage `json:"error"`
	Errors  []errorItem     `json:"errors"`
	Detail  string          `json:"detail"`
}

type errorItem struct {
	Code    json.RawMessage `json:"code"`
	Message string          `json:"message"`
}

// SaidIn reads the usual forms of errors in JSON:
//
//	{"message": "…" or ["…", "…"], "statusCode": 404, "code": "…"}
//	{"error": {"code": "…", "message": "…"}}  or  {"error": "…"}
//	{"errors": [{"code": 1, "message": "…"}]}
//	{"detail": "…"}
func SaidIn(a Answer) APIError {
	var in errorBody
	if !IsJSON(a.Header) || Unmarshal(a.Body, &in) != nil {
		return APIError{}
	}
	s := APIError{Status: in.Status, Code: code(in.Code)}
	if number, err := strconv.Atoi(s.Code); err == nil && s.Status == 0 && number >= 400 && number < 600 {
		s.Status = number
	}
	var inner errorItem
	_ = json.Unmarshal(in.Error, &inner) // a text instead is looked at below
	for _, place := range []struct{ field, text, code string }{
		{"message", words(in.Message), ""},
		{"error.message", inner.Message, code(inner.Code)},
		{"error", words(in.Error), ""},
		{"errors", in.firstText(), in.firstCode()},
		{"detail", in.Detail, ""},
	} {
		if place.text != "" {
			s.Text, s.Field, s.Code = place.text, place.field, first(s.Code, place.code)
			return s
		}
	}
	return s
}

func (b errorBody) firstText() string {
	if len(b.Errors) == 0 {
		return ""
	}
	return b.Errors[0].Message
}

func (b errorBody) firstCode() string {
	if len(b.Errors) == 0 {
		return ""
	}
	return code(b.Errors[0].Code)
}

// words is a text, or a list of texts as one; "" for anything else.
func words(raw json.RawMessage) string {
	var text string
	var many []string
	switch {
	case json.Unmarshal(raw, &text) == nil:
		return text
	case json.Unmarshal(raw, &many) == nil:
		return strings.Join(many, ", ")
	}
	return ""
}

// code is a text or a number; "" for anything else.
func code(raw json.RawMessage) string {
	var number json.Number
	if json.Unmarshal(raw, &number) == nil {
		return number.String()
	}
	return words(raw)
}
