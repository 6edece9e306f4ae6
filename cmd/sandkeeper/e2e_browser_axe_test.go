package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// TestPagesAreAccessible: axe-core finds nothing serious in any page of an installation in trouble, light, dark and on
// a phone, and nothing is cut there. With SANDKEEPER_SCREENSHOTS=folder it takes a picture of each, see `make screenshots`.
func TestPagesAreAccessible(t *testing.T) {
	a := newArena(t, settings{})
	pages, stop := a.troubled()
	defer stop()
	axe, err := os.ReadFile("../../test/axe/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	b := a.browse()
	folder := os.Getenv("SANDKEEPER_SCREENSHOTS")
	for _, p := range pages {
		b.scheme("light")
		b.open(p.url)
		b.until("what is said at the head of "+p.name+" has room beside its buttons",
			`(document.querySelector(".head > div") ?? document.body).getBoundingClientRect().width > 500`)
		if p.name == "confirm-release" {
			b.until("each sandbox that is ended then is named", "document.querySelectorAll('#steps li').length == 6")
			b.shows("how", "#steps", "terminated (assigned-stale)")
			b.shows("what else it lets go", "main", "those of it that come later")
		}
		b.load(string(axe))
		b.accessible(p.name, "")
		b.phone()
		b.shot(folder, p.name, 1280)
		b.shot(folder, p.name+"-phone", 390)
		b.scheme("dark")
		b.accessible(p.name+", dark", `runOnly: ["color-contrast"], `) // nothing else depends on it
		b.shot(folder, p.name+"-dark", 1280)
	}
}

type namedPage struct{ name, url string }

// troubled is a day with an incident, a hold, a source that is not trusted and what was repaired before, and the address
// of each page of it.
func (a *arena) troubled() (pages []namedPage, stop func()) {
	a.Helper()
	a.configure(settings{name: "prod-eu", rules: "{orphan: {apart: 1s}, capacity: off}", more: quickly})
	ws := a.working(40)
	a.beat(ws)
	for range 8 {
		a.cloud.Put(simulated.Sandbox{Labels: map[string]string{"project": "research"}, CreatedAt: time.Now().Add(-time.Hour)})
	}
	a.must("migrate")
	held := a.stopped(time.Minute)
	a.must("hold", "sandbox:"+held.ID, "--author", "ana", "--reason", "debugging with the user", "--for", "2h")
	a.stopped(time.Minute)
	var stale []string
	for range 6 {
		stale = append(stale, a.task(row{status: "assigned", created: time.Hour, updated: 4 * time.Minute}))
		a.box(stale[len(stale)-1], 4*time.Minute)
	}
	d := a.daemon("run")
	a.reaches("an incident is open", func() bool {
		return a.count("SELECT count(*) FROM sandkeeper.incidents WHERE closed_at IS NULL") == 1
	})
	a.reaches("what was stopped is ended", func() bool {
		return a.count("SELECT count(*) FROM sandkeeper.actions WHERE step = 'terminate' AND outcome = 'confirmed'") > 0
	})
	a.deactivate()
	a.cloud.Inject(simulated.Fault{On: simulated.List, Effect: simulated.EmptyList})
	a.reaches("the listing is not trusted", func() bool {
		return a.count("SELECT count(*) FROM sandkeeper.sources WHERE NOT trusted") > 0
	})
	var incident string
	if err := a.pool(" sandkeeper.").QueryRow(a.Context(), "SELECT id FROM sandkeeper.incidents").Scan(&incident); err != nil {
		a.Fatal(err)
	}
	for _, p := range [][2]string{
		{"overview", ""}, {"findings", "findings"}, {"findings-held", "findings?state=held"}, {"actions", "actions?state=closed"},
		{"incidents", "incidents"}, {"incident", "incidents/" + incident}, {"task", "tasks/" + stale[0]},
		{"task-healthy", "tasks/" + ws[0].task}, {"sandbox", "sandboxes/daytona/" + held.ID}, {"passes", "passes"},
		{"pass", "passes/1"}, {"sources", "sources"}, {"rules", "rules"}, {"rule", "rules/assigned-stale"}, {"stops", "stops"},
		{"operators", "operators"}, {"tasks", "tasks"}, {"sandboxes", "sandboxes"}, {"sandboxes-sorted", "sandboxes?sort=-age"},
		{"findings-sorted", "findings?sort=rule"}, {"search", "search?q=" + held.ID[:6]}, {"runbooks", "runbooks"},
		{"runbook", "runbooks/systemic-failure"}, {"confirm", "act/hold?subject=sandbox:" + held.ID},
		{"confirm-release", "act/release?rule=incident:" + incident}, {"log-in", "session"},
	} {
		pages = append(pages, namedPage{p[0], d.url() + p[1]})
	}
	return pages, d.stop
}

// scheme is what the page's reader prefers: light or dark.
func (b *tab) scheme(name string) {
	b.a.Helper()
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}
	b.call(func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
		return err
	})
}

// A violation is what axe-core has found, as far as it is told here.
type violation struct {
	ID, Impact, Help string
	Nodes            []struct{ HTML, FailureSummary string }
}

// load runs a script in the page, whatever its policy says of scripts.
func (b *tab) load(script string) {
	b.a.Helper()
	if !eval[bool](b, script+";true") {
		b.a.Error("the script did not run to its end")
	}
}

// accessible demands that axe-core, which is loaded, finds nothing in the page.
func (b *tab) accessible(name, options string) {
	b.a.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 5*time.Minute)
	defer cancel()
	found, err := chromedp.Run(ctx, chromedp.Evaluate[string](
		`axe.run(document, {`+options+`resultTypes: ["violations"]}).then(r => JSON.stringify(r.violations))`, chromedp.EvalAwaitPromise))
	if err != nil {
		b.a.Fatalf("axe-core in %s: %v", name, err)
	}
	var all []violation
	if err := json.Unmarshal([]byte(found), &all); err != nil {
		b.a.Fatal(err)
	}
	for _, v := range all {
		for _, n := range v.Nodes[:min(len(v.Nodes), 3)] {
			b.a.Errorf("%s: %s, %s: %s\n\t%.300s\n\t%s", name, v.Impact, v.ID, v.Help, n.HTML,
				strings.ReplaceAll(n.FailureSummary, "\n", "\n\t"))
		}
	}
}

// shot writes a picture of the page, as wide as this and as high as it is.
func (b *tab) shot(folder, name string, width int64) {
	b.a.Helper()
	if folder == "" {
		return
	}
	b.do(chromedp.EmulateViewport(width, 900))
	height := eval[int64](b, "document.documentElement.scrollHeight")
	b.do(chromedp.EmulateViewport(width, min(max(height, 600), 2600)))
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name+".png"), png, 0o644)
	}
	if err != nil {
		b.a.Fatalf("take a picture of %s: %v", name, err)
	}
	b.do(chromedp.EmulateViewport(1280, 900))
}
