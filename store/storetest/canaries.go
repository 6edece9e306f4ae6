package storetest

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

var canaries = map[string]func(*bench){
	"a canary is planted once in its slot, none while one is there, and so many a day": func(b *bench) {
		p := reconcile.CanaryPolicy{Provider: "daytona", Every: time.Hour, PerDay: 3}
		plant := func(name string) bool {
			b.Helper()
			done, err := b.PlantCanary(b.Context(), reconcile.Canary{Provider: "daytona", Name: name}, p)
			b.must(err)
			return done
		}
		end := func(id string) {
			b.pass(reconcile.Record{Sandboxes: []reconcile.SandboxSeen{{Ref: ref(id), GoneAt: b.clock.read(), GoneByUs: true}}})
		}
		steps := []bool{plant("a"), plant("b")}
		b.clock.move(time.Hour)
		steps = append(steps, plant("c")) // the first is being made still
		b.must(b.CanaryPlanted(b.Context(), "a", "sb-a", ""))
		steps = append(steps, plant("c")) // and is there
		end("sb-a")
		steps = append(steps, plant("c"))
		b.must(b.CanaryPlanted(b.Context(), "c", "", "no room"))
		steps = append(steps, plant("d")) // the slot is taken
		b.clock.move(time.Hour)
		steps = append(steps, plant("d"))
		b.pass(reconcile.Record{Sandboxes: []reconcile.SandboxSeen{{Ref: ref("sb-d"), Name: "d"}}})
		b.clock.move(time.Hour)
		steps = append(steps, plant("e")) // no answer came, and a listing showed it by its name
		end("sb-d")
		steps = append(steps, plant("e")) // a day has three
		b.clock.move(22 * time.Hour)
		b.lease = b.take("one")
		steps = append(steps, plant("e"))
		b.equal("planted", steps, []bool{true, false, false, false, true, false, true, false, false, true})
		b.equal("that of d", b.recall().Canaries[1].Sandbox, "sb-d")
		b.equal("that of c", b.recall().Canaries[2].Error, "no room")
	},
	"what became of a canary is read from findings and actions, and is no finding of the platform": func(b *bench) {
		p := reconcile.CanaryPolicy{Provider: "daytona", Every: time.Hour, PerDay: 3}
		_, err := b.PlantCanary(b.Context(), reconcile.Canary{Provider: "daytona", Name: "a"}, p)
		b.must(err)
		b.must(b.CanaryPlanted(b.Context(), "a", "sb-a", ""))
		b.clock.move(time.Minute)
		f := reconcile.Finding{Rule: reconcile.CanaryRule, Subject: "sandbox:daytona/sb-a", Provider: "daytona",
			Sandbox: "sb-a", FirstSeen: noon.Add(time.Minute), Sightings: 1}
		other := reconcile.Finding{Rule: reconcile.CanaryRule, Subject: "sandbox:daytona/sb-b", Provider: "daytona",
			Sandbox: "sb-b", FirstSeen: noon.Add(time.Minute), Sightings: 1}
		b.pass(reconcile.Record{Sandboxes: []reconcile.SandboxSeen{{Ref: ref("sb-a")}, {Ref: ref("sb-b")}},
			Findings: []reconcile.Finding{f, other}})
		m, err := b.Measures(b.Context())
		b.must(err)
		b.equal("found", m.Canaries[0].FoundAt, noon.Add(time.Minute))
		b.equal("findings", m.Findings, []reconcile.FindingCount{{Rule: "orphan", Provider: "daytona", Open: 1,
			Oldest: noon.Add(time.Minute)}})
		o, err := b.Overview(b.Context(), 10)
		b.must(err)
		b.equal("findings by rule", o.FindingsOpen, map[string]int{"orphan": 1})
		b.equal("findings shown", len(o.Findings), 1)
		b.equal("of it", o.Canaries[0].Sandbox, "sb-a")
		b.equal("remembered", len(b.recall().Findings), 2)
	},
}
