package agentuitytest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// A creation is the body of a create.
type creation struct {
	ProjectID, Name, Description, Snapshot string
	Timeout                                struct{ Idle, Execution, Paused string }
	Metadata                               map[string]any
	Files                                  []file
	Env                                    map[string]string
	Command                                *struct {
		Exec []string
		Mode string
	}
}

type file struct{ Path, Content string }

func (s controls) create(q *request) {
	var in creation
	if json.Unmarshal(q.Body, &in) != nil {
		q.fail(http.StatusBadRequest, "", "invalid request body")
		return
	}
	want := simulated.Sandbox{Name: in.Name, Template: in.Snapshot, Region: q.region, Labels: map[string]string{},
		Disk: map[string]string{}}
	for key, value := range in.Metadata {
		want.Labels[key] = fmt.Sprint(value)
	}
	if in.ProjectID != "" {
		want.Labels[projectLabel] = in.ProjectID
	}
	store(want.Disk, in.Files)
	b, err := s.world.Create(want)
	if err != nil {
		s.failed(q, err)
		return
	}
	s.mu.Lock()
	s.envs[b.ID] = maps.Clone(in.Env)
	s.mu.Unlock()
	out := map[string]any{"sandboxId": b.ID, "status": word(b), "stdoutStreamId": "stream_" + b.ID,
		"stdoutStreamUrl": s.streamOf(q.R, b.ID, "stdout"), "stderrStreamUrl": s.streamOf(q.R, b.ID, "stderr")}
	q.data(http.StatusCreated, out)
}

// store writes files as clients send them.
func store(disk map[string]string, files []file) {
	for _, f := range files {
		if text, err := base64.StdEncoding.DecodeString(f.Content); err == nil {
			disk[inHome(f.Path)] = string(text)
		}
	}
}

// inHome makes a path whole: what is relative is in the home folder.
func inHome(path string) string {
	if strings.HasPrefix(path, "/") {
		return path
	}
	return strings.TrimSuffix("/home/agentuity/"+path, "/")
}

func (s controls) env(q *request) {
	var in struct{ Env map[string]*string }
	if _, err := s.look(q.id); err != nil || json.Unmarshal(q.Body, &in) != nil {
		s.missing(q)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := map[string]string{}
	maps.Copy(now, s.envs[q.id])
	for key, value := range in.Env {
		delete(now, key)
		if value != nil {
			now[key] = *value
		}
	}
	s.envs[q.id] = now
	q.data(http.StatusOK, map[string]any{"env": now})
}

// stats are the organization's totals over all regions.
func (s controls) stats(q *request) {
	count := map[string]int{}
	for _, b := range s.world.Sandboxes() {
		count[word(b)]++
	}
	if q.R.PathValue("org") != s.o.Org {
		q.fail(http.StatusForbidden, "FORBIDDEN", "not a member of that organization")
		return
	}
	q.data(http.StatusOK, map[string]any{"services": map[string]any{"sandbox": map[string]any{
		"totalActive": count["idle"] + count["running"] + count["creating"], "running": count["running"],
		"idle": count["idle"], "creating": count["creating"], "totalExecutions": s.made, "totalCpuTimeMs": 0,
		"totalMemoryByteSec": 0, "totalNetworkEgressBytes": 0,
	}}})
}
