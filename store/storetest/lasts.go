package storetest

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

func (b *bench) lastBegan(kind reconcile.PassKind) time.Time {
	b.Helper()
	began, now, err := b.LastBegan(b.Context(), kind)
	b.must(err)
	if !now.Equal(b.clock.read()) {
		b.Errorf("now = %s, want the ledger's %s", now, b.clock.read())
	}
	return began
}

func (b *bench) lastRecorded() int64 {
	b.Helper()
	id, err := b.LastRecorded(b.Context())
	b.must(err)
	return id
}

// lasts say when the next pass is due, and whether there is news for a reader.
var lasts = map[string]func(*bench){
	"a ledger without a pass says never": func(b *bench) {
		b.equal("quick", b.lastBegan(reconcile.Quick), time.Time{})
		b.equal("full", b.lastBegan(reconcile.Full), time.Time{})
		b.equal("recorded", b.lastRecorded(), int64(0))
	},
	"a full pass counts as a quick one, not the other way round": func(b *bench) {
		b.passOf(reconcile.Full, true, reconcile.Record{})
		b.equal("quick", b.lastBegan(reconcile.Quick), noon)
		b.equal("full", b.lastBegan(reconcile.Full), noon)
		b.clock.move(time.Minute)
		b.pass(reconcile.Record{})
		b.equal("quick", b.lastBegan(reconcile.Quick), noon.Add(time.Minute))
		b.equal("full", b.lastBegan(reconcile.Full), noon)
	},
	"a pass that ended counts from its beginning, complete or not": func(b *bench) {
		id := b.begin()
		b.clock.move(time.Minute)
		b.must(b.Record(b.Context(), b.lease, reconcile.Record{Pass: id, Kind: reconcile.Quick, Error: "daytona: 502"}))
		b.equal("quick", b.lastBegan(reconcile.Quick), noon)
		b.equal("recorded", b.lastRecorded(), id)
	},
	"a pass that was killed midway never counts": func(b *bench) {
		id := b.pass(reconcile.Record{})
		b.clock.move(time.Minute)
		b.begin()
		b.equal("quick", b.lastBegan(reconcile.Quick), noon)
		b.equal("recorded", b.lastRecorded(), id)
		b.clock.move(time.Minute)
		next := b.pass(reconcile.Record{})
		b.equal("quick", b.lastBegan(reconcile.Quick), noon.Add(2*time.Minute))
		b.equal("recorded", b.lastRecorded(), next)
	},
}
