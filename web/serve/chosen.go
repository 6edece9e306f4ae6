package serve

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/asked"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// chosenBy is what the query of a request chooses of a list. An order that it has in another state alone is its usual
// one, so that another state may be chosen in the filter.
func chosenBy(r *http.Request, list string) reconcile.Chosen {
	q := r.URL.Query()
	get := func(name string) string { return strings.TrimSpace(bounded(q.Get(name))) }
	c := reconcile.Chosen{
		State: get("state"), Rule: get("rule"), Provider: get("provider"), HeldBy: get("held_by"),
		Step:    reconcile.Step(get("step")),
		Outcome: reconcile.Outcome(get("outcome")), Author: get("author"), Incident: get("incident"), Text: get("text"),
		Template: get("template"),
		Sort:     get("sort"), After: after(r), Most: mostOnPage,
	}
	if list == "findings" {
		c.After = numberedAfter(r)
	}
	if asked.Misspelt(&c, list) == "" && !c.Sortable(list) {
		c.Sort = ""
	}
	return c
}

// unknownQuery says which key of a list's query is none of its filters; "" when all are.
func unknownQuery(r *http.Request, list string) string {
	known := []string{"after", "part"} // of the page alone; it shows no cursor, and its parts are as long as it likes
	for _, name := range operations["GET /api/v1/"+list].query {
		if name != "cursor" && name != "limit" && name != "pass" {
			known = append(known, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.URL.Query())) {
		if !slices.Contains(known, name) {
			return fmt.Sprintf("There is no filter %q here; %s", text.Clip(bounded(name), 60), text.Unknown(name, known))
		}
	}
	return ""
}

// bounded is a text that somebody asks with, no longer than anything that the ledger has.
func bounded(said string) string {
	const most = 400
	runes := []rune(strings.ToValidUTF8(said, ""))
	return string(runes[:min(len(runes), most)])
}

// after is where the part of a list that is asked for begins. What is not understood is before all, so that an old link
// shows the newest.
func after(r *http.Request) reconcile.Cursor {
	c, err := parseCursor(r.URL.Query().Get("after"))
	if err != nil {
		return reconcile.Cursor{}
	}
	return c
}

// numberedAfter is the same where the ledger counts its rows.
func numberedAfter(r *http.Request) reconcile.Cursor {
	c := after(r)
	if numbered(c) != nil {
		return reconcile.Cursor{}
	}
	return c
}
