package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/test/ports"
)

// TestPageInABrowser: somebody opens the page once and watches: a sandbox is terminated and confirmed, and the verdict is
// good again. Then he follows links, searches by a part of an id, and reads it on a phone.
func TestPageInABrowser(t *testing.T) {
	a := newArena(t, settings{})
	a.configure(settings{rules: "{orphan: {apart: 5s}}", more: strings.Replace(quickly, "127.0.0.1:0", freeAddress(t), 1)})
	ws := a.working(4)
	a.beat(ws)
	d := a.daemon("run", "--migrate")
	a.reaches("a full pass", func() bool { return a.passes("full") > 0 })
	b := a.browse()
	b.open(d.url())
	b.shows("the verdict", "h1", "All 4 live tasks and 4 sandboxes agree")
	b.until("it is one screen of 1080 lines, less what a browser takes", "document.documentElement.scrollHeight <= 950")

	orphan := a.box(nobody, 10*time.Minute)
	b.shows("the end of it", "#timeline", orphan.ID)
	b.shows("the confirmation", "#timeline", "confirmed")
	b.shows("the verdict", "h1", "All 4 live tasks and 4 sandboxes agree")
	b.withoutScripts(d.url())
	b.follow("the actions", `#timeline p.more a`, "Actions")
	b.until("it is unfolded", `(s => s ? (s.click(), true) : false)(document.querySelector("main details summary"))`)
	b.shows("the evidence", "main details[open]", "which has no row")
	b.unfolded("main details", 1)
	b.clean()

	b.search(orphan.ID[:12])
	b.follow("what was found", "td a", "Sandbox")
	b.shows("whose it was", "main", "orphan")
	b.shows("what became of it", "main", "gone")
	b.follow("all sandboxes", `nav a[href$="sandboxes"]`, "Sandboxes")
	b.follow("them in another order", "thead th:nth-child(2) a", "Sandboxes")
	b.shows("by what they are in order", "th[aria-sort]", "state ▲")
	b.filter("text", ws[0].sandbox[:13])
	b.until("the one of these letters alone, and an address to hand on", fmt.Sprintf("document.querySelectorAll('main tbody tr').length == 1 "+
		"&& location.search.includes('text=' + %q)", ws[0].sandbox[:13]))
	b.follow("all again", "form.filters a", "Sandboxes")
	b.until("all of them", "document.querySelectorAll('main tbody tr').length == 4")
	b.phone()
	b.clean()
	b.open(d.url())

	d.stop()
	b.shows("that nobody answers", "#connection", "Not connected")
	d = a.daemon("run")
	b.until("the page is connected again", `document.getElementById("connection").hidden && !document.body.classList.contains("lost")`)
	b.shows("the verdict", "h1", "All 4 live tasks and 4 sandboxes agree")
	d.stop()
	if got := b.loads(); got != 9 {
		t.Errorf("a page was loaded %d times, want 9: the first one, actions, search, sandbox, sandboxes in two orders, "+
			"filtered and not, and the first one again", got)
	}
	a.keeps(ws)
}

// freeAddress is one that a process can take again after it has ended.
func freeAddress(t *testing.T) string {
	t.Helper()
	at, err := ports.Address(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// TestPageOfABusyDay: a platform of some size with trouble of several kinds at once. With
// SANDKEEPER_SCREENSHOT=path it is also the picture in README.md.
func TestPageOfABusyDay(t *testing.T) {
	a := newArena(t, settings{})
	a.configure(settings{name: "prod-eu", rules: "{orphan: {apart: 1s}, capacity: off}", more: quickly})
	a.beat(a.working(212))
	for range 40 {
		a.cloud.Put(simulated.Sandbox{Labels: map[string]string{"project": "research"}, CreatedAt: time.Now().Add(-time.Hour)})
	}
	a.must("migrate")
	a.must("hold", "sandbox:"+a.stopped(time.Minute).ID, "--author", "ana", "--reason", "debugging with the user", "--for", "2h")
	for range 3 {
		a.stopped(time.Minute)
	}
	a.task(row{status: "assigned", key: "omoios-stale", created: time.Hour, updated: 4 * time.Minute})
	d := a.daemon("run")
	a.reaches("what is broken is repaired", func() bool {
		return a.count("SELECT count(*) FROM sandkeeper.actions WHERE outcome IN ('confirmed', 'done')") == 4
	})
	a.reaches("its findings are resolved", func() bool {
		return a.count("SELECT count(*) FROM sandkeeper.findings WHERE resolved_at IS NULL") == 1
	})
	a.deactivate()
	a.cloud.Inject(simulated.Fault{On: simulated.List, Effect: simulated.EmptyList})
	b := a.browse()
	b.open(d.url())
	b.shows("the snapshot", "h1", `snapshot "ai-agent-dev-light" is inactive`)
	b.shows("the source that is not trusted", "#attention", "lost 213 of 213 sandboxes")
	b.shows("what is known of it", "#providers", "unknown")
	b.shows("the hold", "#held", "debugging with the user")
	b.shows("what was done before", "#timeline", "confirmed")
	b.until("all pages are in one line of 1280 px, whatever their numbers", `(() => {
		document.querySelectorAll("nav sup").forEach(n => n.remove())
		for (const at of ["incidents", "findings", "stops", "sources", "operators"])
			document.querySelector("nav a[href$=" + at + "]").appendChild(document.createElement("sup")).textContent = " 128"
		const pulse = document.getElementById("pulse")
		pulse.hidden = false
		pulse.textContent = "live"
		const tops = [...document.querySelectorAll("nav a, .search, .who")].map(e => e.getBoundingClientRect())
		return innerWidth == 1280 && Math.max(...tops.map(r => r.top)) < Math.min(...tops.map(r => r.bottom))
	})()`)
	b.clean()
	if path := os.Getenv("SANDKEEPER_SCREENSHOT"); path != "" {
		b.open(d.url()) // without the numbers that were put there
		b.shows("the hold", "#held", "debugging with the user")
		b.picture(path)
	}
	d.stop()
	if n := len(a.cloud.Destructive()); n != 3 {
		t.Errorf("%d sandboxes were ended, want the 3 that were stopped and are not held", n)
	}
}

// TestReadmeShowsThePage: the picture is there and small enough for a page that loads it.
func TestReadmeShowsThePage(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "](docs/page.png)") {
		t.Error("README.md does not show docs/page.png")
	}
	at, err := os.Stat("../../docs/page.png")
	if err != nil || at.Size() > 400_000 {
		t.Errorf("docs/page.png, which `make screenshots` writes: %v, %v", at, err)
	}
}
