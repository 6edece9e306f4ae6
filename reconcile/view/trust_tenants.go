package view

import (
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A tally is how much speaks against a source, of all that could.
type tally struct{ against, of int }

func (t tally) plus(o tally) tally { return tally{t.against + o.against, t.of + o.of} }

// Tallies are what each tenant's shows of a source.
type tallies map[string]tally

func (t tallies) add(tenant string, against bool) {
	t[tenant] = t[tenant].plus(tally{truth(against), 1})
}

func truth(is bool) int {
	if is {
		return 1
	}
	return 0
}

func (t tallies) sum() (all tally) {
	for _, one := range t {
		all = all.plus(one)
	}
	return all
}

// said is a distrust of which nobody asks for more than its words.
func said(format string, args ...any) reconcile.Distrust {
	return reconcile.Said(fmt.Sprintf(format, args...))
}

// A doubt is what would make a source doubtful, and why then.
type doubt struct {
	tallies
	is  func(tally) bool
	why func(tally) reconcile.Distrust
	own bool // a tenant that nobody else can be compared with has only its own doubted: others have shown nothing
}

// blames are the tenants whose own makes a source doubtful, while that of most tenants speaks for it and nothing is
// doubtful without theirs. None where it is doubtful as a whole: each tenant has one voice, however much is its.
//
// Tenants whose own is too little to be doubtful may make it so together: they are blamed when nothing of any other
// tenant speaks against it.
func (d *doubt) blames() (tenants []string) {
	voices, rest := 0, tally{}
	var speak []string
	for tenant, one := range d.tallies {
		voices += truth(one.against > 0 && one.against*2 >= one.of)
		if one.against > 0 {
			speak = append(speak, tenant)
		}
		if d.is(one) {
			tenants = append(tenants, tenant)
			continue
		}
		rest = rest.plus(one)
	}
	//guard:tenant-alone live
	if d.own && len(tenants) == 1 && len(d.tallies) == 1 && tenants[0] != "" {
		return tenants
	}
	//guard:tenant-voices harm
	if most := voices*2 > len(d.tallies); most || len(tenants) == len(d.tallies) {
		return nil
	}
	//guard:tenant-together live
	if d.is(rest) {
		if len(speak) > voices {
			return nil
		}
		tenants = speak
	}
	slices.Sort(tenants)
	return tenants
}

// settle is why the source is not trusted as a whole, none when it is; what only one tenant's speaks against is
// settled for that tenant alone.
func (v *View) settle(source string, doubts ...doubt) (whole reconcile.Distrust) {
	parts := map[string]reconcile.Distrust{}
	for i := range doubts {
		d := &doubts[i]
		all := d.sum()
		if !whole.None() || !d.is(all) {
			continue
		}
		blamed := d.blames()
		if len(blamed) == 0 {
			whole = d.why(all)
		}
		for _, tenant := range blamed {
			parts[reconcile.OfTenant(source, tenant)] = d.why(d.tallies[tenant])
		}
	}
	for name := range v.Sources {
		if of, tenant := reconcile.SourceTenant(name); of == source && tenant != "" && parts[name].None() {
			v.believe(name)
		}
	}
	for name, why := range parts {
		if whole.None() {
			v.trust(name, why)
		}
	}
	return whole
}

// Frozen are the freezes of a source for a tenant: of the whole, or of the tenant's part. What is nobody's, as
// far as anybody knows, may be any tenant's.
func (v *View) Frozen(source, tenant string) (names []string) {
	if !v.Trusted(source) {
		return []string{source}
	}
	if !v.P.Tasks.Tenants {
		return nil
	}
	if part := reconcile.OfTenant(source, tenant); tenant != "" && !v.Trusted(part) {
		return []string{part}
	}
	//guard:tenant-unknown harm
	if tenant == "" {
		for name, seen := range v.Sources {
			if of, whose := reconcile.SourceTenant(name); of == source && whose != "" && !seen.Trusted {
				names = append(names, name)
			}
		}
		slices.Sort(names)
	}
	return names
}

// FrozenOf are the freezes of a source for a subject that is only named.
func (v *View) FrozenOf(source, subject string) []string {
	if !v.P.Tasks.Tenants {
		return v.Frozen(source, "")
	}
	return v.Frozen(source, v.TenantOfSubject(subject))
}

// ObservedBy is for how long all the sources have been watched without an outage of the tenant's part.
func (v *View) ObservedBy(tenant string, sources ...string) time.Duration {
	shortest := v.Observed(sources...)
	if tenant == "" {
		return shortest
	}
	for _, source := range sources {
		shortest = min(shortest, v.Observed(reconcile.OfTenant(source, tenant)))
	}
	return shortest
}

// TenantOf is whose the subject is: by its row, else by its sandbox; "" when nothing tells.
func (v *View) TenantOf(s *reconcile.Subject) string {
	if !v.P.Tasks.Tenants {
		return ""
	}
	if s.Task != nil && s.Task.Tenant != "" {
		return s.Task.Tenant
	}
	for i := range s.Boxes {
		if tenant := v.boxTenant(&s.Boxes[i]); tenant != "" {
			return tenant
		}
	}
	return s.Seen().Tenant
}

// boxTenant is whose a sandbox is. A label names a task to everybody who may set labels: where rows name their
// sandboxes, the row has to.
func (v *View) boxTenant(b *reconcile.SeenSandbox) string {
	id := reconcile.FirstOf(b.Task, b.Seen().Task)
	tenant, sandbox := v.rowTenant(id)
	p, named := v.P.Providers[b.Provider], b.CalledBy(sandbox) || b.ID == sandbox
	//guard:tenant-remembered live
	if p.SandboxIsName && !b.Here {
		named = named || sandbox != "" && sandbox == b.Seen().Name // no listing shows what it goes by
	}
	//guard:tenant-vouched harm
	if p.LinkSandbox && !named {
		return b.Tenant
	}
	return reconcile.FirstOf(tenant, b.Tenant)
}

// rowTenant is whose a task is, and which sandbox its row names.
func (v *View) rowTenant(id string) (tenant, sandbox string) {
	if t := v.Live[id]; t != nil {
		return t.Tenant, t.Sandbox
	}
	if t, read := v.S.Rows[id]; read {
		return t.Tenant, t.Sandbox
	}
	seen := v.S.Memory.Tasks.Of(id)
	return seen.Tenant, seen.Sandbox
}

// TenantOfSubject is whose the subject is, of a subject that is only named.
func (v *View) TenantOfSubject(subject string) string {
	if id, isTask := reconcile.OfType(reconcile.SubjectTask, subject); isTask {
		tenant, _ := v.rowTenant(id)
		return tenant
	}
	of := reconcile.ParseSubject(subject)
	ref := reconcile.Ref{Provider: of.Provider, ID: of.ID}
	b := reconcile.Box(&reconcile.Sandbox{Ref: ref})
	if at, listed := v.S.Place(ref); listed {
		b.Sandbox = &v.S.Sandboxes[at]
	}
	b.Remember(&v.S.Memory)
	return v.boxTenant(&b)
}
