package docker

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// recordedEvents are what an engine (20.10) says of a container that is made, probed, killed and removed, with the
// fields that are not used left out, and what Podman says of one.
const recordedEvents = `{"Type":"container","Action":"create","Actor":{"ID":"` + id1 + `"},"timeNano":1}
{"Type":"container","Action":"exec_die","Actor":{"ID":"` + id1 + `","Attributes":{"exitCode":"0"}},"timeNano":2}
{"Type":"container","Action":"kill","Actor":{"ID":"` + id1 + `","Attributes":{"signal":"9"}},"timeNano":3}
{"Type":"container","Action":"die","Actor":{"ID":"` + id1 + `","Attributes":{"exitCode":"137"}},"timeNano":4}
{"Type":"container","Action":"died","Actor":{"ID":"` + id2 + `"},"timeNano":5}
{"Type":"container","Action":"remove","Actor":{"ID":"a name"},"timeNano":6}
`

// TestStream: ends are told of by full ids, all else is not; a stream that ends is opened again, one that says something
// else is an error.
func TestStream(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		want   []string
		well   bool
	}{
		"events":            {200, recordedEvents, []string{id1, id2}, true},
		"nothing":           {200, "", nil, true},
		"a page":            {200, "<html>", nil, false},
		"an endless line":   {200, strings.Repeat("x", 2<<20), nil, false},
		"what is refused":   {403, `{"message":"no"}`, nil, false},
		"what is not there": {404, `{"message":"page not found"}`, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			var asked string
			p := before(t, func(w http.ResponseWriter, r *http.Request) {
				asked = r.URL.Query().Get("filters") + " " + r.URL.Query().Get("until")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			var got []string
			opened := false
			err := p.Stream(t.Context(), func() { opened = true }, func(id string) { got = append(got, id) })
			if (err == nil) != c.well || !slices.Equal(got, c.want) || opened != (c.status == 200) {
				t.Errorf("Stream told of %v, %v, opened %t; want %v", got, err, opened, c.want)
			}
			if filters, until, _ := strings.Cut(asked, " "); !strings.Contains(filters, `"type":["container"]`) || until == "" {
				t.Errorf("it asked for the events %s", asked)
			}
		})
	}
}
