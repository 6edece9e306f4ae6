package generic

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/formula"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A Mistake is what is wrong with one key of a description.
type Mistake struct {
	Key          string // below api: "list.items"
	Problem, Fix string
}

// Mistakes are all that is wrong with a description.
func Mistakes(api *entry.API) []Mistake {
	_, mistakes := compile(api)
	return mistakes
}

// A spec is a description, compiled.
type spec struct {
	list, find, get, remove, stop, resume, exec, files, logs *call

	pages    entry.APIList // what of it is plain
	items    *formula.Expression
	next     *formula.Expression
	more     *formula.Expression
	lacking  *formula.Expression
	item     *formula.Expression
	absent   *formula.Expression
	said     *formula.Expression
	removal  verdicts
	stopping verdicts
	resuming verdicts
	deletes  *formula.Expression
	command  trial
	listing  trial
	text     *formula.Expression
	fields   fields
	states   map[string]reconcile.SandboxState
	onTheWay map[string]bool // words of what is about to be stopped
	headers  map[string]map[string]string
}

// A call is one kind of request.
type call struct {
	what, method string
	address      *formula.Template
	body         *formula.Expression
	form         bool
}

// verdicts are what an answer to a change may mean.
type verdicts struct{ done, busy, refused *formula.Expression }

// A trial reads the answer to one half of a probe.
type trial struct{ result, output, broken, hung, resting *formula.Expression }

// fields are where a sandbox's are.
type fields struct {
	id, name, state, labels, template, region, fault, endpoint *formula.Expression
	created, updated, active, expires                          *formula.Expression
}

// stopping is the word of a description for what is on its way to be stopped.
const stopping = "stopping"

var stateWords = map[string]reconcile.SandboxState{
	"creating": reconcile.SandboxCreating, "running": reconcile.SandboxRunning, "suspended": reconcile.SandboxSuspended,
	"stopped": reconcile.SandboxStopped, stopping: reconcile.SandboxSuspended, "failed": reconcile.SandboxFailed,
	"deleting": reconcile.SandboxDeleting, "ended": reconcile.SandboxEnded,
}

// answerNames are what an expression over an answer may name, each with its type.
var answerNames = formula.Names{"status": 0, "headers": nil, "body": nil, "count": 0, "page": 0, "offset": 0}

// A compiler compiles a description and collects what is wrong.
type compiler struct {
	spec
	api      *entry.API
	mistakes []Mistake
}

func compile(api *entry.API) (*spec, []Mistake) {
	c := &compiler{api: api}
	c.headers = map[string]map[string]string{}
	c.calls()
	c.answers()
	c.sandbox()
	c.pairs()
	for name, value := range api.Headers {
		c.header("headers."+name, value, "token", "token_base64")
	}
	return &c.spec, c.mistakes
}

func (c *compiler) fail(key, problem, fix string) {
	c.mistakes = append(c.mistakes, Mistake{key, problem, fix})
}

func (c *compiler) calls() {
	a := c.api
	paging := []string{"cursor", "page", "offset", "limit", "scope"}
	id := []string{"id"}
	c.list = c.call("list", "GET", entry.APICall{Path: a.List.Path, Method: a.List.Method, Headers: a.List.Headers,
		Body: a.List.Body, Type: a.List.Type}, paging)
	c.find = c.call("find", "GET", a.Find, append(paging, "task"))
	c.get = c.call("get", "GET", entry.APICall{Path: a.Get.Path, Method: a.Get.Method, Headers: a.Get.Headers,
		Body: a.Get.Body, Type: a.Get.Type}, id)
	c.remove = c.call("delete", "DELETE", changeCall(a.Delete), id)
	c.stop = c.call("stop", "POST", entry.APICall{Path: a.Stop.Path, Method: a.Stop.Method, Headers: a.Stop.Headers,
		Body: a.Stop.Body, Type: a.Stop.Type}, id)
	c.resume = c.call("resume", "POST", changeCall(a.Resume), id)
	c.exec = c.call("exec", "POST", entry.APICall{Path: a.Exec.Path, Method: a.Exec.Method, Headers: a.Exec.Headers,
		Body: a.Exec.Body, Type: a.Exec.Type}, []string{"id", "command", "timeout"})
	c.files = c.call("files", "GET", entry.APICall{Path: a.Files.Path, Method: a.Files.Method, Headers: a.Files.Headers,
		Body: a.Files.Body, Type: a.Files.Type}, []string{"id", "path", "timeout"})
	c.logs = c.call("logs", "GET", entry.APICall{Path: a.Logs.Path, Method: a.Logs.Method, Headers: a.Logs.Headers,
		Body: a.Logs.Body, Type: a.Logs.Type}, []string{"id", "limit"})
}

func changeCall(a entry.APIChange) entry.APICall {
	return entry.APICall{Path: a.Path, Method: a.Method, Headers: a.Headers, Body: a.Body, Type: a.Type}
}

// call compiles one call; nil where its path is not given.
func (c *compiler) call(what, method string, in entry.APICall, names []string) *call {
	if in.Path == "" {
		return nil
	}
	out := &call{what: what, method: cmp.Or(in.Method, method), form: in.Type == "form"}
	var err error
	if out.address, err = formula.ParseAddress(in.Path, names); err != nil {
		c.fail(what+".path", err.Error(), "write it like /sandboxes/{id}?limit=100")
		return nil
	}
	vars := formula.Names{"endpoint": ""}
	for _, name := range names {
		vars[name] = ""
		if slices.Contains([]string{"page", "offset", "limit", "timeout"}, name) {
			vars[name] = 0
		}
	}
	out.body = c.expression(what+".body", in.Body, vars)
	named := out.address.Has("id") || out.address.Host() == "{"+formula.Endpoint+"}" || in.Body != ""
	if slices.Contains(names, "id") && !named {
		c.fail(what+".path", "does not say of which sandbox", "put {id} into it")
	}
	if in.Body != "" && out.method == http.MethodGet {
		c.fail(what+".body", "goes with no GET", "give method: POST, or put it into path")
	}
	for name, value := range in.Headers {
		c.header(what+".headers."+name, value)
	}
	c.headers[what] = in.Headers
	return out
}

func (c *compiler) header(key, value string, names ...string) {
	if err := formula.CheckHeader(value, names); err != nil || strings.ContainsAny(value, "\r\n") {
		c.fail(key, "is no header's value", `write it like "Bearer {token}"`)
	}
}

// expression compiles one; nil where it is not given.
func (c *compiler) expression(key, text string, names formula.Names) *formula.Expression {
	if text == "" {
		return nil
	}
	x, err := formula.Compile(text, names)
	if err != nil {
		c.fail(key, "is no expression: "+err.Error(), "correct it there; docs/generic.md shows the language")
	}
	return x
}

func (c *compiler) answers() {
	a := c.api
	read := func(key, text, otherwise string) *formula.Expression {
		return c.expression(key, cmp.Or(text, otherwise), answerNames)
	}
	c.pages = a.List
	c.items, c.next = read("list.items", a.List.Items, ""), read("list.next", a.List.Next, "")
	c.more, c.lacking = read("list.more", a.List.More, ""), read("list.missing", a.List.Missing, "")
	c.item, c.text = read("get.item", a.Get.Item, "body"), read("logs.text", a.Logs.Text, "")
	c.absent, c.said = read("absent", a.Absent, ""), read("said", a.Said, "")
	of := func(key, done, busy, refused string) verdicts {
		return verdicts{read(key+".done", done, "false"), read(key+".busy", busy, "status == 409"),
			read(key+".refused", refused, "status in [400, 422]")}
	}
	c.removal = of("delete", a.Delete.Done, a.Delete.Busy, a.Delete.Refused)
	c.stopping = of("stop", a.Stop.Done, a.Stop.Busy, a.Stop.Refused)
	c.resuming = of("resume", a.Resume.Done, a.Resume.Busy, a.Resume.Refused)
	c.command = trial{read("exec.exit", a.Exec.Exit, ""), read("exec.output", a.Exec.Output, ""),
		read("exec.broken", a.Exec.Broken, "false"), read("exec.hung", a.Exec.Hung, "false"),
		read("exec.resting", a.Exec.Resting, "false")}
	c.listing = trial{read("files.entries", a.Files.Entries, ""), nil, read("files.broken", a.Files.Broken, "false"),
		read("files.hung", a.Files.Hung, "false"), read("files.resting", a.Files.Resting, "false")}
}

func (c *compiler) sandbox() {
	s := c.api.Sandbox
	field := func(key, text string) *formula.Expression { return c.expression("sandbox."+key, text, nil) }
	c.deletes = c.expression("stop.deletes", c.api.Stop.Deletes, nil)
	c.fields = fields{
		id: field("id", s.ID), name: field("name", s.Name), state: field("state", s.State),
		labels: field("labels", s.Labels), template: field("template", s.Template), region: field("region", s.Region),
		fault: field("error", s.Error), endpoint: field("endpoint", s.Endpoint),
		created: field("created_at", s.CreatedAt), updated: field("updated_at", s.UpdatedAt),
		active: field("last_activity_at", s.LastActivityAt), expires: field("expires_at", s.ExpiresAt),
	}
	c.states, c.onTheWay = map[string]reconcile.SandboxState{}, map[string]bool{}
	for word, state := range c.api.States {
		known, ok := stateWords[state]
		if !ok {
			c.fail("states."+word, fmt.Sprintf("%q is no state", state),
				"use one of "+strings.Join(slices.Sorted(maps.Keys(stateWords)), ", ")+"; leave out what you do not know")
		}
		c.states[word], c.onTheWay[word] = known, state == stopping
	}
}

// has reports whether a word of the provider stands for one of the states.
func (c *compiler) has(states ...string) bool {
	return slices.ContainsFunc(states, func(s string) bool { return slices.Contains(values(c.api.States), s) })
}

func values(m map[string]string) []string { return slices.Collect(maps.Values(m)) }

// pairs holds the parts of a description against each other.
func (c *compiler) pairs() {
	a := c.api
	paging := cmp.Or(a.List.Paging, "none")
	for _, need := range []struct {
		wrong             bool
		key, problem, fix string
	}{
		{a.List.Path == "", "list.path", "is not given", "give the address of the list"},
		{a.List.Items == "", "list.items", "is not given", "say where the list is, for example body.sandboxes"},
		{a.Get.Path == "", "get.path", "is not given", "nothing is done to a sandbox that cannot be looked at: give it"},
		{a.Sandbox.ID == "", "sandbox.id", "is not given", "say where the immutable id of a sandbox is"},
		{a.Sandbox.State == "", "sandbox.state", "is not given", "say where the state of a sandbox is"},
		{!c.has("running"), "states", "has no word for running", "map one, for example {started: running}"},
		{a.Absent == "" && !c.has("ended"), "absent", "is not given, so that a sandbox is never known to be gone",
			`give it, for example status == 404 and body?.code == "no_such_sandbox"`},
		{paging == "cursor" && a.List.Next == "", "list.next", "is not given", "say where the next cursor is"},
		{paging == "cursor" && a.List.Body == "" && !c.holds("cursor"), "list.path", "has no {cursor}", "put it there"},
		{paging == "page" && a.List.Body == "" && !c.holds("page"), "list.path", "has no {page}", "put it there"},
		{paging == "offset" && a.List.Body == "" && !c.holds("offset"), "list.path", "has no {offset}", "put it there"},
		{paging != "none" && a.List.Size == 0, "list.size", "is not given", "say how many are on a full page"},
		{len(a.List.Scopes) > 0 && a.List.Body == "" && !c.holds("scope"), "list.path", "has no {scope}", "put it there"},
		{a.Find.Path != "" && a.Find.Body == "" && c.find != nil && !c.find.address.Has("task"), "find.path",
			"has no {task}", "put it there"},
		{(a.Stop.Path == "") != (a.Resume.Path == ""), "stop", "and resume belong together",
			"give both: what is stopped must be able to come back"},
		{a.Stop.Path != "" && !c.has("stopped", "suspended"), "stop", "no word stands for stopped or suspended",
			"map the state that it leads to"},
		{a.Exec.Path != "" && a.Exec.Exit == "", "exec.exit", "is not given", "say where the exit code is"},
		{a.Files.Path != "" && a.Files.Entries == "", "files.entries", "is not given", "say where the entries are"},
	} {
		if need.wrong {
			c.fail(need.key, need.problem, need.fix)
		}
	}
}

func (c *compiler) holds(name string) bool { return c.list == nil || c.list.address.Has(name) }
