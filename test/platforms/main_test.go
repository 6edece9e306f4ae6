// Package platforms lets the program keep real platforms, as far as their public code and
// tables tell what they are: workers that say nothing for minutes and are well, sandboxes that
// no task explains and that somebody needs, rows that stand still by design. Each world has
// healthy things and some that are broken, in the platform's own tables and behind the
// provider's own protocol. The program is a process that knows nothing of the tests; what it
// did is read from the database and the provider.
//
// go test ./test/platforms -run 'TestOmoiOS/a_worker_in_one_command' plays one world.
package platforms

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/store/pgtest"
	"github.com/sandkeeper/sandkeeper/test/raced"
)

// program is the file that TestMain builds.
var program string

func TestMain(m *testing.M) {
	flag.Parse()
	folder, err := os.MkdirTemp("", "platforms")
	if err == nil {
		program = filepath.Join(folder, "sandkeeper")
		err = build()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := raced.Spare(spared); err != nil {
		panic(err)
	}
	if err := flag.Set("test.parallel", "8"); err != nil { // a world waits for its database and provider most of the time
		panic(err)
	}
	pgtest.Main(tidy{m, folder})
}

func build() error {
	var said bytes.Buffer
	cmd := exec.Command("go", "build", "-o", program, "../../cmd/sandkeeper")
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build the program: %w\n%s", err, said.String())
	}
	return nil
}

// tidy removes the program at the end.
type tidy struct {
	m      *testing.M
	folder string
}

func (t tidy) Run() int {
	defer os.RemoveAll(t.folder)
	return t.m.Run()
}

// A platform is what the worlds of one test share: an empty database with its tables and a
// ledger, and its config.
type platform struct {
	name   string // of its tables
	tables string // the SQL that makes them, where no facts of them are public
	config string // as its operator writes it
	vendor vendor
	gaps   []time.Duration // between passes
	epochs []string        // table.column of times that are seconds since 1970
	fixed  []string        // columns of times that are part of an id: they stay as they are
	admin  string          // DSN from which databases are made
	model  string          // the database that worlds begin with
}

// ready makes the database that the platform's worlds begin with.
func ready(t *testing.T, p platform) *platform {
	t.Helper()
	if p.gaps == nil {
		p.gaps = []time.Duration{61 * time.Second, 61 * time.Second, 61 * time.Second}
	}
	p.admin = pgtest.Database(t)
	p.model = pgtest.Database(t)
	pool := connect(t, p.model)
	if p.tables == "" {
		p.tables = tablesOf(t, p.name)
	}
	if _, err := pool.Exec(t.Context(), p.tables); err != nil {
		t.Fatalf("make the tables of %s: %v", p.name, err)
	}
	w := &world{T: t, platform: &p, dsn: p.model}
	w.serve()
	w.configure(p.config)
	if code, out, errs := w.run("migrate"); code != 0 {
		t.Fatalf("migrate: exit code %d\n%s%s", code, out, errs)
	}
	pool.Close()
	return &p
}

// stories are worlds by a sentence of what they are about.
type stories map[string]func(*world)

// together is all of it in one world.
func (s stories) together() stories {
	return stories{"all that is healthy at once": func(w *world) {
		for _, name := range slices.Sorted(maps.Keys(s)) {
			s[name](w)
		}
		w.plans()
	}}
}

// only are some of them.
func (s stories) only(names ...string) stories {
	out := stories{}
	for _, name := range names {
		out[name] = s[name]
	}
	return out
}

// play lets each world begin and pass. edits are further changes of the config for all of them.
func (p *platform) play(t *testing.T, all stories, edits ...string) {
	for name, tell := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := p.world(t)
			w.edits = append(w.edits, edits...)
			tell(w)
			w.pass()
		})
	}
}
