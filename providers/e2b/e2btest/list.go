package e2btest

import (
	"cmp"
	"encoding/base64"
	"errors"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// largest is the largest page, and the usual one.
const largest = 100

// A spot is what a token holds: the order, the page that it asks for, and what that comes
// after. Clients must not look inside.
type spot struct {
	order string
	page  int
	start int64 // of the sandbox that the page comes after
	id    string
}

var errToken = errors.New("invalid next token")

// place reads a token.
func place(token string) (spot, error) {
	if token == "" {
		return spot{page: 1}, nil
	}
	text, err := base64.URLEncoding.DecodeString(token)
	parts := strings.Split(string(text), "__")
	if err != nil || len(parts) != 4 {
		return spot{}, errToken
	}
	page, err1 := strconv.Atoi(parts[1])
	start, err2 := strconv.ParseInt(parts[2], 10, 64)
	if err1 != nil || err2 != nil {
		return spot{}, errToken
	}
	return spot{parts[0], page, start, parts[3]}, nil
}

func (s spot) token() string {
	return base64.URLEncoding.EncodeToString([]byte(strings.Join([]string{
		s.order, strconv.Itoa(s.page), strconv.FormatInt(s.start, 10), s.id}, "__")))
}

// metadata reads a filter as the vendor does: the whole is unescaped, cut, and each part is
// unescaped once more.
func metadata(filter string) (map[string]string, error) {
	if filter == "" {
		return nil, nil
	}
	whole, err := url.QueryUnescape(filter)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, pair := range strings.Split(whole, "&") {
		parts := strings.Split(pair, "=")
		if len(parts) != 2 {
			return nil, errors.New("invalid key value pair in query")
		}
		key, err1 := url.QueryUnescape(parts[0])
		value, err2 := url.QueryUnescape(parts[1])
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		out[key] = value
	}
	return out, nil
}

// An asked is a listing that was asked for.
type asked struct {
	labels   map[string]string
	states   []string // nil means all
	template string
	after    time.Time
	order    string
	limit    int
	at       spot
}

// asks reads what a listing asks for; words say what is wrong with it.
func asks(v url.Values) (a asked, words string) {
	var err error
	if a.labels, err = metadata(v.Get("metadata")); err != nil {
		return a, "Error parsing metadata"
	}
	if states := v.Get("state"); states != "" {
		a.states = strings.Split(states, ",")
	}
	a.template, a.order = v.Get("template"), cmp.Or(v.Get("order"), "desc")
	if a.at, err = place(v.Get("nextToken")); err != nil || a.at.order != "" && a.at.order != a.order {
		return a, "Invalid next token"
	}
	a.limit = number(v.Get("limit"), largest)
	if a.limit < 1 || a.limit > largest || a.order != "asc" && a.order != "desc" {
		return a, "parameter \"limit\" in query has an error: number must be at most 100"
	}
	if text := v.Get("startedAfter"); text != "" {
		if a.after, err = time.Parse(time.RFC3339, text); err != nil {
			return a, "Invalid startedAfter"
		}
	}
	return a, ""
}

// list serves both orders.
func (s *Server) list(q *request) {
	a, words := asks(q.URL.Query())
	if words != "" {
		q.fail(http.StatusBadRequest, words)
		return
	}
	page, next, running := s.page(q, a)
	q.w.Header().Set("X-Total-Running", strconv.Itoa(running))
	if next != "" {
		q.w.Header().Set("X-Next-Token", next)
	}
	items := make([]map[string]any, len(page))
	for i, b := range page {
		items[i] = s.item(b)
	}
	q.json(http.StatusOK, items)
}

// page is one page as the fault makes it, the token of the next one, and how many run.
func (s *Server) page(q *request, a asked) (page []simulated.Sandbox, next string, running int) {
	all, _ := q.world.Page(simulated.Query{Limit: math.MaxInt, Labels: a.labels}, q.fault)
	all = slices.DeleteFunc(all, func(b simulated.Sandbox) bool { return !s.wanted(b, a) })
	for _, b := range all {
		if b.State == reconcile.SandboxRunning {
			running++
		}
	}
	slices.SortFunc(all, func(x, y simulated.Sandbox) int { return a.compare(x.CreatedAt.UnixNano(), x.ID, y) })
	from := 0
	if a.at.id != "" {
		behind := func(b simulated.Sandbox) bool { return a.compare(a.at.start, a.at.id, b) < 0 }
		if from = slices.IndexFunc(all, behind); from < 0 {
			from = len(all)
		}
	}
	if q.fault.Effect == simulated.Repeat && from > 0 {
		from = max(0, from-a.limit/2) // the pages overlap
	}
	to := min(from+a.limit, len(all))
	switch {
	case q.fault.Effect == simulated.SameCursor:
		next = spot{order: a.order, page: 2, start: 1, id: "again"}.token()
	case to < len(all):
		last := all[to-1]
		next = spot{a.order, a.at.page + 1, last.CreatedAt.UnixNano(), last.ID}.token()
	}
	return all[from:to], next, running
}

func (s *Server) wanted(b simulated.Sandbox, a asked) bool {
	return (a.states == nil || slices.Contains(a.states, raw(b))) && !b.CreatedAt.Before(a.after) &&
		(a.template == "" || a.template == b.Template || a.template == s.item(b)["templateID"])
}

// compare orders by the time of the start, then by id, both in the order that is asked for.
func (a asked) compare(start int64, id string, y simulated.Sandbox) int {
	sign := 1
	if a.order == "desc" {
		sign = -1
	}
	return sign * cmp.Or(cmp.Compare(start, y.CreatedAt.UnixNano()), cmp.Compare(id, y.ID))
}

func number(text string, otherwise int) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return otherwise
	}
	return n
}
