package kubernetes

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/providertest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// podEvent is an event of a watch.
func podEvent(what, name, status string) string {
	return `{"type":"` + what + `","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"` + name +
		`","namespace":"agents","uid":"uid-` + name + `","resourceVersion":"7","labels":{"project":"mine"}},"status":` + status + "}}\n"
}

// TestStream: what is deleted or over is told of, by the id that a listing gives it; what runs is not. A watch that the
// server ends with an error is an error.
func TestStream(t *testing.T) {
	const runs, over = `{"phase":"Running"}`, `{"phase":"Failed","reason":"Evicted"}`
	events := podEvent("ADDED", "a", runs) + podEvent("MODIFIED", "a", runs) + podEvent("ADDED", "b", over) +
		podEvent("DELETED", "c", runs)
	gone := `{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}` + "\n"
	for name, c := range map[string]struct {
		body string
		want int
		well bool
	}{"events": {events, 4, true}, "nothing": {"", 0, true}, "the past is gone": {events + gone, 4, false}, "a page": {"<html>", 0, false}} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var asked []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				asked = append(asked, r.URL.Path+"?"+r.URL.Query().Get("watch")+r.URL.Query().Get("labelSelector"))
				mu.Unlock()
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, c.body)
			}))
			defer server.Close()
			e := providertest.Entry("kubernetes", Abilities)
			e.URL, e.Extra = server.URL, map[string]string{"namespace": "agents,more", "stream": "on"}
			p, err := New(e, entry.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var told []string
			err = reconcile.CapabilitiesOf(p).Streams.Stream(t.Context(), func() {}, func(id string) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, id)
			})
			server.Close() // a watch that failed ends the others while they are being answered
			slices.Sort(told)
			if (err == nil) != c.well {
				t.Errorf("Stream = %v", err)
			}
			if c.well && len(told) != c.want || slices.ContainsFunc(told, func(id string) bool { return strings.Contains(id, "uid-a") }) {
				t.Errorf("it told of %v, want b and c of each namespace", told)
			}
			slices.Sort(asked)
			want := []string{"/api/v1/namespaces/agents/pods?1project=mine", "/api/v1/namespaces/more/pods?1project=mine"}
			if c.well && !slices.Equal(asked, want) {
				t.Errorf("it asked for %v, want %v", asked, want)
			}
		})
	}
}
