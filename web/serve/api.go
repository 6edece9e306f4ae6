package serve

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web"
	"github.com/sandkeeper/sandkeeper/web/api"
)

// Records are what programs read of the ledger besides the overview that the page is made from.
type Records interface {
	Findings(ctx context.Context, c reconcile.Chosen) ([]reconcile.FindingSeen, reconcile.Cursor, error)
	Actions(ctx context.Context, c reconcile.Chosen) ([]reconcile.Action, reconcile.Cursor, error)
	Action(ctx context.Context, id string) (reconcile.Action, error)
	BrowseIncidents(ctx context.Context, c reconcile.Chosen) ([]reconcile.Incident, reconcile.Cursor, error)
	Incident(ctx context.Context, id string) (reconcile.Incident, error)
	Tasks(ctx context.Context, c reconcile.Chosen) ([]reconcile.TaskSeen, reconcile.Cursor, error)
	Sandboxes(ctx context.Context, c reconcile.Chosen) ([]reconcile.SandboxSeen, reconcile.Cursor, error)
	SandboxTotals(ctx context.Context) (map[string]int, error)
	PassesBelow(ctx context.Context, below int64, most int) ([]reconcile.PassSeen, error)
	OperatorEvents(ctx context.Context, after reconcile.Cursor, most int) (
		[]reconcile.TimelineEvent, reconcile.Cursor, error)
	Subject(ctx context.Context, id string) (reconcile.History, error)
	RecordEnd(ctx context.Context) (reconcile.RecordPlace, error)
	RecordAfter(ctx context.Context, p reconcile.RecordPlace, most int) ([]reconcile.RecordEvent, error)
}

const (
	usualPart = 100 // rows of a collection, unless somebody asks for another number
	mostPart  = 500
)

// A wrongRequest is the fault of who asks: status and what to do.
type wrongRequest struct {
	status int
	why    string
}

func (e *wrongRequest) Error() string { return e.why }

func wrong(format string, args ...any) error {
	return &wrongRequest{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// errLedger is what a reading that failed comes to.
var errLedger = errors.New("the ledger does not answer; the log says why")

// document answers with what a reading came to, as JSON.
func document[T any](read func(*site, context.Context, *http.Request) (T, error)) func(
	*site, http.ResponseWriter, *http.Request) {
	return func(s *site, w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeoutCause(r.Context(), patience, fmt.Errorf("no answer within %s", patience))
		defer cancel()
		err := checkQuery(r)
		if err == nil && s.Records == nil {
			err = errLedger
		}
		var out T
		if err == nil {
			out, err = read(s, ctx, r)
		}
		if err != nil {
			s.failed(w, r, err)
			return
		}
		s.json(w, r, out)
	}
}

// failed answers with why there is no answer. What a ledger says goes to the log alone.
func (s *site) failed(w http.ResponseWriter, r *http.Request, err error) {
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

// json answers with a document and its ETag, or says that it is the one that is known already.
func (s *site) json(w http.ResponseWriter, r *http.Request, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		s.Log.ErrorContext(r.Context(), "document not made", "err", err)
		problem(w, api.Problem{Status: http.StatusInternalServerError, Detail: "the document could not be made"})
		return
	}
	sendJSON(w, r, escaped(body))
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

// checkQuery refuses what the operation does not know: a filter that is misspelt would filter nothing.
func checkQuery(r *http.Request) error {
	known := operations[methodOf(r)+" "+r.Pattern].query
	for name, values := range r.URL.Query() {
		switch {
		case !slices.Contains(known, name):
			return wrong("the query %q is not known here; %s", text.Clip(name, 60), text.Unknown(name, known))
		case len(values) > 1:
			return wrong("the query %q is given more than once", name)
		}
		if allowed := parameters[name].enum; len(allowed) > 0 && values[0] != "" && !slices.Contains(allowed, values[0]) {
			return wrong("%s=%s is not known; %s", name, text.Clip(values[0], 60), text.Unknown(values[0], allowed))
		}
	}
	return nil
}

// methodOf is the method whose row answers.
func methodOf(r *http.Request) string {
	if r.Method == http.MethodHead {
		return http.MethodGet
	}
	return r.Method
}

// chosen is what the query asks for.
func chosen(r *http.Request) (reconcile.Chosen, error) {
	q := r.URL.Query()
	c := reconcile.Chosen{
		State: q.Get("state"), Rule: q.Get("rule"), Provider: q.Get("provider"), HeldBy: q.Get("held_by"),
		Step: reconcile.Step(q.Get("step")), Outcome: reconcile.Outcome(q.Get("outcome")), Author: q.Get("author"),
		Incident: q.Get("incident"), Text: q.Get("text"), Most: usualPart,
		Sort: q.Get("sort"),
	}
	if list := path.Base(r.URL.Path); !c.Sortable(list) {
		return c, wrong("sort=%s is not known here; %s", text.Clip(c.Sort, 60), sortWords(list, c.State))
	}
	if limit := q.Get("limit"); limit != "" {
		n, err := strconv.Atoi(limit)
		if err != nil || n < 1 || n > mostPart {
			return c, wrong("limit=%s: give a number from 1 to %d", text.Clip(limit, 20), mostPart)
		}
		c.Most = n
	}
	if number := q.Get("pass"); number != "" {
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n < 1 {
			return c, wrong("pass=%s: give the number of a pass", text.Clip(number, 20))
		}
		c.Pass = n
	}
	var err error
	c.After, err = parseCursor(q.Get("cursor"))
	return c, err
}

func sortWords(list, state string) string {
	columns := reconcile.Sorts(list, state)
	if len(columns) == 0 {
		return "such a list has one order alone"
	}
	return "it is one of " + strings.Join(columns, ", ") + ", with a minus before it for the other way"
}

// cursor is where the next part begins, as programs hand it back; "" after the last one.
func cursor(c reconcile.Cursor) string {
	if c == (reconcile.Cursor{}) {
		return ""
	}
	at := "" // zero
	if !c.At.IsZero() {
		at = strconv.FormatInt(c.At.UnixMicro(), 10)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(at + " " + url.QueryEscape(c.Word) + " " + c.Key))
}

func parseCursor(given string) (reconcile.Cursor, error) {
	var c reconcile.Cursor
	if given == "" {
		return c, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(given)
	fields := strings.SplitN(string(raw), " ", 3)
	if err != nil || len(fields) < 3 {
		return c, wrong("the cursor is none that was given out; ask without one")
	}
	at := fields[0]
	c.Key = fields[2]
	if c.Word, err = url.QueryUnescape(fields[1]); err != nil || !text.Storable(c.Key) || !text.Storable(c.Word) {
		return reconcile.Cursor{}, wrong("the cursor is none that was given out; ask without one")
	}
	if at != "" {
		micro, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			return c, wrong("the cursor is none that was given out; ask without one")
		}
		c.At = time.UnixMicro(micro)
	}
	return c, nil
}

// numbered refuses a cursor whose key is no number, where the ledger counts its rows.
func numbered(c reconcile.Cursor) error {
	if _, err := strconv.ParseInt(c.Key, 10, 64); c.Key != "" && err != nil {
		return wrong("the cursor is none that was given out for this; ask without one")
	}
	return nil
}

// overview is the reading that all share.
func (s *site) overview(ctx context.Context) (web.Reading, error) {
	now := s.reader.read(ctx)
	if now.Err != nil {
		return now, fmt.Errorf("read the overview: %w", now.Err)
	}
	return now, nil
}
