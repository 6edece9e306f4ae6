package storetest

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// broken is an incident that opened at noon.
func broken(id, signature string) reconcile.Incident {
	return reconcile.Incident{
		ID: id, Signature: signature, Rule: "heartbeat-lost", Provider: "daytona", OpenedAt: noon, FirstSeen: noon,
		LastSeen: noon, Count: 5,
	}
}

func incidentIDs(is []reconcile.Incident) []string {
	var ids []string
	for _, i := range is {
		ids = append(ids, i.ID)
	}
	return ids
}

func (b *bench) listed(most int) []string {
	b.Helper()
	found, err := b.Incidents(b.Context(), most)
	b.must(err)
	return incidentIDs(found)
}

// incidents say what is kept of failures with one cause.
var incidents = map[string]func(*bench){
	"an open incident is a control, brought up to date by each pass": func(b *bench) {
		i := broken("i-1", "s")
		b.pass(reconcile.Record{Incidents: []reconcile.Incident{i}})
		b.equal("incidents", b.controls().Incidents, []reconcile.Incident{i})
		b.clock.move(time.Minute)
		seen := i
		seen.OpenedAt, seen.LastSeen, seen.Count = noon.Add(time.Minute), noon.Add(time.Minute), 9
		seen.Cause, seen.Cost = "template inactive", 1.25
		seen.Evidence = []reconcile.Evidence{{Source: "daytona", At: noon, Fact: "inactive", About: "task:t1"}}
		b.pass(reconcile.Record{Incidents: []reconcile.Incident{seen}})
		seen.OpenedAt = noon
		b.equal("incidents", b.controls().Incidents, []reconcile.Incident{seen})
		one, err := b.Incident(b.Context(), "i-1")
		b.must(err)
		b.equal("incident", one, seen)
		b.pass(reconcile.Record{})
		b.equal("incidents that no pass named", b.controls().Incidents, []reconcile.Incident{seen})
	},
	"the page is told which findings belong to an open incident, and to none that is closed": func(b *bench) {
		mine, other := found("heartbeat-lost", "1"), found("heartbeat-lost", "2")
		mine.Incident = "i-1"
		i := broken("i-1", "s")
		b.pass(reconcile.Record{Incidents: []reconcile.Incident{i}, Findings: []reconcile.Finding{mine, other}})
		belong := func() map[string]string {
			of := map[string]string{}
			for _, f := range b.overview(9).Findings {
				of[f.Subject] = f.Incident
			}
			return of
		}
		b.equal("incidents of findings", belong(), map[string]string{"task:1": "i-1", "task:2": ""})
		i.ClosedAt = noon.Add(time.Minute)
		b.pass(reconcile.Record{Incidents: []reconcile.Incident{i}})
		b.equal("once it is closed", belong(), map[string]string{"task:1": "", "task:2": ""})
		b.pass(reconcile.Record{Findings: []reconcile.Finding{found("heartbeat-lost", "1")}})
		b.equal("recalled", b.recall().Findings[mine.Key()].Incident, "")
	},
	"a closed incident holds nothing, and comes after the open ones, newest first": func(b *bench) {
		a, c, d, e := broken("i-a", "1"), broken("i-c", "2"), broken("i-d", "3"), broken("i-e", "4")
		a.OpenedAt = noon.Add(time.Second)
		d.ClosedAt, e.ClosedAt = noon.Add(time.Minute), noon.Add(time.Hour)
		b.pass(reconcile.Record{Incidents: []reconcile.Incident{a, c, d, e}})
		b.equal("open", incidentIDs(b.controls().Incidents), []string{"i-c", "i-a"})
		b.equal("all", b.listed(9), []string{"i-c", "i-a", "i-e", "i-d"})
		b.equal("three", b.listed(3), []string{"i-c", "i-a", "i-e"})
		b.equal("one", b.listed(1), []string{"i-c"})
		b.equal("none", len(b.listed(-1)), 0)
		b.equal("on the page", incidentIDs(b.overview(3).Incidents), []string{"i-c", "i-a", "i-e"})
	},
	"a release is never overwritten by a pass": func(b *bench) {
		i := broken("i-1", "s")
		b.pass(reconcile.Record{Incidents: []reconcile.Incident{i}})
		b.clock.move(time.Minute)
		b.must(b.ReleaseIncident(b.Context(), "i-1", by))
		b.pass(reconcile.Record{Incidents: []reconcile.Incident{i}})
		got := b.controls().Incidents[0]
		i.ReleasedAt, i.ReleasedBy = noon.Add(time.Minute), by
		b.equal("incident", got, i)
		if got.Holds() {
			b.Error("a released incident holds")
		}
		b.equal("lines", b.told("incident:i-1"), []string{"released by ana: drill"})
	},
	"an incident is released once, while it is open, by somebody": func(b *bench) {
		closed := broken("i-2", "s")
		closed.ClosedAt = noon
		b.pass(reconcile.Record{Incidents: []reconcile.Incident{broken("i-1", "s"), closed}})
		if err := b.ReleaseIncident(b.Context(), "i-1", reconcile.Attribution{}); err == nil {
			b.Error("an unsigned release was taken")
		}
		b.must(b.ReleaseIncident(b.Context(), "i-1", by))
		b.refused(b.ReleaseIncident(b.Context(), "i-1", by), nil, "ana released it at 2026-11-21 12:00:00 UTC")
		b.refused(b.ReleaseIncident(b.Context(), "i-2", by), nil, "it closed at 2026-11-21 12:00:00 UTC")
		b.refused(b.ReleaseIncident(b.Context(), "i-9", by), reconcile.ErrNotFound, "i-9")
		_, err := b.Incident(b.Context(), "i-9")
		b.refused(err, reconcile.ErrNotFound, "i-9")
	},
	"the affected are the verdicts of its signature while it lasted": func(b *bench) {
		before := b.judged("inactive", "before")
		b.clock.move(time.Second)
		numbers := b.judged("inactive", "first", "second")
		b.judged("heartbeat-lost", "other")
		b.clock.move(time.Minute)
		numbers = append(numbers, b.judged("inactive", "last")...)
		i := broken("i-1", "s-inactive")
		i.FirstSeen = noon.Add(time.Second)
		b.pass(reconcile.Record{Incidents: []reconcile.Incident{i}})
		affected := func() []int64 {
			found, err := b.Affected(b.Context(), "i-1")
			b.must(err)
			return numbersOf(found)
		}
		b.equal("affected", affected(), numbers)
		i.ClosedAt = noon.Add(61 * time.Second)
		b.pass(reconcile.Record{Incidents: []reconcile.Incident{i}})
		b.clock.move(time.Microsecond)
		after := b.judged("inactive", "after")
		b.equal("affected of the closed one", affected(), numbers)
		if len(before) == 0 || len(after) == 0 {
			b.Error("nothing to tell apart")
		}
		_, err := b.Affected(b.Context(), "i-9")
		b.refused(err, reconcile.ErrNotFound, "i-9")
	},
}
