package agentuitytest

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

func (s *Server) snapshotRoutes(handle router) {
	handle("GET /sandbox/snapshots", simulated.Snapshot, s.snapshots)
	handle("GET /sandbox/snapshots/{snapshot}", simulated.Snapshot, s.snapshot)
	handle("GET /sandbox/snapshots/lineage", simulated.Snapshot, s.lineage)
	handle("POST /sandbox/{id}/snapshot", simulated.Create, s.createSnapshot)
	handle("DELETE /sandbox/snapshots/{snapshot}", simulated.Activate, s.deleteSnapshot)
	handle("GET /sandbox/runtimes", simulated.AccountOf, s.runtimes)
}

// snapshotID is the id of the snapshot of a name, also when there is none.
func snapshotID(name string) string {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(name)) // never fails
	return fmt.Sprintf("snp_%016x%044x", sum.Sum64(), len(name))
}

// template is the template that a name, a name with its tag, or an id means.
func (s *Server) template(ref string) (simulated.Template, bool) {
	name := strings.TrimSuffix(ref, ":latest")
	all := s.world.Templates()
	at := slices.IndexFunc(all, func(t simulated.Template) bool { return t.Name == name || snapshotID(t.Name) == ref })
	if at < 0 {
		return simulated.Template{}, false
	}
	return all[at], true
}

func snapshotDTO(t simulated.Template) map[string]any {
	return map[string]any{"snapshotId": snapshotID(t.Name), "name": t.Name, "tag": "latest", "sizeBytes": 1 << 20,
		"fileCount": 12, "public": false, "createdAt": stamp(t.CreatedAt), "parentSnapshotId": nil}
}

func (s *Server) snapshots(q *request) {
	items := []map[string]any{}
	for _, t := range s.world.Templates() {
		items = append(items, snapshotDTO(t))
	}
	q.data(http.StatusOK, map[string]any{"snapshots": items, "total": len(items)})
}

// snapshot takes an id only.
func (s *Server) snapshot(q *request) {
	id := q.R.PathValue("snapshot")
	t, ok := s.template(id)
	if !ok || snapshotID(t.Name) != id {
		q.fail(http.StatusNotFound, "SNAPSHOT_NOT_FOUND", "snapshot not found")
		return
	}
	q.data(http.StatusOK, snapshotDTO(t))
}

// lineage leads from a snapshot to its root. One that was deleted is still shown, as that:
// a template of the world whose word is "deleted".
func (s *Server) lineage(q *request) {
	v := q.R.URL.Query()
	ref := v.Get("snapshot")
	if ref == "" {
		ref = strings.TrimSuffix(v.Get("name")+":"+v.Get("tag"), ":")
	}
	items := []map[string]any{}
	if t, ok := s.template(ref); ok {
		dto := snapshotDTO(t)
		if t.Raw == "deleted" {
			dto["deleted"] = true
		}
		items = append(items, dto)
	}
	q.data(http.StatusOK, map[string]any{"lineage": items, "total": len(items)})
}

func (s *Server) createSnapshot(q *request) {
	var in struct{ Name string }
	if _, err := s.look(q.id); err != nil {
		s.failed(q, err)
		return
	}
	_ = json.Unmarshal(q.Body, &in) // all of it is optional
	if in.Name == "" {
		in.Name = "snapshot-of-" + q.id[max(0, len(q.id)-8):]
	}
	q.data(http.StatusCreated, snapshotDTO(s.world.PutTemplate(simulated.Template{Name: in.Name})))
}

func (s *Server) deleteSnapshot(q *request) {
	t, ok := s.template(q.R.PathValue("snapshot"))
	if !ok {
		q.fail(http.StatusNotFound, "SNAPSHOT_NOT_FOUND", "snapshot not found")
		return
	}
	s.world.RemoveTemplate(t.Name)
	q.W.WriteHeader(http.StatusNoContent)
}

func (s *Server) runtimes(q *request) {
	q.data(http.StatusOK, map[string]any{"runtimes": []map[string]any{{"id": "run_1", "name": "bun:1",
		"requirements": map[string]any{"networkEnabled": false}}}, "total": 1})
}
