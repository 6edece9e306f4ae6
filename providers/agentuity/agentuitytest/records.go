package agentuitytest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

func (s *Server) recordRoutes(handle router) {
	handle("GET /sandbox/execution/{execution}", simulated.Queue, s.execution)
	handle("GET /sandbox/sandboxes/{id}/executions", simulated.Queue, s.executions)
	handle("GET /sandbox/sandboxes/{id}/jobs", simulated.Queue, s.listJobs)
	handle("POST /sandbox/sandboxes/{id}/jobs", simulated.Label, s.createJob)
	handle("GET /sandbox/sandboxes/{id}/jobs/{job}", simulated.Queue, s.job)
	handle("DELETE /sandbox/sandboxes/{id}/jobs/{job}", simulated.Label, s.stopJob)
	handle("GET /sandbox/sandboxes/{id}/events", simulated.LogsOf, s.events)
}

// An execution is one command that a sandbox was asked to run.
type execution struct {
	ID          string   `json:"executionId"`
	Sandbox     string   `json:"sandboxId"`
	Type        string   `json:"type"`
	Status      string   `json:"status"`
	Command     []string `json:"command"`
	ExitCode    *int     `json:"exitCode,omitempty"`
	StartedAt   string   `json:"startedAt,omitempty"`
	CompletedAt string   `json:"completedAt,omitempty"`
	Error       string   `json:"error,omitempty"`

	asked  time.Time
	output string
}

// A job is a command that goes on behind others.
type job struct {
	ID          string   `json:"jobId"`
	Sandbox     string   `json:"sandboxId"`
	Command     []string `json:"command"`
	Status      string   `json:"status"`
	ExitCode    *int     `json:"exitCode"`
	StartedAt   *string  `json:"startedAt"`
	CompletedAt *string  `json:"completedAt"`
}

func (s *Server) began(sandbox string, command []string) *execution {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := &execution{ID: "exe_" + hex(s.next()), Sandbox: sandbox, Type: "exec", Status: "queued", Command: command,
		asked: s.world.Now()}
	s.ran[sandbox] = append(s.ran[sandbox], e)
	return e
}

func (s *Server) ended(e *execution, status string, r simulated.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.Status, e.output = status, r.Output
	e.StartedAt, e.CompletedAt = stamp(s.world.Now()), stamp(s.world.Now())
	switch status {
	case "completed":
		e.ExitCode = &r.Exit
	case "failed":
		e.Error = r.Output
	}
}

// left leaves an execution in the sandbox's queue, where the world shows it.
func (s *Server) left(e *execution) {
	s.world.Change(e.Sandbox, func(b *simulated.Sandbox) { b.Queued = append(slices.Clone(b.Queued), e.asked) })
}

// count is how many executions were made here and are over.
func (s *Server) count(sandbox string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, e := range s.ran[sandbox] {
		if e.Status != "queued" {
			n++
		}
	}
	return n
}

// of are the executions of a sandbox, newest first: those that were asked for here, and
// those that the world says are queued or running. What left the world's queue was forgotten.
func (s *Server) of(b simulated.Sandbox) []*execution {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*execution
	ours := slices.Clone(s.ran[b.ID])
	for i, asked := range b.Queued {
		at := slices.IndexFunc(ours, func(e *execution) bool { return e.Status == "queued" && e.asked.Equal(asked) })
		if at >= 0 {
			all = append(all, ours[at])
			ours = slices.Delete(ours, at, at+1)
			continue
		}
		all = append(all, &execution{ID: fmt.Sprintf("exe_queued%d%s", i, b.ID[max(0, len(b.ID)-12):]), Sandbox: b.ID,
			Type: "exec", Status: "queued", Command: []string{"bun", "run", "task.ts"}, asked: asked})
	}
	all = append(all, slices.DeleteFunc(ours, func(e *execution) bool { return e.Status == "queued" })...)
	slices.SortStableFunc(all, func(a, b *execution) int { return b.asked.Compare(a.asked) })
	for i := range b.Running {
		all = append(all, &execution{ID: fmt.Sprintf("exe_running%d%s", i, b.ID[max(0, len(b.ID)-12):]), Sandbox: b.ID,
			Type: "exec", Status: "running", Command: []string{"bun", "run", "task.ts"}, StartedAt: stamp(b.CreatedAt)})
	}
	return all
}

func (s *Server) executions(q *request) {
	b, err := s.look(q.id)
	if err != nil {
		s.failed(q, err)
		return
	}
	all := s.of(b)
	limit, _ := paging(q.R)
	q.data(http.StatusOK, map[string]any{"executions": append([]*execution{}, all[:min(limit, len(all))]...)})
}

// execution is one execution; the answer is held back while it is queued or running.
func (s *Server) execution(q *request) {
	id := q.R.PathValue("execution")
	wait, _ := time.ParseDuration(q.R.URL.Query().Get("wait"))
	var now *execution
	q.until(min(wait, mostWait), func() bool {
		now = s.executionOf(id)
		return now == nil || now.Status != "queued" && now.Status != "running"
	})
	if now == nil {
		q.fail(http.StatusNotFound, "EXECUTION_NOT_FOUND", "execution not found")
		return
	}
	q.data(http.StatusOK, now)
}

// executionOf is a copy of one execution as it is now.
func (s *Server) executionOf(id string) *execution {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ran := range s.ran {
		if at := slices.IndexFunc(ran, func(e *execution) bool { return e.ID == id }); at >= 0 {
			e := *ran[at]
			return &e
		}
	}
	return nil
}

// events tell of the sandbox's life, and of each execution that waits.
func (s *Server) events(q *request) {
	b, err := s.world.Died(q.id)
	over := err == nil
	if !over {
		b, err = s.look(q.id)
	}
	if err != nil {
		s.failed(q, err)
		return
	}
	out := []map[string]any{event(b, 0, "create", b.CreatedAt, map[string]any{})}
	for i, e := range s.of(b) {
		if e.Status == "queued" {
			out = append(out, event(b, i+1, "execution:queued", e.asked, map[string]any{"executionId": e.ID}))
		}
	}
	switch {
	case over:
		out = append(out, event(b, len(out), "destroy", b.EndedAt, map[string]any{"reason": b.EndedFor}))
	case !b.UpdatedAt.Equal(b.CreatedAt):
		out = append(out, event(b, len(out), "lifecycle:"+word(b), b.UpdatedAt, map[string]any{}))
	}
	slices.SortStableFunc(out, func(a, b map[string]any) int {
		return compareText(a["createdAt"], b["createdAt"])
	})
	if q.R.URL.Query().Get("direction") == "desc" {
		slices.Reverse(out)
	}
	limit, _ := paging(q.R)
	q.data(http.StatusOK, map[string]any{"events": out[:min(limit, len(out))]})
}

func compareText(a, b any) int {
	x, y := fmt.Sprint(a), fmt.Sprint(b)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

func event(b simulated.Sandbox, n int, kind string, at time.Time, payload map[string]any) map[string]any {
	return map[string]any{"eventId": "evt_" + strconv.Itoa(n), "sandboxId": b.ID, "type": kind, "event": payload,
		"createdAt": stamp(at)}
}

// PutJob gives a sandbox a job that has been running since a moment.
func (s *Server) PutJob(sandbox string, since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.startJob(sandbox, []string{"bun", "run", "dev"}, since)
}

func (s *Server) startJob(sandbox string, command []string, since time.Time) *job {
	at := stamp(since)
	j := &job{ID: "job_" + hex(s.next()), Sandbox: sandbox, Command: command, Status: "running", StartedAt: &at}
	s.jobs[sandbox] = append(s.jobs[sandbox], j)
	return j
}

func (s *Server) listJobs(q *request) {
	if _, err := s.look(q.id); err != nil {
		s.failed(q, err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q.data(http.StatusOK, map[string]any{"jobs": append([]*job{}, s.jobs[q.id]...)})
}

func (s *Server) createJob(q *request) {
	var in struct{ Command []string }
	if _, err := s.look(q.id); err != nil || json.Unmarshal(q.Body, &in) != nil {
		s.missing(q)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q.data(http.StatusCreated, s.startJob(q.id, in.Command, s.world.Now()))
}

// jobOf is the job that a call is about.
func (s *Server) jobOf(q *request) *job {
	at := slices.IndexFunc(s.jobs[q.id], func(j *job) bool { return j.ID == q.R.PathValue("job") })
	if at < 0 {
		q.fail(http.StatusNotFound, "JOB_NOT_FOUND", "job not found")
		return nil
	}
	return s.jobs[q.id][at]
}

func (s *Server) job(q *request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.jobOf(q); j != nil {
		q.data(http.StatusOK, j)
	}
}

func (s *Server) stopJob(q *request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.jobOf(q); j != nil {
		at := stamp(s.world.Now())
		j.Status, j.CompletedAt = "cancelled", &at
		q.data(http.StatusOK, j)
	}
}
