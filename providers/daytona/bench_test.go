package daytona

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/daytona/daytonatest"
	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/providertest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

const fleet = 10_000

// canned serves the pages of a large fleet without making them anew.
func canned(tb testing.TB) *httptest.Server {
	world := simulated.New(simulated.Options{})
	for i := range fleet {
		world.Put(simulated.Sandbox{Name: fmt.Sprint("worker-", i), Template: "ai-agent-dev-light",
			Labels: map[string]string{"project": "mine", "task_id": fmt.Sprintf("task-%08d", i),
				"code-toolbox-language": "python"}})
	}
	real := daytonatest.New(world, daytonatest.Options{Address: "https://proxy.test"})
	pages := map[string][]byte{}
	for cursor := ""; ; {
		rec := httptest.NewRecorder()
		req := httptest.NewRequest(http.MethodGet, "/api/sandbox?limit=200&cursor="+url.QueryEscape(cursor), nil)
		req.Header.Set("Authorization", "Bearer key")
		real.ServeHTTP(rec, req)
		pages[cursor] = rec.Body.Bytes()
		var in struct{ NextCursor *string }
		if err := json.Unmarshal(pages[cursor], &in); err != nil {
			tb.Fatal(err)
		}
		if in.NextCursor == nil {
			break
		}
		cursor = *in.NextCursor
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(pages[r.URL.Query().Get("cursor")])
	}))
	tb.Cleanup(server.Close)
	return server
}

func cloud(tb testing.TB, server *httptest.Server) *Provider {
	p, err := New(entry.Entry{Name: "lab", URL: server.URL + "/api", Token: "key",
		Owns: entry.Owns{Labels: map[string]string{"project": "mine"}}, Link: entry.Link{TaskLabel: "task_id"}},
		entry.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// bare reads the same pages with nothing but HTTP and JSON into the vendor's fields that
// are used.
func bare(tb testing.TB, server *httptest.Server) int {
	n := 0
	for cursor := ""; ; {
		res, err := http.Get(server.URL + "/api/sandbox?cursor=" + url.QueryEscape(cursor))
		if err != nil {
			tb.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil {
			tb.Fatal(err)
		}
		var in struct {
			Items []struct {
				ID, Name, State, DesiredState, Snapshot, Target, ErrorReason, ToolboxProxyURL string
				Labels                                                                        map[string]string
				CreatedAt, UpdatedAt, LastActivityAt, AutoDestroyAt                           time.Time
			}
			NextCursor *string
		}
		if err := json.Unmarshal(body, &in); err != nil {
			tb.Fatal(err)
		}
		n += len(in.Items)
		if in.NextCursor == nil {
			return n
		}
		cursor = *in.NextCursor
	}
}

// BenchmarkList compares a listing of 10,000 sandboxes with the same pages read by bare
// HTTP and JSON: what the adapter's own work costs.
func BenchmarkList(b *testing.B) {
	server := canned(b)
	p := cloud(b, server)
	var ours, plain time.Duration
	for b.Loop() {
		began := time.Now()
		if n := bare(b, server); n != fleet {
			b.Fatalf("bare read %d sandboxes, want %d", n, fleet)
		}
		middle := time.Now()
		n := 0
		if _, err := p.List(b.Context(), func(page []reconcile.Sandbox) error { n += len(page); return nil }); err != nil ||
			n != fleet {
			b.Fatalf("List read %d sandboxes, %v; want %d", n, err, fleet)
		}
		plain += middle.Sub(began)
		ours += time.Since(middle)
	}
	b.ReportMetric(float64(ours)/float64(plain), "x-bare")
	b.ReportMetric(float64(ours.Microseconds())/float64(b.N)/1000, "ms-list")
}

// What is kept of a listing does not keep its pages.
func TestListDoesNotPinPages(t *testing.T) {
	server := canned(t)
	p := cloud(t, server)
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	kept := make([]string, 0, fleet)
	if _, err := p.List(t.Context(), func(page []reconcile.Sandbox) error {
		for _, s := range page {
			kept = append(kept, s.ID)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	grown := int64(heap()) - int64(before)
	if limit := int64(fleet * 150); grown > limit {
		t.Errorf("%d ids keep %d bytes alive, want at most %d", len(kept), grown, limit)
	}
	runtime.KeepAlive(kept)
}

// BenchmarkDecode is the adapter's own speed: the answers are replayed without a network.
func BenchmarkDecode(b *testing.B) {
	world := simulated.New(simulated.Options{})
	providertest.Fleet(world, fleet)
	e := providertest.Entry("daytona", Abilities)
	e.URL = "http://lab.test/api"
	tape := wiretest.Record(wiretest.Transport(daytonatest.New(world, daytonatest.Options{Key: e.Token})))
	p, err := New(e, entry.Options{Transport: tape})
	if err != nil {
		b.Fatal(err)
	}
	providertest.Bench(b, p, tape, fleet)
}
