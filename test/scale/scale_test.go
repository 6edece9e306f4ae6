package main

import (
	"context"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/test/scale/bare"
)

var update = flag.Bool("update", false, "write what the pages say from bench.json")

// TestPages: no figure of the pages is by hand.
func TestPages(t *testing.T) {
	root := filepath.Join("..", "..")
	measured, err := readTable(filepath.Join(root, "bench.json"))
	if err != nil {
		t.Fatal(err)
	}
	for name, figures := range map[string]string{"performance.md": measured.String(), "scale.md": measured.million()} {
		file := filepath.Join(root, "docs", name)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want, err := page(string(text), figures)
		if err != nil {
			t.Fatalf("docs/%s: %v", name, err)
		}
		if want != string(text) && *update {
			err = os.WriteFile(file, []byte(want), 0o644)
		}
		if err != nil || want != string(text) && !*update {
			t.Errorf("docs/%s does not say what bench.json does (write it: go test ./test/scale -update): %v", name, err)
		}
	}
}

// TestCompare: a ratio that is more than a tenth worse is told, and nothing that was not measured before.
func TestCompare(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bench.json")
	was := &table{}
	was.add(row{Work: "pass", Size: "10 tasks × 10 sandboxes", Unit: "s", Ours: 20, Bare: 10})
	if err := was.write(file); err != nil {
		t.Fatal(err)
	}
	for ours, want := range map[float64]string{19: "", 22: "", 22.2: "the ratio is 2.22; it was 2.00"} {
		now := &table{}
		now.add(row{Work: "pass", Size: "10 tasks × 10 sandboxes", Unit: "s", Ours: ours, Bare: 10})
		now.add(row{Work: "pass", Size: "90 tasks × 90 sandboxes", Unit: "s", Ours: 900, Bare: 10})
		err := now.compare(file)
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v against 20: %v, want %q", ours, err, want)
		}
	}
	other := &table{}
	other.add(row{Work: "pass", Size: "90 tasks × 90 sandboxes", Unit: "s", Ours: 1, Bare: 1})
	if err := other.compare(file); err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("no common row: %v", err)
	}
}

func TestMillion(t *testing.T) {
	m := &table{}
	m.add(row{Work: "pass", Size: "10,000 tasks × 10,000 sandboxes", Unit: "s", Ours: 1, Bare: 1})
	m.add(row{Work: "pass", Size: "100,000 tasks × 100,000 sandboxes", Unit: "s", Ours: 10, Bare: 1})
	m.add(row{Work: "calls", Size: "300 orphans", Unit: "calls", Ours: 2, Bare: 1})
	if got := m.million(); !strings.HasSuffix(got, "|\n| pass | 100 µs | 100 s |\n") {
		t.Errorf("worked out:\n%s", got)
	}
}

// TestBounds: what is above its bound is told, whatever it was before, and what is below it never.
func TestBounds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bench.json")
	scrape := func(took float64) *table {
		m := &table{}
		m.add(row{Work: scrapeBared, Size: "10 tasks × 10 sandboxes", Unit: "ms", Ours: took, Bare: 2})
		m.add(row{Work: scrapeTime, Size: "10 tasks × 10 sandboxes", Unit: "ms", Ours: took, Bare: scrapeTakes, Bound: true})
		m.add(row{Work: scrapeWeight, Size: "10 tasks × 10 sandboxes", Unit: "kB", Ours: 40, Bare: scrapeWeighs, Bound: true})
		m.add(row{Work: "pass", Size: "10 tasks × 10 sandboxes", Unit: "s", Ours: 1, Bare: 1})
		return m
	}
	if err := scrape(60).write(file); err != nil {
		t.Fatal(err)
	}
	for took, want := range map[float64]string{10: "", 50: "", 51: "51.00 ms; it may be 50.00 ms"} {
		if err := scrape(took).compare(file); (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v ms: %v, want %q", took, err, want)
		}
	}
	now, err := scrape(7).over(file)
	if err != nil || len(now.Rows) != 4 || now.Rows[1].Ours != 7 {
		t.Errorf("in the place of the old rows: %v, %v", now, err)
	}
	if said := now.million(); !strings.Contains(said, "takes 7.00 ms and weighs 40.00 kB") || strings.Contains(said, "| /metrics") {
		t.Errorf("the page says:\n%s", said)
	}
}

func TestLeast(t *testing.T) {
	got := least([]spent{{3, 9, 5}, {4, 8, 4}, {5, 10, 6}})
	if got != (spent{3, 8, 4}) {
		t.Errorf("least = %v", got)
	}
}

// TestProvider: the pages hold each sandbox once, one that is deleted is seen until it is gone, and each call counts.
func TestProvider(t *testing.T) {
	p := &provider{tasks: make([]string, 2*pageSize+50), ended: map[int]time.Time{}}
	server := httptest.NewServer(p.routes())
	defer server.Close()
	if n, err := bare.Pages(t.Context(), server.URL); n != len(p.tasks) || err != nil {
		t.Errorf("pages hold %d, %v; want %d", n, err, len(p.tasks))
	}
	ask := func(method, id string) string {
		req, err := http.NewRequest(method, server.URL+"/api/sandbox/"+id, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, c := range [][3]string{{"GET", boxID(7), `"started"`}, {"DELETE", boxID(7), `"destroying"`},
		{"GET", boxID(7), `"destroying"`}, {"GET", "nonsense", `"statusCode":404`}} {
		if got := ask(c[0], c[1]); !strings.Contains(got, c[2]) {
			t.Errorf("%s %s = %s, want %s", c[0], c[1], got, c[2])
		}
	}
	p.ended[7] = p.ended[7].Add(-goneAfter)
	if got := ask("GET", boxID(7)); !strings.Contains(got, `"statusCode":404`) {
		t.Errorf("after its end: %s", got)
	}
	n, err := bare.Pages(t.Context(), server.URL)
	if n != len(p.tasks)-1 || err != nil || p.stats.Deletes != 1 || p.stats.Gets != 4 || p.stats.Lists != 6 {
		t.Errorf("%d listed, %v, %+v", n, err, p.stats)
	}
}

// TestProviderLabels: a search by labels finds what has all of them, on one page where that is few.
func TestProviderLabels(t *testing.T) {
	p := &provider{tasks: make([]string, 2*pageSize+50), ended: map[int]time.Time{}}
	p.tasks[pageSize+9] = "task-1"
	server := httptest.NewServer(p.routes())
	defer server.Close()
	for labels, want := range map[string]int{`{"task_id":"task-1"}`: 1, `{"project":"omoios","task_id":"task-1"}`: 1,
		`{"project":"other","task_id":"task-1"}`: 0, `{"task_id":"task-2"}`: 0, `{"unknown":"x"}`: 0} {
		var got struct {
			Items      []struct{ ID string }
			NextCursor *string
		}
		err := bare.JSON(t.Context(), server.URL+"/api/sandbox?labels="+url.QueryEscape(labels), &got)
		if err != nil || len(got.Items) != want || got.NextCursor != nil || want > 0 && got.Items[0].ID != boxID(pageSize+9) {
			t.Errorf("with %s: %+v, %v; want %d", labels, got, err, want)
		}
	}
}

// TestProviderProbes: a sandbox that hangs answers no command, and each call into a sandbox counts.
func TestProviderProbes(t *testing.T) {
	p := &provider{tasks: make([]string, 2), ended: map[int]time.Time{}, hang: 2}
	server := httptest.NewServer(p.routes())
	defer server.Close()
	ask := func(ctx context.Context, method string, box int) error {
		req, err := http.NewRequestWithContext(ctx, method, server.URL+"/toolbox/"+boxID(box)+"/process/execute", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			resp.Body.Close()
		}
		return err
	}
	for _, c := range []struct {
		method string
		box    int
	}{{http.MethodPost, 1}, {http.MethodGet, 1}, {http.MethodGet, 0}} {
		if err := ask(t.Context(), c.method, c.box); err != nil {
			t.Errorf("%s of sandbox %d: %v", c.method, c.box, err)
		}
	}
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() { gone <- ask(ctx, http.MethodPost, 0) }()
	for asked := false; !asked; time.Sleep(time.Millisecond) { // until it hangs
		p.count(func(s *stats) { asked = s.Execs == 2 })
	}
	leave()
	if err := <-gone; err == nil {
		t.Error("a command in a sandbox that hangs was answered")
	}
	if p.stats.Probes != 4 || p.stats.calls() != 4 {
		t.Errorf("%+v, want four calls", p.stats)
	}
}
