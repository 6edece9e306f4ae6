package main

import (
	"fmt"
	"strings"
)

// The marks between which a page is written from bench.json.
const (
	figuresBegin = "<!-- from bench.json: make bench -->\n"
	figuresEnd   = "<!-- end -->\n"
)

// page writes figures between the marks of a page.
func page(text, figures string) (string, error) {
	before, rest, begins := strings.Cut(text, figuresBegin)
	_, after, ends := strings.Cut(rest, figuresEnd)
	if !begins || !ends {
		return "", fmt.Errorf("the page has no marks: %q and %q", figuresBegin, figuresEnd)
	}
	return before + figuresBegin + figures + figuresEnd + after, nil
}

// million works out what a fleet of a million pairs takes, by what each pair more took between the smallest and the
// largest fleet that was measured.
func (t *table) million() string {
	var b strings.Builder
	b.WriteString("| work | each pair more | 1,000,000 pairs |\n|---|---|---|\n")
	for _, work := range t.works() {
		few, many := t.ends(work)
		if many.pairs() == few.pairs() {
			continue
		}
		slope := (many.Ours - few.Ours) / float64(many.pairs()-few.pairs())
		whole := few.Ours + slope*float64(1_000_000-few.pairs())
		each := fmt.Sprintf("%.0f µs", slope*1e6)
		if few.Unit == "MB" {
			each = fmt.Sprintf("%.1f KB", slope*1e3)
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", work, each, few.with(whole))
	}
	return b.String() + t.scrape()
}

// scrape says what /metrics takes of the largest fleet that was measured; "" where none was.
func (t *table) scrape() string {
	_, bared := t.ends(scrapeBared)
	_, weighs := t.ends(scrapeWeight)
	if bared.pairs() == 0 {
		return ""
	}
	return fmt.Sprintf("\nA scrape of `/metrics` of %s takes %s and weighs %s;\nit may take %d ms and weigh %d kB. "+
		"One bare count of these sandboxes by provider and state takes\n%s in the same database: the ratio is %.2f.\n",
		bared.Size, bared.with(bared.Ours), weighs.with(weighs.Ours), scrapeTakes, scrapeWeighs,
		bared.with(bared.Bare), bared.Ratio)
}

// works are what was measured of fleets.
func (t *table) works() (out []string) {
	for _, r := range t.Rows {
		grows := (r.Unit == "s" || r.Unit == "MB") && !r.Bound
		if few, _ := t.ends(r.Work); few == r && r.pairs() > 0 && grows {
			out = append(out, r.Work)
		}
	}
	return out
}

// ends are the rows of the smallest and the largest fleet.
func (t *table) ends(work string) (few, many row) {
	for _, r := range t.Rows {
		switch {
		case r.Work != work:
		case few.Work == "":
			few, many = r, r
		case r.pairs() < few.pairs():
			few = r
		case r.pairs() > many.pairs():
			many = r
		}
	}
	return few, many
}

// pairs is how many tasks with a sandbox the fleet had; 0 where it was no fleet.
func (r row) pairs() (n int) {
	tasks, _, fleet := strings.Cut(r.Size, " tasks × ")
	if !fleet {
		return 0
	}
	_, _ = fmt.Sscan(strings.ReplaceAll(tasks, ",", ""), &n)
	return n
}
