package e2btest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

func (q *request) sample(u reconcile.Resources, at time.Time) object {
	return object{
		"timestamp": stamp(at), "timestampUnix": at.Unix(), "cpuCount": 2,
		"cpuUsedPct": u.CPUPercent, "memUsed": u.MemoryUsed, "memTotal": u.MemoryTotal, "memCache": 0,
		"diskUsed": u.DiskUsed, "diskTotal": u.DiskTotal,
	}
}

// metrics are two measurements: a former one, when nothing was going on, and the last.
func (s *Server) metrics(q *request) {
	if _, err := s.look(q.id); err != nil {
		q.failed(err)
		return
	}
	u, trouble := s.world.Measure(q.id)
	if trouble == simulated.NotRunning {
		q.json(http.StatusOK, []object{})
		return
	}
	before := reconcile.Resources{CPUPercent: 1, MemoryUsed: 1 << 20, MemoryTotal: u.MemoryTotal, DiskTotal: u.DiskTotal}
	q.json(http.StatusOK, []object{q.sample(before, q.world.Now().Add(-5*time.Second)), q.sample(u, q.world.Now())})
}

func (s *Server) batch(q *request) {
	out := object{}
	for _, id := range strings.Split(q.URL.Query().Get("sandbox_ids"), ",") {
		if u, trouble := s.world.Measure(short(id)); trouble != simulated.Unknown && trouble != simulated.NotRunning {
			out[id] = q.sample(u, q.world.Now())
		}
	}
	q.json(http.StatusOK, object{"sandboxes": out})
}

// logs are what the sandbox printed, line by line, a second apart.
func (s *Server) logs(q *request) {
	b, err := s.look(q.id)
	if err != nil {
		q.failed(err)
		return
	}
	out := []object{}
	for i, line := range strings.Split(strings.TrimSuffix(b.Log, "\n"), "\n") {
		if line != "" {
			out = append(out, object{"timestamp": stamp(b.CreatedAt.Add(time.Duration(i+1) * time.Second)),
				"message": line, "level": "info", "fields": object{}})
		}
	}
	if q.URL.Query().Get("direction") == "backward" {
		slices.Reverse(out)
	}
	q.json(http.StatusOK, object{"logs": out[:min(len(out), number(q.URL.Query().Get("limit"), 1000))]})
}

// An event is one thing that happened to a sandbox.
type event struct {
	sandbox, kind string
	at            time.Time
}

func (s *Server) note(id, kind string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, event{id, kind, s.world.Now()})
}

// eventsOf are what happened, newest first unless asked otherwise. What the world holds
// without a call was created, too.
func (s *Server) eventsOf(q *request) {
	s.mu.Lock()
	seen := slices.Clone(s.events)
	s.mu.Unlock()
	seen = slices.DeleteFunc(seen, func(e event) bool { return q.id != "" && e.sandbox != q.id })
	if b, ok := s.world.Sandbox(q.id); ok && (len(seen) == 0 || seen[0].kind != "created") {
		seen = slices.Insert(seen, 0, event{b.ID, "created", b.CreatedAt})
	}
	ended, err := s.world.Died(q.id)
	if err == nil && !slices.ContainsFunc(seen, func(e event) bool { return e.kind == "killed" }) {
		seen = append(seen, event{q.id, "killed", ended.EndedAt})
	}
	v := q.URL.Query()
	if v.Get("orderAsc") != "true" {
		slices.Reverse(seen)
	}
	seen = seen[min(len(seen), number(v.Get("offset"), 0)):]
	out := []object{}
	for _, e := range seen[:min(len(seen), number(v.Get("limit"), 10))] {
		out = append(out, object{"version": "v2", "id": "evt-" + strconv.Itoa(len(out)), "eventData": dataOf(e, ended),
			"type": "sandbox.lifecycle." + e.kind, "sandboxId": e.sandbox, "sandboxTeamId": Team,
			"sandboxBuildId": "build-1", "sandboxExecutionId": "execution-1", "sandboxTemplateId": public,
			"timestamp": stamp(e.at)})
	}
	q.json(http.StatusOK, out)
}

// dataOf is what a kill says of its reason: one of the vendor's words. Other events may say nothing.
func dataOf(e event, b simulated.Sandbox) any {
	if e.kind != "killed" {
		return nil
	}
	why := b.EndedFor
	if !slices.Contains([]string{"request", "timeout", "admin", "orphaned"}, why) {
		why = "unknown"
	}
	return object{"kill_reason": why, "execution": object{"started_at": stamp(b.CreatedAt)}}
}

func (s *Server) team(q *request) {
	if q.PathValue("id") != Team {
		q.fail(http.StatusForbidden, "You (team "+Team+") are not authorized to access this team's ("+
			q.PathValue("id")+") metrics")
		return
	}
	running := 0
	for _, b := range q.world.Sandboxes() {
		if b.State == reconcile.SandboxRunning {
			running++
		}
	}
	q.json(http.StatusOK, []object{{"timestamp": stamp(q.world.Now()), "timestampUnix": q.world.Now().Unix(),
		"concurrentSandboxes": running, "sandboxStartRate": 0}})
}
