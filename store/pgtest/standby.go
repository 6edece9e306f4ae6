package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Standby makes a stand-by of the server from a base backup, and starts it. It follows by
// streaming and answers reads. The server must listen on TCP.
func (c *Cluster) Standby(ctx context.Context) (*Cluster, error) {
	program, err := c.besides("pg_basebackup")
	if err != nil {
		return nil, err
	}
	s, err := prepare(ctx, c.options)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, "-D", s.data(), "-R", "-X", "stream", "--no-sync", "-c", "fast",
		"-d", c.DSN("postgres"))
	cmd.SysProcAttr, cmd.Dir = attributes(s.user), s.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("run pg_basebackup: %w: %s", err, strings.TrimSpace(string(out))), s.remove())
	}
	if err := s.Start(ctx); err != nil {
		return nil, errors.Join(err, s.remove())
	}
	if err := s.streams(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

const streaming = "SELECT EXISTS (SELECT FROM pg_stat_wal_receiver WHERE status = 'streaming')"

// streams waits until the stand-by hears from the one it follows.
func (c *Cluster) streams(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.DSN("postgres"))
	if err != nil {
		return fmt.Errorf("look whether the stand-by follows: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for follows := false; !follows; {
		err := conn.QueryRow(ctx, streaming).Scan(&follows)
		if err != nil {
			return fmt.Errorf("wait until the stand-by follows: %w: %s", err, c.lastWords())
		}
		if _, err := conn.Exec(ctx, "SELECT pg_sleep(0.02)"); err != nil {
			return fmt.Errorf("wait until the stand-by follows: %w", err)
		}
	}
	return nil
}

// besides finds a program of the same installation as the server's.
func (c *Cluster) besides(name string) (string, error) {
	initdb, err := filepath.EvalSymlinks(c.options.Binaries.Initdb)
	if err == nil {
		if path := filepath.Join(filepath.Dir(initdb), name); executable(path) {
			return path, nil
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("no %s beside %s nor on PATH: install PostgreSQL's client programs "+
			"(Debian and Ubuntu: apt-get install postgresql-client): %w", name, c.options.Binaries.Initdb, err)
	}
	return path, nil
}

// Promote ends a stand-by's following: it takes writes from now on.
func (c *Cluster) Promote(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, c.DSN("postgres"))
	if err != nil {
		return fmt.Errorf("promote the stand-by: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var done bool
	if err := conn.QueryRow(ctx, "SELECT pg_promote(true, 300)").Scan(&done); err != nil {
		return fmt.Errorf("promote the stand-by: %w", err)
	}
	if !done {
		return errors.New("promote the stand-by: it did not end its recovery within 300 s")
	}
	return nil
}
