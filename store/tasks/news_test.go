package tasks

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

// asked reads the live rows as a pass of a large fleet does, and returns what it was asked of at last, and what is kept.
func (w *world) asked(plain func(*reconcile.Task) bool) (asked, kept map[string]reconcile.Task) {
	w.t.Helper()
	asked = map[string]reconcile.Task{}
	rows, err := w.tasks.LiveBut(w.t.Context(), func(t *reconcile.Task) bool {
		asked[t.ID] = *t
		return plain(t)
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return asked, byID(rows)
}

func always(*reconcile.Task) bool { return true }

// sameEvents compares the rows that were read with what one statement reads of all events.
func (w *world) sameEvents(what string, got map[string]reconcile.Task) {
	w.t.Helper()
	want := w.live()
	events := func(rows map[string]reconcile.Task) map[string]reconcile.Events {
		out := map[string]reconcile.Events{}
		for id, t := range rows {
			out[id] = t.Events
		}
		return out
	}
	if diff := cmp.Diff(events(want), events(got)); diff != "" {
		w.t.Fatalf("%s (-all events +read):\n%s", what, diff)
	}
}

// A randomPlatform does with its tables what a platform may.
type randomPlatform struct {
	late int // by how many milliseconds events come late, at the most
	*world
	*rand.Rand
	event int
}

var randomTypes = []string{"agent.started", "agent.heartbeat", "agent.heartbeat", "agent.tool_use", "agent.tool_use",
	"agent.waiting", "continuous.completed", "sandkeeper.failed", "other"}

// box is a sandbox by its name, which may be empty.
func (p *randomPlatform) box() string {
	if n := p.IntN(12); n > 0 {
		return fmt.Sprintf("box-%d", n)
	}
	return ""
}

// adds an event that is new: of a moment ago, as writers' clocks and long transactions have it, of the future or of no
// time at all.
func (p *randomPlatform) adds() {
	at := fmt.Sprintf("now() - interval '%d milliseconds'", p.IntN(max(p.late, 1)))
	switch p.IntN(20) {
	case 0:
		at = "'infinity'"
	case 1:
		at = "'-infinity'"
	case 2:
		at = fmt.Sprintf("now() + interval '%d seconds'", p.IntN(1000))
	}
	p.event++
	p.exec(fmt.Sprintf(`INSERT INTO sandbox_events (id, sandbox_id, event_type, created_at, event_data)
		VALUES ('event-%d', '%s', '%s', %s, '{"validation_passed": %t}')`, p.event, p.box(),
		randomTypes[p.IntN(len(randomTypes))], at, p.IntN(2) == 0))
}

func (p *randomPlatform) moves() {
	switch n := id(fmt.Sprint(p.IntN(10))); p.IntN(6) {
	case 0:
		p.exec("INSERT INTO program.tasks (id, status, sandbox_id) VALUES ($1, 'running', $2) ON CONFLICT DO NOTHING", n, p.box())
	case 1:
		p.exec("UPDATE tasks SET sandbox_id = $2 WHERE id = $1", n, p.box())
	case 2:
		p.exec("UPDATE tasks SET status = 'pending', sandbox_id = NULL, retry_count = retry_count + 1 WHERE id = $1", n)
	case 3:
		p.exec("UPDATE tasks SET status = 'running', sandbox_id = $2 WHERE id = $1", n, p.box())
	case 4:
		p.exec("UPDATE tasks SET sandbox_id = '' WHERE id = $1", n)
	default:
		p.exec("DELETE FROM tasks WHERE id = $1", n)
	}
}

// TestNewEventsAndKnownOnesAreAll: what was known and what came since is, to the microsecond, what one statement reads
// of all events, whatever rows and events do in between, and whichever rows are plain.
func TestNewEventsAndKnownOnesAreAll(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p := &randomPlatform{late: 50_000, world: omoiosWorld(t), Rand: rand.New(rand.NewPCG(seed, 42))}
			for range 30 {
				p.adds() // of long ago, for all that is remembered
			}
			p.exec("UPDATE sandbox_events SET created_at = created_at - interval '1 day' WHERE isfinite(created_at)")
			for round := range 40 {
				for range p.IntN(6) {
					p.adds()
				}
				for range p.IntN(4) {
					p.moves()
				}
				plain := func(*reconcile.Task) bool { return p.IntN(3) > 0 }
				asked, kept := p.asked(plain)
				p.sameEvents(fmt.Sprintf("round %d", round), asked)
				for id, row := range kept {
					if diff := cmp.Diff(asked[id], row); diff != "" {
						t.Fatalf("kept is another row than the one that was asked of (-asked +kept):\n%s", diff)
					}
				}
			}
			if p.tasks.signs.Load() == nil {
				t.Error("nothing is remembered: this test wants that the second reading rests on the first")
			}
		})
	}
}

// older lets time pass since the last reading.
func (w *world) older(by time.Duration) {
	known := w.tasks.signs.Load()
	known.upTo = known.upTo.Add(-by)
	for _, s := range known.of {
		s.whole -= uint32(by / time.Second)
	}
}

// TestAnEventThatCameLate: an event that was told long after its time is not among those that are new. A row of which
// anything may be made is read with it all the same, and any other in time.
func TestAnEventThatCameLate(t *testing.T) {
	late := "2026-02-01 09:00:00"
	for name, c := range map[string]struct {
		meanwhile func(*world)
		plain     bool // of the row by what is known
		want      bool // that it is seen
	}{
		"of a healthy row":               {func(*world) {}, true, false},
		"of a row that is not plain":     {func(*world) {}, false, true},
		"of a row with another sandbox":  {func(w *world) { w.exec("UPDATE tasks SET sandbox_id = 'box-2'") }, true, true},
		"long after all were read":       {func(w *world) { w.older(14 * time.Minute); w.wholeAgo(3 * time.Hour) }, true, true},
		"after a long time without pass": {func(w *world) { w.older(16 * time.Minute) }, true, true},
		"after the clock was set back":   {func(w *world) { w.tasks.signs.Load().upTo = time.Now().Add(time.Hour) }, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := omoiosWorld(t)
			w.exec("INSERT INTO program.tasks (id, status, sandbox_id) VALUES ($1, 'running', 'box-1')", id("1"))
			w.exec("INSERT INTO program.sandbox_events (sandbox_id, event_type) VALUES ('box-1', 'agent.heartbeat')")
			w.asked(always)
			w.exec(`INSERT INTO program.sandbox_events (sandbox_id, event_type, created_at, event_data)
				SELECT box, 'continuous.completed', $1::text::timestamptz, '{"validation_passed": true}'
				FROM unnest(array['box-1', 'box-2']) AS box`, late+"Z")
			c.meanwhile(w)
			asked, kept := w.asked(func(*reconcile.Task) bool { return c.plain })
			if seen := asked[id("1")].Events.Finished.Equal(utc(late)); seen != c.want {
				t.Errorf("the late event is seen: %t, want %t", seen, c.want)
			}
			if row, is := kept[id("1")]; is == c.plain || is && !row.Events.Finished.Equal(utc(late)) {
				t.Errorf("kept = %+v", kept)
			}
		})
	}
}

// wholeAgo has all events of each row been read so long ago.
func (w *world) wholeAgo(ago time.Duration) {
	known := w.tasks.signs.Load()
	for _, s := range known.of {
		s.whole = uint32(known.upTo.Add(-ago).Unix())
	}
}

// TestWhatIsKnownIsForgotten: nothing stays of rows that are gone, where they were many.
func TestWhatIsKnownIsForgotten(t *testing.T) {
	w := omoiosWorld(t)
	w.exec(fmt.Sprintf(addLive, 100))
	w.asked(always)
	w.exec("UPDATE tasks SET status = 'completed' WHERE sandbox_id LIKE '%0'")
	w.asked(always)
	w.exec("UPDATE tasks SET status = 'completed' WHERE sandbox_id LIKE '%1'")
	w.asked(always)
	if n := len(w.tasks.signs.Load().of); n > 90 {
		t.Errorf("%d are known, want no more than the live rows and an eighth", n)
	}
}

// TestLiveByAndBy: where one statement may not be enough for the events of all, the rows are read in some, and are the
// same.
func TestLiveByAndBy(t *testing.T) {
	p := &randomPlatform{late: 50_000, world: omoiosWorld(t), Rand: rand.New(rand.NewPCG(7, 42))}
	p.exec(fmt.Sprintf(addLive, 1500))
	p.exec(fmt.Sprintf(addLiveEvents, 3000))
	for range 200 {
		p.adds()
		p.moves()
	}
	atOnce := p.live()
	p.tasks.known.apart.many = true
	byAndBy := p.live()
	if len(atOnce) < 1500 {
		t.Fatalf("%d rows, want many", len(atOnce))
	}
	for id, row := range byAndBy {
		row.AsOf = atOnce[id].AsOf
		byAndBy[id] = row
	}
	if diff := cmp.Diff(atOnce, byAndBy); diff != "" {
		t.Errorf("by and by other rows are read (-at once +by and by):\n%s", diff)
	}
}

// TestNewEventsWithoutAnIndex: where the time of an event cannot be looked up, or is not what it looks like, the rows are
// read with all their events.
func TestNewEventsWithoutAnIndex(t *testing.T) {
	for name, before := range map[string]string{
		"no index on the time": "DROP INDEX sandbox_events_created_at_idx",
		"one that has no order": "DROP INDEX sandbox_events_created_at_idx; " +
			"CREATE INDEX ON sandbox_events USING hash (created_at)",
		"a time without a zone": "ALTER TABLE sandbox_events ALTER created_at TYPE timestamp",
		"no index on the key":   "DROP INDEX sandbox_events_sandbox_id_idx",
		"keys of another type":  "ALTER TABLE sandbox_events ALTER sandbox_id TYPE char(100)",
	} {
		t.Run(name, func(t *testing.T) {
			p := &randomPlatform{late: 50_000, world: omoiosWorld(t), Rand: rand.New(rand.NewPCG(3, 42))}
			p.exec("DROP VIEW program.sandbox_events; " + before)
			for range 60 {
				p.adds()
				p.moves()
			}
			for range 2 {
				asked, _ := p.asked(always)
				p.sameEvents(name, asked)
			}
			if p.tasks.signs.Load() != nil {
				t.Error("events are remembered")
			}
		})
	}
}

// TestLiveAfterATimeOut: where one statement takes too long for the events of all, the same reading goes on in some, and
// the next ones begin so. A statement that is too long whatever it reads is an error.
func TestLiveAfterATimeOut(t *testing.T) {
	w := newWorld(t, pgtest.OmoiOS+pgtest.OmoiOSProgram+`;
		CREATE TABLE patience (of text);
		CREATE FUNCTION public.patient() RETURNS bool LANGUAGE plpgsql AS $$ BEGIN
			IF current_query() LIKE (SELECT of FROM public.patience) AND current_query() NOT LIKE '%"id" = ANY%' THEN
				RAISE EXCEPTION 'canceling statement due to statement timeout' USING ERRCODE = 'query_canceled';
			END IF;
			RETURN true;
		END $$`, mapping.Mapping{Preset: "omoios", Where: "public.patient()"})
	w.exec(fmt.Sprintf(addLive, 10))
	w.exec("INSERT INTO program.sandbox_events (sandbox_id, event_type) SELECT 'live-' || n, 'agent.heartbeat' FROM generate_series(1, 10) AS n")
	w.exec("INSERT INTO patience VALUES ('%LATERAL%')")
	for range 2 {
		rows := w.live()
		if len(rows) != 10 {
			t.Fatalf("%d rows, want 10", len(rows))
		}
		for id, row := range rows {
			if row.Events.Heartbeat.IsZero() {
				t.Errorf("%s has no heartbeat", id)
			}
		}
	}
	w.exec("UPDATE patience SET of = '%'")
	if _, err := w.tasks.Live(t.Context()); !tookTooLong(err) {
		t.Errorf("Live = %v, want that it took too long", err)
	}
}

// An event that nobody's live row has may be one that cannot be read: it has no key, or the mapping's condition fails on
// it. Then everybody is read with all events, and nothing is taken for known.
func TestNewEventsThatCannotBeRead(t *testing.T) {
	m := mapping.Mapping{Preset: "omoios"}
	w := newWorld(t, pgtest.OmoiOS+pgtest.OmoiOSProgram+`;
		ALTER TABLE sandbox_events ALTER COLUMN sandbox_id DROP NOT NULL`, m)
	w.exec("INSERT INTO program.tasks (id, status, sandbox_id) VALUES ($1, 'running', 'omoios-1')", id("1"))
	w.asked(always)
	w.asked(always)
	w.exec("INSERT INTO sandbox_events (id, sandbox_id, event_type, source, created_at) " +
		"VALUES (gen_random_uuid()::text, NULL, 'agent.heartbeat', 'worker', now())")
	w.exec("INSERT INTO sandbox_events (id, sandbox_id, event_type, source, created_at) " +
		"VALUES (gen_random_uuid()::text, 'omoios-1', 'agent.heartbeat', 'worker', now())")
	asked, _ := w.asked(always)
	w.sameEvents("beside an event without a key", asked)
	if known := w.tasks.signs.Load(); known == nil || len(known.of) != 1 {
		t.Errorf("known is %+v, want what came of one key", known)
	}
	w.tasks.known.apart.news = "SELECT 1/0, @since::timestamptz"
	asked, _ = w.asked(always)
	w.sameEvents("after a failure", asked)
	if known := w.tasks.signs.Load(); known != nil {
		t.Errorf("after a failure %+v is known", known)
	}
}
