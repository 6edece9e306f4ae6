package run

import (
	"context"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// deathTime is how long the record of an end may take: without it the verdict only comes later.
const deathTime = 3 * time.Second

// deaths reads the providers' own records of what a look has shown to be over, for what had a task: it asks why
// nothing runs there any more. What cannot be read is no record.
func (k observer) deaths(ctx context.Context, s *reconcile.Snapshot, refs []reconcile.Ref,
	looks []reconcile.Lookup) {
	var over []int
	for i, ref := range refs {
		if seen := s.Memory.Sandboxes.Of(ref); seen.Task != "" && looks[i].Over() &&
			reconcile.CapabilitiesOf(k.Providers[ref.Provider]).Deaths != nil {
			over = append(over, i)
		}
	}
	found := inParallel(over, k.parallel(view.Lookers), func(i int) *reconcile.Death { return k.deathOf(ctx, refs[i]) })
	for n, i := range over {
		looks[i].Death = found[n]
	}
}

func (k observer) deathOf(ctx context.Context, ref reconcile.Ref) *reconcile.Death {
	ctx, cancel := context.WithTimeout(k.clocks.Watch(ctx, ref.Provider), deathTime)
	defer cancel()
	d, err := reconcile.CapabilitiesOf(k.Providers[ref.Provider]).Deaths.Death(ctx, ref.ID)
	if err != nil {
		return nil
	}
	for _, said := range []*string{&d.Reason, &d.By, &d.Incarnation, &d.Record} {
		*said = text.Clip(text.Line(*said), 200)
	}
	return &d
}
