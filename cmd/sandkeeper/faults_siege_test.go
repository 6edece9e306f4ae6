package main

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// A siege is a platform that lives, three replicas that keep it, and what strikes them.
type siege struct {
	*auditor
	seed     uint64
	lies     bool
	settings settings
	wire     *wire // between the replicas and their database, or the provider, where a test has one
	cluster  *pgtest.Cluster
	second   *pgtest.Cluster // its stand-by
	first    string          // address of the database for the first replica alone; "": as the others
	disk     string          // of the database, where a test fills it
	hall     *hall           // what the provider's side does to calls
	gate     *gatehouse
	trusted  *authority // who signs for the gatehouse
	direct   string     // the provider's address behind the gatehouse
	replicas []*daemonChild
	seen     sight
	failed   int // passes, and jobs for passes
	recovery struct {
		passes int
		took   time.Duration
	}
}

// besieged are the settings of a siege. That much is there says nothing about a fault.
func besieged() settings {
	s := livingSettings
	s.rules = strings.Replace(s.rules, "systemic: off", "systemic: off, capacity: off", 1)
	return s
}

// besiege makes the world. The stage may give it other databases and another way to them.
func besiege(t *testing.T, stage func(*siege)) *siege {
	t.Helper()
	a := newArena(t, settings{})
	a.key = plantedKey
	s := &siege{auditor: &auditor{arena: a}, settings: besieged(), hall: &hall{}}
	s.settings.dsn = withPassword(a.dsn)
	if stage != nil {
		stage(s)
	}
	s.seed = seedOf(t)
	s.auditor = a.audited(s.seed, s.hall.around)
	s.lied = s.lies
	s.p.patient, s.p.every = true, 700*time.Millisecond
	if s.wire != nil && s.wire.to == "" {
		s.throughWire()
	}
	if s.gate != nil {
		s.direct, s.url = strings.TrimSuffix(s.url, "/api"), "https://"+s.gate.Addr().String()+"/api"
	}
	a.configure(s.settings)
	a.must("migrate")
	t.Cleanup(s.p.start())
	for i := range 3 {
		s.replicas = append(s.replicas, s.replica(i))
	}
	s.soon("two full passes", func() bool { return a.passes("full") > 1 })
	return s
}

// replica starts one of the replicas.
func (s *siege) replica(i int) *daemonChild {
	s.Helper()
	if i > 0 || s.first == "" {
		return s.daemon("run")
	}
	usual, own := s.config, s.settings
	own.dsn = s.first
	s.config += ".first"
	s.configure(own)
	defer func() { s.config = usual }()
	return s.daemon("run")
}

// throughWire lets the replicas reach the provider through the wire.
func (s *siege) throughWire() {
	u, err := url.Parse(s.url)
	must(s, err)
	s.wire.lead(u.Host)
	u.Host = s.wire.address()
	s.url = u.String()
}

func withPassword(dsn string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		return dsn
	}
	u.User = url.UserPassword(u.User.Username(), plantedPassword)
	return u.String()
}

// moveBoth takes rows and ledger to a database of the test's own.
func (s *siege) moveBoth(dsn string) {
	s.Helper()
	s.moveTo(dsn)
	s.settings.dsn = withPassword(dsn)
}

// keepBooksAt takes the ledger alone to another database.
func (s *siege) keepBooksAt(dsn string) {
	s.Helper()
	books, err := pgxpool.New(s.Context(), dsn)
	must(s, err)
	s.Cleanup(books.Close)
	s.books, s.settings.dsn = books, withPassword(dsn)
	s.settings.tasks = fmt.Sprintf(", database: %q", withPassword(s.dsn))
}
