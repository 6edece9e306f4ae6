package vercel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/vercel/verceltest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

func names(t *testing.T, p *Provider) ([]string, reconcile.Listing) {
	t.Helper()
	var out []string
	listing, err := p.List(t.Context(), func(page []reconcile.Sandbox) error {
		for _, s := range page {
			out = append(out, s.Name+" "+s.Raw)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out, listing
}

// What runs or stops is listed however old; what is in another state, by its change.
func TestListing(t *testing.T) {
	p, world, clock := lab(t, verceltest.Options{})
	put := func(name, raw string, state reconcile.SandboxState, changed time.Duration) {
		world.Put(simulated.Sandbox{Name: name, Raw: raw, State: state, CreatedAt: noon.Add(-900 * time.Hour),
			UpdatedAt: noon.Add(-changed)})
	}
	put("old", "running", reconcile.SandboxRunning, 800*time.Hour)
	put("leaving", "stopping", reconcile.SandboxDeleting, 700*time.Hour)
	put("new", "pending", reconcile.SandboxCreating, time.Minute)
	put("stuck", "pending", reconcile.SandboxCreating, 20*time.Hour)
	put("lost", "pending", reconcile.SandboxCreating, 26*time.Hour)
	put("disk", "snapshotting", reconcile.SandboxDeleting, 59*time.Minute)
	put("odd", "hibernating", reconcile.SandboxUnknown, time.Minute)
	put("over", "stopped", reconcile.SandboxStopped, time.Minute)
	put("broken", "failed", reconcile.SandboxFailed, time.Minute)
	put("cut", "aborted", reconcile.SandboxFailed, time.Minute)

	for i := range pageSize { // what is over fills the pages between
		put(fmt.Sprint("over an hour ago ", i), "stopped", reconcile.SandboxStopped, 61*time.Minute)
		put(fmt.Sprint("over two hours ago ", i), "stopped", reconcile.SandboxStopped, 2*time.Hour)
		put(fmt.Sprint("over a day ago ", i), "stopped", reconcile.SandboxStopped, 25*time.Hour+time.Minute)
	}

	near := []string{"disk snapshotting", "leaving stopping", "new pending", "odd hibernating", "old running"}
	far := append(slices.Clone(near), "stuck pending")
	for i, want := range [][]string{far, near} { // the first listing looks back as far as anything may be alive
		got, listing := names(t, p)
		if diff := cmp.Diff(want, got); diff != "" || !listing.Complete {
			t.Errorf("listing %d = %+v (-want +got):\n%s", i+1, listing, diff)
		}
	}
	clock.Advance(time.Hour)
	if got, _ := names(t, p); !slices.Contains(got, "stuck pending") || slices.Contains(got, "lost pending") {
		t.Errorf("an hour later it lists %v, want it to look far back again", got)
	}
}

// The far look is done again when it failed.
func TestListingLooksFarBackUntilItDid(t *testing.T) {
	p, world, _ := lab(t, verceltest.Options{})
	world.Put(simulated.Sandbox{Name: "stuck", State: reconcile.SandboxCreating, CreatedAt: noon.Add(-20 * time.Hour)})
	for i := range pageSize { // what is over fills the page before
		world.Put(simulated.Sandbox{Name: fmt.Sprint("over ", i), State: reconcile.SandboxStopped,
			CreatedAt: noon.Add(-61 * time.Minute)})
	}
	lift := world.Inject(simulated.Fault{On: simulated.List, Skip: 2, Count: 1, Effect: simulated.Answer, Status: 500})
	listing, err := p.List(t.Context(), func([]reconcile.Sandbox) error { return nil })
	if err != nil || listing.Complete || !slices.Equal(listing.Missing, []string{"recently changed"}) {
		t.Errorf("List = %+v, %v; want it to lack one part", listing, err)
	}
	lift()
	if got, _ := names(t, p); len(got) != 1 {
		t.Errorf("it lists %v, want what a far look shows", got)
	}
}

// A session that changes its state between the parts of a listing is in one of them.
func TestListingMeetsWhatMoves(t *testing.T) {
	for name, test := range map[string]struct {
		from, to       string
		state, becomes reconcile.SandboxState
	}{
		"from pending to running":      {"pending", "running", reconcile.SandboxCreating, reconcile.SandboxRunning},
		"from running to stopping":     {"running", "stopping", reconcile.SandboxRunning, reconcile.SandboxDeleting},
		"from running to snapshotting": {"running", "snapshotting", reconcile.SandboxRunning, reconcile.SandboxDeleting},
		"from running to a new word":   {"running", "hibernating", reconcile.SandboxRunning, reconcile.SandboxUnknown},
	} {
		p, world, clock := lab(t, verceltest.Options{})
		for i := range pageSize {
			world.Put(simulated.Sandbox{Name: fmt.Sprintf("other-%02d", i), CreatedAt: noon.Add(-2 * time.Hour)})
		}
		b := world.Put(simulated.Sandbox{Name: "moves", Raw: test.from, State: test.state, CreatedAt: noon.Add(-time.Hour)})
		met := 0
		listing, err := p.List(t.Context(), func(page []reconcile.Sandbox) error {
			clock.Advance(time.Second)
			world.Change(b.ID, func(s *simulated.Sandbox) { s.Raw, s.State, s.UpdatedAt = test.to, test.becomes, clock.Now() })
			for _, s := range page {
				if s.ID == b.ID {
					met++
				}
			}
			return nil
		})
		if err != nil || !listing.Complete || met != 1 {
			t.Errorf("%s: it was listed %d times, %+v, %v; want once", name, met, listing, err)
		}
	}
}

// A resumed sandbox is another session: another sandbox, under the same name.
func TestResumedIsAnother(t *testing.T) {
	p, world, clock := lab(t, verceltest.Options{})
	mark := map[string]string{"project": "mine", "task_id": "t1"}
	first := world.Put(simulated.Sandbox{Name: "task-1", Labels: mark, CreatedAt: noon.Add(-48 * time.Hour)})
	seen, err := p.Get(t.Context(), first.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := world.Destroy(first.ID); err != nil {
		t.Fatal(err)
	}
	second := world.Put(simulated.Sandbox{Name: "task-1", Labels: mark})
	var listed []reconcile.Sandbox
	if _, err := p.List(t.Context(), func(page []reconcile.Sandbox) error { listed = append(listed, page...); return nil }); err != nil {
		t.Fatal(err)
	}
	if len(listed) != 1 || listed[0].ID != second.ID || listed[0].Task != "t1" || !listed[0].CreatedAt.Equal(noon) {
		t.Errorf("listed %+v, want the second session alone, as young as it is", listed)
	}
	if got, err := p.Get(t.Context(), first.ID); err != nil || got.State != reconcile.SandboxEnded || !got.Owned {
		t.Errorf("Get of the first session = %+v, %v; want it ended", got, err)
	}
	if how, err := p.Terminate(t.Context(), seen); err != nil || how != reconcile.TerminateGone {
		t.Errorf("Terminate of the first session = %q, %v; want gone", how, err)
	}
	if now, _ := world.Sandbox(second.ID); now.State != reconcile.SandboxRunning || len(world.Destructive()) != 0 {
		t.Errorf("the second session is %s after %v, want it left alone", now.State, world.Destructive())
	}
	found, err := p.Find(t.Context(), "t1")
	if err != nil || len(found) != 1 || found[0].ID != second.ID {
		t.Errorf("Find = %+v, %v; want the second session alone", found, err)
	}
	clock.Advance(time.Second)
}

// Where records are deleted, all of them are listed, also what rests.
func TestListingOfRecords(t *testing.T) {
	p, world, _ := lab(t, verceltest.Options{}, "terminate", "record")
	world.Put(simulated.Sandbox{Name: "old", State: reconcile.SandboxStopped, CreatedAt: noon.Add(-900 * time.Hour)})
	world.Put(simulated.Sandbox{Name: "broken", State: reconcile.SandboxFailed, CreatedAt: noon.Add(-800 * time.Hour)})
	world.Put(simulated.Sandbox{Name: "at work"})
	got, listing := names(t, p)
	if diff := cmp.Diff([]string{"at work running", "broken failed", "old stopped"}, got); diff != "" || !listing.Complete {
		t.Errorf("listing %+v (-want +got):\n%s", listing, diff)
	}
}

// An answer that is no page proves nothing.
func TestOddPages(t *testing.T) {
	const list = "GET /v2/sandboxes"
	item := `{"name":"a","currentSessionId":"sbx_1","status":"running","statusUpdatedAt":1}`
	for name, test := range map[string]struct{ says, want string }{
		"well":                  {`{"sandboxes":[` + item + `],"pagination":{"count":1,"next":null}}`, ""},
		"well, without a next":  {`{"sandboxes":[` + item + `],"pagination":{"count":1}}`, ""},
		"nothing":               {`{}`, "no page"},
		"no sandboxes":          {`{"pagination":{"count":0,"next":null}}`, "no page"},
		"no pagination":         {`{"sandboxes":[]}`, "no page"},
		"null":                  {`null`, "no page"},
		"an item without name":  {`{"sandboxes":[{"currentSessionId":"sbx_1"}],"pagination":{"next":null}}`, "item 0"},
		"an item without id":    {`{"sandboxes":[{"name":"a"}],"pagination":{"next":null}}`, "item 0"},
		"a list of other types": {`{"sandboxes":{"a":1},"pagination":{"next":null}}`, "no page"},
		"a wrong project":       {"404 not_found Project not found.", "Project not found"},
		"a page of HTML":        {"text/html: <html>", "not an answer of the API"},
	} {
		s := &script{says: map[string]string{list: test.says}}
		listing, err := s.provider(t).List(t.Context(), func([]reconcile.Sandbox) error { return nil })
		switch {
		case test.want == "" && (err != nil || !listing.Complete):
			t.Errorf("%s: List = %+v, %v; want it complete", name, listing, err)
		case test.want != "" && (err == nil || listing.Complete || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: List = %+v, %v; want an error: %s", name, listing, err, test.want)
		case errors.Is(err, reconcile.ErrNotFound):
			t.Errorf("%s: List = %v, want no word of anything gone", name, err)
		}
	}
}

// A page without items that leads to another is not the end of what changed lately.
func TestEmptyPageIsNotTheEnd(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v2/sandboxes", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch q := r.URL.Query(); {
		case q.Get("sortBy") != "statusUpdatedAt":
			_, _ = io.WriteString(w, `{"sandboxes":[],"pagination":{"next":null}}`)
		case q.Get("cursor") == "":
			_, _ = io.WriteString(w, `{"sandboxes":[],"pagination":{"next":"c"}}`)
		default:
			_, _ = fmt.Fprintf(w, `{"sandboxes":[{"name":"a","currentSessionId":"sbx_1","status":"pending","statusUpdatedAt":%d}],`+
				`"pagination":{"next":null}}`, time.Now().UnixMilli())
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	p, err := New(entry.Entry{Name: "lab", URL: server.URL, Token: "secret-key",
		Extra: map[string]string{"team": "team_1", "project": "prj_1"}}, entry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, listing := names(t, p); len(got) != 1 || !listing.Complete {
		t.Errorf("List = %v, %+v; want the sandbox of the second page", got, listing)
	}
}

// A caller that left ends a listing between its parts.
func TestListingOfACallerThatLeft(t *testing.T) {
	p, world, _ := lab(t, verceltest.Options{})
	world.Put(simulated.Sandbox{})
	ctx, cancel := context.WithCancel(t.Context())
	listing, err := p.List(ctx, func([]reconcile.Sandbox) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) || listing.Complete {
		t.Errorf("List = %+v, %v; want it cancelled", listing, err)
	}
}
