package dockertest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// events are what the engine still remembers of one container, each on a line, up to an end that was asked for. It
// forgets nothing here: what is to be forgotten has no record in the world.
func (s *Server) events(x wiretest.Exchange) {
	filters, err := filtersOf(x.R)
	if err == nil && len(filters["container"]) == 0 {
		s.stream(x, filters["label"])
		return
	}
	until, noEnd := strconv.ParseInt(x.R.URL.Query().Get("until"), 10, 64)
	if err != nil || noEnd != nil || len(filters["container"]) != 1 {
		s.fail(x.W, x.R, http.StatusNotImplemented, "the simulator tells the events of one container, until a time")
		return
	}
	x.W.Header().Set("Content-Type", "application/json")
	x.W.WriteHeader(http.StatusOK)
	b, err := s.world.Died(filters["container"][0])
	if err != nil || b.EndedAt.Unix() > until {
		return
	}
	for _, action := range actionsOf(b) {
		line, _ := json.Marshal(map[string]any{ // texts and numbers always encode
			"status": action, "id": b.ID, "Type": "container", "Action": action, "scope": "local",
			"Actor": map[string]any{"ID": b.ID, "Attributes": map[string]string{"image": s.image1(b), "name": b.FormerName(),
				"exitCode": fmt.Sprint(exitOf(b))}},
			"time": b.EndedAt.Unix(), "timeNano": b.EndedAt.UnixNano()})
		_, _ = x.W.Write(append(line, '\n')) // the client may have left
	}
}

// stream tells of ends as they happen, until the client leaves: of containers with these labels that run now, or begin
// to.
func (s *Server) stream(x wiretest.Exchange, labels []string) {
	x.W.Header().Set("Content-Type", "application/json")
	x.W.WriteHeader(http.StatusOK)
	out := http.NewResponseController(x.W)
	running := map[string]bool{}
	for {
		now := map[string]bool{}
		for _, b := range s.world.Sandboxes() {
			now[b.ID] = b.State == reconcile.SandboxRunning && !slices.ContainsFunc(labels, func(label string) bool {
				key, value, _ := strings.Cut(label, "=")
				return b.Labels[key] != value
			})
		}
		for id := range running {
			if !now[id] {
				line, _ := json.Marshal(map[string]any{"Type": "container", "Action": "die", "Actor": map[string]any{"ID": id}})
				_, _ = x.W.Write(append(line, '\n')) // the client may have left
			}
		}
		running = now
		maps.DeleteFunc(running, func(_ string, runs bool) bool { return !runs })
		_ = out.Flush()
		select {
		case <-x.R.Context().Done():
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func actionsOf(b simulated.Sandbox) (out []string) {
	switch b.EndedFor {
	case "oom":
		out = append(out, "oom")
	case "request":
		out = append(out, "kill")
	}
	return append(out, "die", "destroy")
}

// exitOf is the code that a container of the world ended with.
func exitOf(b simulated.Sandbox) int {
	if b.EndedFor == "oom" {
		return 137
	}
	return 0
}
