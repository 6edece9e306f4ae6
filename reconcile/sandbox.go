package reconcile

import (
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// Active reports whether a sandbox in this state takes part of what may run at once.
func (s SandboxState) Active() bool { return s == SandboxRunning || s == SandboxCreating }

// A SandboxState is the canonical state of a sandbox; the providers' own words are mapped
// onto it by their adapters.
type SandboxState string

// The states of a sandbox. The zero value is a word that the adapter does not know: it is
// shown and counted, and nothing is ever done because of it.
const (
	SandboxUnknown   SandboxState = ""
	SandboxCreating  SandboxState = "creating"  // coming up: creating, starting, pulling, restoring, resuming
	SandboxRunning   SandboxState = "running"   // started, idle, running
	SandboxSuspended SandboxState = "suspended" // paused, archived: kept on purpose, comes back with its memory or disk
	SandboxStopped   SandboxState = "stopped"   // its processes are gone, the disk may be kept
	SandboxFailed    SandboxState = "failed"    // error, build failed
	SandboxDeleting  SandboxState = "deleting"  // a delete was accepted and is not done
	SandboxEnded     SandboxState = "ended"     // destroyed, still readable as a tombstone
)

// Exists reports whether a sandbox in this state is still there: not ended. An unknown
// state exists.
func (s SandboxState) Exists() bool { return s != SandboxEnded }

// A Ref names one sandbox: the provider entry and the provider's immutable id.
type Ref struct {
	Provider string `json:"provider"`
	ID       string `json:"sandbox"`
}

// String is the form provider/id.
func (r Ref) String() string { return r.Provider + "/" + r.ID }

// A Sandbox is one sandbox as a provider showed it. A zero time means that the provider
// does not say. All its times are of the provider's clock.
type Sandbox struct {
	Ref
	Name       string
	Raw        string // the provider's own word for its state
	State      SandboxState
	Template   string            // snapshot, template or image; "" when unknown
	Region     string            // where the provider runs it
	Size       Size              // how large it is
	Labels     map[string]string // dropped from listings once owner, link and holds are known
	Kinds      []string          // of its labels those that may tell kinds of sandboxes apart, see [Sandbox.KindsOf]
	Owned      bool              // proven to be this installation's by labels or name prefix
	Unproven   string            // why it is only perhaps ours: nothing but a row says so, and that is no proof
	Task       string            // the task id that the link label names; "" when none
	Tenant     string            // whose it is by its label, as [TenantName] writes it; "" when none says so
	Unsigned   string            // what its link label holds without a signature, where links are signed; it names nobody
	BadLink    bool              // the link's value cannot be an id: too long, or no text
	SandboxKey string            // the value that tasks.sandbox is compared with, when the link goes that way
	AltKey     string            // another one by which rows may name it: its id where the link is its name

	CreatedAt, UpdatedAt, LastActivityAt time.Time
	ExpiresAt                            time.Time
	AsOf                                 time.Time    // the provider's Date header when it was read
	Error                                string       // the provider's own reason of a failure
	NoContainer                          bool         // the platform's record says running, and nothing runs behind it
	StableName                           bool         // its name goes on: a later sandbox of that name continues it
	Looked                               time.Time    // when its provider's Get showed it so, by this process's clock
	Excepted                             bool         // the config excepts it from what is ours, whatever else proves it
	Canary                               bool         // its label says that sandkeeper made it to be found, see [Canary]
	Spare                                bool         // of a warm pool, by the config: it names no task, and need not
	Further                              []FurtherKey // values by which further tables may explain it
	NotTerminable                        string       // why the provider cannot end it; "" when it can
	NotStoppable                         string       // why a stop would not keep it; "" when nothing says so
	// Endpoint is where its own data plane answers, when the provider says so per sandbox.
	Endpoint string
}

// A FurtherKey is a value of a sandbox that a further table may hold, see [Explanation].
type FurtherKey struct {
	By    int // place in [TasksPolicy.ExplainedBy]
	Value string
}

// scrub makes the words of a provider, which anybody who may create a sandbox can choose,
// fit to be kept and shown: no control characters, no broken encoding, no endless texts.
func (s *Sandbox) scrub() {
	for _, said := range []*string{&s.Name, &s.Raw, &s.Template, &s.Region, &s.Error, &s.Unsigned} {
		if len(*said) > 1000 || *said != text.Line(*said) {
			*said = text.Clip(*said, 1000)
		}
	}
	if !keepsLink(s.AltKey) {
		s.AltKey = ""
	}
	for _, link := range []*string{&s.Task, &s.SandboxKey} {
		if !keepsLink(*link) {
			*link, s.BadLink = text.Clip(*link, 200), true
		}
	}
}

// Keys are the values by which rows may name the sandbox.
func (s *Sandbox) Keys() []string { return NonEmpty(s.SandboxKey, s.AltKey) }

// CalledBy reports whether a row that holds the value names the sandbox.
func (s *Sandbox) CalledBy(value string) bool { return value != "" && slices.Contains(s.Keys(), value) }

// Called are the values by which a row may mean the sandbox: its keys, and where labels alone link it, its id and its
// name. Who hands a sandbox on writes one of them into the next task's row, and leaves the label as it is.
func (s *Sandbox) Called() []string {
	if keys := s.Keys(); len(keys) > 0 {
		return keys
	}
	return NonEmpty(s.ID, s.Name)
}

// keepsLink reports whether a label's value can be an id at all. One that cannot stays what
// it is for showing, and links to nothing.
func keepsLink(value string) bool {
	return len(value) <= 1000 && text.Storable(value)
}

// Ours reports whether the sandbox is proven to be this installation's.
func (s *Sandbox) Ours() bool { return s.Owned && s.Unproven == "" }

// AtRest reports whether nothing runs in a sandbox of this state, and it can come back.
func (s SandboxState) AtRest() bool { return s == SandboxStopped || s == SandboxSuspended }
