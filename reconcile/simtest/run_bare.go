package simtest

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/platform"
)

// barePlatform is a small world in which nothing happens.
const barePlatform = `
provider lab exclusive=yes
task t1 running work=9000h
task t2 running work=9000h
task t3 running work=9000h
task t4 running work=9000h
task t5 running work=9000h
task t6 running work=9000h
`

// Bare is how long a pass takes over such a world without all that the engine puts around it:
// what the simulation is measured by.
func Bare(t *testing.T, passes int) time.Duration {
	t.Helper()
	s, err := Parse("bare", barePlatform)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	synctest.Test(t, func(t *testing.T) {
		place, err := platform.New(s, nil)
		if err != nil {
			t.Error(err)
			return
		}
		k := bareKeeper(place)
		for range passes {
			if _, err := k.Once(t.Context(), reconcile.Full, 0); err != nil {
				t.Error(err)
				return
			}
			time.Sleep(time.Minute)
			place.Advance()
		}
	})
	return time.Since(began) / time.Duration(passes)
}

func bareKeeper(t *platform.Platform) *run.Reconciler {
	k := &run.Reconciler{Policy: t.Policy(), Tasks: t.Tasks(), Ledger: t.Ledger, Holder: "bare",
		Providers: map[string]reconcile.Provider{}, Log: slog.New(slog.DiscardHandler), Parallel: 1}
	for name, p := range t.Providers() {
		k.Providers[name] = p
	}
	return k
}
