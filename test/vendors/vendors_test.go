package vendors

import (
	"net/http"

	"github.com/sandkeeper/sandkeeper/providers/agentuity/agentuitytest"
	"github.com/sandkeeper/sandkeeper/providers/daytona/daytonatest"
	"github.com/sandkeeper/sandkeeper/providers/e2b/e2btest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/vercel/verceltest"
)

// A vendor is one whose client drives our simulator.
type vendor struct {
	script string // that drives the client
	entry  []string
	base   string // of the API, below the server's address
	serve  func(*simulated.World) http.Handler
	ids    func(n int) string // of the simulated world; nil: UUIDs

	more    []order  // that the client has to be able to, besides those of the story
	folder  string   // in a sandbox, where a user may write
	running string   // the vendor's word for a sandbox at work
	rests   string   // for one that its user stopped or paused
	over    []string // for one that has ended and stays on record
	missing string   // what the client throws where there is no such sandbox
	denied  string   // what it throws where its key is wrong
}

// vendors are those whose clients drive our simulators. Entries are lines of the config, in
// which URL is the server's address.
var vendors = map[string]vendor{
	"agentuity": {
		script: "agentuity.mjs", ids: agentuitytest.IDs,
		entry: []string{"kind: agentuity", "org: org_1", "region: usc", "catalyst: URL", "link: {sandbox: id, required: true}",
			"owns: {name_prefix: mine-, exclusive: true}"},
		serve: func(w *simulated.World) http.Handler {
			return agentuitytest.New(w, agentuitytest.Options{Key: key})
		},
		more:   []order{{Do: "jobs", Command: "echo later"}},
		folder: "/tmp", running: "idle", rests: "paused", over: []string{"terminated", "deleted"},
		missing: "not found", denied: "Invalid credentials",
	},
	"daytona": {
		script: "daytona.mjs", base: "/api",
		entry: []string{"kind: daytona", "owns: {labels: {project: mine}, exclusive: true}",
			"link: {task_label: task_id, sandbox: id}"},
		serve: func(w *simulated.World) http.Handler {
			return daytonatest.New(w, daytonatest.Options{Key: key, TaskLabel: "task_id"})
		},
		more:   []order{{Do: "label", Labels: map[string]string{"project": "theirs", "stage": "2"}}},
		folder: "/tmp", running: "started", rests: "stopped", missing: "DaytonaNotFoundError",
		denied: "DaytonaAuthenticationError",
	},
	"e2b": {
		script: "e2b.mjs", ids: e2btest.ID,
		entry: []string{"kind: e2b", "sandbox_url: URL", "owns: {labels: {project: mine}, exclusive: true}",
			"link: {task_label: task_id, sandbox: id}"},
		serve: func(w *simulated.World) http.Handler {
			return e2btest.New(w, e2btest.Options{Key: key, TaskLabel: "task_id"})
		},
		more:   []order{{Do: "answers"}, {Do: "extend"}},
		folder: "/tmp", running: "running", rests: "paused", missing: "SandboxNotFoundError",
		denied: "AuthenticationError",
	},
	"vercel": {
		script: "vercel.mjs",
		entry: []string{"kind: vercel", "team: team_1", "project: prj_1",
			"owns: {labels: {project: mine}, exclusive: true}", "link: {task_label: task_id, sandbox: name}"},
		serve: func(w *simulated.World) http.Handler {
			return verceltest.New(w, verceltest.Options{Key: key, TaskLabel: "task_id"})
		},
		more:   []order{{Do: "label", Labels: map[string]string{"project": "theirs", "stage": "2"}}, {Do: "extend"}},
		folder: "/tmp", running: "running", rests: "stopped", over: []string{"stopped"}, // its record stays
		missing: "Status code 404", denied: "Not authorized",
	},
}
