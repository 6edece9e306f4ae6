package main

import (
	"context"
	"net/url"
	"time"

	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// databaseByWire has a wire between the replicas and their database. The platform and the
// auditor do not use it.
func databaseByWire(s *siege) {
	withCluster(pgtest.Options{})(s)
	s.settings.dsn = s.wired(s.settings.dsn)
}

// wired stretches a wire to a database, and is the address at its other end.
func (s *siege) wired(dsn string) string {
	s.Helper()
	u, err := url.Parse(dsn)
	must(s, err)
	s.wire = stretch(s.T, u.Host)
	u.Host = s.wire.address()
	return u.String()
}

// firstByWire has a wire between the first replica alone and the database.
func firstByWire(s *siege) {
	withCluster(pgtest.Options{})(s)
	s.first = s.wired(s.settings.dsn)
}

// providerByWire has a wire between the replicas and the provider.
func providerByWire(s *siege) {
	s.wire = stretch(s.T, "")
	impatient(s)
}

// wireIs is a wire of a certain mood.
func wireIs(m mood) func(*siege) func() {
	return func(s *siege) func() {
		s.wire.become(m)
		return func() { s.wire.become(mood{}) }
	}
}

// cutEvery cuts all connections again and again.
func cutEvery(d time.Duration) func(*siege) func() {
	return func(s *siege) func() {
		return s.again(d, func(context.Context) { s.wire.cut() })
	}
}

func networkFaults() map[string]fault {
	return map[string]fault{
		"database: connections cut":     {stage: databaseByWire, strike: cutEvery(300 * time.Millisecond), log: dbLog},
		"database: connections refused": {stage: databaseByWire, strike: refused, ready: away, page: unread, log: dbLog},
		"database: far away":            {stage: databaseByWire, strike: wireIs(mood{delay: 40 * time.Millisecond})},
		"database: throttled": {
			stage: databaseByWire, strike: wireIs(mood{rate: 8 << 10}),
		},
		"database: half open": {
			stage: databaseByWire, strike: wireIs(mood{swallow: true}), lasts: 20 * time.Second, ready: away,
			page: unread, log: dbLog,
		},
		"database: silent, and then late": {
			stage: databaseByWire, strike: wireIs(mood{stall: true}), lasts: 20 * time.Second, ready: away,
			page: unread, log: dbLog,
		},
		"database: half open for one replica": {
			stage: firstByWire, strike: wireIs(mood{swallow: true}), lasts: 20 * time.Second, ready: away,
			page: unread, log: dbLog,
		},
		"database: late for one replica": {
			stage: firstByWire, strike: wireIs(mood{stall: true}), lasts: 20 * time.Second, ready: away,
			page: unread, log: dbLog,
		},
		"provider: connections cut":     {stage: providerByWire, strike: cutEvery(30 * time.Millisecond)},
		"provider: connections refused": {stage: providerByWire, strike: refused, page: noPage, log: noList},
		"provider: throttled": {stage: providerByWire, strike: wireIs(mood{rate: 2 << 10}),
			page: noPass, log: noList},
		"provider: half open": {stage: providerByWire, strike: wireIs(mood{swallow: true}),
			page: noPass, log: noList},
	}
}

// refused lets no connection live and none begin.
func refused(s *siege) func() {
	s.wire.become(mood{refuse: true})
	s.wire.cut()
	return func() { s.wire.become(mood{}) }
}
