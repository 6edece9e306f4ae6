package serve

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"testing"
)

// TestHealth: the health checks, and nothing of the page, for anybody, until it is told to end.
func TestHealth(t *testing.T) {
	l, err := Listen(t.Context(), "web.health", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	pages := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "page "+r.URL.Path) })
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Health(ctx, l, pages, slog.New(slog.DiscardHandler)) }()
	for path, want := range map[string]int{
		"/healthz": 200, "/readyz": 200, "/": 404, "/metrics": 404, "/api/v1/status": 404, "/healthz/x": 404, "/static/page.css": 404,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String()+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, answer.StatusCode, want)
		}
	}
	end()
	if err := <-ended; err != nil {
		t.Errorf("it ends with %v", err)
	}
}
