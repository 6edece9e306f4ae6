package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// A demoStage is what the demo plays on. All of it is private and is removed at the end.
type demoStage struct {
	below     string // where dir is made; "" for the usual place
	workers   int    // tasks at work
	quick     int    // seconds between two quick passes
	full      int    // seconds between two full passes
	probes    int    // seconds between two probes of a sandbox
	failures  int    // failed probes in a row that convict
	dir       string
	log       *os.File
	config    string
	front     *front // where the page will be
	cluster   *pgtest.Cluster
	dsn       string
	pool      *pgxpool.Pool // the platform's own connections
	providers []*demoProvider
	began     time.Time
}

// demoWorkers is how many tasks are at work in the story.
const demoWorkers = 250

// setStage starts everything, or nothing.
func setStage(ctx context.Context, f *demoFlags) (*demoStage, error) {
	s := &demoStage{
		began:    time.Now(),
		below:    f.folder,
		workers:  demoWorkers,
		quick:    2,
		full:     4,
		probes:   12,
		failures: 3,
	}
	if f.hurry {
		s.workers, s.quick, s.full, s.probes, s.failures = 120, 1, 2, 3, 2
	}
	for _, step := range []func(context.Context) error{
		s.makeFolder, s.startDatabase, s.startProviders, s.takeAddress,
	} {
		if err := step(ctx); err != nil {
			return nil, errors.Join(err, s.clear())
		}
	}
	return s, nil
}

// clear stops and removes whatever was started, in the other order.
func (s *demoStage) clear() error {
	var errs []error
	if s.front != nil {
		s.front.close()
	}
	errs = append(errs, s.stopProviders())
	if s.pool != nil {
		s.pool.Close()
	}
	if s.cluster != nil {
		errs = append(errs, s.cluster.Stop())
	}
	if s.log != nil {
		errs = append(errs, s.log.Close())
	}
	if s.dir != "" {
		errs = append(errs, os.RemoveAll(s.dir))
	}
	return errors.Join(errs...)
}

func (s *demoStage) makeFolder(context.Context) (err error) {
	if s.below == "" {
		s.below = shortTemp()
	}
	if s.dir, err = os.MkdirTemp(s.below, "sandkeeper-demo-"); err != nil {
		return fmt.Errorf("make a folder for the demo: %w", err)
	}
	// The server's user, where it is another one, has to pass through and sees no list.
	if err := os.Chmod(s.dir, 0o711); err != nil { //nolint:gosec // passing through is all it gives
		return fmt.Errorf("open the demo's folder to the server's user: %w", err)
	}
	if s.log, err = os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_WRONLY, 0o600); err != nil {
		return fmt.Errorf("make the demo's log: %w", err)
	}
	return nil
}

// shortTemp is /tmp where there is one: the server's socket lies in the folder, its path
// may have only about 100 bytes, and TMPDIR is often longer.
func shortTemp() string {
	if at, err := os.Stat("/tmp"); err == nil && at.IsDir() {
		return "/tmp"
	}
	return os.TempDir()
}

func (s *demoStage) startDatabase(ctx context.Context) (err error) {
	if s.cluster, err = pgtest.Launch(ctx, pgtest.Options{Dir: s.dir}); err != nil {
		return fmt.Errorf("start a private PostgreSQL: %w", err)
	}
	if err := s.cluster.CreateDatabase(ctx, "omoios"); err != nil {
		return err
	}
	s.dsn = s.cluster.DSN("omoios")
	if s.pool, err = pgxpool.New(ctx, s.dsn); err != nil {
		return fmt.Errorf("connect the demo's platform: %w", err)
	}
	if _, err := s.pool.Exec(ctx, pgtest.OmoiOS+pgtest.OmoiOSTicket); err != nil {
		return fmt.Errorf("make the demo's tables: %w", err)
	}
	return s.do(ctx, "tasks_provider", nil)
}

// demoAddress is where the page is, unless somebody else is there.
const demoAddress = "127.0.0.1:8080"

// takeAddress takes the address of the page and writes the config with it.
func (s *demoStage) takeAddress(ctx context.Context) (err error) {
	if s.front, err = listen(ctx, config.WebConfig{Listen: demoAddress}); err != nil {
		s.front, err = listen(ctx, config.WebConfig{Listen: "127.0.0.1:0"})
	}
	if err != nil {
		return err
	}
	s.config, err = s.writeConfig("sandkeeper.yaml", s.front.listener.Addr().String())
	return err
}

// page is the address of one of the daemon's pages.
func (s *demoStage) page(path string) string { return s.front.url() + path }
