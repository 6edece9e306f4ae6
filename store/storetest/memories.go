package storetest

import (
	"fmt"
	"math"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// memories say what a pass finds again.
var memories = map[string]func(*bench){
	"a new ledger is fresh": func(b *bench) {
		m := b.recall()
		if !m.Fresh || !m.LastPass.IsZero() || m.Known != nil || !m.Now.Equal(noon) {
			b.Errorf("memory = %+v, want a fresh one of noon that knows all rules", m)
		}
	},
	"everything recorded is recalled, to the last field": func(b *bench) {
		r := fullRecord()
		b.pass(r)
		m := b.recall()
		b.equal("tasks", m.Tasks, reconcile.RememberedOf(map[string]reconcile.TaskSeen{"t-1": r.Tasks[0], "t-2": r.Tasks[1]}))
		b.equal("sandboxes", m.Sandboxes, reconcile.RememberedOf(
			map[reconcile.Ref]reconcile.SandboxSeen{ref("sb-1"): r.Sandboxes[0]}))
		b.equal("findings", m.Findings, map[reconcile.FindingKey]reconcile.Finding{r.Findings[0].Key(): r.Findings[0]})
		b.equal("sources", m.Sources, map[string]reconcile.SourceSeen{"listing:daytona": r.Sources[0]})
		b.equal("templates", m.Templates, map[reconcile.Ref]reconcile.TemplateSeen{ref("dev-light"): r.Templates[0]})
		b.equal("breakers", m.Controls.Breakers, r.Breakers)
		b.equal("verdicts", numberless(m.Verdicts), r.Verdicts)
		b.equal("incidents", m.Controls.Incidents, r.Incidents)
		b.equal("rules", m.Known, map[string]bool{"orphan": true, "duplicate": true})
		if !m.WatchSince.Equal(r.WatchSince) || m.Fresh || !m.LastPass.Equal(noon) {
			b.Errorf("watch since %s, fresh %t, last pass %s", m.WatchSince, m.Fresh, m.LastPass)
		}
	},
	"what is recorded compact is recalled as the rest": func(b *bench) {
		r := fullRecord()
		b.pass(reconcile.Record{Tasks: r.Tasks[:1], Heard: []*reconcile.CompactTask{r.Tasks[1].Compact()},
			Fresh: []*reconcile.CompactSandbox{r.Sandboxes[0].Compact()}})
		m := b.recall()
		b.equal("tasks", m.Tasks, reconcile.RememberedOf(map[string]reconcile.TaskSeen{"t-1": r.Tasks[0], "t-2": r.Tasks[1]}))
		b.equal("sandboxes", m.Sandboxes, reconcile.RememberedOf(
			map[reconcile.Ref]reconcile.SandboxSeen{ref("sb-1"): r.Sandboxes[0]}))
	},
	"a later record replaces what it names and leaves the rest": func(b *bench) {
		r := fullRecord()
		b.pass(r)
		changed := r.Tasks[0]
		changed.Status, changed.ErrorSum, changed.StartedAt = "running", 7, time.Time{}
		b.pass(reconcile.Record{Tasks: []reconcile.TaskSeen{changed}})
		m := b.recall()
		b.equal("tasks", m.Tasks, reconcile.RememberedOf(map[string]reconcile.TaskSeen{"t-1": changed, "t-2": r.Tasks[1]}))
		if !m.WatchSince.Equal(r.WatchSince) || len(m.Known) != 2 || m.Sandboxes.Len() != 1 {
			b.Errorf("watch since %s, rules %v, %d sandboxes: want them as before", m.WatchSince, m.Known, m.Sandboxes.Len())
		}
		b.equal("breakers", m.Controls.Breakers, map[string]reconcile.Breaker{})
	},
	"the rules of the first record stay the known ones": func(b *bench) {
		b.pass(reconcile.Record{Known: []string{"orphan"}})
		b.pass(reconcile.Record{Known: []string{"orphan", "new-rule"}})
		b.equal("rules", b.recall().Known, map[string]bool{"orphan": true})
	},
	"the same thing twice in one record is the later one": func(b *bench) {
		b.pass(reconcile.Record{Tasks: []reconcile.TaskSeen{
			{ID: "t", Status: "old", Live: true}, {ID: "u", Live: true}, {ID: "t", Status: "new", Live: true},
		}})
		if got := b.recall().Tasks.Of("t").Status; got != "new" {
			b.Errorf("status = %q, want new", got)
		}
	},
	"a record with a bad row changes nothing, however much is good": func(b *bench) {
		b.plan(orphan("before"))
		for name, spoil := range map[string]func(*reconcile.Record){
			"task":     func(r *reconcile.Record) { r.Tasks[1].State = "sideways" },
			"sandbox":  func(r *reconcile.Record) { r.Sandboxes[0].State = "sideways" },
			"template": func(r *reconcile.Record) { r.Templates[0].State = "sideways" },
			"finding":  func(r *reconcile.Record) { r.Findings[0].Subject = "" },
			"step":     func(r *reconcile.Record) { r.Actions[0].Step = "explode" },
			"sandboxless terminate": func(r *reconcile.Record) {
				r.Actions[0].Step, r.Actions[0].Sandbox = reconcile.StepTerminate, ""
			},
			"remedy": func(r *reconcile.Record) { r.Actions[0].Remedy = "another" },
			"sandboxless quarantine": func(r *reconcile.Record) {
				r.Actions[0].Step, r.Actions[0].Sandbox, r.Actions[0].Provider = reconcile.StepQuarantine, "", "daytona"
			},
			"activate": func(r *reconcile.Record) { r.Actions[0].Step, r.Actions[0].Provider = reconcile.StepActivate, "" },
			"verdict":  func(r *reconcile.Record) { r.Verdicts[0].Subject = "" },
			"incident": func(r *reconcile.Record) { r.Incidents[0].Signature = "" },
			"timeless": func(r *reconcile.Record) { r.Verdicts[0].At = time.Time{} },
			"event":    func(r *reconcile.Record) { r.Events[0].Kind = "gossip" },
			"pass":     func(r *reconcile.Record) { r.Pass = 4711 },
		} {
			r := fullRecord()
			r.Pass, r.Complete, r.Withdrawn = b.begin(), true, []string{"before"}
			before := b.recall()
			spoil(&r)
			if err := b.Record(b.Context(), b.lease, r); err == nil {
				b.Errorf("a record with a bad %s was taken", name)
			}
			b.equal("memories after a bad "+name, b.recall(), before)
		}
	},
	"a pass is recorded once": func(b *bench) {
		id := b.pass(reconcile.Record{})
		err := b.Record(b.Context(), b.lease, reconcile.Record{Pass: id, Complete: true})
		if err == nil {
			b.Error("a pass was recorded twice")
		}
	},
	"a pass that was not complete is no last pass": func(b *bench) {
		b.passOf(reconcile.Full, false, reconcile.Record{Error: "daytona: 502"})
		if m := b.recall(); !m.Fresh || !m.LastPass.IsZero() || !m.LastFull.IsZero() {
			b.Errorf("fresh %t, last pass %s, last full %s: want a fresh memory", m.Fresh, m.LastPass, m.LastFull)
		}
	},
	"the last five gaps between complete passes are kept, newest first": func(b *bench) {
		for i := range 8 {
			b.clock.move(time.Duration(i) * time.Second)
			b.pass(reconcile.Record{})
			b.passOf(reconcile.Quick, false, reconcile.Record{})
		}
		b.equal("gaps", b.recall().Gaps, []time.Duration{
			7 * time.Second, 6 * time.Second, 5 * time.Second, 4 * time.Second, 3 * time.Second,
		})
	},
	"one pass makes no gap, two make one": func(b *bench) {
		b.pass(reconcile.Record{})
		if gaps := b.recall().Gaps; len(gaps) != 0 {
			b.Errorf("gaps after one pass = %v", gaps)
		}
		b.clock.move(time.Minute)
		b.pass(reconcile.Record{})
		b.equal("gaps", b.recall().Gaps, []time.Duration{time.Minute})
	},
	"the last full pass is told apart": func(b *bench) {
		b.passOf(reconcile.Full, true, reconcile.Record{})
		b.clock.move(time.Minute)
		b.pass(reconcile.Record{})
		b.clock.move(time.Minute)
		b.passOf(reconcile.Full, false, reconcile.Record{})
		m := b.recall()
		if !m.LastFull.Equal(noon) || !m.LastPass.Equal(noon.Add(time.Minute)) {
			b.Errorf("last full %s, last %s", m.LastFull, m.LastPass)
		}
	},
	"a task that is over is recalled for an hour, or while a sandbox names it": func(b *bench) {
		b.pass(reconcile.Record{
			Tasks:     []reconcile.TaskSeen{{ID: "alone"}, {ID: "named"}, {ID: "live", Live: true}, {ID: "once"}},
			Sandboxes: []reconcile.SandboxSeen{{Ref: ref("sb"), Task: "named"}, {Ref: ref("gone"), Task: "once", GoneAt: noon}},
		})
		b.clock.move(time.Hour - time.Microsecond)
		if got := b.recall().Tasks.Len(); got != 4 {
			b.Errorf("%d tasks within the hour, want 4", got)
		}
		b.clock.move(time.Microsecond)
		tasks := b.recall().Tasks
		named := tasks.Has("named")
		live := tasks.Has("live")
		if tasks.Len() != 2 || !named || !live {
			b.Errorf("tasks after the hour = %v, want named and live", tasks)
		}
	},
	"a sandbox that is gone is recalled for an hour, or while its task lives": func(b *bench) {
		b.pass(reconcile.Record{
			Tasks: []reconcile.TaskSeen{{ID: "live", Live: true}, {ID: "over"}},
			Sandboxes: []reconcile.SandboxSeen{
				{Ref: ref("there")}, {Ref: ref("of-live"), Task: "live", GoneAt: noon},
				{Ref: ref("of-over"), Task: "over", GoneAt: noon}, {Ref: ref("of-none"), GoneAt: noon},
			},
		})
		b.clock.move(time.Hour - time.Microsecond)
		if got := b.recall().Sandboxes.Len(); got != 4 {
			b.Errorf("%d sandboxes within the hour, want 4", got)
		}
		b.clock.move(time.Microsecond)
		seen := b.recall().Sandboxes
		there := seen.Has(ref("there"))
		live := seen.Has(ref("of-live"))
		if seen.Len() != 2 || !there || !live {
			b.Errorf("sandboxes after the hour = %v, want there and of-live", seen)
		}
	},
	"that a sandbox is gone by us is not forgotten by a pass that did not know": func(b *bench) {
		s := reconcile.SandboxSeen{Ref: ref("sb-a"), State: reconcile.SandboxRunning}
		b.pass(reconcile.Record{Sandboxes: []reconcile.SandboxSeen{s}, Actions: []reconcile.Action{orphan("a")}})
		b.settled("a", reconcile.OutcomeConfirmed)
		b.pass(reconcile.Record{Sandboxes: []reconcile.SandboxSeen{s}})
		if got := b.recall().Sandboxes.Of(s.Ref); !got.GoneByUs {
			b.Errorf("sandbox = %+v, want gone by us", got)
		}
	},
	"bytes that no text can hold cost a field, not the record": func(b *bench) {
		b.pass(reconcile.Record{
			Error:     "a\x00b",
			Sandboxes: []reconcile.SandboxSeen{{Ref: ref("sb"), Raw: "st\x00op\xffped"}},
			Sources:   []reconcile.SourceSeen{{Name: "listing:daytona", Reason: reconcile.ListingFailed("5\x000\xff0")}},
			Findings: []reconcile.Finding{{
				Rule: "errored", Subject: "sandbox:daytona/sb", Reason: "died\x00", HeldBy: reconcile.HeldByOf("observe\x00"),
				Evidence: []reconcile.Evidence{{Source: "daytona", At: noon, Fact: "\x00\xff"}},
			}},
		})
		if m := b.recall(); m.Sandboxes.Len() != 1 || len(m.Findings) != 1 || len(m.Sources) != 1 {
			b.Errorf("%d sandboxes, %d findings, %d sources, want 1 of each", m.Sandboxes.Len(), len(m.Findings), len(m.Sources))
		}
	},
	"thousands of rows are one record": func(b *bench) {
		var r reconcile.Record
		for i := range 3000 {
			id := fmt.Sprint(i)
			r.Tasks = append(r.Tasks, reconcile.TaskSeen{ID: id, State: reconcile.TaskRunning, Sandbox: id, Live: true})
			r.Sandboxes = append(r.Sandboxes, reconcile.SandboxSeen{Ref: ref(id), Task: id, State: reconcile.SandboxRunning})
		}
		b.pass(r)
		b.pass(r)
		if m := b.recall(); m.Tasks.Len() != 3000 || m.Sandboxes.Len() != 3000 {
			b.Errorf("%d tasks and %d sandboxes, want 3000 each", m.Tasks.Len(), m.Sandboxes.Len())
		}
	},
	"why a source is not trusted is recalled, each with its figures": func(b *bench) {
		list := []reconcile.Distrust{
			{}, reconcile.Said("the event pipeline is down"), reconcile.ClockAhead(90 * time.Second),
			reconcile.ClockStuck("t-1", "running", "failed"), reconcile.ListingFailed("500"),
			reconcile.AfterShowingNone(reconcile.ListingCut([]string{"eu", "us"})),
			reconcile.ListingLost(5, 9, "but sb-3 is running"), reconcile.ListingEmpty("while task t-1 is running"),
			reconcile.TasksEmpty(), reconcile.TasksLost(3, 4), reconcile.TasksRestored(1, 2, 4),
			reconcile.ProviderPolicy{Key: "a1"}.Refused("401"), reconcile.OldReason("runs 9m ahead of the database's now"),
		}
		var r reconcile.Record
		want := map[string]reconcile.SourceSeen{}
		for i, why := range list {
			seen := reconcile.SourceSeen{Name: fmt.Sprint("source ", i), Trusted: why.None(), Reason: why}
			r.Sources, want[seen.Name] = append(r.Sources, seen), seen
		}
		b.pass(r)
		b.equal("sources", b.recall().Sources, want)
	},
	"a memory is a copy": func(b *bench) {
		b.pass(fullRecord())
		before, spoiled := b.recall(), b.recall()
		for _, f := range spoiled.Findings {
			f.Evidence[0].Fact, f.HeldBy[0].Reason = "spoiled", "spoiled"
		}
		spoiled.Controls.Breakers["orphan"].Subjects[0] = "spoiled"
		spoiled.Tasks.Put("t-1", reconcile.TaskSeen{Status: "spoiled"})
		b.equal("memories", b.recall(), before)
	},
}

// fullRecord sets every field of every row.
func fullRecord() reconcile.Record {
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	facts := []reconcile.Evidence{
		{Source: "daytona", At: at(-3), Fact: "404"}, {Source: "tasks", At: at(-2), Fact: "running"},
	}
	a := failing("t-1")
	a.Evidence, a.Began, a.Signature = facts, at(-3), "s-1"
	return reconcile.Record{
		WatchSince: at(-60), Known: []string{"orphan", "duplicate"}, Kept: 3,
		Counts: map[string]int{"tasks:running": 2, "foreign": 5},
		Tasks: []reconcile.TaskSeen{{
			ID: "t-1", Status: "in_progress", State: reconcile.TaskRunning, Sandbox: "sb-1", Since: at(-9),
			FirstSeen: at(-10), UpdatedAt: at(-8), StartedAt: at(-7), StaleStart: at(-70), ErrorSum: math.MaxUint64 - 1,
			ErrorChanged: true, Live: true, EntrySum: math.MaxUint64 - 2, AheadSign: at(5), AheadSince: at(-1),
			Attempts: []time.Time{at(-40), at(-30)}, Recreated: at(-6), LateSign: at(-5),
			MarkSum: math.MaxUint64 - 3, MarkAt: at(-4), BeatAt: at(-3), BeatGap: 31 * time.Second, Tenant: "acme",
			Named: "sb-0", Trace: "4bf92f3577b34da6a3ce929d0e0e4736",
		}, {ID: "t-2"}},
		Sandboxes: []reconcile.SandboxSeen{{
			Ref: ref("sb-1"), Name: "box", Task: "t-1", Template: "dev-light", State: reconcile.SandboxSuspended,
			Raw: "archived", CreatedAt: at(-20), FirstSeen: at(-19), StateSince: at(-18), ResumedAt: at(-17),
			RanAt: at(-16), GoneAt: at(-15), GoneByUs: true, WorkedAt: at(-16),
			Region: "eu", Size: reconcile.Size{CPU: 4, GPU: 1, MemoryGiB: 7.5},
		}},
		Findings: []reconcile.Finding{{
			Rule: "sandbox-missing", Subject: "task:t-1", Provider: "daytona", Sandbox: "sb-1", Task: "t-1",
			Reason: "its sandbox is gone", Evidence: facts, FirstSeen: at(-5), LastSeen: at(0), SightedAt: at(-1),
			Sightings: 2, Due: true, HeldBy: reconcile.HeldByOf("observe", "budget: per_pass 20"), Incident: "i-1",
		}},
		Actions: []reconcile.Action{a},
		Sources: []reconcile.SourceSeen{{
			Name: "listing:daytona", Trusted: true, Reason: reconcile.ListingLost(5, 9, "but sb-3, got by id, is running"),
			Since: at(-4), RecoveredAt: at(-4), LastTrusted: at(0), Clock: at(-1), SetBack: at(-2), Beat: 30 * time.Second,
		}},
		Templates: []reconcile.TemplateSeen{{
			Provider: "daytona", Name: "dev-light", State: reconcile.TemplateInactive, Raw: "inactive", Error: "gone cold",
			LastStart: at(-90), LastUsed: at(-80), ExpiresAt: at(90), LookedAt: at(0),
		}},
		Breakers: map[string]reconcile.Breaker{
			"orphan": {
				Rule: "orphan", OpenedAt: at(-6), Subjects: []string{"sandbox:daytona/sb-8", "sandbox:daytona/sb-9"}, Hash: "h",
			},
		},
		Verdicts: []reconcile.Verdict{{
			Rule: "sandbox-missing", Subject: "task:t-1", Task: "t-1", Provider: "daytona", Sandbox: "sb-1",
			Template: "dev-light", Region: "eu", Worker: "1.4.2", Error: "exit #", Signature: "s-1",
			Reason: "its sandbox is gone", At: at(-1), Began: at(-3), Late: 1500 * time.Millisecond,
			TaskAt: at(-1), Sign: at(-4),
			Attempt: math.MaxUint64 - 3, Enforced: true, Cost: 0.25, PerHour: 0.08,
		}},
		Incidents: []reconcile.Incident{{
			ID: "i-1", Signature: "s-1", Rule: "sandbox-missing", Provider: "daytona", Template: "dev-light", Error: "exit #",
			Cause: "template dev-light is inactive", Evidence: facts, OpenedAt: at(-1), FirstSeen: at(-9), LastSeen: at(-1),
			Count: 10, Cost: 1.5,
		}},
		Events: []reconcile.TimelineEvent{{At: at(0), Subject: "task:t-1", Kind: "finding", What: "sandbox-missing"}},
	}
}
