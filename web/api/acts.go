package api

// An Act is what an operator asks for. Which of its fields a verb takes, [Verbs] says.
type Act struct {
	// What it is about: task:ID, sandbox:ID, PROVIDER/ID, label:KEY=VALUE, provider:NAME, a rule, a source,
	// incident:ID, a scope, full or quick.
	Target string `json:"target,omitempty"`
	// Why; it is recorded, and shown on the page.
	Reason string `json:"reason"`
	// For how long, in seconds; 0: until it is taken back, or the verb's own time.
	For int64 `json:"for,omitempty" jsonschema:"minimum=0"`
	// Of a rule: observe, off or clear.
	Mode string `json:"mode,omitempty"`
	// The hash of the list as it was shown, and how many were on it.
	Hash  string `json:"hash,omitempty"`
	Count int    `json:"count,omitempty" jsonschema:"minimum=0"`
	// Also where a task is assigned or runs.
	IncludeRunning bool `json:"include_running,omitempty"`
}

// Done is what became of a request: it is recorded.
type Done struct {
	// What was recorded, and what happens next.
	Said string `json:"said" jsonschema_extras:"x-untrusted=true"`
	// The actions that were recorded; absent where the verb records none.
	Actions []Action `json:"actions,omitempty"`
}

// A Preview lists what a request would do, before somebody says yes. It changes nothing.
type Preview struct {
	// What will happen, one sentence each.
	Will []string `json:"will" jsonschema_extras:"x-untrusted=true"`
	// What is done because of it, as far as is known now: a line for each sandbox that is ended, each task that is failed.
	Steps []PreviewLine `json:"steps,omitempty"`
	// What it concerns: task:ID, sandbox:PROVIDER/ID.
	Subjects []string `json:"subjects,omitempty" jsonschema_extras:"x-untrusted=true"`
	// What it leaves, with the reason.
	Left []PreviewLine `json:"left,omitempty"`
	// The list of subjects in short; a request repeats both, so that nobody says yes to another list.
	Count int    `json:"count,omitempty"`
	Hash  string `json:"hash,omitempty"`
}

// A PreviewLine says of one subject what is done to it, or why nothing is.
type PreviewLine struct {
	// task:ID, sandbox:PROVIDER/ID.
	Subject string `json:"subject" jsonschema_extras:"x-untrusted=true"`
	Says    string `json:"says" jsonschema_extras:"x-untrusted=true"`
}

// String is the line as people read it.
func (l PreviewLine) String() string { return l.Subject + ": " + l.Says }

// A Verb is one thing that an operator may ask for on the page and by the API.
type Verb struct {
	Name  string
	Means string
	// Will says what happens with the target, %s; "" where a list says it.
	Will string
	// Target says what its target is; "" when it takes none.
	Target string
	// Optional reports that the target may be left out, and Else what is meant then.
	Optional bool
	Else     string
	// Lasts says what the time is about; "" when it takes none.
	Lasts string
	Modes bool // it takes a mode
	Lists bool // it is about a list that has to be shown first: count and hash are repeated
	// Ends reports that it terminates sandboxes, or lets terminations go on that were held. A browser's user gives his
	// password once more.
	Ends    bool
	Running bool // it takes include_running
}

// Verbs are all of them, in the order of the page.
var Verbs = []Verb{
	{Name: "pass", Means: "Make a pass now", Target: "full or quick", Optional: true, Else: "full",
		Will: "A running daemon makes a %s pass now."},
	{Name: "pause", Means: "Stop acting: of everything, of a rule, or at a provider",
		Target: "all, rule:NAME or provider:NAME", Optional: true, Else: "all", Lasts: "until resumed",
		Will: "No action of this is begun any more: %s."},
	{Name: "resume", Means: "End a pause", Target: "all, rule:NAME or provider:NAME", Optional: true, Else: "all",
		Will: "The pause of this ends: %s."},
	{Name: "mode", Means: "Lower the mode of a rule, or give it back to the config", Target: "a rule", Modes: true,
		Will: "The mode of the rule %s is lowered, or is again what the config says."},
	{Name: "hold", Means: "Keep one task, sandbox, label or provider from being acted on",
		Target: "task:ID, sandbox:ID, label:KEY=VALUE or provider:NAME", Lasts: "until lifted",
		Will: "Nothing is done to this any more: %s."},
	{Name: "unhold", Means: "Lift a hold", Target: "task:ID, sandbox:ID, label:KEY=VALUE or provider:NAME",
		Will: "The hold of this ends: %s."},
	{Name: "acknowledge", Means: "Say that you look after an incident; it holds what it held", Target: "incident:ID",
		Will: "The page names you as who looks after it: %s. It holds what it held."},
	{Name: "release", Means: "Let the listed subjects pass an open breaker, a freeze or an incident",
		Target: "a rule, a source or incident:ID", Lasts: "an hour", Lists: true, Ends: true},
	{Name: "retry", Means: "Run tasks again that were marked failed", Target: "a task's id or incident:ID", Lists: true},
	{Name: "terminate", Means: "Terminate one sandbox, or those of one task",
		Target: "a sandbox's id or name, provider/id, or a task's id", Lists: true, Ends: true, Running: true},
	{Name: "restore", Means: "Take a quarantine back", Target: "a sandbox's id, provider/id, or a task's id",
		Lasts: "24 hours", Will: "The quarantine of this is taken back: %s."},
	{Name: "emergency", Means: "Terminate all sandboxes of this installation, or those of one provider",
		Target: "a provider", Optional: true, Lists: true, Ends: true, Running: true},
}

// VerbNamed is the verb of a name, false when there is none.
func VerbNamed(name string) (Verb, bool) {
	for _, v := range Verbs {
		if v.Name == name {
			return v, true
		}
	}
	return Verb{}, false
}

// A Nudge is a reason to look at once. It is never a fact.
type Nudge struct {
	// Who or what noticed something; it is recorded.
	Reason string `json:"reason"`
	// full or quick; quick when absent.
	Kind string `json:"kind,omitempty" jsonschema:"enum=full,enum=quick"`
}

// An Intent is what an orchestrator knows and sandkeeper need not guess: a task's sandbox is about to be made, or is to
// be kept. It can only protect, and for a time: it is a hold.
type Intent struct {
	// The task, or the sandbox: one of the two.
	Task    string `json:"task,omitempty"`
	Sandbox string `json:"sandbox,omitempty"`
	// For how long, in seconds.
	For int64 `json:"for" jsonschema:"minimum=1,maximum=86400"`
	// What is about to happen; it is recorded.
	Reason string `json:"reason"`
}

// MostIntent is for how long an intent may protect, in seconds.
const MostIntent = 24 * 60 * 60

// A Refusal is why a request was not recorded: it is wrong, or something else is true by now.
type Refusal struct {
	Status  int // of HTTP
	Why     string
	Preview *Preview
}

// Error is why.
func (r *Refusal) Error() string { return r.Why }
