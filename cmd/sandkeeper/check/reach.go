package check

import (
	"fmt"
	"os"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/store"
)

// checkFiles says which files of the config others on this machine may read or write.
func checkFiles(c *config.Config) []reconcile.CheckResult {
	var open []string
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
