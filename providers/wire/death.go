package wire

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// recordPause is for how long a record is not asked for after the right to read it was refused: a credential may do
// all else without it.
const recordPause = 10 * time.Minute

// Death reads the record of an end by read, unless the credential may not read such records.
func (f *Base) Death(ctx context.Context, id string, read func(ctx context.Context) (reconcile.Death, error),
) (reconcile.Death, error) {
	d, err := f.death(ctx, id, read)
	if err != nil {
		return reconcile.Death{}, f.Wrap("read the end of sandbox", id, err)
	}
	d.Reason, d.By = f.redact(d.Reason), f.redact(d.By)
	return d, nil
}

func (f *Base) death(ctx context.Context, id string, read func(ctx context.Context) (reconcile.Death, error),
) (d reconcile.Death, err error) {
	if err := CheckID(id); err != nil {
		return d, err
	}
	if until := f.unread.Load(); until != nil && f.Now().Before(*until) {
		return d, fmt.Errorf("%w: not asked for again yet", reconcile.ErrUnauthorized)
	}
	if d, err = read(ctx); errors.Is(err, reconcile.ErrUnauthorized) {
		until := f.Now().Add(recordPause)
		f.unread.Store(&until)
	}
	return d, err
}

// NoRecord is the error where a provider has nothing on record of an end.
func NoRecord(what string) error { return fmt.Errorf("%w: %s", reconcile.ErrNotFound, what) }
