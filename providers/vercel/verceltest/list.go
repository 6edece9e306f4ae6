package verceltest

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

const (
	pageSize    = 20
	largestPage = 50
)

// A spot is what a cursor holds. Clients must not look inside.
type spot struct {
	Key  int64  `json:"k"` // what the records are ordered by, when it is a time
	Name string `json:"n"`
	Page int    `json:"p"`
}

func place(cursor string) spot {
	at := spot{Page: 1}
	if text, err := base64.RawURLEncoding.DecodeString(cursor); err == nil && cursor != "" {
		_ = json.Unmarshal(text, &at) // nonsense is the first page
	}
	return at
}

func (at spot) cursor() string {
	text, _ := json.Marshal(at) // texts and numbers always encode
	return base64.RawURLEncoding.EncodeToString(text)
}

// limits reads the size of a page.
func limits(v url.Values) (int, bool) {
	if !v.Has("limit") {
		return pageSize, true
	}
	n, err := strconv.Atoi(v.Get("limit"))
	return n, err == nil && n >= 1 && n <= largestPage
}

// wrong says what the declared rules have against a query, "" when nothing. Whether tags
// and a status go together is not declared; here they do not.
func wrong(v url.Values) string {
	by, status := v.Get("sortBy"), v.Get("status")
	switch _, fits := limits(v); {
	case !fits:
		return "limit must be between 1 and 50"
	case !v.Has("project"):
		return "Missing required query parameter `project`"
	case by != "" && !slices.Contains([]string{"createdAt", "name", "statusUpdatedAt", "currentSnapshotId"}, by):
		return "Invalid sortBy"
	case v.Has("namePrefix") && by != "name":
		return "namePrefix requires sortBy=name"
	case status != "" && by != "" && by != "createdAt":
		return "status requires sortBy=createdAt"
	case status != "" && !slices.Contains([]string{"running", "stopping", "stopped"}, status):
		return "Invalid status"
	case len(v["tags"]) > 1, v.Has("tags") && status != "":
		return "Only one tag filter is supported"
	}
	return ""
}

func shown(r *record, v url.Values) bool {
	key, value, tagged := strings.Cut(v.Get("tags"), ":")
	got, has := r.current().Labels[key]
	return strings.HasPrefix(r.name, v.Get("namePrefix")) &&
		(v.Get("status") == "" || v.Get("status") == r.current().status) &&
		(!tagged || has && got == value)
}

func (s *Server) list(c *call) {
	v := c.R.URL.Query()
	if words := wrong(v); words != "" {
		s.bad(c, words)
		return
	}
	all := slices.DeleteFunc(s.records(c.Fault), func(r *record) bool { return !shown(r, v) })
	order := before(v.Get("sortBy"))
	if v.Get("sortOrder") != "asc" {
		ascending := order
		order = func(a, b *record) int { return ascending(b, a) }
	}
	slices.SortFunc(all, order)
	limit, _ := limits(v)
	page, next := cut(all, limit, place(v.Get("cursor")), c.Fault)
	items := make([]parts, len(page))
	for i, r := range page {
		items[i] = s.sandboxDTO(r)
	}
	c.JSON(http.StatusOK, fields{"sandboxes": items, "pagination": fields{"count": len(items), "next": next}})
}

// cut is one page of all, after the record that the cursor names, or where that would stand
// by the count of pages when it left.
func cut(all []*record, limit int, at spot, f simulated.Fault) (page []*record, next any) {
	from := 0
	if at.Name != "" {
		from = slices.IndexFunc(all, func(r *record) bool { return r.name == at.Name }) + 1
		if from == 0 {
			from = min(int(at.Key), len(all))
		}
	}
	if f.Effect == simulated.Repeat && from > 0 {
		from = max(0, from-limit/2) // the pages overlap
	}
	to := min(from+limit, len(all))
	page = all[from:to]
	switch {
	case f.Effect == simulated.SameCursor:
		return page, spot{Name: "again", Page: 2}.cursor()
	case to < len(all):
		return page, spot{Key: int64(to), Name: page[len(page)-1].name, Page: at.Page + 1}.cursor()
	}
	return page, nil
}
