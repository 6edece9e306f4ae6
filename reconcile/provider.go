package reconcile

import (
	"context"
	"errors"
	"time"
)

// Errors of sources that a caller branches on. Adapters return these, wrapped with what
// was being done to which thing.
var (
	ErrNotFound     = errors.New("not found")          // the source knows for certain that it is not there
	ErrUnauthorized = errors.New("credential refused") // 401 or 403
	ErrThrottled    = errors.New("throttled")          // 429: no knowledge now
	ErrHeld         = errors.New("held")               // a claim or a lease that may not be taken now
	ErrFenced       = errors.New("lease lost")         // another process took over
	ErrUnknownID    = errors.New("not an id")          // does not parse as the column's type
)

// A Provider is what a pass needs of a place where sandboxes run.
type Provider interface {
	// List calls yield with each page of sandboxes, this installation's and others',
	// oldest first, and ends with what the listing proves. An error means that it proves
	// nothing; sandboxes yielded before it did exist. A page is the provider's again when
	// yield returns.
	List(ctx context.Context, yield func([]Sandbox) error) (Listing, error)

	// Get reads one sandbox by its immutable id. [ErrNotFound] means gone; any other
	// error means unknown, which is not gone.
	Get(ctx context.Context, id string) (Sandbox, error)

	// Find reads the owned sandboxes whose link label names the task. It returns none,
	// and no error, when the link does not go that way.
	Find(ctx context.Context, task string) ([]Sandbox, error)

	// Terminate ends the sandbox by its immutable id, if it is still the one expected:
	// compare and delete, where the provider can, else it looks first, unless it was [Sandbox.Looked] at just now.
	// One that is being deleted is asked for again only when it was expected so.
	Terminate(ctx context.Context, expected Sandbox) (Termination, error)

	// Probe runs a real exec and a real file listing in the sandbox. It never resumes one
	// and never counts as activity where the provider offers a way.
	Probe(ctx context.Context, s Sandbox, p ProbePolicy) ProbeResult
}

// Capabilities are what a provider can do, as it is configured: each part that is nil it cannot.
type Capabilities struct {
	Named      Named
	Templates  Templates
	Suspender  Suspender
	Logs       Logs
	Usage      Usage
	Executions Executions
	Quotas     Quotas
	Checker    Checker
	Deaths     Deaths
	Planter    Planter
	Unsure     Unsure
	Streams    Streams // where its entry asks for it

	NoTerminate, NoProbe bool // these calls are refused
	StopMayDelete        bool // some sandboxes are deleted by a stop, see [Sandbox.NotStoppable]
	ListsEnding          bool // a listing shows also what is being ended, until it is gone
	NamesLast            bool // a later sandbox of a name goes on with the work of the one before
	ProbeIsActivity      bool // there is no way to probe that does not put the sandbox's idle time-out off
	TwoStores            bool // a get and a listing read two stores: what is in neither needs no look seconds later

	IndexLag time.Duration // what is made is listed within so long; 0: not told, and half a minute is waited
}

// Capable is a provider that can do more than every one can, or less.
type Capable interface {
	// Capabilities are what it can do. No call is made for it.
	Capabilities() Capabilities
}

// CapabilitiesOf is what a provider can do, none of the parts when it is not [Capable].
func CapabilitiesOf(p Provider) Capabilities {
	if c, ok := p.(Capable); ok {
		return c.Capabilities()
	}
	return Capabilities{}
}

// Unsure is a provider that finds a sandbox no more once its end was asked for, also where that failed.
type Unsure interface {
	// EndFailed keeps in mind that an end of the sandbox was asked for so long ago, by whichever process, and that it
	// failed: nobody knows whether it was carried out. No call is made for it.
	EndFailed(id string, ago time.Duration)
}

// Streams is a provider that tells of ends as they happen. What it tells is a reason to look, and no fact: it may come
// late, twice or never.
type Streams interface {
	// Stream tells of each sandbox that may have ended until the stream does, and of when it is open. It ends with nil
	// after a time, to be opened again.
	Stream(ctx context.Context, opened func(), ended func(id string)) error
}

// Named is a provider that can be asked for a sandbox by what rows hold where that is not its
// id: a name, or the value of a label.
type Named interface {
	// Named reads the sandboxes that a row names by the value, ours and others'. It returns
	// none, and no error, only when it is certain that there is none.
	Named(ctx context.Context, value string) ([]Sandbox, error)
}

// A Listing is what a finished list call proves.
type Listing struct {
	Provider string
	Date     time.Time // Date header of the first page: the provider's now before anything was listed
	Complete bool      // every page of every scope was read
	Missing  []string  // scopes (region, account, page) that were not read
	OursOnly bool      // it may have been asked for those of ours alone: how many others there are is not known
}

// A Termination says what the provider made of a terminate.
type Termination string

// What becomes of a terminate.
const (
	TerminateDone     Termination = "done"     // gone when the call returned
	TerminateAccepted Termination = "accepted" // will be gone
	TerminateGone     Termination = "gone"     // was gone before
	TerminateChanged  Termination = "changed"  // not the sandbox that was expected
	TerminateRefused  Termination = "refused"  // the provider will not, see the error
)

// A TemplateState is the canonical state of a snapshot, template or image.
type TemplateState string

// The states of a template.
const (
	TemplateUnknown  TemplateState = "" // could not be measured, or a word that the adapter does not know
	TemplateActive   TemplateState = "active"
	TemplateInactive TemplateState = "inactive"
	TemplateBuilding TemplateState = "building" // pending, building, pulling
	TemplateFailed   TemplateState = "failed"
	TemplateMissing  TemplateState = "missing"
)

// Unusable reports whether a template is known not to be usable.
func (s TemplateState) Unusable() bool {
	return s == TemplateInactive || s == TemplateFailed || s == TemplateMissing
}

// A Template is a snapshot, template or image as a provider showed it.
type Template struct {
	Provider  string // entry of the config; whoever asks an adapter fills it in
	ID, Name  string
	Raw       string // the provider's own word
	State     TemplateState
	Error     string
	LastUsed  time.Time // provider's clock, like ExpiresAt
	ExpiresAt time.Time // when the provider will deactivate or delete it; zero when it does not say
	AsOf      time.Time
}

// Templates is a provider that can say how its templates are.
type Templates interface {
	// Template reads one by name or id. A template that is not there has state missing.
	Template(ctx context.Context, name string) (Template, error)
	// Activate asks the provider to make an inactive template usable again.
	Activate(ctx context.Context, name string) error
}

// Logs is a provider that can show the end of a sandbox's log, saved as evidence.
type Logs interface {
	Logs(ctx context.Context, s Sandbox, limit int) (string, error)
}

// Executions is a provider that can show what a sandbox was asked to run.
type Executions interface {
	Executions(ctx context.Context, s Sandbox) (ExecutionsSeen, error)
}

// Suspender is a provider that can stop or pause a sandbox so that it can come back, with
// its disk at least: what quarantine and restore need.
type Suspender interface {
	// Suspend stops or pauses the sandbox, if it is still the one expected.
	Suspend(ctx context.Context, expected Sandbox) (Termination, error)
	// Resume brings it back. [ErrNotFound] means that it is gone.
	Resume(ctx context.Context, expected Sandbox) error
}

// Planter is a provider that can make a sandbox of ours that no task explains: a [Canary]. It is the only thing that
// sandkeeper ever makes at a provider.
type Planter interface {
	// Plant makes a sandbox of the template with this name, that carries what makes it ours and [CanaryLabel], and
	// returns its id. The provider is told to delete it by itself after some hours, where it can be.
	Plant(ctx context.Context, template, name string) (string, error)
}

// Usage is a provider that can show what a sandbox uses right now.
type Usage interface {
	Usage(ctx context.Context, s Sandbox) (Resources, error)
}

// Resources is what a sandbox uses.
type Resources struct {
	CPUPercent                                   float64
	MemoryUsed, MemoryTotal, DiskUsed, DiskTotal int64 // bytes
}

// Quotas is a provider that can show how much of its quotas is used.
type Quotas interface {
	Quotas(ctx context.Context) ([]Quota, error)
}

// A Quota is one limit and its use.
type Quota struct {
	Name        string // "cpu in us", with its region or class
	Used, Limit float64
}

// Checker is a provider that can test its credential for `check`.
type Checker interface {
	// Check returns one line for each thing that it tested.
	Check(ctx context.Context) []CheckResult
}

// A CheckResult is one line of `check`.
type CheckResult struct {
	What string // what was tested: "credential", "delete sandboxes"
	OK   bool
	Said string // what was seen
	Fix  string // what the operator should do; "" when OK
}
