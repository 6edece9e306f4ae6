package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	program "os/exec"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"
)

// A tab is a page in a real browser, with all that goes wrong in it.
type tab struct {
	a   *arena
	ctx context.Context

	mu       sync.Mutex
	host     string
	loaded   int
	troubles []string
}

// browse starts Chromium with an empty tab.
func (a *arena) browse() *tab {
	a.Helper()
	path := ""
	for _, name := range []string{
		"headless_shell", "headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
	} {
		if at, err := program.LookPath(name); err == nil {
			path = at
			break
		}
	}
	if path == "" {
		a.Fatal("this test needs Chromium: `make test` installs it as root on Debian; elsewhere: apt-get install chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.WindowSize(1280, 900),
		chromedp.WSURLReadTimeout(5*time.Minute)) // a busy machine takes long to start it
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // it refuses to run as root with it
	}
	ctx, endBrowser := chromedp.NewExecAllocator(a.Context(), options...)
	a.Cleanup(endBrowser)
	return a.newTab(ctx)
}

func (a *arena) newTab(ctx context.Context) *tab {
	a.Helper()
	ctx, end := chromedp.NewContext(ctx)
	a.Cleanup(end)
	b := &tab{a: a, ctx: ctx}
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		a.Fatalf("start the browser: %v", err)
	}
	b.call(
		func(ctx context.Context) error { _, err := chromedp.Call(ctx, log.Enable, cdp.Empty{}); return err },
		func(ctx context.Context) error {
			_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
			return err
		},
	)
	return b
}

// hear notes what the page does that it should not.
func (b *tab) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		b.troubles = append(b.troubles, fmt.Sprintf("console.%s: %v", e.Type, e.Args))
	case *runtime.EventExceptionThrown:
		b.troubles = append(b.troubles, fmt.Sprintf("exception: %v", e.ExceptionDetails))
	case *log.EventEntryAdded:
		b.troubles = append(b.troubles, fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
	case *page.EventFrameNavigated: // the event of its load is left out where somebody goes on before
		if e.Frame.ParentID == "" {
			b.loaded++
		}
	case *network.EventRequestWillBeSent:
		if at, err := url.Parse(e.Request.URL); err != nil || at.Scheme != "data" && at.Host != b.host {
			b.troubles = append(b.troubles, "request to "+e.Request.URL)
		}
	}
}

func (b *tab) open(address string) {
	b.a.Helper()
	at, err := url.Parse(address)
	if err != nil {
		b.a.Fatal(err)
	}
	b.mu.Lock()
	b.host = at.Host
	b.mu.Unlock()
	b.do(chromedp.Navigate(address))
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.a.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 5*time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.a.Fatalf("in the browser: %v", err)
	}
}

func (b *tab) call(calls ...func(context.Context) error) {
	b.a.Helper()
	for _, call := range calls {
		if err := call(b.ctx); err != nil {
			b.a.Fatalf("in the browser: %v", err)
		}
	}
}

// eval is what an expression says in the page.
func eval[T any](b *tab, expression string) T {
	b.a.Helper()
	value, err := evaluated[T](b, expression)
	if err != nil {
		b.a.Fatalf("%s: %v", expression, err)
	}
	return value
}

func evaluated[T any](b *tab, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(b.ctx, 5*time.Minute)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression))
}

// text is what a person reads in an element.
func (b *tab) text(selector string) string {
	b.a.Helper()
	return eval[string](b, textOf(selector))
}

func textOf(selector string) string {
	return fmt.Sprintf("document.querySelector(%q)?.innerText ?? ''", selector)
}

// shows waits until an element says something. Nothing is reloaded.
func (b *tab) shows(what, selector, words string) {
	b.a.Helper()
	defer func() {
		if b.a.Failed() {
			b.a.Logf("the page shows in %s:\n%s", selector, b.text(selector))
		}
	}()
	b.a.reaches(what+": "+words+" in "+selector, func() bool {
		text, err := evaluated[string](b, textOf(selector))
		return err == nil && strings.Contains(strings.ToLower(text), strings.ToLower(words))
	})
}

// until waits until an expression is true. While another page comes it may be an error: half of that page is there.
func (b *tab) until(what, expression string) {
	b.a.Helper()
	var err error
	defer func() {
		if b.a.Failed() && err != nil {
			b.a.Logf("%s: %v", expression, err)
		}
	}()
	b.a.reaches(what, func() (is bool) {
		is, err = evaluated[bool](b, expression)
		return err == nil && is
	})
}

// unfolded demands that the first of these details stays open over so many updates.
func (b *tab) unfolded(selector string, updates int) {
	b.a.Helper()
	const clock = ".read time"
	for range updates {
		before := b.text(clock)
		b.a.reaches("an update of the page", func() bool { return b.text(clock) != before })
		if !eval[bool](b, fmt.Sprintf("document.querySelector(%q)?.open ?? false", selector)) {
			b.a.Errorf("%s was folded by an update", selector)
		}
	}
}

// follow clicks on a link and waits for the page that it leads to. It looks for the link and clicks in one go: an update
// of the page in between would put another link in its place.
func (b *tab) follow(what, selector, headline string) {
	b.a.Helper()
	b.until(what, fmt.Sprintf("(link => link ? (link.click(), true) : false)(document.querySelector(%q))", selector))
	b.shows(what, "h1", headline)
}

// search types a part of an id into the page and sends it off by the keyboard.
func (b *tab) search(part string) {
	b.a.Helper()
	b.do(chromedp.SendKeys(chromedp.CSS("#q"), part+"\r"))
	b.shows("what was sought", "h1", part)
}

// filter fills a field of the page's filter in, and sends it off by its button.
func (b *tab) filter(field, value string) {
	b.a.Helper()
	b.do(chromedp.SendKeys(chromedp.CSS("form.filters [name="+field+"]"), value))
	b.do(chromedp.Click(chromedp.CSS("form.filters button")))
}

// phone demands that nothing is cut on a narrow screen: the page is no wider than it.
func (b *tab) phone() {
	b.a.Helper()
	b.do(chromedp.EmulateViewport(390, 844))
	wide := "Math.max(...[...document.querySelectorAll('main, header, table, h1')].map(e => e.getBoundingClientRect().right))"
	b.until("the page fits a phone", wide+" <= 390 && document.documentElement.scrollWidth <= 390")
	b.do(chromedp.EmulateViewport(1280, 900))
}

// clean demands that nothing went wrong in the page so far.
func (b *tab) clean() {
	b.a.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, trouble := range b.troubles {
		b.a.Errorf("in the browser: %s", trouble)
	}
}

func (b *tab) loads() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.loaded
}

// withoutScripts demands that a browser that runs none shows the same.
func (b *tab) withoutScripts(address string) {
	b.a.Helper()
	plain := b.a.newTab(b.ctx)
	plain.call(func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled,
			emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	})
	plain.open(address)
	var diff string
	defer func() {
		if b.a.Failed() {
			b.a.Logf("with scripts and without (-with +without):\n%s", diff)
		}
	}()
	b.a.reaches("the same text without scripts", func() bool {
		diff = cmp.Diff(shape(b.text("main")), shape(plain.text("main")))
		return diff == ""
	})
	plain.clean()
}

// underWay are the lines that tell of the pass that is being made: two readings a moment apart differ in them.
var underWay = regexp.MustCompile(`(?m)^.*pass lease.*$|^.*\t(full|quick)\t.*$`)

// shape is a text without what changes from second to second.
func shape(text string) string {
	text = underWay.ReplaceAllString(text, "")
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, text)
}

// picture writes what a person sees.
func (b *tab) picture(path string) {
	b.a.Helper()
	b.do(chromedp.EmulateViewport(1280, 1500))
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(path, png, 0o644)
	}
	if err != nil {
		b.a.Fatalf("take a picture of the page: %v", err)
	}
}
