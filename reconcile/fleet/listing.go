package fleet

import (
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A Listing keeps the sandboxes that were listed. One that is called as the ledger remembers it takes 64 bytes, instead
// of 512 and its texts: its texts are the ledger's, what many have in common is there once, a moment is a number. One
// that the ledger does not know takes what it would take there besides. What does not fit is kept as it is.
type Listing struct {
	of *reconcile.Memory

	kept    Pieces[record]
	others  Pieces[reconcile.Sandbox] // that do not fit, whole
	fresh   Pieces[reconcile.CompactSandbox]
	common  map[shared]*reconcile.Sandbox
	like    shared             // what the last one shared
	likeIt  *reconcile.Sandbox // and that as a sandbox
	kinds   map[string][]string
	alike   []string // the kinds of the last one
	strange map[string]bool
}

// A record is one sandbox.
type record struct {
	was                               *reconcile.CompactSandbox // nil of one that is kept whole; its names if it is new
	rest                              *reconcile.Sandbox        // what it shares; or all of it
	created, updated, active, expires reconcile.Moment
	key, alt                          calling
	unnamed, taken, fresh             bool // it does not name the task that is remembered; taken; the ledger knows it not
}

// A calling says which of a sandbox's names a key of it is.
type calling uint8

const (
	none calling = iota
	byID
	byName
	otherwise // it does not fit
)

// Shared is what many sandboxes have in common.
type shared struct {
	provider, raw, template, region, unproven, tenant, unsigned  string
	err, unended, unkept, endpoint                               string
	state                                                        reconcile.SandboxState
	size                                                         reconcile.Size
	asOf, looked                                                 time.Time
	owned, badLink, noContainer, stable, excepted, canary, spare bool
	kinds                                                        *string // the first of them
	many                                                         int     // of them
}

// NewListing keeps none yet. Memory is what the ledger remembers: it was read, and is not changed meanwhile.
func NewListing(m *reconcile.Memory) *Listing {
	return &Listing{of: m, common: map[shared]*reconcile.Sandbox{}, kinds: map[string][]string{},
		strange: map[string]bool{}}
}

// Add keeps one more. Its kinds are not written to any more.
func (l *Listing) Add(sb *reconcile.Sandbox) {
	was, known := l.of.Sandboxes.At(sb.Ref)
	seen := was.Seen()
	if !known {
		seen = reconcile.SandboxSeen{Ref: sb.Ref, Name: sb.Name, Task: sb.Task}
	}
	r, fits := l.compact(sb, was, &seen)
	if !fits || r.unnamed {
		for _, task := range [...]string{sb.Task, seen.Task} {
			if task != "" {
				l.strange[task] = true
			}
		}
	}
	switch {
	case !fits:
		whole := l.others.Add(sb)
		whole.ShareTexts(l.of)
		r = record{rest: whole}
	case !known:
		seen.ShareTexts(l.of)
		r.was, r.fresh = l.fresh.Add(&reconcile.CompactSandbox{}), true
		r.was.Keep(seen)
	}
	l.kept.Add(&r)
}

// compact is a sandbox as what the ledger remembers of it, and what was read besides.
func (l *Listing) compact(sb *reconcile.Sandbox, was *reconcile.CompactSandbox, seen *reconcile.SandboxSeen,
) (record, bool) {
	unnamed := sb.Task == "" && seen.Task != "" // where only rows link
	if sb.Name != seen.Name || sb.Task != seen.Task && !unnamed || sb.Labels != nil || sb.Further != nil {
		return record{}, false
	}
	r := record{was: was, unnamed: unnamed,
		created: reconcile.MomentOf(sb.CreatedAt), updated: reconcile.MomentOf(sb.UpdatedAt),
		active: reconcile.MomentOf(sb.LastActivityAt), expires: reconcile.MomentOf(sb.ExpiresAt),
		key: callingOf(sb, sb.SandboxKey), alt: callingOf(sb, sb.AltKey)}
	fits := r.key != otherwise && r.alt != otherwise && r.created.Time() == sb.CreatedAt &&
		r.updated.Time() == sb.UpdatedAt && r.active.Time() == sb.LastActivityAt && r.expires.Time() == sb.ExpiresAt
	if fits {
		r.rest = l.sharedBy(sb)
	}
	return r, fits
}

func callingOf(sb *reconcile.Sandbox, key string) calling {
	switch key {
	case "":
		return none
	case sb.ID:
		return byID
	case sb.Name:
		return byName
	}
	return otherwise
}

func (c calling) of(sb *reconcile.Sandbox) string {
	switch c {
	case byID:
		return sb.ID
	case byName:
		return sb.Name
	}
	return ""
}

// sharedBy is what the sandbox shares with others.
func (l *Listing) sharedBy(sb *reconcile.Sandbox) *reconcile.Sandbox {
	of := shared{
		provider: sb.Provider, raw: sb.Raw, template: sb.Template, region: sb.Region, unproven: sb.Unproven,
		tenant: sb.Tenant, unsigned: sb.Unsigned, err: sb.Error, unended: sb.NotTerminable, unkept: sb.NotStoppable,
		endpoint: sb.Endpoint,
		state:    sb.State, size: sb.Size, asOf: sb.AsOf, looked: sb.Looked, owned: sb.Owned, badLink: sb.BadLink,
		noContainer: sb.NoContainer, stable: sb.StableName, excepted: sb.Excepted, canary: sb.Canary, spare: sb.Spare,
	}
	kinds := l.kindsOf(sb.Kinds)
	if of.many = len(kinds); of.many > 0 {
		of.kinds = &kinds[0]
	}
	if l.likeIt != nil && of == l.like {
		return l.likeIt
	}
	rest, known := l.common[of]
	if !known {
		one := *sb
		one.ID, one.Name, one.Task, one.SandboxKey, one.AltKey, one.Kinds = "", "", "", "", "", kinds
		one.CreatedAt, one.UpdatedAt, one.LastActivityAt, one.ExpiresAt = time.Time{}, time.Time{}, time.Time{}, time.Time{}
		rest = &one
		l.common[of] = rest
	}
	l.like, l.likeIt = of, rest
	return rest
}

// kindsOf is one list of kinds for all that have the same.
func (l *Listing) kindsOf(kinds []string) []string {
	if slices.Equal(kinds, l.alike) && (kinds == nil) == (l.alike == nil) {
		return l.alike
	}
	key := strings.Join(kinds, "\x00")
	known, is := l.kinds[key]
	if !is || (kinds == nil) != (known == nil) {
		known = kinds
		l.kinds[key] = known
	}
	l.alike = known
	return known
}

// Len is how many there are.
func (l *Listing) Len() int { return l.kept.Len() }

// Strange reports whether some sandbox has to do with the task in another way than the ledger remembers: it names the
// task, or was its, and is called otherwise by now.
func (l *Listing) Strange(task string) bool { return l.strange[task] }

// A Place is where one that is not kept whole stands; the zero value is nowhere.
type Place struct{ at *record }

// Each are the places of those, with what is remembered of each, or its names where that is nothing.
func (l *Listing) Each(yield func(Place, *reconcile.CompactSandbox) bool) {
	for r := range l.kept.Each() {
		if r.was != nil && !yield(Place{r}, r.was) {
			return
		}
	}
}

// Fill makes the sandbox whole, in the place of another.
func (p Place) Fill(sb *reconcile.Sandbox) { p.at.fill(sb) }

// Fresh reports whether the ledger remembers nothing of the sandbox.
func (p Place) Fresh() bool { return p.at != nil && p.at.fresh }

// Take leaves the sandbox out of the rest.
func (p Place) Take() { p.at.taken = true }

// Taken reports whether it was left out.
func (p Place) Taken() bool { return p.at != nil && p.at.taken }

// Know keeps what is to be remembered of a fresh one instead of its names, and returns it.
func (p Place) Know(seen reconcile.SandboxSeen) *reconcile.CompactSandbox {
	p.at.was.Keep(seen)
	return p.at.was
}

func (r *record) fill(sb *reconcile.Sandbox) {
	*sb = *r.rest
	if r.was == nil {
		return
	}
	seen := r.was.Seen()
	sb.ID, sb.Name = seen.ID, seen.Name
	if !r.unnamed {
		sb.Task = seen.Task
	}
	sb.SandboxKey, sb.AltKey = r.key.of(sb), r.alt.of(sb)
	sb.CreatedAt, sb.UpdatedAt = r.created.Time(), r.updated.Time()
	sb.LastActivityAt, sb.ExpiresAt = r.active.Time(), r.expires.Time()
}

// Rest are those that nobody took, whole, in the order in which they came.
func (l *Listing) Rest() []reconcile.Sandbox {
	return l.whole(func(r *record) bool { return !r.taken })
}

// All are all of them, whole, in the order in which they came.
func (l *Listing) All() []reconcile.Sandbox { return l.whole(func(*record) bool { return true }) }

func (l *Listing) whole(wanted func(*record) bool) []reconcile.Sandbox {
	n := 0
	for r := range l.kept.Each() {
		if wanted(r) {
			n++
		}
	}
	all := make([]reconcile.Sandbox, n)
	n = 0
	for r := range l.kept.Each() {
		if wanted(r) {
			r.fill(&all[n])
			n++
		}
	}
	return all
}
