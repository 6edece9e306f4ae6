package dockertest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// everything is a page that holds all: an engine has no pages.
const everything = 1 << 30

// words are the engine's words for the states.
var words = map[reconcile.SandboxState]string{
	reconcile.SandboxCreating:  "created",
	reconcile.SandboxRunning:   "running",
	reconcile.SandboxSuspended: "paused",
	reconcile.SandboxStopped:   "exited",
	reconcile.SandboxFailed:    "dead",
	reconcile.SandboxDeleting:  "removing",
}

func raw(b simulated.Sandbox) string {
	if b.Raw != "" {
		return b.Raw
	}
	return words[b.State]
}

// list is newest first.
func (s *Server) list(x wiretest.Exchange) {
	filters, err := filtersOf(x.R)
	for name := range filters {
		if name != "label" && name != "status" && name != "id" {
			err = fmt.Errorf("invalid filter '%s'", name)
		}
	}
	if err != nil {
		s.fail(x.W, x.R, http.StatusBadRequest, err.Error())
		return
	}
	labels, _ := labelsOf(x.R)
	page, _ := s.world.Page(simulated.Query{Limit: everything, Labels: labels}, x.Fault)
	slices.Reverse(page)
	all, _ := strconv.ParseBool(x.R.URL.Query().Get("all"))
	items := []map[string]any{}
	for _, b := range page {
		state := raw(b)
		if ids := filters["id"]; len(ids) > 0 && !strings.HasPrefix(b.ID, ids[0]) {
			continue
		}
		if wanted := filters["status"]; len(wanted) > 0 && !slices.Contains(wanted, state) ||
			len(wanted) == 0 && !all && state != "running" && state != "paused" {
			continue
		}
		items = append(items, s.item(b))
	}
	if limit, err := strconv.Atoi(x.R.URL.Query().Get("limit")); err == nil && limit > 0 {
		items = items[:min(limit, len(items))]
	}
	x.JSON(http.StatusOK, items)
}

func labels(b simulated.Sandbox) map[string]string {
	if b.Labels == nil {
		return map[string]string{}
	}
	return b.Labels
}

// imageID is what an engine would call an image.
func imageID(name string) string { return fmt.Sprintf("sha256:%064x", len(name)) }

func (s *Server) image1(b simulated.Sandbox) string {
	if s.o.Podman && b.Template != "" && b.Template != "base" {
		return "localhost/" + b.Template
	}
	return b.Template
}

// item is a container as a listing shows it.
func (s *Server) item(b simulated.Sandbox) map[string]any {
	network := map[string]any{"IPAMConfig": nil, "Links": nil, "Aliases": nil,
		"NetworkID": imageID("bridge")[7:], "EndpointID": b.ID, "Gateway": "172.17.0.1", "IPAddress": "172.17.0.2",
		"IPPrefixLen": 16, "IPv6Gateway": "", "GlobalIPv6Address": "", "GlobalIPv6PrefixLen": 0,
		"MacAddress": "02:42:ac:11:00:02", "DriverOpts": nil}
	return map[string]any{
		"Id": b.ID, "Names": []string{"/" + b.FormerName()}, "Image": s.image1(b), "ImageID": imageID(b.Template),
		"Command": "/bin/sleep infinity", "Created": b.CreatedAt.Unix(), "Ports": []any{}, "Labels": labels(b),
		"State": raw(b), "Status": "Up 5 minutes", "HostConfig": map[string]any{"NetworkMode": "default"},
		"NetworkSettings": map[string]any{"Networks": map[string]any{"bridge": network}}, "Mounts": []any{},
	}
}

// find is the container by id, by name, or by the beginning of its id.
func (s *Server) find(id string) (simulated.Sandbox, error) {
	b, err := s.world.Look(id)
	if err == nil {
		return b, nil
	}
	for _, b := range s.world.Sandboxes() {
		if len(id) < len(b.ID) && b.ID[:len(id)] == id {
			return b, nil
		}
	}
	return b, err
}

// inspect does not answer while a command of the container hangs.
func (s *Server) inspect(x wiretest.Exchange) {
	b, err := s.find(x.R.PathValue("id"))
	if err != nil {
		s.failed(x, err)
		return
	}
	if s.hangs(b.ID) {
		x.Silence()
		return
	}
	state := raw(b)
	running := state == "running" || state == "paused" || state == "restarting"
	started, finished := b.CreatedAt, time.Time{}
	if state == "created" {
		started = time.Time{}
	}
	if state == "exited" || state == "dead" {
		finished = b.EndedAt
		if finished.IsZero() {
			finished = b.UpdatedAt
		}
	}
	x.JSON(http.StatusOK, map[string]any{
		"Id": b.ID, "Created": stamp(b.CreatedAt), "Path": "/bin/sleep", "Args": []string{"infinity"},
		"Name": "/" + b.FormerName(), "Image": imageID(b.Template), "RestartCount": 0, "Driver": "overlay2",
		"State": map[string]any{
			"Status": state, "Running": running, "Paused": state == "paused", "Restarting": state == "restarting",
			"OOMKilled": b.EndedFor == "oom", "Dead": state == "dead", "Pid": 4711, "ExitCode": exitOf(b), "Error": b.Error,
			"StartedAt": stamp(started), "FinishedAt": stamp(finished),
		},
		"HostConfig": map[string]any{"NetworkMode": "default", "ReadonlyRootfs": false},
		"Config":     map[string]any{"Image": s.image1(b), "Labels": labels(b), "Tty": false},
		"Mounts":     []any{}, "ExecIDs": s.running(b.ID),
	})
}

// running are the ids of the container's executions that run; nil when there are none.
func (s *Server) running(id string) (ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for exec, e := range s.execs {
		if e.container == id && e.running {
			ids = append(ids, exec)
		}
	}
	return ids
}

// stamp is the zero time in the engine's way, too.
func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }

func (s *Server) create(x wiretest.Exchange) {
	var in struct {
		Image  string
		Labels map[string]string
	}
	if json.Unmarshal(x.Body, &in) != nil {
		s.fail(x.W, x.R, http.StatusBadRequest, "invalid JSON")
		return
	}
	if t, err := s.world.TemplateOf(in.Image); err != nil || t.State != reconcile.TemplateActive {
		s.fail(x.W, x.R, http.StatusNotFound, "No such image: "+in.Image)
		return
	}
	name := x.R.URL.Query().Get("name")
	if old, err := s.world.Look(name); err == nil {
		s.fail(x.W, x.R, http.StatusConflict, fmt.Sprintf("Conflict. The container name %q is already in use by "+
			"container %q. You have to remove (or rename) that container to be able to reuse that name.", "/"+name, old.ID))
		return
	}
	b := s.world.Put(simulated.Sandbox{Name: name, Template: in.Image, Labels: in.Labels,
		State: reconcile.SandboxCreating})
	x.JSON(http.StatusCreated, map[string]any{"Id": b.ID, "Warnings": []string{}})
}

// archive is answered from the disk, also for a container that is dead inside.
func (s *Server) archive(x wiretest.Exchange) {
	if _, err := s.find(x.R.PathValue("id")); err != nil {
		x.W.WriteHeader(http.StatusNotFound)
		return
	}
	x.W.Header().Set("X-Docker-Container-Path-Stat", "eyJuYW1lIjoiLyIsInNpemUiOjQwOTYsIm1vZGUiOjIxNDc0ODQxNDF9")
	x.W.WriteHeader(http.StatusOK)
}
