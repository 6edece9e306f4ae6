package providertest

import (
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// canary is the name of a canary of the suite. It has the prefix by which a sandbox may be ours.
const canary = "mine-sandkeeper-canary-1"

func (l *lab) planter() reconcile.Planter {
	l.World.PutTemplate(simulated.Template{Name: "light"})
	return reconcile.CapabilitiesOf(l.Provider).Planter
}

func plants(l *lab) {
	id, err := l.planter().Plant(l.t.Context(), "light", canary)
	if err != nil || id == "" {
		l.t.Fatalf("Plant = %q, %v", id, err)
	}
	l.Clock.Advance(10 * time.Second)
	got := l.get(id)
	if !got.Owned || !got.Canary || got.Task != "" || got.Name != canary || got.Spare || got.Excepted {
		l.t.Errorf("Get = %+v, want a canary of ours that names no task", got)
	}
	all, _, err := l.list()
	// An engine may show who uses a template.
	all = slices.DeleteFunc(all, func(s reconcile.Sandbox) bool { return !s.Canary })
	if err != nil || len(all) != 1 || all[0].ID != id {
		l.t.Errorf("the listing has %+v, %v; want the canary", all, err)
	}
	if _, err := l.Provider.Terminate(l.t.Context(), got); err != nil {
		l.t.Errorf("Terminate = %v", err)
	}
	l.Clock.Advance(time.Minute)
	if b, there := l.World.Sandbox(id); there && !b.Gone {
		l.t.Errorf("the world has %+v, want nothing left", b)
	}
}

func plantRefused(l *lab) {
	id, err := l.planter().Plant(l.t.Context(), "there-is-no-such-template", canary)
	if err == nil || id != "" {
		l.t.Errorf("Plant from no template = %q, %v; want an error", id, err)
	}
}

func plantLost(l *lab) {
	p := l.planter()
	for _, effect := range []simulated.Effect{simulated.DoneThenAnswer, simulated.DoneThenDrop} {
		before := len(l.World.Sandboxes())
		lift := l.World.Inject(simulated.Fault{On: simulated.Create, Effect: effect})
		if id, err := p.Plant(l.t.Context(), "light", canary); err == nil {
			l.t.Errorf("Plant, %s = %q, want an error", effect, id)
		}
		lift()
		if n := len(l.World.Sandboxes()) - before; n > 1 {
			l.t.Errorf("%s: %d sandboxes were made, want one at most", effect, n)
		}
	}
}
