package pgtest

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// abandoned is how old a cluster's directory must be before it is taken for a leftover of
// a test binary that was killed: no start takes nearly as long.
const abandoned = time.Hour

// sweep removes what killed test binaries left below base. What cannot be removed is
// another user's and stays.
func sweep(base string, now time.Time) {
	dirs, _ := filepath.Glob(filepath.Join(base, "sandkeeper-pg-*")) // fails only for a malformed pattern
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		if err == nil && info.IsDir() && now.Sub(info.ModTime()) > abandoned && !served(dir) {
			_ = os.RemoveAll(dir)
		}
	}
}

// served reports whether a server may still run on the directory.
func served(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "data", "postmaster.pid"))
	if errors.Is(err, os.ErrNotExist) {
		return false
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, convErr := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || convErr != nil {
		return true // not to be known: better left
	}
	return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
