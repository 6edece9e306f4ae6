package reconcile

import (
	"context"
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A Death is a provider's own record of the end of one run of a sandbox: proof of another kind than that it is
// not found. It says nothing of another run, and that there is none says nothing at all.
type Death struct {
	At          time.Time // provider's clock
	AsOf        time.Time // the same clock when the record was read
	Reason      string    // in the provider's words
	By          string    // who asked for it; "" where that is not told
	Incarnation string    // the run that ended, where a sandbox may have several
	Record      string    // which record of the provider's says so: "lifecycle event"
}

// Ago is how long ago it ended, by the provider's clock.
func (d *Death) Ago() time.Duration { return d.AsOf.Sub(d.At) }

// String is the record in words.
func (d *Death) String() string {
	by := ""
	if d.By != "" {
		by = ", by " + text.Clip(d.By, 80)
	}
	return fmt.Sprintf("its provider has on record that it ended at %s (%s%s)", text.Time(d.At),
		text.Clip(FirstOf(d.Reason, "no reason told"), 200), by)
}

// Deaths is a provider that keeps a record of how its sandboxes ended.
type Deaths interface {
	// Death is the record of the end of the sandbox's newest run. [ErrNotFound] means that there is none, which is
	// no sign of life; so it is of one that has run again since. It is read only of what is seen to be over.
	Death(ctx context.Context, id string) (Death, error)
}
