package platforms

import (
	"net/http"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/vercel/verceltest"
)

var vercel = vendor{ids: verceltest.ID, serve: func(c *simulated.World) http.Handler {
	return verceltest.New(c, verceltest.Options{})
}}

// coding is the coding-agent template, or its fork, with the example's config.
func coding(t *testing.T, tables string) *platform {
	t.Helper()
	return ready(t, platform{name: tables, config: example(t, "coding-agent-vercel/sandkeeper.yaml", "vercel"), vendor: vercel})
}

// codingTask adds a row, of a user of its own.
func codingTask(w *world, status string, r row) task {
	id := newID()[:21]
	w.insert("users", row{"id": "u-" + id, "provider": "github", "external_id": id, "access_token": "x",
		"username": "ana"})
	w.insert("public.tasks", row{"id": id, "user_id": "u-" + id, "prompt": "fix it", "title": "Fix it",
		"repo_url": "https://github.com/acme/shop", "status": status, "progress": 20, "logs": "[]", "max_duration": 300,
		"created_at": 10 * time.Minute, "updated_at": time.Minute}.with(r))
	return task{"public.tasks", "id", id}
}

// codingAtWork is a task whose agent works in a sandbox: the row moved last when it began.
func codingAtWork(w *world, began time.Duration, r row) (task, string) {
	box := w.cloud.Put(age(began+3*time.Minute, began)).ID
	t := codingTask(w, "processing", row{"created_at": began + 4*time.Minute, "updated_at": began, "sandbox_id": box,
		"sandbox_url": "https://" + box + ".vercel.run", "agent_session_id": "s-1", "progress": 50}.with(r))
	return t, box
}

// codingCompany are two tasks at work that write a line of their logs before each pass.
func codingCompany(w *world) {
	for range 2 {
		t, box := codingAtWork(w, time.Minute, nil)
		w.always(func() { w.touched(t) })
		w.healthy("a task beside it", t, box)
	}
}

// TestCodingAgent are worlds of the coding-agent template with the example's config.
func TestCodingAgent(t *testing.T) {
	p := coding(t, "coding-agent")
	p.play(t, codingHealthy())
	p.play(t, codingBroken())
	p.play(t, codingHealthy().together())
}

// TestCodingAgentFork are worlds of the fork with last_heartbeat, which moves with log lines
// only, once as the column that it is and once as the heartbeat that its name promises.
func TestCodingAgentFork(t *testing.T) {
	p := coding(t, "coding-agent-fork")
	p.play(t, stories{"a column called heartbeat stands still while an agent works": forked})
	p.play(t, stories{"a column called heartbeat is mapped as one": forked},
		"  preset: coding-agent\n", "  preset: coding-agent\n  columns: {heartbeat_at: last_heartbeat}\n")
}

// TestCodingAgentCheck: the example, the real tables and rows in every status are what check
// calls ok.
func TestCodingAgentCheck(t *testing.T) {
	for _, tables := range []string{"coding-agent", "coding-agent-fork"} {
		t.Run(tables, func(t *testing.T) {
			w := coding(t, tables).world(t)
			for _, status := range []string{"pending", "processing", "completed", "error", "stopped"} {
				codingTask(w, status, nil)
			}
			w.checked()
		})
	}
}

func forked(w *world) {
	codingCompany(w)
	for range 2 {
		t, box := codingAtWork(w, 10*time.Minute, row{"last_heartbeat": 10 * time.Minute})
		w.healthy("an agent at work", t, box)
	}
}

func codingHealthy() stories {
	return stories{
		"an agent works for 12 to 15 minutes and no time moves": func(w *world) {
			codingCompany(w)
			t, box := codingAtWork(w, 12*time.Minute, nil)
			w.healthy("an agent at work", t, box)
		},
		"everybody's agent works and no time moves": func(w *world) {
			for _, minutes := range []time.Duration{4, 8, 12, 20, 45} {
				t, box := codingAtWork(w, minutes*time.Minute, nil)
				w.healthy("an agent at work", t, box)
			}
		},
		"set-up is silent for 1½ to 4½ minutes and the row names no sandbox": func(w *world) {
			codingCompany(w)
			t := codingTask(w, "processing", row{"created_at": 2 * time.Minute, "updated_at": 90 * time.Second})
			box := w.cloud.Put(age(80*time.Second, time.Second)).ID
			w.healthy("a task in its set-up", t, box)
		},
		"a task may run for 300 minutes and has run for 280": func(w *world) {
			codingCompany(w)
			t, box := codingAtWork(w, 270*time.Minute, row{"max_duration": 300})
			w.always(func() { w.touched(t) })
			w.healthy("a long task", t, box)
		},
		"a user goes on with yesterday's task":                continued,
		"sandboxes are kept for their users":                  keptForUsers,
		"another team's sandboxes are in the same project":    otherTeam,
		"tasks are finished and their sandboxes stopped long": rested,
	}
}

// touched is a log line.
func (w *world) touched(t task) {
	w.sql("UPDATE tasks SET updated_at = timezone('UTC', now()) - interval '2 seconds' WHERE id = $1", t.id)
}

func continued(w *world) {
	codingCompany(w)
	for _, minutes := range []int{5, 300} {
		box := w.cloud.Put(age(2*time.Minute, time.Second)).ID
		t := codingTask(w, "processing", row{"created_at": 26 * time.Hour, "updated_at": 10 * time.Second,
			"sandbox_id": box, "max_duration": minutes})
		w.always(func() { w.touched(t) })
		w.healthy("a task that its user goes on with", t, box)
	}
}

func keptForUsers(w *world) {
	codingCompany(w)
	for _, status := range []string{"completed", "error"} {
		box := w.cloud.Put(age(150*time.Minute, 2*time.Hour)).ID
		t := codingTask(w, status, row{"created_at": 160 * time.Minute, "updated_at": 2 * time.Hour,
			"completed_at": 2 * time.Hour, "keep_alive": true, "sandbox_id": box, "progress": 100})
		w.healthy("a task whose sandbox its user keeps", t, box)
	}
}

func otherTeam(w *world) {
	codingCompany(w)
	for _, hours := range []time.Duration{1, 5, 40} {
		w.needed("another team", w.cloud.Put(age(hours*time.Hour, time.Hour)).ID)
	}
	stopped := age(50*time.Hour, 20*time.Hour)
	stopped.State, stopped.Name = "stopped", "their-name"
	w.needed("another team, which rests", w.cloud.Put(stopped).ID)
}

func rested(w *world) {
	codingCompany(w)
	s := age(50*time.Hour, 20*time.Hour)
	s.State = "stopped"
	box := w.cloud.Put(s).ID
	t := codingTask(w, "completed", row{"created_at": 51 * time.Hour, "updated_at": 20 * time.Hour,
		"completed_at": 20 * time.Hour, "sandbox_id": box})
	w.healthy("a finished task whose sandbox is stopped", t, box)
}
