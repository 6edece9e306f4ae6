package storetest

import (
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

func (b *bench) report(since time.Duration) []reconcile.RuleReport {
	b.Helper()
	found, err := b.Report(b.Context(), since)
	b.must(err)
	for i := range found {
		found[i].Examples = numberless(found[i].Examples)
	}
	return found
}

// reports say what each rule came to.
var reports = map[string]func(*bench){
	"an empty ledger reports nothing": func(b *bench) { b.equal("report", len(b.report(time.Hour)), 0) },
	"verdicts, what was done about them, and what came back, rule by rule": func(b *bench) {
		numbers := b.judged("heartbeat-lost", "a", "b", "c", "d", "e")
		b.judged("heartbeat-lost", "a")
		b.judged("errored", "f")
		b.failed("a")
		end := ending("f", 0, "sb-f")
		end.ID, end.Rule = "f", "errored"
		b.plan(end)
		b.settled("f", reconcile.OutcomeConfirmed)
		var want []reconcile.Verdict
		for i, n := range numbers[:4] {
			b.clock.move(time.Second)
			b.regretted(n)
			if i > 0 {
				want = append([]reconcile.Verdict{b.verdict(n)}, want...)
			}
		}
		saved := b.dead("errored", "f").PerHour * 4 / 3600 // it is gone for four seconds, though no pass took it down
		b.equal("report", b.report(time.Hour), []reconcile.RuleReport{
			{Rule: "errored", Verdicts: 1, Acted: 1, Subjects: 1, Saved: saved,
				Money: []reconcile.RuleMoney{{Provider: "daytona", Saved: saved}}},
			{Rule: "heartbeat-lost", Verdicts: 6, Acted: 1, Subjects: 5, FalsePositives: 4, Examples: numberless(want)},
		})
	},
	"what false positives have in common": func(b *bench) {
		kinds := func(subject, kind string) reconcile.Verdict {
			v := b.dead("orphan", subject)
			v.Kinds = []string{"app=x", "type=" + kind}
			return v
		}
		b.pass(reconcile.Record{Verdicts: []reconcile.Verdict{kinds("a", "spec"), kinds("b", "spec"), kinds("c", "other"),
			kinds("b", "spec"), b.dead("errored", "d")}})
		for _, v := range b.recall().Verdicts {
			if v.Subject == reconcile.TaskSubject("a") || v.Subject == reconcile.TaskSubject("b") {
				b.regretted(v.Number)
			}
		}
		for _, r := range b.report(time.Hour) {
			want := []reconcile.LabelGroup(nil)
			if r.Rule == "orphan" {
				want = []reconcile.LabelGroup{{Label: "type=spec", Subjects: 2, FalsePositives: 2},
					{Label: "app=x", Subjects: 3, FalsePositives: 2}}
			}
			b.equal(r.Rule, r.Groups, want)
		}
	},
	"findings that resolved without anything of ours, and since when there are any": func(b *bench) {
		one, two := found("errored", "a"), found("errored", "b")
		b.pass(reconcile.Record{Findings: []reconcile.Finding{one, two, found("looping", "c")}})
		b.clock.move(time.Hour)
		a := failing("b")
		a.Rule, a.PlannedAt = "errored", noon.Add(time.Hour)
		b.plan(a)
		b.settled("b", reconcile.OutcomeDone)
		b.pass(reconcile.Record{Resolved: []reconcile.FindingKey{one.Key(), two.Key()}})
		b.equal("report", b.report(time.Hour), []reconcile.RuleReport{
			{Rule: "errored", Resolved: 1, FirstSeen: noon}, {Rule: "looping", FirstSeen: noon},
		})
		b.clock.move(time.Hour)
		b.equal("resolved before", b.report(time.Hour)[0].Resolved, 0)
	},
	"what another rule or an operator repaired did not resolve by itself": func(b *bench) {
		ended := at("daytona", "over-age", "sb-1") // by another rule, as a step of its task's remedy
		asked := at("daytona", "over-age", "sb-a")
		early := at("daytona", "over-age", "sb-2") // planned before it was found, and done while it was open
		alone := at("daytona", "over-age", "sb-3")
		elsewhere := at("vercel", "over-age", "sb-1") // of the same id
		before := ending("t", 0, "sb-2")
		before.ID = "t"
		b.plan(before)
		b.clock.move(time.Minute)
		b.pass(reconcile.Record{Findings: []reconcile.Finding{ended, asked, early, alone, elsewhere}})
		b.clock.move(time.Minute)
		other := ending("u", 0, "sb-1")
		other.ID, other.PlannedAt = "u", noon.Add(2*time.Minute)
		b.plan(other)
		b.ask(nil, operatorRequest("a"))
		for _, id := range []string{"t", "u", "a"} {
			b.settled(id, reconcile.OutcomeConfirmed)
		}
		b.clock.move(time.Minute)
		b.pass(reconcile.Record{Resolved: []reconcile.FindingKey{ended.Key(), asked.Key(), early.Key(), alone.Key(),
			elsewhere.Key()}})
		r := b.report(time.Hour)
		got := r[slices.IndexFunc(r, func(r reconcile.RuleReport) bool { return r.Rule == "over-age" })]
		b.equal("by itself, by a rule, by an operator", []int{got.Resolved, got.ByRule, got.ByOperator}, []int{2, 2, 1})
	},
	"what was tried, and nobody knows what came of it, did not resolve by itself": func(b *bench) {
		gone, anew := at("daytona", "over-age", "sb-1"), at("daytona", "over-age", "sb-2")
		end, again := ending("t", 0, "sb-1"), ending("u", 0, "sb-2")
		end.ID, again.ID, again.Step = "t", "u", reconcile.StepFail
		b.plan(end, again)
		b.pass(reconcile.Record{Findings: []reconcile.Finding{gone, anew}})
		b.claimed("t") // and its settlement was lost
		a := b.claimed("u")
		a.Outcome, a.How = reconcile.OutcomeWithdrawn, reconcile.HowAnew
		b.must(b.Settle(b.Context(), b.lease, a))
		b.clock.move(time.Minute)
		b.pass(reconcile.Record{Resolved: []reconcile.FindingKey{gone.Key(), anew.Key()}})
		r := b.report(time.Hour)
		got := r[slices.IndexFunc(r, func(r reconcile.RuleReport) bool { return r.Rule == "over-age" })]
		b.equal("by itself, by a rule", []int{got.Resolved, got.ByRule}, []int{0, 2})
	},
	"what was tried, and whose row is gone by now, did not resolve by itself": func(b *bench) {
		gone, a := found("looping", "a"), failing("a")
		b.pass(reconcile.Record{Findings: []reconcile.Finding{gone}, Actions: []reconcile.Action{a}})
		b.claimed("a") // by a process that wrote the row, and could not write that down
		b.clock.move(time.Minute)
		b.pass(reconcile.Record{Resolved: []reconcile.FindingKey{gone.Key()}})
		again := b.claimed("a")
		again.Outcome, again.How = reconcile.OutcomeWithdrawn, reconcile.HowVanished
		b.must(b.Settle(b.Context(), b.lease, again))
		r := b.report(time.Hour)
		got := r[slices.IndexFunc(r, func(r reconcile.RuleReport) bool { return r.Rule == "looping" })]
		b.equal("by itself", got.Resolved, 0)
	},
	"what gave way to an operator's after it was tried may be why it is over": func(b *bench) {
		gone, left := at("daytona", "over-age", "sb-a"), at("daytona", "over-age", "sb-b")
		tried, waits := ending("t", 0, "sb-a"), ending("u", 0, "sb-b")
		tried.ID, waits.ID = "t", "u"
		b.plan(tried, waits)
		b.pass(reconcile.Record{Findings: []reconcile.Finding{gone, left}})
		b.claimed("t") // by a process that stands still before the call, and makes it in the end
		b.clock.move(10 * time.Minute)
		b.ask(nil, operatorRequest("a"), operatorRequest("b"))
		for _, id := range []string{"a", "b"} {
			a := b.claimed(id)
			a.Outcome, a.How, a.ActedAt = reconcile.OutcomeConfirmed, reconcile.HowAdopted, b.clock.read()
			b.must(b.Settle(b.Context(), b.lease, a))
		}
		b.clock.move(time.Minute)
		b.pass(reconcile.Record{Resolved: []reconcile.FindingKey{gone.Key(), left.Key()}})
		r := b.report(time.Hour)
		got := r[slices.IndexFunc(r, func(r reconcile.RuleReport) bool { return r.Rule == "over-age" })]
		b.equal("by itself, by a rule", []int{got.Resolved, got.ByRule}, []int{1, 1})
	},
	"what was found of a task's sandbox was not over by itself where we wrote the row, but for nobody's": func(b *bench) {
		broken, loose, a := at("daytona", "idle-broken", "sb-1"), at("daytona", "orphan", "sb-2"), failing("a")
		broken.Task, loose.Task = a.Task, a.Task
		b.pass(reconcile.Record{Findings: []reconcile.Finding{broken, loose}, Actions: []reconcile.Action{a}})
		b.settled("a", reconcile.OutcomeDone)
		b.clock.move(time.Minute)
		b.pass(reconcile.Record{Resolved: []reconcile.FindingKey{broken.Key(), loose.Key()}})
		for _, of := range b.report(time.Hour) {
			want := map[string][]int{"idle-broken": {0, 1}, "orphan": {1, 0}}[of.Rule]
			b.equal(of.Rule+" by itself, by a rule", []int{of.Resolved, of.ByRule}, want)
		}
	},
	"what was ended before, and was listed for longer, did not go by itself": func(b *bench) {
		stuck, by := at("daytona", "terminating-stuck", "sb-1"), at("daytona", "terminating-stuck", "sb-2")
		end := ending("t", 0, "sb-1")
		end.ID = "t"
		b.plan(end)
		b.settled("t", reconcile.OutcomeConfirmed)
		b.clock.move(time.Minute)
		b.pass(reconcile.Record{Findings: []reconcile.Finding{stuck, by}})
		b.clock.move(time.Minute)
		b.pass(reconcile.Record{Resolved: []reconcile.FindingKey{stuck.Key(), by.Key()}})
		r := b.report(time.Hour)
		got := r[slices.IndexFunc(r, func(r reconcile.RuleReport) bool { return r.Rule == "terminating-stuck" })]
		b.equal("by itself, by a rule", []int{got.Resolved, got.ByRule}, []int{1, 1})
	},
	"where the ledger's clock was set back since, nothing of ours is called over by itself": func(b *bench) {
		f, a := found("looping", "a"), failing("a")
		b.pass(reconcile.Record{Findings: []reconcile.Finding{f}, Actions: []reconcile.Action{a}})
		b.settled("a", reconcile.OutcomeDone)
		b.clock.move(-time.Minute)
		b.pass(reconcile.Record{Resolved: []reconcile.FindingKey{f.Key()}})
		r := b.report(time.Hour)
		got := r[slices.IndexFunc(r, func(r reconcile.RuleReport) bool { return r.Rule == "looping" })]
		b.equal("by itself, by a rule", []int{got.Resolved, got.ByRule}, []int{0, 1})
	},
	"a step that its pass planned a moment before the record opened the finding is not forgotten": func(b *bench) {
		f, a := found("errored", "a"), failing("a")
		f.FirstSeen, a.Rule, a.PlannedAt = noon.Add(-time.Second), "errored", noon.Add(-time.Second)
		b.pass(reconcile.Record{Findings: []reconcile.Finding{f}, Actions: []reconcile.Action{a}})
		b.settled("a", reconcile.OutcomeDone)
		b.pass(reconcile.Record{Resolved: []reconcile.FindingKey{f.Key()}})
		b.equal("resolved by itself", b.report(time.Hour)[0].Resolved, 0)
	},
	"a sandbox costs from its first verdict until it was gone, or until now, once": func(b *bench) {
		there, gone := reconcile.SandboxSeen{Ref: ref("sb-a")}, reconcile.SandboxSeen{Ref: ref("sb-b")}
		gone.GoneAt = noon.Add(time.Hour)
		b.pass(reconcile.Record{Sandboxes: []reconcile.SandboxSeen{there, gone}})
		b.judged("heartbeat-lost", "a", "b", "unknown")
		b.clock.move(time.Hour)
		b.judged("heartbeat-lost", "a")
		b.clock.move(time.Hour)
		b.equal("cost", b.report(24 * time.Hour)[0].Cost, 0.5*(2+1))
	},
	"what a sandbox that we ended would have cost since it was gone is saved": func(b *bench) {
		ours, own := reconcile.SandboxSeen{Ref: ref("sb-a"), GoneByUs: true}, reconcile.SandboxSeen{Ref: ref("sb-b")}
		ours.GoneAt, own.GoneAt = noon, noon
		b.pass(reconcile.Record{Sandboxes: []reconcile.SandboxSeen{ours, own}})
		b.judged("heartbeat-lost", "a", "b")
		b.clock.move(2 * time.Hour)
		b.equal("saved", b.report(24 * time.Hour)[0].Saved, 0.5*2)
		b.equal("saved in an hour", b.report(time.Hour), []reconcile.RuleReport(nil))
	},
	"what went while no answer said that we were heard is not saved by us": func(b *bench) {
		var r reconcile.Record
		for _, id := range []string{"a", "b"} {
			r.Sandboxes = append(r.Sandboxes, reconcile.SandboxSeen{Ref: ref("sb-" + id)})
			end := ending(id, 0, "sb-"+id)
			end.ID = id
			r.Actions = append(r.Actions, end)
		}
		b.pass(r)
		b.judged("heartbeat-lost", "a", "b")
		for id, how := range map[string]reconcile.How{"a": "", "b": reconcile.HowUnheard} {
			a := b.claimed(id)
			a.Outcome, a.How, a.ActedAt = reconcile.OutcomeConfirmed, how, b.clock.read()
			b.must(b.Settle(b.Context(), b.lease, a))
		}
		b.clock.move(2 * time.Hour)
		saved := []reconcile.Money{{Rule: "heartbeat-lost", Provider: "daytona", Count: 1, USD: 0.5 * 2}}
		b.equal("saved", b.measures().Saved, saved)
		b.equal("saved by the report", b.report(24 * time.Hour)[0].Saved, 0.5*2)
	},
	"what leaks cost an hour is measured of those that are found due and still there, each once": func(b *bench) {
		leak := func(rule, provider, id string, usd float64) (reconcile.Finding, reconcile.Verdict) {
			f := at(provider, rule, id)
			f.Due = true
			return f, reconcile.Verdict{Rule: rule, Subject: f.Subject, Provider: provider, Sandbox: id, At: noon, PerHour: usd}
		}
		var r reconcile.Record
		for _, l := range []struct {
			rule, provider, id string
			usd                float64
		}{{"orphan", "daytona", "a", 0.5}, {"orphan", "daytona", "b", 0.25}, {"over-age", "daytona", "b", 2},
			{"orphan", "vercel", "a", 4}, {"heartbeat-lost", "daytona", "c", 32},
			{"orphan", "daytona", "gone", 8}, {"orphan", "daytona", "early", 16}} {
			f, v := leak(l.rule, l.provider, l.id, l.usd)
			f.Due = l.id != "early"
			r.Findings, r.Verdicts = append(r.Findings, f), append(r.Verdicts, v)
			seen := reconcile.SandboxSeen{Ref: reconcile.Ref{Provider: l.provider, ID: l.id}}
			if l.id == "gone" {
				seen.GoneAt, seen.GoneByUs = noon, true
			}
			r.Sandboxes = append(r.Sandboxes, seen)
		}
		b.pass(r)
		b.clock.move(30 * time.Minute)
		m := b.measures()
		b.equal("leaking", m.Leaking, []reconcile.Money{{Rule: "orphan", Provider: "daytona", Count: 1, USD: 0.5},
			{Rule: "orphan", Provider: "vercel", Count: 1, USD: 4}, {Rule: "over-age", Provider: "daytona", Count: 1, USD: 2}})
		b.equal("saved", m.Saved, []reconcile.Money{{Rule: "orphan", Provider: "daytona", Count: 1, USD: 4}})
	},
	"what a sandbox had cost until it was found counts from what was found": func(b *bench) {
		b.pass(reconcile.Record{Verdicts: []reconcile.Verdict{
			{Rule: "orphan", Subject: "sandbox:daytona/a", Provider: "daytona", Sandbox: "a", At: noon, Cost: 3, PerHour: 1},
			{Rule: "orphan", Subject: "sandbox:daytona/a", Provider: "daytona", Sandbox: "a", At: noon, Cost: 9, PerHour: 1},
			{Rule: "stop-ignored", Subject: "task:b", Provider: "daytona", Sandbox: "b", At: noon, Cost: 3, PerHour: 1,
				Began: noon.Add(-30 * time.Minute)},
		}})
		found := b.report(time.Hour)
		b.equal("orphan", found[0].UntilFound, 3.0)
		b.equal("stop", found[1].UntilFound, 0.5)
	},
	"what a rule's sandboxes cost and what ending them saved is told by provider": func(b *bench) {
		var r reconcile.Record
		for _, at := range []string{"vercel", "daytona"} {
			id := reconcile.Ref{Provider: at, ID: "sb"}
			seen := reconcile.SandboxSeen{Ref: id, GoneAt: noon.Add(time.Hour), GoneByUs: at == "vercel"}
			r.Sandboxes = append(r.Sandboxes, seen)
			r.Verdicts = append(r.Verdicts, reconcile.Verdict{Rule: "orphan", Subject: "sandbox:" + id.String(), Provider: at,
				Sandbox: id.ID, At: noon, Cost: 3, PerHour: 2})
		}
		b.pass(r)
		b.clock.move(3 * time.Hour)
		got := b.report(24 * time.Hour)[0]
		b.equal("money", got.Money, []reconcile.RuleMoney{{Provider: "daytona", Cost: 2, UntilFound: 3},
			{Provider: "vercel", Cost: 2, UntilFound: 3, Saved: 4}})
		b.equal("in all", []float64{got.Cost, got.UntilFound, got.Saved}, []float64{4, 6, 4})
	},
	"what came before the window is no part of it": func(b *bench) {
		b.judged("heartbeat-lost", "a")
		b.clock.move(time.Hour - time.Microsecond)
		b.equal("within", len(b.report(time.Hour)), 1)
		b.clock.move(time.Microsecond)
		b.equal("after", len(b.report(time.Hour)), 0)
	},
}
