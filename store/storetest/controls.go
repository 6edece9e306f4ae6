package storetest

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

func (b *bench) controls() reconcile.Controls {
	b.Helper()
	c, err := b.Controls(b.Context())
	b.must(err)
	b.equal("recalled controls", b.recall().Controls, c)
	return c
}

// told are the lines of a subject's history.
func (b *bench) told(subject string) []string {
	b.Helper()
	h, err := b.Subject(b.Context(), subject)
	b.must(err)
	var lines []string
	for _, e := range h.Timeline {
		if e.Kind == "operator" {
			lines = append(lines, e.What)
		}
	}
	return lines
}

// controls say what operators may ask for, and for how long it holds.
var controls = map[string]func(*bench){
	"a mode is lowered, lowered further, and taken back": func(b *bench) {
		b.must(b.SetMode(b.Context(), "orphan", reconcile.Observe, by))
		b.must(b.SetMode(b.Context(), "orphan", reconcile.Off, by))
		b.must(b.SetMode(b.Context(), "errored", reconcile.Observe, by))
		b.equal("modes", b.controls().Modes, map[string]reconcile.Mode{"orphan": reconcile.Off, "errored": reconcile.Observe})
		b.must(b.ClearMode(b.Context(), "orphan", by))
		b.equal("modes", b.controls().Modes, map[string]reconcile.Mode{"errored": reconcile.Observe})
		b.refused(b.ClearMode(b.Context(), "orphan", by), reconcile.ErrNotFound, "orphan")
		b.equal("lines", b.told("rule:orphan"), []string{
			"mode of the config again by ana: drill", "mode off by ana: drill", "mode observe by ana: drill",
		})
	},
	"a rule is armed unproven, by another once more, and not any more": func(b *bench) {
		b.refused(b.Disarm(b.Context(), "orphan", by), reconcile.ErrNotFound, "orphan")
		b.must(b.Arm(b.Context(), "orphan", by))
		b.must(b.Arm(b.Context(), "errored", by))
		b.clock.move(time.Minute)
		again := reconcile.Attribution{Author: "ben", Reason: "drill"}
		b.must(b.Arm(b.Context(), "orphan", again))
		b.equal("arms", b.controls().Arms, map[string]reconcile.Arm{"errored": {Attribution: by, At: noon},
			"orphan": {Attribution: again, At: noon.Add(time.Minute)}})
		b.must(b.Disarm(b.Context(), "orphan", by))
		b.equal("arms", b.controls().Arms, map[string]reconcile.Arm{"errored": {Attribution: by, At: noon}})
		b.equal("lines", b.told("rule:orphan"), []string{"not armed any more by ana: drill", "armed unproven by ben: drill",
			"armed unproven by ana: drill"})
	},
	"a proof takes the place of the one before, of its rule and kind alone": func(b *bench) {
		proof := func(rule, class string, kind reconcile.ProofKind, samples int) reconcile.Proof {
			return reconcile.Proof{Rule: rule, Class: class, Kind: kind, Sum: "s", MadeAt: noon, Samples: samples,
				FalsePositives: 1, Upper: 0.015, Lower: 0.0001, Line: "proven", Took: 3 * time.Second}
		}
		const backtest, observed = reconcile.ProofBacktest, reconcile.ProofObserved
		b.must(b.SaveProofs(b.Context(), backtest, []reconcile.Proof{proof("errored", "all", backtest, 1),
			proof("orphan", "all", backtest, 2), proof("orphan", "template=x", backtest, 3)}))
		b.must(b.SaveProofs(b.Context(), observed, []reconcile.Proof{proof("orphan", "all", observed, 4)}))
		b.must(b.SaveProofs(b.Context(), backtest, []reconcile.Proof{proof("orphan", "all", backtest, 5)}))
		b.must(b.SaveProofs(b.Context(), backtest, nil))
		b.equal("proofs", b.controls().Proofs, []reconcile.Proof{proof("errored", "all", backtest, 1),
			proof("orphan", "all", backtest, 5), proof("orphan", "all", observed, 4)})
	},
	"what is learned of a rule takes the place of what was before, and who moved is told": func(b *bench) {
		learned := func(rule, class string, after, from time.Duration, at time.Time) reconcile.Learned {
			return reconcile.Learned{Rule: rule, Class: class, After: after, Target: after, From: from, Samples: 400, Dead: 0.03,
				Sum: "s",
				At:  at, Line: "auto: " + class}
		}
		save := func(all ...reconcile.Learned) { b.must(b.SaveLearned(b.Context(), all)) }
		save(learned("inactive", "all", time.Minute, 0, noon), learned("orphan", "all", time.Hour, time.Minute, noon),
			learned("orphan", "template=x", 2*time.Hour, 0, noon))
		later := noon.Add(time.Hour)
		save(learned("orphan", "all", 1500*time.Millisecond, time.Hour, later))
		save()
		b.equal("learned", b.controls().Learned, []reconcile.Learned{learned("inactive", "all", time.Minute, 0, noon),
			learned("orphan", "all", 1500*time.Millisecond, time.Hour, later)})
		b.equal("lines", b.told("rule:orphan"), []string{"threshold of all by sandkeeper: auto: all",
			"threshold of all by sandkeeper: auto: all"})
	},
	"a mode is never raised": func(b *bench) {
		if err := b.SetMode(b.Context(), "orphan", reconcile.Enforce, by); err == nil {
			b.Error("mode enforce was set in the ledger")
		}
	},
	"a pause holds until just before its end": func(b *bench) {
		p := reconcile.Pause{Scope: "all", Author: "ana", Reason: "drill", At: noon, Until: noon.Add(time.Hour)}
		b.must(b.Pause(b.Context(), p))
		b.clock.move(time.Hour - time.Microsecond)
		b.equal("pauses", b.controls().Pauses, []reconcile.Pause{p})
		b.clock.move(time.Microsecond)
		b.equal("pauses", b.controls().Pauses, []reconcile.Pause{})
		b.refused(b.Resume(b.Context(), "all", by), reconcile.ErrNotFound, "all")
	},
	"a pause without end holds until it is resumed, its own scope alone": func(b *bench) {
		for _, scope := range []string{"all", "rule:orphan", "provider:daytona"} {
			b.must(b.Pause(b.Context(), reconcile.Pause{Scope: scope, Author: "ana", Reason: "drill"}))
		}
		b.clock.move(1000 * time.Hour)
		b.lease = b.take("one")
		b.must(b.Resume(b.Context(), "rule:orphan", by))
		var scopes []string
		for _, p := range b.controls().Pauses {
			scopes = append(scopes, p.Scope)
		}
		b.equal("scopes", scopes, []string{"all", "provider:daytona"})
		b.refused(b.Resume(b.Context(), "rule:orphan", by), reconcile.ErrNotFound, "rule:orphan")
	},
	"a pause of the same scope takes the place of the one before": func(b *bench) {
		p := reconcile.Pause{Scope: "all", Author: "ana", Reason: "drill"}
		b.must(b.Pause(b.Context(), p))
		b.clock.move(time.Minute)
		p.Author, p.At, p.Until = "ben", noon.Add(time.Minute), noon.Add(time.Hour)
		b.must(b.Pause(b.Context(), p))
		b.equal("pauses", b.controls().Pauses, []reconcile.Pause{p})
		b.equal("lines", b.told("all"), []string{"paused until 2026-11-21 13:00:00 UTC by ben: drill",
			"paused by ana: drill"})
	},
	"a hold holds until just before its end, or until it is lifted by number or target": func(b *bench) {
		hold := func(target string, until time.Time) reconcile.Hold {
			h := reconcile.Hold{Target: target, Author: "ana", Reason: "drill", At: noon, Until: until}
			id, err := b.Hold(b.Context(), h)
			b.must(err)
			h.ID = id
			return h
		}
		ends := hold("sandbox:sb-1", noon.Add(time.Hour))
		first, second := hold("label:team=infra", time.Time{}), hold("label:team=infra", time.Time{})
		numbered, stays := hold("provider:daytona", time.Time{}), hold("task:t-1", time.Time{})
		b.clock.move(time.Hour - time.Microsecond)
		b.equal("holds", b.controls().Holds, []reconcile.Hold{ends, first, second, numbered, stays})
		b.clock.move(time.Microsecond)
		n, err := b.Unhold(b.Context(), "label:team=infra", by)
		b.must(err)
		b.equal("lifted", n, 2)
		n, err = b.Unhold(b.Context(), fmt.Sprint(numbered.ID), by)
		b.must(err)
		b.equal("lifted", n, 1)
		b.equal("holds", b.controls().Holds, []reconcile.Hold{stays})
		_, err = b.Unhold(b.Context(), "sandbox:sb-1", by)
		b.refused(err, reconcile.ErrNotFound, "sandbox:sb-1")
		b.equal("lines", b.told("task:t-1"), []string{"held by ana: drill"})
	},
	"a release names its subjects and holds until just before its end": func(b *bench) {
		r := reconcile.Release{
			What: "breaker:orphan", Subjects: []string{"sandbox:daytona/a", "sandbox:daytona/b"}, Hash: "h",
			Author: "ana", Reason: "drill", At: noon, Until: noon.Add(time.Hour),
		}
		var err error
		r.ID, err = b.Release(b.Context(), r)
		b.must(err)
		b.clock.move(time.Hour - time.Microsecond)
		b.equal("releases", b.controls().Releases, []reconcile.Release{r})
		b.clock.move(time.Microsecond)
		b.equal("releases", b.controls().Releases, []reconcile.Release{})
		b.equal("lines", b.told("sandbox:daytona/b"), []string{
			"released from breaker:orphan until 2026-11-21 13:00:00 UTC by ana: drill",
		})
	},
	"a request that makes no sense is refused": func(b *bench) {
		ctx, past, soon := b.Context(), noon.Add(-time.Second), noon.Add(time.Second)
		pause := func(p reconcile.Pause) error { return b.Pause(ctx, p) }
		hold := func(h reconcile.Hold) error { _, err := b.Hold(ctx, h); return err }
		release := func(r reconcile.Release) error { _, err := b.Release(ctx, r); return err }
		for name, err := range map[string]error{
			"a pause of nothing":            pause(reconcile.Pause{Scope: "rule:", Author: "ana", Reason: "drill"}),
			"a pause of a task":             pause(reconcile.Pause{Scope: "task:t", Author: "ana", Reason: "drill"}),
			"a pause that ended":            pause(reconcile.Pause{Scope: "all", Author: "ana", Reason: "drill", Until: past}),
			"a pause by nobody":             pause(reconcile.Pause{Scope: "all", Reason: "drill"}),
			"a pause without a reason":      pause(reconcile.Pause{Scope: "all", Author: "ana", Reason: " "}),
			"a hold on a bare id":           hold(reconcile.Hold{Target: "sb-1", Author: "ana", Reason: "drill"}),
			"a hold on a label of no value": hold(reconcile.Hold{Target: "label:team", Author: "ana", Reason: "drill"}),
			"a hold that ended":             hold(reconcile.Hold{Target: "task:t", Author: "ana", Reason: "drill", Until: past}),
			"a release without an end": release(reconcile.Release{
				What: "tasks", Subjects: []string{"task:t"}, Author: "ana", Reason: "drill"}),
			"a release of nobody":   release(reconcile.Release{What: "tasks", Author: "ana", Reason: "drill", Until: soon}),
			"a release by nobody":   release(reconcile.Release{What: "tasks", Subjects: []string{"task:t"}, Until: soon}),
			"a mode by nobody":      b.SetMode(ctx, "orphan", reconcile.Off, reconcile.Attribution{}),
			"a mode of no rule":     b.SetMode(ctx, "", reconcile.Off, by),
			"an unsigned resume":    b.Resume(ctx, "all", reconcile.Attribution{}),
			"an unsigned mode back": b.ClearMode(ctx, "orphan", reconcile.Attribution{}),
		} {
			if err == nil {
				b.Errorf("%s was taken", name)
			}
		}
		b.equal("controls", b.controls(), reconcile.Controls{
			Modes: map[string]reconcile.Mode{}, Breakers: map[string]reconcile.Breaker{},
		})
	},
}
