package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/asked"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web"
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

// documents are what programs read.
type documents struct {
	answers
	Records Records
	Policy  func() reconcile.Policy
	process func() web.Process
	reader  *reader
}

// document answers with what a reading came to, as JSON.
func document[T any](s *documents, read func(context.Context, *http.Request) (T, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeoutCause(r.Context(), patience, fmt.Errorf("no answer within %s", patience))
		defer cancel()
		err := checkQuery(r)
		if err == nil && s.Records == nil {
			err = errLedger
		}
		var out T
		if err == nil {
			out, err = read(ctx, r)
		}
		if err != nil {
			s.failed(w, r, err)
			return
		}
		s.json(w, r, out)
	}
}

// checkQuery refuses what the operation does not know: a filter that is misspelt would filter nothing.
func checkQuery(r *http.Request) error {
	known := operations[methodOf(r)+" "+r.Pattern].query
	for name, values := range r.URL.Query() {
		switch {
		case !slices.Contains(known, name) && len(known) == 0:
			return wrong("the query %q is not known here; this path takes none", text.Clip(name, 60))
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
		Incident: q.Get("incident"), Text: q.Get("text"), Template: q.Get("template"), Most: usualPart,
		Sort: q.Get("sort"),
	}
	list := path.Base(r.URL.Path)
	if list == "list" {
		list = "sandboxes" // of the runbook
	}
	if err := wrongFilter(asked.Misspelt(&c, list)); err != nil {
		return c, err
	}
	if !c.Sortable(list) {
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

// wrongFilter is the error of a filter that is wrong for this reason; nil for "".
func wrongFilter(why string) error {
	if why == "" {
		return nil
	}
	return wrong("%s", why)
}

func sortWords(list, state string) string {
	columns := reconcile.Sorts(list, state)
	if len(columns) == 0 {
		return "such a list has one order alone"
	}
	return "it is one of " + strings.Join(columns, ", ") + ", with a minus before it for the other way"
}

// overview is the reading that all share.
func (s *documents) overview(ctx context.Context) (web.Reading, error) {
	now := s.reader.read(ctx)
	if now.Err != nil {
		return now, fmt.Errorf("read the overview: %w", now.Err)
	}
	return now, nil
}
