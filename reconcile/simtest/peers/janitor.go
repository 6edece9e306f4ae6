package peers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A Janitor carries out a policy: it reads what a sweep needs, lets it decide, and does it.
type Janitor struct {
	Policy    Policy
	Tasks     reconcile.Tasks
	Providers map[string]reconcile.Provider
	Exact     map[string]bool // providers whose own ids the rows hold
	Now       func() time.Time
	Memory    *Memory // what it keeps in the platform's database: it outlives the process

	due []time.Time // when each sweep is to run next; empty before the first
}

// A Memory is what a janitor knows of earlier passes. The zero Memory knows nothing.
type Memory struct {
	notes Notes
	refs  map[string]reconcile.Ref // which sandbox a row's sandbox column means, once it was seen
	draws uint64
	done  int
}

// Pass runs the sweeps that are due, one after the other. The failure of one does not keep the
// others from running.
func (j *Janitor) Pass(ctx context.Context) error {
	j.wake()
	var errs []error
	for i, s := range j.Policy.Sweeps {
		now := j.Now()
		if now.Before(j.due[i]) {
			continue
		}
		j.due[i] = now.Add(s.Every)
		if err := j.sweep(ctx, s); err != nil {
			errs = append(errs, fmt.Errorf("sweep %s of %s: %w", s.Name, j.Policy.Name, err))
		}
	}
	return errors.Join(errs...)
}

func (j *Janitor) wake() {
	if j.due == nil {
		j.due = make([]time.Time, len(j.Policy.Sweeps))
	}
	if j.Memory.notes == nil {
		j.Memory.notes, j.Memory.refs = Notes{}, map[string]reconcile.Ref{}
	}
}

func (j *Janitor) sweep(ctx context.Context, s Sweep) error {
	v, err := j.look(ctx, s.Needs)
	if err != nil {
		return err
	}
	var errs []error
	for _, d := range s.Decide(v) {
		if err := j.do(ctx, d); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// look reads what the sweep needs.
func (j *Janitor) look(ctx context.Context, n Needs) (*View, error) {
	j.Memory.draws++
	v := &View{Notes: j.Memory.notes, Draw: j.Memory.draws, Now: j.Now()}
	if n.List {
		j.list(ctx, v)
		return v, j.explain(ctx, v)
	}
	rows, err := j.Tasks.Live(ctx)
	if err != nil {
		return nil, fmt.Errorf("read live tasks: %w", err)
	}
	v.Tasks = rows.Tasks
	if n.Look || n.Resolve {
		j.resolve(ctx, v)
	}
	if n.Look {
		j.visit(ctx, v)
	}
	return v, nil
}

// list reads what each provider lists. One that fails is left out of this sweep; what another
// says is believed, however little it is.
func (j *Janitor) list(ctx context.Context, v *View) {
	for _, name := range j.names() {
		var boxes []reconcile.Sandbox
		_, err := j.Providers[name].List(ctx, func(page []reconcile.Sandbox) error {
			for _, b := range page {
				if b.Owned {
					boxes = append(boxes, b)
				}
			}
			return nil
		})
		if err == nil {
			v.Boxes = append(v.Boxes, boxes...)
		}
	}
}

// explain reads the rows that name the listed sandboxes, by both ends of the link.
func (j *Janitor) explain(ctx context.Context, v *View) error {
	var keys, ids []string
	for _, b := range v.Boxes {
		keys = append(keys, b.ID)
		if b.SandboxKey != "" && b.SandboxKey != b.ID {
			keys = append(keys, b.SandboxKey)
		}
		if b.Task != "" {
			ids = append(ids, b.Task)
		}
	}
	seen := map[string]bool{}
	for _, read := range []func() (reconcile.Rows, error){
		func() (reconcile.Rows, error) { return j.Tasks.BySandbox(ctx, keys) },
		func() (reconcile.Rows, error) { return j.Tasks.ByID(ctx, ids) },
	} {
		rows, err := read()
		if err != nil {
			return fmt.Errorf("read the rows of sandboxes: %w", err)
		}
		for _, t := range rows.Tasks {
			if !seen[t.ID] {
				seen[t.ID] = true
				v.Rows = append(v.Rows, t)
			}
		}
	}
	return nil
}

func (j *Janitor) names() []string { return slices.Sorted(maps.Keys(j.Providers)) }
