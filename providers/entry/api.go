package entry

// API is somebody's HTTP API as an operator describes it, for kind generic: addresses with
// placeholders, and expressions that read the answers. What is not given cannot be done.
type API struct {
	// Headers of every call to the host of url; {token} and {token_base64} are the credential.
	// Default: Authorization: Bearer {token}.
	Headers map[string]string `yaml:"headers"`
	// Condition: an answer that says for certain that this sandbox is not there.
	Absent string `yaml:"absent"`
	// Expression: what an error says, where the usual places do not hold it.
	Said string `yaml:"said"`
	// Headers that say when a limit ends, such as X-RateLimit-Reset.
	Resets []string `yaml:"resets"`
	// All sandboxes, page by page.
	List APIList `yaml:"list" jsonschema:"required"`
	// The sandboxes of {task}, paged as the list; default: the whole list is searched.
	Find APICall `yaml:"find"`
	// One sandbox by {id}.
	Get APIGet `yaml:"get" jsonschema:"required"`
	// Ends a sandbox. Without it the provider is read only.
	Delete APIChange `yaml:"delete"`
	// Stops or pauses a sandbox so that it can come back; quarantine needs it.
	Stop APIStop `yaml:"stop"`
	// Brings a stopped sandbox back.
	Resume APIChange `yaml:"resume"`
	// Runs {command} in a sandbox and waits for its end, for probes.
	Exec APIExec `yaml:"exec"`
	// Lists the folder {path} of a sandbox, for probes.
	Files APIFiles `yaml:"files"`
	// The end of a sandbox's log, saved before it is ended.
	Logs APILogs `yaml:"logs"`
	// Where the fields of a sandbox are, in an item of the list and in the answer to get.
	Sandbox APISandbox `yaml:"sandbox" jsonschema:"required"`
	// The provider's words for states: creating, running, suspended, stopped, stopping, failed, deleting, ended.
	States map[string]string `yaml:"states" jsonschema:"required"`

	// Variables are what variables in the description stood for. They are never shown.
	Variables []string `yaml:"-"`
}

// Calls are the calls of a description by their names, without what is read of the answers.
// One that is not described has no path.
func (a *API) Calls() map[string]APICall {
	return map[string]APICall{
		"list":   {a.List.Path, a.List.Method, a.List.Headers, a.List.Body, a.List.Type},
		"find":   a.Find,
		"get":    {a.Get.Path, a.Get.Method, a.Get.Headers, a.Get.Body, a.Get.Type},
		"delete": {a.Delete.Path, a.Delete.Method, a.Delete.Headers, a.Delete.Body, a.Delete.Type},
		"stop":   {a.Stop.Path, a.Stop.Method, a.Stop.Headers, a.Stop.Body, a.Stop.Type},
		"resume": {a.Resume.Path, a.Resume.Method, a.Resume.Headers, a.Resume.Body, a.Resume.Type},
		"exec":   {a.Exec.Path, a.Exec.Method, a.Exec.Headers, a.Exec.Body, a.Exec.Type},
		"files":  {a.Files.Path, a.Files.Method, a.Files.Headers, a.Files.Body, a.Files.Type},
		"logs":   {a.Logs.Path, a.Logs.Method, a.Logs.Headers, a.Logs.Body, a.Logs.Type},
	}
}

// APICall is one call.
type APICall struct {
	// Behind url, with placeholders such as {id}.
	Path string `yaml:"path"`
	// GET unless given.
	Method string `yaml:"method" enum:"GET,POST"`
	// Further headers; {token} is the credential, also on another host than that of url.
	Headers map[string]string `yaml:"headers"`
	// Expression of the request's body.
	Body string `yaml:"body"`
	// How the body is written.
	Type string `yaml:"type" enum:"json,form"`
}

// APIList is the call for all sandboxes, and how its pages follow each other.
type APIList struct {
	// Behind url, with placeholders such as {cursor}.
	Path string `yaml:"path" jsonschema:"required"`
	// GET unless given.
	Method string `yaml:"method" enum:"GET,POST"`
	// Further headers; {token} is the credential, also on another host than that of url.
	Headers map[string]string `yaml:"headers"`
	// Expression of the request's body.
	Body string `yaml:"body"`
	// How the body is written.
	Type string `yaml:"type" enum:"json,form"`
	// Expression: the list of items in an answer.
	Items string `yaml:"items" jsonschema:"required"`
	// How the next page is asked for.
	Paging string `yaml:"paging" enum:"none,cursor,link,page,offset"`
	// Sandboxes on a full page, as asked for.
	Size int `yaml:"size" min:"1"`
	// Expression: the next page's cursor or link.
	Next string `yaml:"next"`
	// Condition: there is a further page.
	More string `yaml:"more"`
	// The first page is number 0.
	FromZero bool `yaml:"from_zero"`
	// Expression: what this answer lacks, such as regions that could not be read.
	Missing string `yaml:"missing"`
	// Regions, projects or states that are listed one by one, as {scope}.
	Scopes []string `yaml:"scopes"`
}

// APIGet is the call for one sandbox.
type APIGet struct {
	// Behind url, with {id}.
	Path string `yaml:"path" jsonschema:"required"`
	// GET unless given.
	Method string `yaml:"method" enum:"GET,POST"`
	// Further headers; {token} is the credential, also on another host than that of url.
	Headers map[string]string `yaml:"headers"`
	// Expression of the request's body.
	Body string `yaml:"body"`
	// How the body is written.
	Type string `yaml:"type" enum:"json,form"`
	// Expression: the sandbox in the answer; default body.
	Item string `yaml:"item"`
}

// APIChange is a call that ends a sandbox or brings it back.
type APIChange struct {
	// Behind url, with {id}.
	Path string `yaml:"path"`
	// DELETE or POST unless given.
	Method string `yaml:"method" enum:"DELETE,POST,PUT,PATCH"`
	// Further headers; {token} is the credential, also on another host than that of url.
	Headers map[string]string `yaml:"headers"`
	// Expression of the request's body.
	Body string `yaml:"body"`
	// How the body is written.
	Type string `yaml:"type" enum:"json,form"`
	// Condition: it was done when the answer came; else it was accepted.
	Done string `yaml:"done"`
	// Condition: another change is under way and nothing was done; default status == 409.
	Busy string `yaml:"busy"`
	// Condition: it will not be done; default status in [400, 422].
	Refused string `yaml:"refused"`
}

// APIStop is the call that stops a sandbox.
type APIStop struct {
	// Behind url, with {id}.
	Path string `yaml:"path"`
	// POST unless given.
	Method string `yaml:"method" enum:"DELETE,POST,PUT,PATCH"`
	// Further headers; {token} is the credential, also on another host than that of url.
	Headers map[string]string `yaml:"headers"`
	// Expression of the request's body.
	Body string `yaml:"body"`
	// How the body is written.
	Type string `yaml:"type" enum:"json,form"`
	// Condition: it was done when the answer came; else it was accepted.
	Done string `yaml:"done"`
	// Condition: another change is under way and nothing was done; default status == 409.
	Busy string `yaml:"busy"`
	// Condition: it will not be done; default status in [400, 422].
	Refused string `yaml:"refused"`
	// Condition over the sandbox: a stop would delete it, so it is refused.
	Deletes string `yaml:"deletes"`
}

// APIExec is the call that runs a command.
type APIExec struct {
	// Behind url, with {id}.
	Path string `yaml:"path"`
	// POST unless given.
	Method string `yaml:"method" enum:"GET,POST,PUT"`
	// Further headers; {token} is the credential, also on another host than that of url.
	Headers map[string]string `yaml:"headers"`
	// Expression of the request's body, over command and timeout (seconds).
	Body string `yaml:"body"`
	// How the body is written.
	Type string `yaml:"type" enum:"json,form"`
	// Expression: the exit code.
	Exit string `yaml:"exit"`
	// Expression: what the command printed.
	Output string `yaml:"output"`
	// Condition: the sandbox is broken.
	Broken string `yaml:"broken"`
	// Condition: the sandbox did not answer in time.
	Hung string `yaml:"hung"`
	// Condition: the sandbox is not running.
	Resting string `yaml:"resting"`
}

// APIFiles is the call that lists a folder.
type APIFiles struct {
	// Behind url, with {id} and {path}.
	Path string `yaml:"path"`
	// GET unless given.
	Method string `yaml:"method" enum:"GET,POST"`
	// Further headers; {token} is the credential, also on another host than that of url.
	Headers map[string]string `yaml:"headers"`
	// Expression of the request's body, over path.
	Body string `yaml:"body"`
	// How the body is written.
	Type string `yaml:"type" enum:"json,form"`
	// Expression: the list of entries.
	Entries string `yaml:"entries"`
	// Condition: the sandbox is broken.
	Broken string `yaml:"broken"`
	// Condition: the sandbox did not answer in time.
	Hung string `yaml:"hung"`
	// Condition: the sandbox is not running.
	Resting string `yaml:"resting"`
}

// APILogs is the call for a sandbox's log.
type APILogs struct {
	// Behind url, with {id} and {limit} (bytes).
	Path string `yaml:"path"`
	// GET unless given.
	Method string `yaml:"method" enum:"GET,POST"`
	// Further headers; {token} is the credential, also on another host than that of url.
	Headers map[string]string `yaml:"headers"`
	// Expression of the request's body.
	Body string `yaml:"body"`
	// How the body is written.
	Type string `yaml:"type" enum:"json,form"`
	// Expression: the text; default: the answer as it is.
	Text string `yaml:"text"`
}

// APISandbox says where the fields of a sandbox are: expressions over one item.
type APISandbox struct {
	// Its immutable id, which is never given to another.
	ID string `yaml:"id" jsonschema:"required"`
	// Its name.
	Name string `yaml:"name"`
	// The provider's word for its state.
	State string `yaml:"state" jsonschema:"required"`
	// Labels, tags or metadata: an object, or a list of key=value.
	Labels string `yaml:"labels"`
	// Snapshot, template or image.
	Template string `yaml:"template"`
	// Where it runs.
	Region string `yaml:"region"`
	// How many CPUs it has.
	CPU string `yaml:"cpu"`
	// Its memory in GiB.
	MemoryGiB string `yaml:"memory_gib"`
	// How many GPUs it has.
	GPU string `yaml:"gpu"`
	// Made at.
	CreatedAt string `yaml:"created_at"`
	// Changed at.
	UpdatedAt string `yaml:"updated_at"`
	// Last used at.
	LastActivityAt string `yaml:"last_activity_at"`
	// The provider ends it then.
	ExpiresAt string `yaml:"expires_at"`
	// The reason of a failure.
	Error string `yaml:"error"`
	// Address where the sandbox itself answers, for {endpoint}.
	Endpoint string `yaml:"endpoint"`
}
