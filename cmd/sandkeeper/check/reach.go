package check

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/store"
)

// checkFiles says which files of the config others on this machine may read or write, or put others in the place of.
func checkFiles(c *config.Config) []reconcile.CheckResult {
	open := openFolders(c.Files)
	for i, name := range c.Files {
		stat, err := os.Stat(name)
		if err != nil {
			continue // it was read a moment ago; a file that is replaced is judged the next time
		}
		mode := stat.Mode().Perm()
		switch secret := i > 0; { // the first is the config itself, whose secrets are in others
		case mode&0o022 != 0:
			open = append(open, fmt.Sprintf("%s (%04o) may be written by others", name, mode))
		case mode&0o004 != 0 && secret:
			open = append(open, fmt.Sprintf("%s (%04o) may be read by everybody", name, mode))
		}
	}
	if len(open) == 0 {
		return []reconcile.CheckResult{{What: "permissions", OK: true, Said: "nobody else may write them, or read secrets"}}
	}
	return []reconcile.CheckResult{{What: "permissions", OK: true, Said: strings.Join(open, "; "),
		Fix: "chmod go-w, and o-r for secrets: who writes the config decides what is ended"}}
}

// openFolders says which folders above the files others may write, who can put a file of theirs in the place of one.
// Where the sticky bit is set, as of /tmp, they cannot.
func openFolders(files []string) (open []string) {
	seen := map[string]bool{}
	for _, name := range files {
		for name = absolute(name); name != filepath.Dir(name); {
			name = filepath.Dir(name)
			stat, err := os.Stat(name)
			if seen[name] || err != nil {
				continue
			}
			seen[name] = true
			if mode := stat.Mode(); mode&0o022 != 0 && mode&os.ModeSticky == 0 {
				open = append(open, fmt.Sprintf("folder %s (%04o) may be written by others", name, mode.Perm()))
			}
		}
	}
	return open
}

// absolute is the name from the root on, or as it is where nobody knows where we are.
func absolute(name string) string {
	if whole, err := filepath.Abs(name); err == nil {
		return whole
	}
	return name
}

// checkConnection says whether somebody on the way to a database could read and change what is said.
func checkConnection(pool *pgxpool.Pool, key string) []reconcile.CheckResult {
	out := reconcile.CheckResult{What: "connection", OK: true, Said: "nobody on the way can read or change it"}
	if how := store.Exposed(pool.Config().ConnConfig, text.Loopback); how != "" {
		out.Said, out.Fix = how, "add sslmode=verify-full to "+key+" (and sslrootcert, if its certificate is your own)"
	}
	if !store.Pooled(pool) {
		return []reconcile.CheckResult{out}
	}
	return []reconcile.CheckResult{out, {What: "pooler", OK: true, Said: "a pooler is in between, such as PgBouncer: " +
		"prepared statements and LISTEN are not used, and time-outs are kept here and not by the server"}}
}
