package storetest

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// histories say what people find when they ask.
var histories = map[string]func(*bench){
	"a task and its sandbox are found by each of their names": func(b *bench) {
		r := fullRecord()
		r.Tasks, r.Sandboxes[0].GoneAt = r.Tasks[:1], time.Time{}
		b.pass(r)
		probe := probed(1, reconcile.Hung)
		b.must(b.SaveProbes(b.Context(), b.lease, []reconcile.ProbeResult{probe}))
		a := r.Actions[0]
		a.Outcome = reconcile.OutcomePending
		want := reconcile.History{
			Tasks: r.Tasks, Sandboxes: r.Sandboxes, Actions: []reconcile.Action{a}, Probes: []reconcile.ProbeResult{probe},
			Findings: []reconcile.FindingSeen{{Finding: r.Findings[0], OpenedAt: noon}}, Timeline: r.Events,
			Verdicts: r.Verdicts,
		}
		for _, id := range []string{"t-1", "task:t-1", "sb-1", "box", "daytona/sb-1", "sandbox:daytona/sb-1"} {
			h, err := b.Subject(b.Context(), id)
			b.must(err)
			h.Verdicts = numberless(h.Verdicts)
			b.equal("histories of "+id, h, want)
		}
	},
	"what nobody has seen is not found": func(b *bench) {
		b.pass(fullRecord())
		for _, id := range []string{"t-9", "", "/", "daytona/", "e2b/sb-1", "task:"} {
			_, err := b.Subject(b.Context(), id)
			b.refused(err, reconcile.ErrNotFound, "read history of "+id)
		}
	},
	"the newest comes first": func(b *bench) {
		b.pass(reconcile.Record{
			Sandboxes: []reconcile.SandboxSeen{
				{Ref: ref("old"), Task: "t", FirstSeen: noon}, {Ref: ref("new"), Task: "t", FirstSeen: noon.Add(time.Second)},
			},
			Events: []reconcile.TimelineEvent{
				{At: noon, Subject: "task:t", Kind: "seen", What: "first"},
				{At: noon.Add(time.Second), Subject: "task:t", Kind: "state", What: "second"},
			},
		})
		h, err := b.Subject(b.Context(), "t")
		b.must(err)
		if len(h.Timeline) != 2 || h.Timeline[0].What != "second" {
			b.Errorf("timeline = %v, want second, first", h.Timeline)
		}
		if len(h.Sandboxes) != 2 || h.Sandboxes[0].ID != "new" {
			b.Errorf("sandboxes = %v, want new, old", h.Sandboxes)
		}
	},
	"passes are listed newest first, with what they came to": func(b *bench) {
		first := b.passOf(reconcile.Full, false, reconcile.Record{
			Error: "daytona: 502", Kept: 4, Counts: map[string]int{"foreign": 2},
		})
		b.clock.move(time.Second)
		second := b.begin()
		got, err := b.LastPasses(b.Context(), 5)
		b.must(err)
		b.equal("passes", got, []reconcile.PassSeen{
			{ID: second, Kind: reconcile.Quick, Holder: "one", BeganAt: noon.Add(time.Second)},
			{ID: first, Kind: reconcile.Full, Holder: "one", BeganAt: noon, EndedAt: noon, Error: "daytona: 502", Kept: 4,
				Counts: map[string]int{"foreign": 2}},
		})
		one, err := b.LastPasses(b.Context(), 1)
		b.must(err)
		b.equal("passes", one, got[:1])
		b.equal("counted", b.counted("passes", "", "full:incomplete"), int64(1))
	},
	"open findings come oldest first": func(b *bench) {
		b.pass(reconcile.Record{Findings: []reconcile.Finding{{Rule: "z", Subject: "task:1"}}})
		b.clock.move(time.Second)
		b.pass(reconcile.Record{Findings: []reconcile.Finding{{Rule: "a", Subject: "task:1"}}})
		open, err := b.OpenFindings(b.Context())
		b.must(err)
		if len(open) != 2 || open[0].Rule != "z" {
			b.Errorf("findings = %+v, want z, a", open)
		}
	},
}
