package generic

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/formula"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A spec is a description, compiled.
type spec struct {
	calls map[string]*call // by name; nil where it is not described

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
	onTheWay map[string]bool              // words of what is about to be stopped
	common   map[string]string            // headers of every call to the host of url
	headers  map[string]map[string]string // further ones, by call
	secrets  []string
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
	created, updated, active, expires, cpu, memory, gpu        *formula.Expression
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
	mistakes []entry.Mistake
}

func compile(api *entry.API) (*spec, []entry.Mistake) {
	c := &compiler{api: api}
	c.common, c.secrets = api.Headers, slices.Clone(api.Variables)
	c.calls, c.headers = map[string]*call{}, map[string]map[string]string{}
	for what, in := range api.Calls() {
		c.calls[what] = c.call(what, in, kinds[what])
	}
	c.answers()
	c.sandbox()
	c.pairs()
	c.checkHeaders("headers.", api.Headers)
	slices.SortFunc(c.mistakes, func(a, b entry.Mistake) int { return cmp.Compare(a.Key, b.Key) })
	return &c.spec, c.mistakes
}

// hosts are those that the description names beside that of url.
func (s *spec) hosts() (out []string) {
	for _, c := range s.calls {
		if c != nil && c.address.Host() != "" && c.address.Host() != "{"+formula.Endpoint+"}" {
			out = append(out, wire.HostOf(c.address.Host()))
		}
	}
	return out
}

func (c *compiler) fail(key, problem, fix string) {
	c.mistakes = append(c.mistakes, entry.Mistake{Key: "api." + key, Problem: problem, Fix: fix})
}

// A kind is what the calls of one name have in common: the usual method, and the placeholders.
type kind struct {
	method string
	names  []string
}

var kinds = map[string]kind{
	"list":   {http.MethodGet, []string{"cursor", "page", "offset", "limit", "scope"}},
	"find":   {http.MethodGet, []string{"cursor", "page", "offset", "limit", "scope", "task"}},
	"get":    {http.MethodGet, []string{"id"}},
	"delete": {http.MethodDelete, []string{"id"}},
	"stop":   {http.MethodPost, []string{"id"}},
	"resume": {http.MethodPost, []string{"id"}},
	"exec":   {http.MethodPost, []string{"id", "command", "timeout"}},
	"files":  {http.MethodGet, []string{"id", "path", "timeout"}},
	"logs":   {http.MethodGet, []string{"id", "limit"}},
}

// call compiles one call; nil where its path is not given.
func (c *compiler) call(what string, in entry.APICall, k kind) *call {
	if in.Path == "" {
		return nil
	}
	out := &call{what: what, method: cmp.Or(in.Method, k.method), form: in.Type == "form"}
	var err error
	if out.address, err = formula.ParseAddress(in.Path, k.names); err != nil {
		c.fail(what+".path", err.Error(), "write it like /sandboxes/{id}?limit=100")
		return nil
	}
	vars := formula.Names{"endpoint": ""}
	for _, name := range k.names {
		vars[name] = ""
		if slices.Contains([]string{"page", "offset", "limit", "timeout"}, name) {
			vars[name] = 0
		}
	}
	out.body = c.expression(what+".body", in.Body, vars)
	named := out.address.Has("id") || out.address.Host() == "{"+formula.Endpoint+"}" || in.Body != ""
	if slices.Contains(k.names, "id") && !named {
		c.fail(what+".path", "does not say of which sandbox", "put {id} into it")
	}
	if in.Body != "" && out.method == http.MethodGet {
		c.fail(what+".body", "goes with no GET", "give method: POST, or put it into path")
	}
	c.checkHeaders(what+".headers.", in.Headers)
	c.headers[what] = in.Headers
	for _, text := range []string{in.Path, in.Body} {
		for _, m := range secretive.FindAllStringSubmatch(text, -1) {
			c.secrets = append(c.secrets, m[1])
		}
	}
	return out
}

// secretive finds what stands under the name of a secret, in a query and in a body.
var secretive = regexp.MustCompile(`(?i)(?:key|token|secret|passw|auth|sign)[\w-]*["']?(?:=|:\s*["'])([^"'&{}\s]+)`)

// checkHeaders checks headers, and keeps as secrets what they hold beside the usual words.
func (c *compiler) checkHeaders(key string, headers map[string]string) {
	for name, value := range headers {
		err := formula.CheckHeader(value, []string{"token", "token_base64"})
		if err != nil || strings.ContainsAny(value, "\r\n") {
			c.fail(key+name, "is no header's value", `write it like "Bearer {token}"`)
		}
		if !slices.Contains(harmless, http.CanonicalHeaderKey(name)) && !strings.Contains(value, "{token") {
			c.secrets = append(c.secrets, value)
		}
	}
}

var harmless = []string{"Accept", "Content-Type", "User-Agent"}

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
		cpu: field("cpu", s.CPU), memory: field("memory_gib", s.MemoryGiB), gpu: field("gpu", s.GPU),
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
