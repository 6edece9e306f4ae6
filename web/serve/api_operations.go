package serve

import (
	_ "embed"
	"net/http"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/web/api"
)

// An operation is what a row of the API is for: the query that it knows, and the types of what it takes and answers.
// The document for programs is made from the rows and from this, by a test; a row without an operation fails it.
type operation struct {
	says    string
	query   []string
	takes   any    // of the body; nil: none
	answers any    // nil: an object without a type
	kind    string // of the answer, "": JSON; a stream answers with many of answers
	status  int    // 0: 200
}

// A parameter is one key of a query.
type parameter struct {
	says   string
	enum   []string
	number bool
}

var parameters = map[string]parameter{
	"cursor": {says: "The `next` of the part before."},
	"limit":  {says: "How many rows at most, 1 to 500; 100 when absent.", number: true},
	"state": {says: "Of findings: open (when absent), due, held, watched, resolved. Of actions: open (when absent), " +
		"closed. Of incidents: all (when absent), open, closed. Of tasks: live (when absent), all, or a state. " +
		"Of sandboxes: live (when absent), gone, all, or a state."},
	"rule":     {says: "The name of a rule."},
	"provider": {says: "The name of an entry of the config."},
	"held_by": {says: "What holds it: a kind (budget), a source (listing:daytona), what is named (rule:orphan), " +
		"or its text as it is written."},
	"step": {says: "The step of an action.", enum: []string{"fail", "requeue", "terminate", "quarantine", "resume",
		"restore", "activate"}},
	"outcome": {says: "The outcome of an action.", enum: []string{"pending", "done", "accepted", "confirmed", "withdrawn",
		"failed"}},
	"author":   {says: "The operator who asked for it."},
	"incident": {says: "The id of an incident."},
	"pass":     {says: "The number of a pass: the actions that were begun on its budget.", number: true},
	"text":     {says: "A part of an id or a name."},
	"template": {says: "A template: what sandboxes were made from it, or is about it."},
	"sort": {says: "The column that the list is put in order by, with a minus before it for the other way: " +
		sortable()},
	"reason": {says: "Why; recorded."},
	"target": {says: "What an act is about, as its body has it."},
	"type":   {says: "Of events: only those whose type begins so, as sandkeeper.finding."},

	"include_running": {says: "Also where a task is assigned or runs.", enum: []string{"true", "false"}},
}

var (
	parts = []string{"cursor", "limit"}
	boxes = []string{"cursor", "limit", "state", "template", "text", "provider"}
)

// sortable says which list has which columns.
func sortable() string {
	var all []string
	for _, list := range []string{"findings", "actions", "incidents", "tasks", "sandboxes"} {
		all = append(all, list+" by "+strings.Join(reconcile.Sorts(list, ""), ", "))
	}
	return strings.Join(all, "; ") + ". What is over has no order but its age, or none. Younger ones come first by age."
}

// operations are what programs may ask, by method and path.
var operations = map[string]operation{
	"GET /api/v1/status": {says: "How things are, in numbers", answers: api.Status{}},
	"GET /api/v1/findings": {says: "Findings, newest first", answers: api.List[api.Finding]{},
		query: []string{"cursor", "limit", "sort", "state", "rule", "provider", "held_by", "incident", "template", "text"}},
	"GET /api/v1/incidents": {says: "Incidents, the open ones first", answers: api.List[api.Incident]{},
		query: []string{"cursor", "limit", "sort", "state", "rule", "provider", "template", "text"}},
	"GET /api/v1/incidents/{id}": {says: "One incident", answers: api.Incident{}},
	"GET /api/v1/actions": {says: "Actions, newest first", answers: api.List[api.Action]{},
		query: []string{"cursor", "limit", "sort", "state", "rule", "provider", "step", "outcome", "author", "pass", "text"}},
	"GET /api/v1/actions/{id}": {says: "One action", answers: api.Action{}},
	"GET /api/v1/tasks": {says: "Tasks, by id", answers: api.List[api.Task]{},
		query: []string{"cursor", "limit", "sort", "state", "template", "text"}},
	"GET /api/v1/tasks/{id}": {says: "All that is known of a task", answers: api.History{}},
	"GET /api/v1/sandboxes": {says: "Sandboxes, by provider and id", answers: api.List[api.Sandbox]{},
		query: []string{"cursor", "limit", "sort", "state", "template", "text", "provider"}},
	"GET /api/v1/sandboxes/{provider}/{id}": {says: "All that is known of a sandbox",
		answers: api.History{}},
	"GET /api/v1/passes":     {says: "Passes, newest first", answers: api.List[api.Pass]{}, query: parts},
	"GET /api/v1/passes/{n}": {says: "One pass", answers: api.Pass{}},
	"GET /api/v1/sources": {says: "Where facts come from, and whether they are believed",
		answers: api.List[api.Source]{}},
	"GET /api/v1/rules":        {says: "All rules, in their order", answers: api.List[api.Rule]{}},
	"GET /api/v1/rules/{name}": {says: "One rule", answers: api.Rule{}},
	"GET /api/v1/holds":        {says: "Holds that are in force", answers: api.List[api.Hold]{}},
	"GET /api/v1/pauses":       {says: "Pauses that are in force", answers: api.List[api.Pause]{}},
	"GET /api/v1/requests": {says: "What operators asked for, newest first",
		answers: api.List[api.Request]{}, query: parts},
	"GET /api/v1/openapi.json": {says: "This document"},
	"GET /api/v1/events": {says: "What happens from now on, as server-sent events; Last-Event-ID goes on from one",
		answers: api.CloudEvent{}, kind: "text/event-stream", query: []string{"type"}},

	"GET /api/v1/acts/{verb}": {says: "What an act would do, to be shown before it is asked for", answers: api.Preview{},
		query: []string{"target", "include_running"}},
	"POST /api/v1/acts/{verb}": {says: "Record what an operator asks for; see the verbs", takes: api.Act{},
		answers: api.Done{}, status: http.StatusAccepted},
	"POST /api/v1/nudge": {says: "Something may have happened: look at once", takes: api.Nudge{}, answers: api.Done{},
		status: http.StatusAccepted},
	"POST /api/v1/intents": {says: "Keep a task or a sandbox from being acted on, for a time", takes: api.Intent{},
		answers: api.Done{}, status: http.StatusAccepted},
	"DELETE /api/sandbox/{id}": {says: "Record the termination of one sandbox", query: []string{"reason"},
		answers: api.Done{}, status: http.StatusAccepted},
	"POST /api/sandbox/cleanup": {says: "Make a full pass now; answers with the terminations that are open",
		answers: api.Done{}, status: http.StatusAccepted},
	"POST /api/sandbox/cleanup/emergency": {says: "Record the termination of all sandboxes of the preview whose " +
		"count and hash are repeated", takes: api.Act{}, answers: api.Done{}, status: http.StatusAccepted},

	"GET /api/sandbox/stats": {says: "The runbook's numbers", answers: api.Stats{}},
	"GET /api/sandbox/list":  {says: "The runbook's list of sandboxes", answers: api.List[api.Listed]{}, query: boxes},
	"GET /api/sandbox/{id}":  {says: "One sandbox, by id, name or provider/id", answers: api.Listed{}},
	"GET /api/sandbox/{id}/logs": {says: "The ends of its logs that were saved before it was ended",
		answers: api.Logs{}},
	"GET /api/sandbox/{id}/resources": {says: "What was measured of it together with its newest probes",
		answers: api.Resources{}},
}

//go:embed openapi.json
var openAPIText []byte

// openAPI answers with the document for programs.
func openAPI(w http.ResponseWriter, r *http.Request) { sendJSON(w, r, openAPIText) }
