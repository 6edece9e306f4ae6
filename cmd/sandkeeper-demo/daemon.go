package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A daemon is `sandkeeper run`, or a program that watches it, in a process of its own.
type daemon struct {
	name  string // as it is called
	cmd   *exec.Cmd
	log   string // its file
	ended chan struct{}
}

// finishing is how long a daemon may take to finish what it has begun.
const finishing = 25 * time.Second

// run starts a daemon, which ends with the context, and returns the address of its page.
func (p *program) run(ctx context.Context, log string) (*daemon, string, error) {
	d, err := launch(ctx, "sandkeeper run", log, p.path, "--config", p.config, "run", "--migrate")
	if err != nil {
		return nil, "", err
	}
	page, err := d.page(ctx)
	if err != nil {
		d.kill()
		return nil, "", err
	}
	return d, page, nil
}

// launch starts a program that ends with the context, and writes what it says to a log.
func launch(ctx context.Context, name, log, path string, args ...string) (*daemon, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("make the log of %s: %w", name, err)
	}
	defer file.Close()
	d := &daemon{name: name, log: log, ended: make(chan struct{})}
	d.cmd = exec.CommandContext(ctx, path, args...) //nolint:gosec // the demo's
	d.cmd.Stderr, d.cmd.SysProcAttr, d.cmd.WaitDelay = file, detached(), finishing
	d.cmd.Cancel = func() error { return d.cmd.Process.Signal(syscall.SIGTERM) }
	if err := d.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		defer close(d.ended)
		_ = d.cmd.Wait() // who needs it alive asks by watch
	}()
	return d, nil
}

// kill is SIGKILL: nothing is put in order.
func (d *daemon) kill() {
	_ = d.cmd.Process.Kill() // it may have ended by itself
	d.wait()
}

func (d *daemon) wait() { <-d.ended }

// watch is an error when the daemon ends before the context does.
func (d *daemon) watch(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-d.ended:
		return d.fault(ctx)
	}
}

// fault says why a daemon is over that should run.
func (d *daemon) fault(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	text, _ := os.ReadFile(d.log) // without it the state says enough
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return fmt.Errorf("`%s` ended (%s): %s", d.name, d.cmd.ProcessState, lines[len(lines)-1])
}

// holds reports whether this is the name under which the daemon works.
func (d *daemon) holds(holder string) bool {
	return strings.Contains(holder, fmt.Sprintf(" pid %d ", d.cmd.Process.Pid))
}

// page waits until the daemon runs, and returns the address of its page.
func (d *daemon) page(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 20*time.Second, fmt.Errorf("`sandkeeper run` does not start"))
	defer cancel()
	for {
		if page := d.running(); page != "" {
			return page, nil
		}
		select {
		case <-d.ended:
			return "", d.fault(ctx)
		default:
		}
		if err := reconcile.Sleep(ctx, 100*time.Millisecond); err != nil {
			return "", err
		}
	}
}

// running reads the address of the page from the daemon's log, "" before it runs.
func (d *daemon) running() string {
	log, err := os.Open(d.log)
	if err != nil {
		return ""
	}
	defer log.Close()
	for lines := bufio.NewScanner(log); lines.Scan(); {
		var line struct{ Msg, Page string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "running" {
			return line.Page
		}
	}
	return ""
}
