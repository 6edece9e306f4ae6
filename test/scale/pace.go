package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// What quick passes of `run` may cost, one a second over a healthy fleet, and how soon after its threshold a row
// whose time is over may be seen, recorded and done.
const (
	paceCore   = 3.0   // % of a core of the process
	paceMemory = 100.0 // MB
	paceBusy   = 128.0 // MB, as of any pass that reads everybody
	paceServer = 100.0 // % of a core of PostgreSQL: there is no bound, it is told
	paceSeen   = 1.5   // s
)

// Rows whose time is over one after the other, from then on, and how many quick passes are measured before. One more of
// a kind within half an hour is an incident, in which each pass reads everybody. Passes come each second: so each row's
// time is over at another part of one.
const (
	overdueRows  = 4
	overdueFrom  = 150 * time.Second
	overdueApart = 5 * time.Second
	pacePasses   = 30
)

// pace measures the quick passes of `run`, one a second, and no full one beside them.
func (b *bench) pace(ctx context.Context, t *table, n int) error {
	w, err := b.fill(ctx, n)
	if err != nil {
		return err
	}
	// They began an hour ago, and have a little more than that.
	err = sql(ctx, w.dsn, countStatements, fmt.Sprintf(`
		UPDATE program.tasks AS t SET created_at = now() - interval '2 hours',
			started_at = now() - interval '1 hour' + i * interval '1 second' / %[1]d,
			updated_at = now() - interval '1 hour', timeout_seconds = 3600 + %[2]f * i + %[3]f
		FROM generate_series(1, %[1]d) i WHERE t.sandbox_id = 'omoios-' || i`,
		overdueRows, overdueApart.Seconds(), overdueFrom.Seconds()), fmt.Sprintf(`
		UPDATE sandbox_events SET created_at = now() - interval '1 hour'
		WHERE event_type = 'agent.started' AND sandbox_id IN (SELECT 'omoios-' || i FROM generate_series(1, %d) i)`,
		overdueRows))
	if err != nil {
		return err
	}
	provider, err := startProvider(ctx, "-dsn", w.dsn)
	if err != nil {
		return err
	}
	defer provider.stop()
	if err := b.configure(w, provider.url, 100_000); err != nil {
		return err
	}
	text, err := os.ReadFile(w.config)
	if err != nil {
		return err
	}
	paced := string(text) + "schedule: {quick: \"@every 1s\", full: \"@every 1h\"}\n"
	if err := os.WriteFile(w.config, []byte(paced), 0o600); err != nil {
		return err
	}
	result, _, err := b.once(ctx, w, "--migrate")
	if err != nil {
		return err
	}
	_, pid, stop, err := b.process(ctx, w, "run")
	if err != nil {
		return err
	}
	defer stop()
	size := fleet(result.Healthy, n)
	if err := paceQuiet(ctx, t, w, pid, size); err != nil {
		return err
	}
	return paceOverdue(ctx, t, w, size)
}

// paceQuiet measures passes over a fleet in which nothing happens.
func paceQuiet(ctx context.Context, t *table, w *world, pid int, size string) error {
	// What came of events within a minute is read again in each pass: here as many as there are tasks.
	const quiet = "SELECT pg_sleep_until(max(created_at) + interval '65 seconds') FROM sandbox_events"
	if err := sql(ctx, w.dsn, quiet); err != nil {
		return err
	}
	if err := quickPasses(ctx, w, 8); err != nil { // the first ones read everybody
		return err
	}
	own := strconv.Itoa(pid)
	busy, err := peakMemory(own)
	if err != nil {
		return err
	}
	// The peak of the passes before, which read everybody, is no peak of these.
	if err := os.WriteFile(filepath.Join("/proc", own, "clear_refs"), []byte("5"), 0o600); err != nil {
		return err
	}
	before, err := processStat(own)
	if err != nil {
		return err
	}
	served, err := loaded(ctx, w)
	if err != nil {
		return err
	}
	if err := quickPasses(ctx, w, pacePasses); err != nil {
		return err
	}
	after, err := processStat(own)
	if err != nil {
		return err
	}
	serves, err := loaded(ctx, w)
	if err != nil {
		return err
	}
	peak, err := peakMemory(own)
	if err != nil {
		return err
	}
	span, cpu, _ := serves.since(served)
	share := func(cpu time.Duration) float64 { return 100 * cpu.Seconds() / span.Seconds() }
	t.add(row{Work: "a quick pass each second: the process, of a core", Size: size, Unit: "%",
		Ours: share(after.cpu - before.cpu), Bare: paceCore, Bound: true})
	t.add(row{Work: "a quick pass each second: peak memory", Size: size, Unit: "MB", Ours: peak, Bare: paceMemory,
		Bound: true})
	t.add(row{Work: "the passes before, which read everybody: peak memory", Size: size, Unit: "MB", Ours: busy,
		Bare: paceBusy, Bound: true})
	t.add(row{Work: "a quick pass each second: PostgreSQL, of a core", Size: size, Unit: "%", Ours: share(cpu),
		Bare: paceServer, Bound: true})
	t.add(row{Work: "a quick pass each second: passes a second", Size: size, Unit: "/s",
		Ours: pacePasses / span.Seconds(), Bare: 1})
	return busiest(ctx, w)
}

// paceOverdue measures how long after its time is over a row is seen, recorded and done.
func paceOverdue(ctx context.Context, t *table, w *world, size string) error {
	db, err := pgx.Connect(ctx, w.dsn)
	if err != nil {
		return err
	}
	defer db.Close(ctx)
	const states = `
		SELECT /* bench */ extract(epoch FROM f.first_seen - e.threshold)::float8,
			extract(epoch FROM f.opened_at - e.threshold)::float8, extract(epoch FROM a.closed_at - e.threshold)::float8
		FROM (SELECT id::text, started_at + timeout_seconds * interval '1 second' AS threshold FROM program.tasks
			WHERE sandbox_id IN (SELECT 'omoios-' || i FROM generate_series(1, %d) i)) AS e
		JOIN sandkeeper.findings AS f ON f.task = e.id AND f.rule = 'deadline-exceeded'
		JOIN sandkeeper.actions AS a ON a.task = e.id AND a.step = 'fail' AND a.closed_at IS NOT NULL`
	for until := time.Now().Add(4 * time.Minute); ; time.Sleep(2 * time.Second) {
		rows, err := db.Query(ctx, fmt.Sprintf(states, overdueRows))
		if err != nil {
			return err
		}
		var seen, recorded, done []float64
		var s, r, d float64
		if _, err := pgx.ForEachRow(rows, []any{&s, &r, &d}, func() error {
			seen, recorded, done = append(seen, s), append(recorded, r), append(done, d)
			return nil
		}); err != nil {
			return err
		}
		if len(done) == overdueRows {
			for _, of := range []struct {
				what string
				all  []float64
			}{{"seen", seen}, {"recorded", recorded}, {"failed", done}} {
				t.add(row{Work: "a row past its time, at the most: " + of.what + " after that", Size: size, Unit: "s",
					Ours: slices.Max(of.all), Bare: paceSeen, Bound: true})
			}
			return nil
		}
		if time.Now().After(until) {
			return fmt.Errorf("%d of %d rows past their time are failed", len(done), overdueRows)
		}
	}
}

// quickPasses waits until so many more passes have ended.
func quickPasses(ctx context.Context, w *world, more int) error {
	db, err := pgx.Connect(ctx, w.dsn)
	if err != nil {
		return err
	}
	defer db.Close(ctx)
	first := -1
	for until := time.Now().Add(4 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		var n int
		const ended = "SELECT /* bench */ count(*) FROM sandkeeper.passes WHERE kind = 'quick' AND ended_at IS NOT NULL"
		if err := db.QueryRow(ctx, ended).Scan(&n); err != nil {
			return err
		}
		if first < 0 {
			first = n
		}
		switch {
		case n >= first+more:
			return nil
		case time.Now().After(until):
			return fmt.Errorf("%d quick passes within 10 minutes", n-first)
		}
	}
}

// peakMemory is the most memory that a process had since its peak was cleared, in MB.
func peakMemory(pid string) (float64, error) {
	text, err := os.ReadFile(filepath.Join("/proc", pid, "status")) //nolint:gosec // a process's own file
	if err != nil {
		return 0, err
	}
	_, rest, found := strings.Cut(string(text), "VmHWM:")
	if fields := strings.Fields(rest); found && len(fields) > 0 {
		kb, err := strconv.Atoi(fields[0])
		return float64(kb) / 1024, err
	}
	return 0, fmt.Errorf("this system does not tell how much memory a process had at most")
}
