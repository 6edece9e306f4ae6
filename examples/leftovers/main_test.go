package main

import (
	"bytes"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/providers/daytona/daytonatest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

func TestLeftovers(t *testing.T) {
	world := simulated.New(simulated.Options{})
	put := func(project, task string) string {
		return world.Put(simulated.Sandbox{Labels: map[string]string{"project": project, "task_id": task}}).ID
	}
	known, leaked, theirs := put("mine", "t-1"), put("mine", "t-2"), put("theirs", "t-3")
	server := httptest.NewServer(daytonatest.New(world, daytonatest.Options{Key: "k"}))
	defer server.Close()
	ask := []string{"daytona", server.URL + "/api", "project=mine", "task_id", "t-1"}
	var out bytes.Buffer
	if err := run(t.Context(), ask, "k", &out); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.HasPrefix(got, leaked+"\t") || strings.Contains(got, known) || strings.Contains(got, theirs) {
		t.Errorf("leftovers = %q, want %s alone", got, leaked)
	}
	if d := world.Destructive(); len(d) > 0 {
		t.Errorf("it ended something: %v", d)
	}
	world.Inject(simulated.Fault{On: simulated.List, Effect: simulated.Answer, Status: 403})
	if err := run(t.Context(), ask, "k", &out); err == nil {
		t.Error("a listing that failed is taken for an answer")
	}
}
