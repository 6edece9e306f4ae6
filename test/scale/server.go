package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// A load is what the database server did: the CPU time of all its processes, those that ended included, and how many
// statements it was sent to a world's database, BEGIN and COMMIT included.
type load struct {
	at         time.Time
	cpu        time.Duration
	statements int
}

// countStatements lets the server count the statements of a world.
const countStatements = "CREATE EXTENSION IF NOT EXISTS pg_stat_statements"

// ofProgram are the statements of a world that were not sent to measure it.
const ofProgram = ` FROM pg_stat_statements
	WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND query NOT LIKE '%/* bench */%'`

// loaded reads what the server did so far.
func loaded(ctx context.Context, w *world) (l load, err error) {
	db, err := pgx.Connect(ctx, w.dsn)
	if err != nil {
		return l, err
	}
	defer db.Close(ctx)
	var backend int
	err = db.QueryRow(ctx, "SELECT /* bench */ coalesce(sum(calls), 0)::bigint, pg_backend_pid()"+ofProgram).
		Scan(&l.statements, &backend)
	if err != nil {
		return l, fmt.Errorf("count statements: %w", err)
	}
	own, err := processStat(strconv.Itoa(backend))
	if err != nil {
		return l, err
	}
	l.at = time.Now()
	l.cpu, err = treeCPU(own.parent)
	return l, err
}

// since is what the server did from one reading to the next.
func (l load) since(before load) (span, cpu time.Duration, statements int) {
	return l.at.Sub(before.at), l.cpu - before.cpu, l.statements - before.statements
}

// tick is the unit of /proc/PID/stat, which is the same on every Linux.
const tick = 10 * time.Millisecond

// A stat is what the kernel says of a process.
type stat struct {
	parent     string
	cpu, ended time.Duration // its own, and of children that ended
}

func processStat(pid string) (s stat, err error) {
	text, err := os.ReadFile(filepath.Join("/proc", pid, "stat")) //nolint:gosec // a process's own file
	if err != nil {
		return s, err
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	times := [4]time.Duration{} // user, system, and both of the children that ended
	for i := range times {
		n, err := strconv.Atoi(fields[11+i])
		if err != nil {
			return s, fmt.Errorf("read /proc/%s/stat: %w", pid, err)
		}
		times[i] = time.Duration(n) * tick
	}
	return stat{parent: fields[1], cpu: times[0] + times[1], ended: times[2] + times[3]}, nil
}

// treeCPU is the CPU time of a process and its children.
func treeCPU(root string) (sum time.Duration, err error) {
	s, err := processStat(root)
	if err != nil {
		return 0, err
	}
	sum = s.cpu + s.ended
	all, err := os.ReadDir("/proc")
	if err != nil {
		return 0, err
	}
	for _, one := range all {
		if s, err := processStat(one.Name()); err == nil && s.parent == root { // what is no process has no such file
			sum += s.cpu
		}
	}
	return sum, nil
}

// busiest tells which statements the server was sent most often since it was started, of those that were counted.
func busiest(ctx context.Context, w *world) error {
	db, err := pgx.Connect(ctx, w.dsn)
	if err != nil {
		return err
	}
	defer db.Close(ctx)
	rows, err := db.Query(ctx, `
		SELECT /* bench */ calls, total_exec_time, left(regexp_replace(query, '\s+', ' ', 'g'), 90)`+ofProgram+`
		ORDER BY calls DESC, total_exec_time DESC LIMIT 100`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var calls int
		var took float64
		var text string
		if err := rows.Scan(&calls, &took, &text); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "%6d × %7.0f ms  %s\n", calls, took, text)
	}
	return rows.Err()
}
