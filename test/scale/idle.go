package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/test/scale/bare"
)

// What the database server may do for one `run` of a healthy fleet, of a core and each second.
const (
	idleCore       = 1.0 // %
	idleStatements = 5.0
)

// idle measures what the database server does for `run` where nothing happens, with no page open and with one: from the
// end of one full pass to the end of the next, on the default schedules.
func (b *bench) idle(ctx context.Context, t *table, n int) error {
	f, err := b.firstPass(ctx, n)
	if err != nil {
		return err
	}
	defer f.provider.stop()
	if err := sql(ctx, f.world.dsn, countStatements); err != nil {
		return err
	}
	url, stop, err := b.serves(ctx, f.world, "run")
	if err != nil {
		return err
	}
	defer stop()
	size := fleet(f.result.Healthy, n)
	if err := idleTurn(ctx, t, f.world, size, "no page open"); err != nil {
		return err
	}
	leave, err := openPage(ctx, url)
	if err != nil {
		return err
	}
	defer leave()
	return idleTurn(ctx, t, f.world, size, "a page open")
}

func idleTurn(ctx context.Context, t *table, w *world, size, page string) error {
	if err := nextFullPass(ctx, w); err != nil {
		return err
	}
	before, err := loaded(ctx, w)
	if err != nil {
		return err
	}
	if err := nextFullPass(ctx, w); err != nil {
		return err
	}
	after, err := loaded(ctx, w)
	if err != nil {
		return err
	}
	span, cpu, statements := after.since(before)
	t.add(row{Work: "idle, " + page + ": PostgreSQL, of a core", Size: size, Unit: "%",
		Ours: 100 * cpu.Seconds() / span.Seconds(), Bare: idleCore, Bound: true})
	t.add(row{Work: "idle, " + page + ": statements a second", Size: size, Unit: "/s",
		Ours: float64(statements) / span.Seconds(), Bare: idleStatements, Bound: true})
	return busiest(ctx, w)
}

// nextFullPass waits until one more full pass has ended. It asks seldom, for what it asks counts as well.
func nextFullPass(ctx context.Context, w *world) error {
	db, err := pgx.Connect(ctx, w.dsn)
	if err != nil {
		return err
	}
	defer db.Close(ctx)
	last := -1
	for until := time.Now().Add(20 * time.Minute); ; time.Sleep(2 * time.Second) {
		var n int
		const ended = "SELECT /* bench */ count(*) FROM sandkeeper.passes WHERE kind = 'full' AND ended_at IS NOT NULL"
		if err := db.QueryRow(ctx, ended).Scan(&n); err != nil {
			return err
		}
		switch {
		case last >= 0 && n > last:
			return nil
		case time.Now().After(until):
			return fmt.Errorf("no full pass within 20 minutes")
		}
		last = n
	}
}

// openPage listens as an open page does, until it leaves. It asks for what the page shows whenever that changes.
func openPage(ctx context.Context, url string) (leave func(), err error) {
	ctx, leave = context.WithCancel(ctx)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/live", nil)
	if err != nil {
		return leave, err
	}
	req.Header.Set("Accept", "text/event-stream")
	resp, err := http.DefaultClient.Do(req) //nolint:bodyclose // the goroutine below does
	if err != nil {
		return leave, fmt.Errorf("open the page: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		leave()
		resp.Body.Close()
		return leave, fmt.Errorf("open the page: %s", resp.Status)
	}
	go func() {
		defer resp.Body.Close()
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if lines.Text() == "data: changed" {
				_, _ = bare.Text(ctx, url+"/") // the next change asks again
			}
		}
	}()
	return leave, nil
}
