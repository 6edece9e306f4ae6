package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// renewed are signatures by the first key, of the rows of a table.
type renewed struct {
	ids   []int64
	seals []string
}

func (r *renewed) renew(s *protocol.Seals, id int64, seal string, request []string) {
	if seal, is := s.Renew(seal, request); is {
		r.ids, r.seals = append(r.ids, id), append(r.seals, seal)
	}
}

// reseal signs with the first key what a later one has let go: when that one is removed, no hold, pause
// or lower mode comes back. What nobody signed stays as it is.
func (g *Schema) reseal(ctx context.Context, now time.Time) error {
	seals := g.seals.Load()
	if len(seals.Keys) < 2 {
		return nil
	}
	err := pgx.BeginFunc(ctx, g.pool, func(tx pgx.Tx) error {
		var holds, pauses, modes, arms renewed
		lifted := pgx.StrictNamedArgs{"now": now, "sealed": true}
		err := read(ctx, tx, []reading{
			each("holds", lifted, scanHold, func(h holdRow) {
				holds.renew(seals, h.ID, h.lift.Seal, protocol.HoldLift(&h.Hold, h.lift))
			}),
			each("pauses", lifted, scanPause, func(p pauseRow) {
				pauses.renew(seals, p.id, p.lift.Seal, protocol.PauseLift(p.id, &p.Pause, p.lift))
			}),
			each("reseal_read_modes", nil, scanModeRow, func(m modeRow) {
				modes.renew(seals, m.id, m.Seal, protocol.ModeOf(&m.ModeRequest))
			}),
			each("arms", nil, scanArm, func(a armRow) {
				arms.renew(seals, a.id, a.Seal, protocol.ArmOf(&a.ArmRequest))
			}),
		})
		if err != nil {
			return err
		}
		var writes []write
		for _, w := range []struct {
			query string
			renewed
		}{{"reseal_holds", holds}, {"reseal_pauses", pauses}, {"reseal_modes", modes}, {"reseal_arms", arms}} {
			if len(w.ids) > 0 {
				writes = append(writes, write{w.query, pgx.StrictNamedArgs{"ids": w.ids, "seals": w.seals}})
			}
		}
		return execAll(ctx, tx, writes)
	})
	if err != nil {
		return fmt.Errorf("sign with the first operator key: %w", err)
	}
	return nil
}

// modeRow is what was asked of a mode, with its number.
type modeRow struct {
	id int64
	protocol.ModeRequest
}

func scanModeRow(r pgx.Rows) (modeRow, error) {
	var m modeRow
	return m, r.Scan(&m.id, &m.Rule, (*string)(&m.Mode), &m.Author, &m.Reason, at(&m.At), &m.Seal)
}
