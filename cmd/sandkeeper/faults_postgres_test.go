package main

import (
	"context"
	"net/url"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// What is said of a database that is away: by /readyz, by the page and by the log.
const (
	away   = "database answers"
	unread = "The ledger does not answer"
	dbLog  = `the (ledger|task) database.*(at 127\.0\.0\.1:\d+.* as postgres: .*(does the server run there|the server is )` +
		`|the connection broke; it is tried again|the server ended the session|no answer in time)`
)

// withCluster gives a siege a server of its own, over TCP.
func withCluster(o pgtest.Options) func(*siege) {
	return func(s *siege) {
		s.cluster = s.launch(o)
		s.moveBoth(s.cluster.DSN("postgres"))
	}
}

func (s *siege) launch(o pgtest.Options) *pgtest.Cluster {
	s.Helper()
	o.TCP, o.Fsync = true, true
	c, err := pgtest.Launch(s.Context(), o)
	must(s, err)
	s.Cleanup(func() { must(s, c.Stop()) })
	return c
}

// starts starts a server again. What a killed one left needs a moment to be gone.
func (s *siege) starts(c *pgtest.Cluster) {
	s.Helper()
	var err error
	for range 50 {
		if err = c.Start(s.Context()); err == nil {
			return
		}
		s.pass(200 * time.Millisecond)
	}
	s.Fatal(err)
}

// ends is the server ended by a signal, and started again when the fault is over.
func ends(by syscall.Signal) func(*siege) func() {
	return func(s *siege) func() {
		must(s, s.cluster.End(by))
		return func() { s.starts(s.cluster) }
	}
}

// again does something every so often until it is called off.
func (s *siege) again(every time.Duration, do func(ctx context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(s.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			do(ctx)
			_ = reconcile.Sleep(ctx, every) // its end is the loop's
		}
	})
	return func() {
		cancel()
		wg.Wait()
	}
}

func postgresFaults() map[string]fault {
	own := withCluster(pgtest.Options{})
	return map[string]fault{
		"stopped fast":          {stage: own, strike: ends(syscall.SIGINT), ready: away, page: unread, log: dbLog},
		"stopped at once":       {stage: own, strike: ends(syscall.SIGQUIT), ready: away, page: unread, log: dbLog},
		"killed":                {stage: own, strike: ends(syscall.SIGKILL), ready: away, page: unread, log: dbLog},
		"stopped for long":      {stage: own, strike: ends(syscall.SIGINT), lasts: 50 * time.Second, ready: away, log: dbLog},
		"restarted three times": {stage: own, strike: restarts, lasts: 9 * time.Second},
		"a backend killed":      {stage: own, strike: killsBackends, log: dbLog},
		"sessions ended":        {stage: own, strike: endsSessions, log: dbLog},
		"failed over, both hosts named": {
			stage: withStandby, strike: failsOver, ready: away, log: dbLog,
		},
		"failed over behind a proxy": {
			stage: withStandbyBehind, strike: failsOver, ready: away, log: dbLog,
		},
		"no connection left": {
			stage: withCluster(pgtest.Options{Settings: map[string]string{"max_connections": "60"}}), strike: eatsConnections,
			ready: away, page: unread, log: "raise max_connections",
		},
		"tasks locked": {stage: own, strike: locksTasks, page: "longer than the lock_timeout", log: "lock_timeout"},
		"statements too slow": {stage: func(s *siege) {
			own(s)
			s.settings.dsn += "&lock_timeout=0&statement_timeout=1500"
		}, strike: locksTasks, page: "longer than the statement_timeout", log: "statement_timeout"},
		"tasks alone away": {stage: tasksApart, strike: ends(syscall.SIGINT), page: "The task table.*not read|was not complete: read the task database", log: dbLog},
		"ledger alone away": {stage: ledgerApart, strike: ends(syscall.SIGINT), ready: away, page: unread,
			log: dbLog},
	}
}

func restarts(s *siege) func() {
	return s.again(2*time.Second, func(context.Context) {
		must(s, s.cluster.End(syscall.SIGINT))
		s.starts(s.cluster)
	})
}

// sessions are the process ids of what the replicas have open.
func (s *siege) sessions(ctx context.Context, do string) (ids []int32) {
	conn, err := pgx.Connect(ctx, s.cluster.DSN("postgres"))
	if err != nil {
		return nil // it recovers from the last time
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, "SELECT "+do+" FROM pg_stat_activity WHERE application_name = 'sandkeeper'")
	if err == nil {
		ids, _ = pgx.CollectRows(rows, pgx.RowTo[int32]) // none is as good
	}
	return ids
}

func killsBackends(s *siege) func() {
	return s.again(2*time.Second, func(ctx context.Context) {
		if ids := s.sessions(ctx, "pid"); len(ids) > 0 {
			_ = syscall.Kill(int(ids[0]), syscall.SIGKILL) // the whole server recovers
		}
	})
}

func endsSessions(s *siege) func() {
	return s.again(300*time.Millisecond, func(ctx context.Context) {
		s.sessions(ctx, "CASE WHEN pg_terminate_backend(pid) THEN pid END")
	})
}

// withStandby is a server whose commits wait for a stand-by, and an address that names both.
func withStandby(s *siege) {
	both := s.standby()
	s.moveBoth(both)
}

// standby makes a pair of servers, and returns an address that names both.
func (s *siege) standby() string {
	s.Helper()
	s.cluster = s.launch(pgtest.Options{})
	second, err := s.cluster.Standby(s.Context())
	must(s, err)
	s.Cleanup(func() { must(s, second.Stop()) })
	s.second = second
	conn, err := pgx.Connect(s.Context(), s.cluster.DSN("postgres"))
	must(s, err)
	defer conn.Close(s.Context())
	for _, order := range []string{"ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"} {
		_, err := conn.Exec(s.Context(), order)
		must(s, err)
	}
	one, err := url.Parse(s.cluster.DSN("postgres"))
	must(s, err)
	two, err := url.Parse(second.DSN("postgres"))
	must(s, err)
	one.Host += "," + two.Host
	return one.String() + "&target_session_attrs=read-write"
}

// withStandbyBehind is such a pair behind one address, which leads to who is in charge.
func withStandbyBehind(s *siege) {
	s.moveBoth(s.standby())
	one, err := url.Parse(s.cluster.DSN("postgres"))
	must(s, err)
	s.wire = stretch(s.T, one.Host)
	one.Host = s.wire.address()
	s.settings.dsn = withPassword(one.String())
}

// failsOver kills the one in charge and promotes the other.
func failsOver(s *siege) func() {
	must(s, s.cluster.End(syscall.SIGKILL))
	return func() {
		must(s, s.second.Promote(s.Context()))
		if s.wire != nil {
			two, err := url.Parse(s.second.DSN("postgres"))
			must(s, err)
			s.wire.lead(two.Host)
			s.wire.cut()
		}
	}
}

// eatsConnections takes every connection there is, and keeps it.
func eatsConnections(s *siege) func() {
	var eaten []*pgx.Conn
	stop := s.again(50*time.Millisecond, func(ctx context.Context) {
		s.sessions(ctx, "CASE WHEN pg_terminate_backend(pid) THEN pid END")
		for {
			conn, err := pgx.Connect(ctx, s.cluster.DSN("postgres"))
			if err != nil {
				return
			}
			eaten = append(eaten, conn)
		}
	})
	return func() {
		stop()
		for _, conn := range eaten {
			conn.Close(s.Context())
		}
	}
}

// locksTasks holds the task table so that nobody may even read it.
func locksTasks(s *siege) func() {
	tx, err := s.db.Begin(s.Context())
	must(s, err)
	_, err = tx.Exec(s.Context(), "LOCK TABLE tasks IN ACCESS EXCLUSIVE MODE")
	must(s, err)
	return func() { must(s, tx.Rollback(s.Context())) }
}

// tasksApart has a server for the tasks alone.
func tasksApart(s *siege) {
	books := s.dsn
	s.cluster = s.launch(pgtest.Options{})
	s.moveTo(s.cluster.DSN("postgres"))
	s.keepBooksAt(books)
}

// ledgerApart has a server for the ledger alone.
func ledgerApart(s *siege) {
	s.cluster = s.launch(pgtest.Options{})
	s.keepBooksAt(s.cluster.DSN("postgres"))
}
