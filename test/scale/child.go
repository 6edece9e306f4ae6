package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// A spent is what a process cost, as the kernel counted it (wait4).
type spent struct {
	cpu  time.Duration // user and system
	wall time.Duration
	peak float64 // MB of memory at most
}

// child runs a program to its end and reads what it printed as JSON. Of exit codes, fine are those that are no failure.
//
// The kernel counts the peak of whoever started a process as its own: this program stays small for that, and the
// provider is a process of its own.
func child(ctx context.Context, into any, program string, args ...string) (spent, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	cmd.Env = append(os.Environ(), "TZ=UTC")
	began := time.Now()
	err := cmd.Run()
	wall := time.Since(began)
	if err != nil {
		return spent{}, fmt.Errorf("%s %v: %w: %s", program, args, err, tail(said.Bytes()))
	}
	if err := json.Unmarshal(out.Bytes(), into); err != nil {
		return spent{}, fmt.Errorf("read what %s %v printed: %w", program, args, err)
	}
	s := cmd.ProcessState
	used, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return spent{}, fmt.Errorf("this system does not count what a process uses")
	}
	return spent{cpu: s.UserTime() + s.SystemTime(), wall: wall, peak: float64(used.Maxrss) / 1024}, nil
}

func tail(b []byte) []byte { return b[max(0, len(b)-2000):] }

// least is the cheapest of several runs: what other work on the machine adds is no cost of the program.
func least(runs []spent) spent {
	out := runs[0]
	for _, r := range runs[1:] {
		out = spent{min(out.cpu, r.cpu), min(out.wall, r.wall), min(out.peak, r.peak)}
	}
	return out
}

// A counted is what a process says that it read.
type counted struct{ Rows, Sandboxes int }

// self starts this program as another process.
func self(ctx context.Context, args ...string) (*exec.Cmd, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	return exec.CommandContext(ctx, path, args...), nil
}
