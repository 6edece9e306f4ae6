package generic_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Check tests the description against the platform, and says what to mend.
func TestCheck(t *testing.T) {
	absent := reply{status: 404, body: `{"fault":{"kind":"no_such_box"}}`}
	route := reply{status: 404, body: `{"fault":{"kind":"no_such_route"}}`}
	found := reply{status: 200, body: `{"box":` + one + `}`}
	lists := func(item string) reply { return reply{status: 200, body: `{"boxes":[` + item + `],"after":null}`} }
	for name, test := range map[string]struct {
		list, get, nobody, elsewhere reply
		change                       func(*entry.API)
		what, said, fix              string // of the line; "" for fix: it is well
		failed                       bool
	}{
		"well":         {what: "get", said: "a listed sandbox is found by its id"},
		"well, absent": {what: "absent", said: "an unknown id is absent"},
		"well, away":   {what: "wrong address", said: "is told from a sandbox that is gone"},
		"all of it":    {what: "api", said: "list, get, find, delete, stop, exec, files, logs"},
		"read only": {change: func(a *entry.API) {
			*a = entry.API{Absent: a.Absent, List: a.List, Get: a.Get, Sandbox: a.Sandbox, States: a.States}
		}, what: "api", said: "list, get; not described: find (the whole list is searched), " +
			"delete (it is read only), stop and resume (nothing is quarantined), exec"},
		"a list that is not where it should be": {list: reply{status: 200, body: `{"bxes":[]}`}, what: "listing",
			said: "holds no list", fix: "correct api.list and api.sandbox", failed: true},
		"a time without a zone": {list: lists(`{"box_id":"b-1","phase":"placed","times":{"born":"2026-11-01T12:00:00"}}`),
			what: "created_at", said: "cannot be read of 1 of 1", fix: "a time needs a zone", failed: true},
		"a time with a zone": {list: lists(`{"box_id":"b-1","phase":"placed","times":{"born":"2026-11-01T12:00:00Z"}}`),
			what: "created_at", said: "nothing that is described cannot be read"},
		"an empty yard": {list: lists(""), what: "get", said: "not tested: no sandbox is there"},
		"a refused key": {list: reply{status: 401, body: `{}`}, what: "listing", said: "401", fix: "set token:", failed: true},
		"a wrong url":   {list: reply{status: 404, body: `<html>`, kind: "text/html"}, what: "listing", said: "404", fix: "correct url:", failed: true},
		"a page of somebody": {list: reply{status: 200, body: `<html>`, kind: "text/html"}, what: "listing",
			said: "not an answer of the API", fix: "correct url: and the paths in api:", failed: true},
		"a word nobody knows": {list: lists(`{"box_id":"b-1","phase":"melting"}`), what: "states",
			said: `unknown words: ["melting"]`, fix: "map them in api.states"},
		"zones that are missing": {list: reply{status: 200, body: `{"boxes":[` + one + `],"after":null,"unread_zones":["eu"]}`},
			what: "listing lacks", said: "[eu]", fix: "nothing is known of these", failed: true},
		"get does not find it": {get: absent, what: "get", said: "404", fix: "correct api.get and api.absent", failed: true},
		"get fails":            {get: reply{status: 500, body: `{}`}, what: "get", said: "500", fix: "correct api.get: its path", failed: true},
		"get shows another": {get: reply{status: 200, body: `{"box":{"box_id":"b-2"}}`}, what: "get", said: "another sandbox",
			fix: "correct api.get: its path", failed: true},
		"an absence that is not known": {nobody: reply{status: 410, body: `{"fault":{"text":"it was here"}}`}, what: "absent",
			said: "410 Gone: it was here", fix: "let api.absent accept"},
		"everything is there": {nobody: reply{status: 200, body: `{"box":{"box_id":"b-8"}}`}, what: "absent",
			said: "is found", fix: "see that sandbox.id"},
		"a wrong address counts as gone": {elsewhere: absent, what: "wrong address", said: "counts as a sandbox that is gone",
			fix: "let api.absent look at words", failed: true},
	} {
		or := func(given, otherwise reply) reply {
			if given.status != 0 {
				return given
			}
			return otherwise
		}
		s := &script{answer: func(r *http.Request) reply {
			switch r.URL.Path {
			case "/v1/boxes":
				return or(test.list, lists(one))
			case "/v1/boxes/b-1":
				return or(test.get, found)
			case "/v1/boxes/b-8":
				return or(test.nobody, absent)
			}
			return or(test.elsewhere, route)
		}}
		p := ask(t, s)
		if test.change != nil {
			p = ask(t, s, test.change)
		}
		var line reconcile.CheckResult
		for _, l := range p.Check(t.Context()) {
			if l.What == test.what {
				line = l
			}
		}
		if !strings.Contains(line.Said, test.said) || !strings.Contains(line.Fix, test.fix) || line.OK == test.failed ||
			test.fix == "" && line.Fix != "" {
			t.Errorf("%s: Check = %+v, want %q, fix %q", name, line, test.said, test.fix)
		}
		for _, r := range s.asked {
			if r.Method != http.MethodGet {
				t.Errorf("%s: Check made %s %s", name, r.Method, r.URL)
			}
		}
	}
}
