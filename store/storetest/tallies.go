package storetest

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// regretted makes a pass that finds these verdicts wrong.
func (b *bench) regretted(numbers ...int64) {
	b.Helper()
	var r reconcile.Record
	for _, number := range numbers {
		r.FalsePositives = append(r.FalsePositives, reconcile.FalsePositive{Verdict: number, At: b.clock.read(),
			What: "alive"})
	}
	b.pass(r)
}

// tallies say how often a rule was wrong, and when that is forgiven.
var tallies = map[string]func(*bench){
	"only verdicts that were carried out are tallied, each rule for itself": func(b *bench) {
		numbers := b.judged("heartbeat-lost", "a", "b", "c")
		b.judged("inactive", "a")
		b.equal("tallies", b.recall().FalsePositives, map[string]reconcile.Tally{})
		b.equal("forgiven", b.recall().Armed, map[string]int64{})
		b.failed("a")
		b.failed("b")
		b.regretted(numbers[1:]...)
		want := map[string]reconcile.Tally{"heartbeat-lost": {Verdicts: 2, FalsePositives: 1}}
		b.equal("tallies", b.recall().FalsePositives, want)
		b.equal("tallies on the page", b.overview(1).Tallies, want)
		b.equal("measured tallies", b.measures().Tallies, want)
	},
	"the end of a live task's sandbox is tallied as well, also when no row was written": func(b *bench) {
		number := b.judged("heartbeat-lost", "t")[0]
		end := ending("e", 0, "x")
		end.ID, end.Rule, end.Subject = "e", "heartbeat-lost", "task:t"
		b.plan(end)
		b.equal("tallies before", b.recall().FalsePositives, map[string]reconcile.Tally{})
		b.clock.move(time.Second)
		b.settled("e", reconcile.OutcomeConfirmed)
		b.equal("acted at", b.verdict(number).ActedAt, noon.Add(time.Second))
		b.regretted(number)
		b.equal("tallies", b.recall().FalsePositives,
			map[string]reconcile.Tally{"heartbeat-lost": {Verdicts: 1, FalsePositives: 1}})
	},
	"whose the false positives are": func(b *bench) {
		b.pass(reconcile.Record{Tasks: []reconcile.TaskSeen{
			{ID: "a", Tenant: "acme", Live: true}, {ID: "b", Tenant: "acme", Live: true},
			{ID: "c", Tenant: "other", Live: true},
		}})
		numbers := b.judged("heartbeat-lost", "a", "b", "c", "d")
		for _, id := range []string{"a", "b", "c", "d"} {
			b.failed(id)
		}
		b.equal("before", b.recall().RefutedBy, map[string][]string{})
		b.regretted(numbers[:2]...)
		b.equal("of one tenant", b.recall().RefutedBy, map[string][]string{"heartbeat-lost": {"acme"}})
		b.regretted(numbers[2:]...)
		b.equal("of two and of nobody known", b.recall().RefutedBy,
			map[string][]string{"heartbeat-lost": {"", "acme", "other"}})
	},
	"the last hundred are tallied": func(b *bench) {
		var ids []string
		var plans []reconcile.Action
		for i := range 101 {
			ids = append(ids, fmt.Sprint(i))
			plans = append(plans, failing(fmt.Sprint(i)))
		}
		numbers := b.judged("heartbeat-lost", ids...)
		b.plan(plans...)
		for _, id := range ids[1:] {
			b.settled(id, reconcile.OutcomeDone)
		}
		b.regretted(numbers[:2]...)
		want := reconcile.Tally{Verdicts: 100, FalsePositives: 1}
		b.equal("tally of a hundred", b.recall().FalsePositives["heartbeat-lost"], want)
		next := b.judged("heartbeat-lost", "0")
		b.settled("0", reconcile.OutcomeDone)
		b.regretted(next...)
		b.equal("tally of a hundred and one", b.recall().FalsePositives["heartbeat-lost"], want)
	},
	"a rule is demoted to observe by itself, and told of": func(b *bench) {
		b.pass(reconcile.Record{Demoted: []reconcile.Demotion{{Rule: "inactive", Reason: "3 of 40 came back"}}})
		c := b.controls()
		b.equal("modes", c.Modes, map[string]reconcile.Mode{"inactive": reconcile.Observe})
		b.equal("lowered", c.Lowered, map[string]reconcile.Lowering{"inactive": {
			Attribution: reconcile.Attribution{Author: reconcile.AuthorSelf, Reason: "3 of 40 came back"}, At: noon,
		}})
		b.equal("lines", b.told("rule:inactive"), []string{"mode observe by sandkeeper: 3 of 40 came back"})
		b.equal("counted", b.counted("demotions", "inactive", ""), int64(1))
	},
	"what a person lowered stays as it is": func(b *bench) {
		b.must(b.SetMode(b.Context(), "inactive", reconcile.Off, by))
		b.pass(reconcile.Record{Demoted: []reconcile.Demotion{{Rule: "inactive", Reason: "3 of 40 came back"}}})
		c := b.controls()
		b.equal("modes", c.Modes, map[string]reconcile.Mode{"inactive": reconcile.Off})
		b.equal("author", c.Lowered["inactive"].Author, "ana")
		b.equal("lines", b.told("rule:inactive"), []string{"mode off by ana: drill"})
		b.equal("counted", b.counted("demotions", "inactive", ""), int64(0))
	},
	"to arm a rule again forgives what it got wrong, that rule alone": func(b *bench) {
		numbers := b.judged("heartbeat-lost", "a", "b")
		other := b.judged("inactive", "c")
		inactive := failing("c")
		inactive.Rule = "inactive"
		b.plan(inactive)
		b.settled("c", reconcile.OutcomeDone)
		b.failed("a")
		b.failed("b")
		b.regretted(append(other, numbers[0])...)
		b.pass(reconcile.Record{Demoted: []reconcile.Demotion{{Rule: "heartbeat-lost", Reason: "wrong"}}})
		b.must(b.ClearMode(b.Context(), "heartbeat-lost", by))
		want := map[string]reconcile.Tally{"inactive": {Verdicts: 1, FalsePositives: 1}}
		b.equal("tallies", b.recall().FalsePositives, want)
		b.equal("forgiven up to", b.recall().Armed, map[string]int64{"heartbeat-lost": max(numbers[1], other[0])})
		b.regretted(numbers[1])
		b.equal("tallies after a late false positive", b.recall().FalsePositives, want)
		b.equal("false positives on the page", len(b.overview(9).FalsePositives), 3)
		b.judged("heartbeat-lost", "d")
		b.failed("d")
		want["heartbeat-lost"] = reconcile.Tally{Verdicts: 1}
		b.equal("tallies after another verdict", b.recall().FalsePositives, want)
		b.equal("lowered", b.controls().Lowered, map[string]reconcile.Lowering{})
	},
	"to clear a mode that was not lowered forgives nothing": func(b *bench) {
		numbers := b.judged("heartbeat-lost", "a")
		b.failed("a")
		b.regretted(numbers...)
		b.refused(b.ClearMode(b.Context(), "heartbeat-lost", by), reconcile.ErrNotFound, "heartbeat-lost")
		b.equal("tallies", b.recall().FalsePositives["heartbeat-lost"], reconcile.Tally{Verdicts: 1, FalsePositives: 1})
	},
}
