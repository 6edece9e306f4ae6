package main

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/security"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestOperatorActsInABrowser: an operator logs in, confirms what was listed, and it is recorded in his name, by a
// browser's own origin, cookie and forms; without scripts of ours.
func TestOperatorActsInABrowser(t *testing.T) {
	a := newArena(t, settings{mode: "observe"})
	held, orphan := a.box(nobody, time.Minute), a.box(nobody, time.Minute)
	a.beat(a.working(2))
	a.once(0)
	p, stop := a.securePage()
	defer stop()
	b := a.browse()
	b.call(func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, security.SetIgnoreCertificateErrors, security.SetIgnoreCertificateErrorsParams{Ignore: true})
		return err
	})
	at, err := url.Parse(p.base)
	if err != nil {
		t.Fatal(err)
	}
	at.User = url.UserPassword("ben", "geheim")
	b.open(at.String() + "/sandboxes/daytona/" + held.ID)
	b.shows("a reader who he is", ".who", "ben reader")
	b.shows("a reader why he may not", ".head .barred", "operators only")
	b.until("his buttons are off", "document.querySelectorAll('.acts button:disabled').length == 2 && !document.querySelector('a.button')")
	b.open(at.String() + "/act/hold?subject=sandbox:" + held.ID)
	b.shows("a reader why he may not", "#barred", "add the user ben to web.operators")
	b.until("the form is off", "document.querySelector('fieldset').disabled")
	at.User = url.UserPassword("ana", "geheim")
	b.open(at.String() + "/sandboxes/daytona/" + held.ID)
	b.shows("an operator who he is", ".who", "ana operator")
	b.until("his buttons are on", "document.querySelectorAll('.acts a.button').length == 2")
	b.open(at.String() + "/act/hold?subject=sandbox:" + held.ID)
	b.shows("that he has to log in", "#barred", "logged in with your password")
	if !eval[bool](b, "document.querySelector('fieldset').disabled") {
		t.Error("the form can be sent without a session")
	}
	b.do(chromedp.Click(chromedp.CSS("#barred a")))
	b.shows("the log-in", "h1", "Log in to act")
	b.fill("password", "geheim")
	b.shows("the confirmation", "h1", "Keep one task, sandbox, label or provider")
	b.until("the form can be sent", "!document.querySelector('fieldset').disabled")
	b.leads("what it would hold", "#concerned a", "sandboxes/daytona/"+held.ID)
	b.fill("reason", "the customer looks at it")
	b.shows("what was recorded", "section.well", "holding sandbox:"+held.ID)

	b.open(p.base + "/act/pause?what=all")
	b.shows("what waits", "main", "0 steps that nobody has begun will wait")

	b.open(p.base + "/sandboxes/daytona/" + orphan.ID) // by keys alone from here
	b.tabTo("a[href*='act/terminate']")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.leads("what it concerns", "#concerned a", "sandboxes/daytona/"+orphan.ID)
	b.tabTo("#reason")
	b.do(chromedp.KeyEvent("ticket 4711"))
	b.tabTo("#password")
	b.do(chromedp.KeyEvent("geheim"), chromedp.KeyEvent(kb.Enter))
	b.shows("what was recorded", "section.well", "recorded: the end of 1 sandbox")
	b.open(p.base + "/act/pause?what=provider:daytona")
	b.shows("what waits", "main", "1 step that nobody has begun will wait")
	b.open(p.base + "/act/resume?what=all")
	b.shows("what goes on", "#steps", "sandbox:daytona/"+orphan.ID+": terminated (operator)")
	b.leads("what goes on", "#steps a", "sandboxes/daytona/"+orphan.ID)
	for query, want := range map[string]int{
		"SELECT count(*) FROM sandkeeper.holds WHERE author = 'ana' AND reason = 'the customer looks at it'": 1,
		"SELECT count(*) FROM sandkeeper.actions WHERE author = 'ana' AND step = 'terminate' AND seal <> ''": 1,
	} {
		if got := a.count(query); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
	a.once(0)
	if !a.ended(orphan.ID) || a.ended(held.ID) {
		t.Errorf("ended: what was asked for %t, what is held %t", a.ended(orphan.ID), a.ended(held.ID))
	}
}

// leads demands that the page has one such link, and that it leads to this address of ours.
func (b *tab) leads(what, selector, address string) {
	b.a.Helper()
	b.until(what+" is one link to "+address, fmt.Sprintf(
		"(links => links.length == 1 && links[0].href.endsWith(%q))(document.querySelectorAll(%q))", "/"+address, selector))
}

// tabTo presses the Tab key until that element has the focus, which must be seen.
func (b *tab) tabTo(selector string) {
	b.a.Helper()
	for range 100 {
		b.do(chromedp.KeyEvent(kb.Tab))
		if eval[bool](b, fmt.Sprintf("document.activeElement.matches(%q)", selector)) {
			if eval[string](b, "getComputedStyle(document.activeElement).outlineStyle") == "none" {
				b.a.Errorf("who comes to %s by keys does not see it", selector)
			}
			return
		}
	}
	b.a.Fatalf("no Tab leads to %s", selector)
}

// fill fills fields in and sends their form.
func (b *tab) fill(pairs ...string) {
	b.a.Helper()
	var script strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&script, "document.getElementById(%q).value = %q;", pairs[i], pairs[i+1])
	}
	script.WriteString("document.querySelector('form:last-of-type button[type=submit]').click(); true")
	b.until("the page is whole", "document.readyState == 'complete'")
	if !eval[bool](b, script.String()) {
		b.a.Error("the form is not there")
	}
}
