package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// dead is a verdict on a task, now.
func (b *bench) dead(rule, id string) reconcile.Verdict {
	return reconcile.Verdict{
		Rule: rule, Subject: "task:" + id, Task: id, Provider: "daytona", Sandbox: "sb-" + id, Signature: "s-" + rule,
		Reason: "dead", At: b.clock.read(), Enforced: true, PerHour: 0.5,
	}
}

// numberless are verdicts without the numbers that the ledger gave them.
func numberless(vs []reconcile.Verdict) []reconcile.Verdict {
	vs = slices.Clone(vs)
	for i := range vs {
		vs[i].Number = 0
	}
	return vs
}

// judged makes a pass that comes to verdicts of a rule on these tasks, and returns their
// numbers.
func (b *bench) judged(rule string, ids ...string) []int64 {
	b.Helper()
	var r reconcile.Record
	for _, id := range ids {
		r.Verdicts = append(r.Verdicts, b.dead(rule, id))
	}
	b.pass(r)
	recent := b.recall().Verdicts
	var numbers []int64
	for _, v := range recent[len(recent)-len(ids):] {
		numbers = append(numbers, v.Number)
	}
	return numbers
}

// many are n verdicts like this one, each on a task of its own.
func (b *bench) many(n int, like reconcile.Verdict) []reconcile.Verdict {
	vs := make([]reconcile.Verdict, n)
	for i := range vs {
		vs[i] = like
		vs[i].Task = fmt.Sprint(i)
		vs[i].Subject = "task:" + vs[i].Task
	}
	return vs
}

// failed carries out the newest verdict of heartbeat-lost on a task.
func (b *bench) failed(id string) {
	b.Helper()
	b.plan(failing(id))
	b.settled(id, reconcile.OutcomeDone)
}

// verdict is the one of this number among those recalled.
func (b *bench) verdict(number int64) reconcile.Verdict {
	b.Helper()
	for _, v := range b.recall().Verdicts {
		if v.Number == number {
			return v
		}
	}
	b.Fatalf("verdict %d is not recalled", number)
	return reconcile.Verdict{}
}

// verdicts say what is kept of failures, and for how long.
var verdicts = map[string]func(*bench){
	"verdicts are numbered in their order and counted": func(b *bench) {
		observed := b.dead("heartbeat-lost", "o")
		observed.Enforced = false
		b.pass(reconcile.Record{Verdicts: []reconcile.Verdict{
			b.dead("heartbeat-lost", "a"), b.dead("inactive", "b"), observed,
		}})
		got := b.recall().Verdicts
		if len(got) != 3 || got[0].Number <= 0 || got[1].Number <= got[0].Number || got[2].Number <= got[1].Number {
			b.Errorf("verdicts = %+v, want three with rising numbers", got)
		}
		b.equal("enforced", b.counted("verdicts", "heartbeat-lost", "enforced"), int64(1))
		b.equal("observed", b.counted("verdicts", "heartbeat-lost", "observed"), int64(1))
		b.equal("enforced", b.counted("verdicts", "inactive", "enforced"), int64(1))
	},
	"a verdict is recalled until just before two hours are over, oldest first": func(b *bench) {
		first := b.judged("heartbeat-lost", "a")
		b.clock.move(time.Hour)
		second := b.judged("heartbeat-lost", "b")
		b.clock.move(time.Hour - time.Microsecond)
		var numbers []int64
		for _, v := range b.recall().Verdicts {
			numbers = append(numbers, v.Number)
		}
		b.equal("numbers", numbers, append(first, second...))
		b.clock.move(time.Microsecond)
		b.equal("verdicts", len(b.recall().Verdicts), 1)
	},
	"of too many failures that are alike the newest thousand are recalled, and all others": func(b *bench) {
		other := b.judged("inactive", "other")
		b.pass(reconcile.Record{Verdicts: b.many(1003, b.dead("heartbeat-lost", ""))})
		got := b.recall().Verdicts
		b.equal("oldest", numbersOf(got[:1]), other)
		if len(got) != 1001 || got[1].Task != "3" || got[1000].Task != "1002" {
			b.Errorf("%d verdicts, from %s on, want 1000 from 3 on", len(got)-1, got[1].Task)
		}
	},
	"a leak of sandboxes hides no verdict on a task, and each leak is recalled once": func(b *bench) {
		dead := b.judged("heartbeat-lost", "a", "b", "c")
		b.judged("errored", "d")
		leak := b.many(1100, reconcile.Verdict{Rule: "orphan", At: noon, Enforced: false})
		b.pass(reconcile.Record{Verdicts: leak})
		for i := range leak {
			leak[i].Enforced = true
		}
		b.pass(reconcile.Record{Verdicts: leak})
		got := b.recall().Verdicts
		b.equal("oldest", numbersOf(got[:3]), dead)
		b.equal("rule", got[3].Rule, "errored")
		b.equal("verdicts", len(got), 4+1100)
		for _, v := range got[4:] {
			if !v.Enforced {
				b.Fatalf("verdict %d on %s is recalled, and there is a newer one", v.Number, v.Subject)
			}
		}
	},
	"failures that cannot be refuted hide none that can, but those that can are bounded": func(b *bench) {
		dead := b.many(501, reconcile.Verdict{Rule: "heartbeat-lost", At: noon})
		storm := b.many(1000, reconcile.Verdict{Rule: "errored", At: noon, Signature: "alike"})
		for i := range dead {
			dead[i].Signature = "alike"
		}
		b.pass(reconcile.Record{Verdicts: dead})
		b.pass(reconcile.Record{Verdicts: storm})
		got := b.recall().Verdicts
		if len(got) != 1500 || got[0].Task != "1" || got[0].Rule != "heartbeat-lost" || got[500].Rule != "errored" {
			b.Fatalf("%d verdicts, from %s of %s on, want 1500 from 1 of heartbeat-lost on", len(got), got[0].Task, got[0].Rule)
		}
		b.pass(reconcile.Record{Over: numbersOf(got[:2]),
			FalsePositives: []reconcile.FalsePositive{{Verdict: got[2].Number, At: noon}}})
		again := b.recall().Verdicts
		b.equal("watched instead of those that are over", []string{again[0].Task, again[1].Task}, []string{"0", "4"})
	},
	"of all failures the newest five thousand are recalled, of all clean-up ten": func(b *bench) {
		var failures []reconcile.Verdict
		for i := range 6 {
			kind := reconcile.Verdict{Rule: "errored", At: noon, Signature: fmt.Sprint(i)}
			failures = append(failures, b.many(900, kind)...)
		}
		b.pass(reconcile.Record{Verdicts: failures})
		b.pass(reconcile.Record{Verdicts: b.many(10_001, reconcile.Verdict{Rule: "orphan", At: noon})})
		got := b.recall().Verdicts
		if len(got) != 15_000 || got[0].Signature != "0" || got[0].Task != "400" || got[5000].Task != "1" {
			b.Errorf("%d verdicts, from %+v on, want 15000, from 400 of the first kind on", len(got), got[0])
		}
	},
	"the newest verdict of the rule is marked when its step wrote the row": func(b *bench) {
		old := b.judged("heartbeat-lost", "t")[0]
		newest := b.judged("heartbeat-lost", "t")[0]
		other, elsewhere := b.judged("inactive", "t")[0], b.judged("heartbeat-lost", "u")[0]
		b.clock.move(time.Second)
		b.failed("t")
		for number, want := range map[int64]time.Time{old: {}, newest: noon.Add(time.Second), other: {}, elsewhere: {}} {
			b.equal("failed at", b.verdict(number).FailedAt, want)
		}
	},
	"a row that was not written marks nothing, nor does a terminate": func(b *bench) {
		number := b.judged("heartbeat-lost", "t")[0]
		b.plan(failing("t"), ending("t", 1, "x"))
		b.settled("t", reconcile.OutcomePending)
		b.equal("failed at", b.verdict(number).FailedAt, time.Time{})
		b.settled("t", reconcile.OutcomeWithdrawn)
		b.equal("failed at", b.verdict(number).FailedAt, time.Time{})
		again := ending("u", 0, "y")
		again.ID, again.Subject = "u", "task:t"
		b.plan(again)
		b.settled("u", reconcile.OutcomeConfirmed)
		b.equal("failed at", b.verdict(number).FailedAt, time.Time{})
	},
	"a requeue marks as well, and an observed verdict that was carried out was enforced": func(b *bench) {
		v := b.dead("heartbeat-lost", "t")
		v.Enforced = false
		b.pass(reconcile.Record{Verdicts: []reconcile.Verdict{v}})
		a := failing("t")
		a.Step = reconcile.StepRequeue
		b.plan(a)
		b.settled("t", reconcile.OutcomeDone)
		got := b.recall().Verdicts[0]
		if !got.Enforced || !got.FailedAt.Equal(noon) {
			b.Errorf("verdict = %+v, want enforced, failed at noon", got)
		}
	},
	"a verdict that is over is recalled as such": func(b *bench) {
		numbers := b.judged("heartbeat-lost", "a", "b")
		b.pass(reconcile.Record{Over: []int64{numbers[0], 4711}})
		b.equal("over", []bool{b.verdict(numbers[0]).Over, b.verdict(numbers[1]).Over}, []bool{true, false})
	},
	"a false positive is written down once, ends the watch, and comes first on the page": func(b *bench) {
		numbers := b.judged("heartbeat-lost", "a", "b", "c")
		b.clock.move(time.Minute)
		late := noon.Add(time.Minute)
		b.pass(reconcile.Record{FalsePositives: []reconcile.FalsePositive{
			{Verdict: numbers[0], Rule: "heartbeat-lost", At: noon, What: "completed"},
			{Verdict: numbers[1], Rule: "heartbeat-lost", At: late, What: "heartbeat"},
			{Verdict: 4711, Rule: "heartbeat-lost", At: late, What: "nobody"},
		}})
		b.pass(reconcile.Record{FalsePositives: []reconcile.FalsePositive{{Verdict: numbers[0], At: late, What: "again"}}})
		got := b.verdict(numbers[0])
		if got.FalsePositive != "completed" || !got.FalsePositiveAt.Equal(noon) || !got.Over {
			b.Errorf("verdict = %+v, want regretted at noon and over", got)
		}
		b.equal("counted", b.counted("regrets", "heartbeat-lost", "enforced"), int64(2))
		b.equal("newest", numbersOf(b.overview(1).FalsePositives), numbers[1:2])
		b.equal("all", numbersOf(b.overview(9).FalsePositives), []int64{numbers[1], numbers[0]})
	},
	"verdicts are part of the history of their task and sandbox, newest first": func(b *bench) {
		first, second := b.judged("heartbeat-lost", "t")[0], b.judged("inactive", "t")[0]
		b.judged("inactive", "u")
		for _, id := range []string{"t", "task:t", "daytona/sb-t"} {
			h, err := b.Subject(b.Context(), id)
			b.must(err)
			b.equal("verdicts of "+id, numbersOf(h.Verdicts), []int64{second, first})
		}
	},
	"retention ends verdicts, incidents and sums": func(b *bench) {
		b.judged("heartbeat-lost", "a")
		over := fullRecord().Incidents[0]
		open := over
		over.ClosedAt, open.ID = noon, "i-2"
		b.pass(reconcile.Record{
			Incidents: []reconcile.Incident{over, open}, Tallies: []reconcile.Counter{{Name: "resumes", Value: 1}},
		})
		b.equal("deleted at noon", b.purge(noon, 9), int64(0))
		b.clock.move(time.Second)
		b.purge(noon.Add(time.Microsecond), 9)
		b.equal("verdicts", len(b.recall().Verdicts), 0)
		_, err := b.Incident(b.Context(), "i-1")
		b.refused(err, reconcile.ErrNotFound, "i-1")
		_, err = b.Incident(b.Context(), "i-2")
		b.must(err)
		b.equal("resumes", b.overview(1).Scores.Resumed, 0)
		b.equal("resumes in all", b.counted("resumes", "", ""), int64(1))
	},
}

func numbersOf(vs []reconcile.Verdict) []int64 {
	var numbers []int64
	for _, v := range vs {
		numbers = append(numbers, v.Number)
	}
	return numbers
}
