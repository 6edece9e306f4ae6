package main

import (
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestRunbookPages: a browser opens each runbook from the list of them. Its parts, its commands and its table are
// there, no part is cut on a phone, axe-core finds nothing in some of them, and each link leads to another runbook or to
// the documents.
func TestRunbookPages(t *testing.T) {
	a := newArena(t, settings{more: quickly})
	a.working(1)
	a.must("migrate")
	d := a.daemon("serve")
	defer d.stop()
	axe, err := os.ReadFile("../../test/axe/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	b := a.browse()
	b.open(d.url() + "runbooks")
	books := b.links("main td a")
	if len(books) < 60 {
		t.Fatalf("%d runbooks are listed: %q", len(books), books)
	}
	folder := os.Getenv("SANDKEEPER_SCREENSHOTS")
	for i, book := range books {
		b.open(book)
		shown := eval[[]int](b, `["h2", "pre", "tbody tr"].map(e => document.querySelectorAll("main " + e).length)`)
		if shown[0] != 9 || shown[1] < 2 || shown[2] < 2 {
			t.Errorf("%s shows %v of parts, commands and causes", book, shown)
		}
		for _, to := range b.links("main a") {
			documents := "https://github.com/sandkeeper/sandkeeper/blob/main/docs/"
			if !slices.Contains(books, strings.TrimSuffix(to, ".md")) && !strings.HasPrefix(to, documents) {
				t.Errorf("%s points at %s, which is no runbook and no document", book, to)
			}
		}
		b.phone()
		if i%10 == 0 { // all have the same frame
			b.load(string(axe))
			b.accessible(book, "")
		}
		at, err := url.Parse(book)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.ReplaceAll(strings.Trim(at.Path, "/"), "/", "-")
		b.shot(folder, name, 1280)
		b.shot(folder, name+"-phone", 390)
	}
	b.clean()
}

// links are the addresses that these elements of the page lead to.
func (b *tab) links(of string) []string {
	b.a.Helper()
	return eval[[]string](b, "[...document.querySelectorAll('"+of+"')].map(a => a.href)")
}
