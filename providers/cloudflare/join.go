package cloudflare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// mostDoubts is how many records are asked for in one listing that its list lacks.
const mostDoubts = 25

// A join brings records and containers together.
type join struct {
	*Provider
	read    readPart           // the containers
	records []pair             // as the registry listed them
	by      map[string]*record // their actor's id, or the name of those that do not tell it
	met     map[*record]bool
	seen    map[string]bool // the containers
	doubts  []pair          // containers, with what is remembered of their records
	unseen  []pair          // containers of ours, with the records that may go by their names
	date    time.Time       // of the registry's first page
	dark    error           // why not all was read
}

// join reads the registry.
func (p *Provider) join(ctx context.Context) (*join, error) {
	j := &join{Provider: p, read: p.control.pages(""), by: map[string]*record{}, met: map[*record]bool{},
		seen: map[string]bool{}}
	return j, each(ctx, p.worker.page, func(of pair, date time.Time) {
		if j.date.IsZero() {
			j.date = date
		}
		p.learn(of.record)
		j.records = append(j.records, of)
		j.by[cmp.Or(strings.ToLower(of.record.Actor), of.record.ID)] = of.record
	})
}

// containers are the containers with their records, and those that have none. One that had a
// record, or may have, is in doubt when the registry does not list that.
func (j *join) containers(ctx context.Context, cursor string) (part, error) {
	in, err := j.read(ctx, cursor)
	out := part{date: in.date, next: in.next}
	for _, of := range in.pairs {
		actor := strings.ToLower(of.instance.ID)
		j.seen[actor] = true
		of.record = cmp.Or(j.by[actor], j.by[of.instance.Name]) // none has the name ""
		j.met[of.record] = true
		switch id := j.recordOf(of.instance); {
		case of.record != nil, ofContainer[of.instance.Status.State] == reconcile.SandboxEnded:
			out.pairs = append(out.pairs, of)
		case id != "":
			j.doubts = append(j.doubts, pair{&record{ID: id}, of.instance})
		case j.entry.Owns.Prove(of.instance.Name, nil):
			j.unseen = append(j.unseen, pair{&record{ID: of.instance.Name}, of.instance})
		default:
			out.pairs = append(out.pairs, of)
		}
	}
	j.dark = err
	return out, err
}

// rest are the records that met no container.
func (j *join) rest(context.Context, string) (part, error) {
	out := part{date: j.date}
	for _, of := range j.records {
		if !j.met[of.record] {
			out.pairs = append(out.pairs, of)
		}
	}
	return out, nil
}

// doubted are the containers whose records are gone: the Worker says so when it is asked for
// each. While it answers for one that its list lacks and once showed, that list is not whole; one
// that nobody saw before may be younger than the list.
func (j *join) doubted(ctx context.Context, _ string) (out part, err error) {
	defer func() { j.dark = cmp.Or(j.dark, err) }()
	out.date = j.date
	all := append(j.doubts, j.unseen...)
	asked := min(len(all), mostDoubts)
	for i, of := range all[:asked] {
		r, _, err := j.worker.one(ctx, of.record.ID)
		its := err == nil && strings.EqualFold(cmp.Or(r.Actor, of.instance.ID), of.instance.ID)
		if of.record = nil; its && i < len(j.doubts) {
			err = fmt.Errorf("its list lacks %s, which it has", text.Clip(r.ID, 80))
		} else if its {
			of.record = r
		}
		if err != nil && !errors.Is(err, reconcile.ErrNotFound) {
			return part{}, err
		}
		j.actors.Delete(strings.ToLower(of.instance.ID))
		out.pairs = append(out.pairs, of)
	}
	if n := len(j.doubts); n > mostDoubts {
		return part{}, fmt.Errorf("its list lacks the records of %d containers", n)
	}
	for _, of := range all[asked:] { // which are asked for by name right before they are ended
		out.pairs = append(out.pairs, pair{instance: of.instance})
	}
	return out, nil
}

// forget lets what is remembered go with the containers and records.
func (j *join) forget() {
	j.actors.Range(func(actor, _ any) bool {
		if a, _ := actor.(string); !j.seen[a] && j.by[a] == nil {
			j.actors.Delete(actor)
		}
		return true
	})
}

// learn remembers which container a record is of.
func (p *Provider) learn(r *record) {
	if r != nil && r.Actor != "" {
		p.actors.Store(strings.ToLower(r.Actor), r.ID)
	}
}

// recordOf is the id of the record that a container had when it was last seen, if it lives.
func (p *Provider) recordOf(i *instance) string {
	id, _ := p.actors.Load(strings.ToLower(i.ID))
	known, _ := id.(string)
	if ofContainer[i.Status.State] == reconcile.SandboxEnded {
		return ""
	}
	return known
}

// kill ends a container without a record. It looks for one in the whole registry first: it may
// go by another name there.
func (p *Provider) kill(ctx context.Context, i *instance) (how reconcile.Termination, err error) {
	if why := p.notTerminable(); why != "" {
		return reconcile.TerminateRefused, wire.Unable(why)
	}
	if p.worker != nil {
		err = each(ctx, p.worker.page, func(of pair, _ time.Time) {
			if strings.EqualFold(of.record.Actor, i.ID) || of.record.ID == i.Name {
				how = reconcile.TerminateChanged
			}
		})
	}
	if how != "" || err != nil {
		return how, err
	}
	return p.control.kill(ctx, i)
}
