package storetest

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// findings open once for each rule and subject.
var findings = map[string]func(*bench){
	"a finding seen again stays one, and keeps when it was opened": func(b *bench) {
		f := reconcile.Finding{Rule: "orphan", Subject: "sandbox:daytona/sb", FirstSeen: noon, Sightings: 1}
		b.pass(reconcile.Record{Findings: []reconcile.Finding{f}})
		b.clock.move(time.Hour)
		f.FirstSeen, f.Sightings, f.Reason = noon.Add(time.Hour), 2, "seen again"
		b.pass(reconcile.Record{Findings: []reconcile.Finding{f}})
		open, err := b.OpenFindings(b.Context())
		b.must(err)
		b.equal("findings", open, []reconcile.FindingSeen{{Finding: f, OpenedAt: noon}})
		b.equal("opened", b.counted("findings_opened", "orphan", ""), int64(1))
	},
	"rules and subjects are apart": func(b *bench) {
		b.pass(reconcile.Record{Findings: []reconcile.Finding{
			{Rule: "orphan", Subject: "sandbox:daytona/a"}, {Rule: "orphan", Subject: "sandbox:daytona/b"},
			{Rule: "errored", Subject: "sandbox:daytona/a"},
		}})
		if got := len(b.recall().Findings); got != 3 {
			b.Errorf("%d findings, want 3", got)
		}
	},
	"a resolved finding is closed, and opens anew when it is seen again": func(b *bench) {
		f := reconcile.Finding{Rule: "orphan", Subject: "sandbox:daytona/sb", Provider: "daytona", FirstSeen: noon}
		other := reconcile.Finding{Rule: "errored", Subject: f.Subject}
		b.pass(reconcile.Record{Findings: []reconcile.Finding{f, other}})
		b.clock.move(time.Minute)
		b.pass(reconcile.Record{
			Findings: []reconcile.Finding{other},
			Resolved: []reconcile.FindingKey{f.Key(), {Rule: "no", Subject: "such"}},
		})
		if got := b.recall().Findings; len(got) != 1 || got[other.Key()].Rule == "" {
			b.Errorf("open findings = %v, want the other one alone", got)
		}
		b.clock.move(time.Minute)
		f.FirstSeen = noon.Add(2 * time.Minute)
		b.pass(reconcile.Record{Findings: []reconcile.Finding{f}})
		h, err := b.Subject(b.Context(), f.Subject)
		b.must(err)
		var lives []time.Time
		for _, seen := range h.Findings {
			if seen.Rule == "orphan" {
				lives = append(lives, seen.OpenedAt, seen.ResolvedAt)
			}
		}
		b.equal("lives", lives, []time.Time{noon.Add(2 * time.Minute), {}, noon, noon.Add(time.Minute)})
		b.equal("opened", b.counted("findings_opened", "orphan", ""), int64(2))
		b.equal("resolved", b.counted("findings_resolved", "orphan", ""), int64(1))
	},
	"a finding that was not seen and not resolved stays open": func(b *bench) {
		b.pass(reconcile.Record{Findings: []reconcile.Finding{{Rule: "orphan", Subject: "sandbox:daytona/sb"}}})
		b.pass(reconcile.Record{})
		if got := len(b.recall().Findings); got != 1 {
			b.Errorf("%d findings, want 1", got)
		}
	},
}

// counted is the value of a counter.
func (b *bench) counted(name, rule, what string) int64 {
	b.Helper()
	all, err := b.Counters(b.Context())
	b.must(err)
	var sum int64
	for _, c := range all {
		if c.Name == name && c.Rule == rule && c.What == what {
			sum += c.Value
		}
	}
	return sum
}
