package pgtest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ErrNoPostgres is returned when the machine has no PostgreSQL server programs.
var ErrNoPostgres = errors.New(
	"no PostgreSQL server programs (initdb, postgres) found on PATH or in the usual places: " +
		"install them (Debian and Ubuntu: apt-get install postgresql; macOS: brew install postgresql; " +
		"Fedora: dnf install postgresql-server)",
)

// Binaries are the server programs of one PostgreSQL installation.
type Binaries struct {
	Initdb, Postgres string // absolute paths
}

// usual is where distributions put the server programs, outside of PATH.
var usual = []string{
	"/usr/lib/postgresql/*/bin",
	"/usr/pgsql-*/bin",
	"/usr/lib64/pgsql/bin",
	"/usr/local/pgsql/bin",
	"/opt/homebrew/opt/postgresql*/bin",
	"/usr/local/opt/postgresql*/bin",
	"/Applications/Postgres.app/Contents/Versions/*/bin",
}

// Find looks for the server programs on PATH and then in the usual places, newest
// version first.
func Find() (Binaries, error) {
	if b, ok := onPath(); ok {
		return b, nil
	}
	for _, pattern := range usual {
		dirs, _ := filepath.Glob(pattern) // fails only for a malformed pattern
		slices.SortFunc(dirs, func(a, b string) int { return versionIn(b) - versionIn(a) })
		for _, dir := range dirs {
			if b, ok := inside(dir); ok {
				return b, nil
			}
		}
	}
	return Binaries{}, ErrNoPostgres
}

func onPath() (Binaries, bool) {
	initdb, err := exec.LookPath("initdb")
	if err != nil {
		return Binaries{}, false
	}
	postgres, err := exec.LookPath("postgres")
	if err != nil {
		return Binaries{}, false
	}
	return Binaries{Initdb: initdb, Postgres: postgres}, true
}

func inside(dir string) (Binaries, bool) {
	b := Binaries{Initdb: filepath.Join(dir, "initdb"), Postgres: filepath.Join(dir, "postgres")}
	return b, executable(b.Initdb) && executable(b.Postgres)
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// versionIn is the first number in a path, 0 when it has none.
func versionIn(path string) int {
	digits := strings.TrimLeftFunc(path, func(r rune) bool { return r < '0' || r > '9' })
	if end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
		digits = digits[:end]
	}
	n, _ := strconv.Atoi(digits) // "" is 0
	return n
}
