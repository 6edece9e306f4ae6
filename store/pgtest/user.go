package pgtest

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// credential is the user that the server runs as: PostgreSQL refuses to run as root, so a
// root program hands it to postgres or nobody. nil means the program's own user.
func credential() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
		if uidErr == nil && gidErr == nil {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
	return nil, fmt.Errorf("PostgreSQL does not run as root, and neither user postgres nor nobody exists")
}

// makeDir makes the cluster's directory below base, owned by the server's user.
func makeDir(base string, c *syscall.Credential) (string, error) {
	dir, err := os.MkdirTemp(base, "sandkeeper-pg-")
	if err != nil {
		return "", fmt.Errorf("make a directory for PostgreSQL: %w", err)
	}
	if c == nil {
		return dir, nil
	}
	if err := os.Chown(dir, int(c.Uid), int(c.Gid)); err != nil {
		return "", fmt.Errorf("hand %s to the server's user: %w", dir, err)
	}
	return dir, reachable(dir)
}

// reachable reports the first parent that another user cannot pass through.
func reachable(dir string) error {
	for at := filepath.Dir(dir); at != filepath.Dir(at); at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err != nil {
			return fmt.Errorf("look at %s: %w", at, err)
		}
		if info.Mode()&0o001 == 0 {
			return fmt.Errorf("the server's user cannot pass through %s: chmod o+x %s, or choose another directory", at, at)
		}
	}
	return nil
}
