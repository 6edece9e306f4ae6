package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

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
	keep      bool       // leave dir as it is at the end
	watchers  []*watcher // of the daemon's metrics
	made      []string   // folders above dir that were made for it, innermost first
	program   *program
	url       string // of the page, with a slash at its end; "" before the daemon runs
	cluster   *pgtest.Cluster
	dsn       string
	pool      *pgxpool.Pool // the platform's own connections
	providers []*demoProvider
	began     time.Time
}

// demoWorkers is how many tasks are at work in the story.
const demoWorkers = 250

// setStage starts everything, or nothing.
func setStage(ctx context.Context, f *settings) (*demoStage, error) {
	s := &demoStage{
		began:    time.Now(),
		below:    f.folder,
		keep:     f.keep,
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
		func(context.Context) error { return findWatchers(f.watched) }, s.makeFolder, s.startDatabase, s.startProviders,
		func(ctx context.Context) error { return s.prepareProgram(ctx, f.program) },
	} {
		if err := step(ctx); err != nil {
			return nil, errors.Join(err, s.clear())
		}
	}
	return s, nil
}

// clear stops and removes whatever was started, in the other order. What is to be kept stays.
func (s *demoStage) clear() error {
	var errs []error
	for _, w := range s.watchers {
		w.wait()
	}
	errs = append(errs, s.stopProviders())
	if s.pool != nil {
		s.pool.Close()
	}
	if s.keep && s.dir != "" {
		return errors.Join(append(errs, s.stopDatabase())...)
	}
	if s.cluster != nil {
		errs = append(errs, s.cluster.Stop())
	}
	if s.dir != "" {
		errs = append(errs, os.RemoveAll(s.dir))
	}
	for _, dir := range s.made {
		_ = os.Remove(dir) // unless somebody else uses it by now
	}
	return errors.Join(errs...)
}

func (s *demoStage) makeFolder(context.Context) (err error) {
	if s.below == "" {
		s.below = shortTemp()
	}
	if err := s.makeAbove(); err != nil {
		return err
	}
	if s.dir, err = os.MkdirTemp(s.below, "sandkeeper-demo-"); err != nil {
		return fmt.Errorf("make a folder for the demo: %w", err)
	}
	// The server's user, where it is another one, has to pass through and sees no list.
	if err := os.Chmod(s.dir, 0o711); err != nil { //nolint:gosec // passing through is all it gives
		return fmt.Errorf("open the demo's folder to the server's user: %w", err)
	}
	return nil
}

// makeAbove makes the folder that the demo was told to use, where it is not there yet.
func (s *demoStage) makeAbove() error {
	for at := filepath.Clean(s.below); ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, os.ErrNotExist) {
			break
		}
		s.made = append(s.made, at)
	}
	// As below: the server's user has to pass through.
	if err := os.MkdirAll(s.below, 0o711); err != nil { //nolint:gosec // passing through is all it gives
		return fmt.Errorf("make the folder %s for the demo: %w", s.below, err)
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
const (
	demoAddress = "127.0.0.1:8080"
	anyAddress  = "127.0.0.1:0"
)

// prepareProgram finds the program, and writes its config with an address for the page.
func (s *demoStage) prepareProgram(ctx context.Context, path string) (err error) {
	address := demoAddress
	if vacant(ctx, address) == "" {
		address = anyAddress
	}
	if path == "" {
		if path, err = findProgram(ctx, s.dir); err != nil {
			return err
		}
	}
	s.program = &program{path: path}
	s.program.config, err = s.writeConfig("sandkeeper.yaml", address)
	return err
}

// startDaemon starts the daemon of the story, which ends with the context. Where somebody took its
// address since it was found free, such as another demo, it starts at another one.
func (s *demoStage) startDaemon(ctx context.Context) (d *daemon, err error) {
	d, s.url, err = s.program.run(ctx, s.log())
	if err == nil || ctx.Err() != nil || vacant(ctx, demoAddress) != "" {
		return d, err
	}
	if s.program.config, err = s.writeConfig("sandkeeper.yaml", anyAddress); err != nil {
		return nil, err
	}
	d, s.url, err = s.program.run(ctx, s.log())
	return d, err
}

// log is the file with what the daemon says.
func (s *demoStage) log() string { return filepath.Join(s.dir, "log") }

// page is the address of one of the daemon's pages.
func (s *demoStage) page(path string) string { return s.url + path }
