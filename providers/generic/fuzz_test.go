package generic_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/generic"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// FuzzAnswers: whatever a platform answers, nothing panics, nothing is gone without the
// words for it, no sandbox has an id that leads elsewhere, and the credential goes nowhere
// else and is never shown.
func FuzzAnswers(f *testing.F) {
	for _, body := range []string{
		`{"boxes":` + boxes("a", "b/c") + `,"after":null}`, `{"boxes":[],"after":"x"}`, `{"box":` + one + `}`,
		`{"fault":{"kind":"no_such_box","text":"no"}}`, `{"boxes":[{"box_id":1e99,"tags":["a=b"],"times":{"born":-1}}]}`,
		`{"result":{"code":-1,"out":"x"},"names":[1]}`, `null`, `[]`, `"\ud800"`, `{"boxes":{"box_id":[]}}`, ``, `<html>`,
	} {
		for _, status := range []int{200, 404, 500} {
			f.Add(status, "application/json", body, `<?after=x>; rel="next"`, uint8(status%7))
		}
	}
	ways := []func(*entry.API){func(*entry.API) {}, size(2, "link", "", ""), size(2, "page", "page={page}", ""),
		size(2, "offset", "skip={offset}", ""), size(2, "offset", "skip={offset}", "offset + count < body.total")}
	f.Fuzz(func(t *testing.T, status int, kind, body, link string, way uint8) {
		if status < 200 || status > 599 {
			return
		}
		synctest.Test(t, func(t *testing.T) { // for no waiting before repeats
			s := &script{answer: says(reply{status: status, kind: kind, body: body, link: link})}
			p := ask(t, s, ways[int(way)%len(ways)], func(a *entry.API) { a.Exec.Path, a.Sandbox.Endpoint = "{endpoint}/{id}", "title" })
			everything(t, p, strings.Contains(body, "no_such_box"))
			for _, r := range s.asked {
				own := r.URL.Host == "yard.test" || strings.HasPrefix(r.URL.Path, "/") && r.URL.Scheme == "https"
				if !own || strings.Contains(r.URL.Path, "/../") || strings.HasSuffix(r.URL.EscapedPath(), "/..") {
					t.Errorf("the credential went to %s", r.URL)
				}
			}
		})
	})
}

// everything makes each call once.
func everything(t *testing.T, p *generic.Provider, mayBeGone bool) {
	t.Helper()
	ctx := t.Context()
	listing, err := p.List(ctx, func(page []reconcile.Sandbox) error {
		for _, s := range page {
			if s.ID == "" || s.ID == "." || s.ID == ".." || strings.ContainsAny(s.ID, "\n\x00") || !utf8.ValidString(s.Error) {
				t.Errorf("listed %+v", s)
			}
		}
		return nil
	})
	if listing.Complete && err != nil {
		t.Errorf("List = %+v and %v", listing, err)
	}
	shown := []error{err}
	_, err = p.Get(ctx, "b-1")
	if shown = append(shown, err); errors.Is(err, reconcile.ErrNotFound) && !mayBeGone && !strings.Contains(err.Error(), "that name") {
		t.Errorf("Get = %v, want it not gone", err)
	}
	how, err := p.Terminate(ctx, mine)
	if shown = append(shown, err); how == reconcile.TerminateGone && !mayBeGone {
		t.Errorf("Terminate = %s, want it not gone", how)
	}
	_, err = p.Suspend(ctx, mine)
	shown = append(shown, err)
	_, err = p.Logs(ctx, mine, 100)
	shown = append(shown, err)
	at := mine
	at.Endpoint = "https://b-1.test"
	got := p.Probe(ctx, at, reconcile.ProbePolicy{Exec: "true", Path: "/", Timeout: time.Second})
	shown = append(shown, errors.New(got.Detail))
	for _, err := range shown {
		if err != nil && strings.Contains(err.Error(), token) {
			t.Errorf("an error shows the token: %v", err)
		}
	}
}
