package storetest

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

func (b *bench) overview(most int) reconcile.Overview {
	b.Helper()
	o, err := b.Overview(b.Context(), most)
	b.must(err)
	return o
}

func (b *bench) measures() reconcile.Measures {
	b.Helper()
	m, err := b.Measures(b.Context())
	b.must(err)
	return m
}

// found is a finding on a task, due and held by these.
func found(rule, id string, held ...string) reconcile.Finding {
	return reconcile.Finding{Rule: rule, Subject: "task:" + id, Task: id, Due: true, HeldBy: reconcile.HeldByOf(held...)}
}

// at is a finding on a sandbox of this provider, not due.
func at(provider, rule, id string) reconcile.Finding {
	return reconcile.Finding{Rule: rule, Subject: "sandbox:" + provider + "/" + id, Provider: provider, Sandbox: id}
}

// subjects are what findings are about, in their order.
func subjects(list []reconcile.FindingSeen) []string {
	var ids []string
	for _, f := range list {
		ids = append(ids, f.Subject)
	}
	return ids
}

func actionIDs(list []reconcile.Action) []string {
	var ids []string
	for _, a := range list {
		ids = append(ids, a.ID)
	}
	return ids
}

// overviews say what the status page shows.
var overviews = map[string]func(*bench){
	"an empty ledger has nothing to show but who may run passes": func(b *bench) {
		o := b.overview(10)
		b.equal("lease", o.Lease, b.lease)
		b.equal("counts", o.Counts, map[string]int{})
		if !o.Now.Equal(noon) || o.Fresh || !o.LastPass.IsZero() || len(o.Passes)+len(o.Findings)+len(o.Open) > 0 {
			b.Errorf("overview = %+v, want an empty one at noon", o)
		}
		b.must(b.DropLease(b.Context(), b.lease))
		b.equal("lease after a drop", b.overview(10).Lease, reconcile.Lease{})
	},
	"a lease that ended is held by nobody": func(b *bench) {
		b.must(b.RenewLease(b.Context(), b.lease, time.Minute))
		b.clock.move(time.Minute - time.Microsecond)
		b.equal("holder before the end", b.overview(1).Lease.Holder, "one")
		b.clock.move(time.Microsecond)
		b.equal("holder at the end", b.overview(1).Lease.Holder, "")
	},
	"the last complete pass and the last full one have their times": func(b *bench) {
		b.passOf(reconcile.Full, true, reconcile.Record{})
		b.clock.move(time.Minute)
		b.pass(reconcile.Record{})
		b.clock.move(time.Minute)
		b.passOf(reconcile.Full, false, reconcile.Record{Error: "daytona: 502"})
		b.clock.move(time.Minute)
		b.begin()
		o := b.overview(3)
		b.equal("last pass", o.LastPass, noon.Add(time.Minute))
		b.equal("last full pass", o.LastFull, noon)
		all, err := b.LastPasses(b.Context(), 3)
		b.must(err)
		b.equal("passes", o.Passes, all)
	},
	"lists are cut, the counts beside them are not": func(b *bench) {
		var findings []reconcile.Finding
		var actions []reconcile.Action
		for i := range 5 {
			id := fmt.Sprint(i)
			findings = append(findings, found("looping", id))
			a := orphan(id)
			a.PlannedAt = noon.Add(time.Duration(5-i) * time.Second)
			actions = append(actions, a)
		}
		b.pass(reconcile.Record{Findings: findings, Actions: actions})
		b.clock.move(time.Second)
		b.pass(reconcile.Record{Findings: []reconcile.Finding{at("daytona", "orphan", "late")}})
		o := b.overview(2)
		b.equal("oldest findings", subjects(o.Findings), []string{"task:0", "task:1"})
		b.equal("findings by rule", o.FindingsOpen, map[string]int{"looping": 5, "orphan": 1})
		b.equal("oldest actions", actionIDs(o.Open), []string{"4", "3"})
		b.equal("open actions", o.OpenTotal, 5)
		b.equal("passes", len(o.Passes), 2)
		none := b.overview(-1)
		if len(none.Findings)+len(none.Open)+len(none.Passes) > 0 || none.OpenTotal != 5 {
			b.Errorf("overview of nothing = %+v, want totals alone", none)
		}
	},
	"what is over comes newest first": func(b *bench) {
		b.pass(reconcile.Record{
			Findings: []reconcile.Finding{found("looping", "x"), found("looping", "y"), found("looping", "z")},
			Actions:  []reconcile.Action{orphan("a"), orphan("b"), orphan("c")},
		})
		for i, id := range []string{"y", "x"} {
			b.clock.move(time.Second)
			b.pass(reconcile.Record{Resolved: []reconcile.FindingKey{{Rule: "looping", Subject: "task:" + id}}})
			b.settled([]string{"b", "a"}[i], reconcile.OutcomeConfirmed)
		}
		o := b.overview(10)
		b.equal("resolved", subjects(o.Resolved), []string{"task:x", "task:y"})
		b.equal("resolved at", o.Resolved[0].ResolvedAt, noon.Add(2*time.Second))
		b.equal("open findings", subjects(o.Findings), []string{"task:z"})
		b.equal("recent", actionIDs(o.Recent), []string{"a", "b"})
		b.equal("open actions", actionIDs(o.Open), []string{"c"})
		b.equal("newest resolved", subjects(b.overview(1).Resolved), []string{"task:x"})
		b.equal("newest closed", actionIDs(b.overview(1).Recent), []string{"a"})
	},
	"sources and templates come by name, requests as they are in force": func(b *bench) {
		b.pass(reconcile.Record{
			Sources: []reconcile.SourceSeen{
				{Name: "tasks", Trusted: true},
				{Name: "listing:daytona", Reason: reconcile.Said("cut")},
			},
			Templates: []reconcile.TemplateSeen{{Provider: "e2b", Name: "a"}, {Provider: "daytona", Name: "b"}},
			Breakers:  map[string]reconcile.Breaker{"orphan": {OpenedAt: noon, Subjects: []string{"x"}, Hash: "h"}},
		})
		b.must(b.Pause(b.Context(), reconcile.Pause{Scope: "all", Author: "ana", Reason: "drill"}))
		o, m := b.overview(1), b.measures()
		b.equal("sources", o.Sources, []reconcile.SourceSeen{
			{Name: "listing:daytona", Reason: reconcile.Said("cut")}, {Name: "tasks", Trusted: true},
		})
		b.equal("templates", o.Templates, []reconcile.TemplateSeen{
			{Provider: "daytona", Name: "b"}, {Provider: "e2b", Name: "a"},
		})
		b.equal("controls", o.Controls, b.controls())
		b.equal("measured sources", m.Sources, o.Sources)
		b.equal("measured templates", m.Templates, o.Templates)
		b.equal("measured controls", m.Controls, o.Controls)
	},
}
