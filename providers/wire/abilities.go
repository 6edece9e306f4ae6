package wire

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Abilities are the facts of an adapter that its type cannot tell. docs/providers.md shows
// them, and the conformance suite proves them: what is claimed is tested, and what is not
// claimed must be denied honestly. The zero value can list, get and end sandboxes.
type Abilities struct {
	// What a listing shows.

	Labels      bool                     // labels, tags or metadata of each sandbox
	Filter      bool                     // the provider is asked for our labels only
	Template    bool                     // the template that a sandbox was made from
	Sizes       bool                     // how large each sandbox is
	States      []reconcile.SandboxState // told apart, besides unknown, deleting and ended
	PageSize    int                      // of the largest page; 0: all sandboxes at once
	OldestFirst bool                     // the order of creation over all pages; else another that is stable
	Hides       bool                     // what a delete only hid is listed, as being deleted
	NameMayBeID bool                     // rows may hold a name for an id: a get by one tells no end, and no other sandbox
	Undated     bool                     // answers do not tell the provider's clock; ours stands in
	Lags        string                   // what a listing may lack or show too late; "" when nothing known
	IndexLag    time.Duration            // what is made is listed within so long; 0: not told

	// How a sandbox is ended.

	ReadOnly         bool // it cannot be: a terminate is refused
	EndsAtOnce       bool // it is gone when the call returns; else accepted, and gone later
	StaysOnRecord    bool // what has ended is still found, as ended
	CompareAndDelete bool // the provider compares; else the adapter looks right before
	LooksItself      bool // also where that was just done: it needs more of a look than the sandbox
	Refuses          bool // the provider may refuse, in words, what is not its credential's fault
	Busy             bool // the provider may refuse a change while another one is under way

	// How it is suspended, where the adapter can.

	Suspends      string // what that is, and what is kept: "stop: its disk is kept"
	StopMayDelete bool   // some sandboxes are deleted by a stop: these are refused

	// How it is probed.

	Exec, Files     bool // a command; a listing of files
	DataPlane       bool // the sandbox's own daemon answers: a 502 in its place is its fault
	ProbeIsActivity bool // a probe puts the provider's idle time-out off
	ProbeTwice      bool // one failing half counts when it fails twice
	LeftoverExecs   int  // probes of a broken sandbox leave at most so many executions behind

	// What it has on record of an end.

	Looks     string // which of its looks are independent of each other, and by whose word; "" when nothing is known
	TwoStores bool   // of these a get and a listing, as Looks says: what neither shows needs no second look
	Deaths    string // which record that is, and what it lacks; "" when there is none
	Forgets   bool   // nothing is on record of what is not found any more

	// What it makes.

	Plants time.Duration // a sandbox to be found, which ends by itself after so long; 0: none. See [reconcile.Planter]

	// What of templates.

	TemplateStates  []reconcile.TemplateState // told apart, besides unknown
	TemplateExpires bool                      // says when an unused one will be inactive
	TemplateHidden  bool                      // a 403 is of one that is there and another team's, not of the credential
}
