package main

import (
	"fmt"
	"os"
	program "os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// TestNoCoreDumps: a crash writes no file with the memory, and hands it to no program, from the very
// start on.
func TestNoCoreDumps(t *testing.T) {
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_CORE, &before); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &before) // as far as it may be raised again
		_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, 1, 0)
	})
	fifo := filepath.Join(t.TempDir(), "sandkeeper.yaml") // nobody writes to it, so that the program waits
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := program.CommandContext(t.Context(), "sh", "-c", "ulimit -c 9; exec \"$0\" check -c \"$1\"", os.Args[0], fifo)
	cmd.Env = append(os.Environ(), runAsEnv+"=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	none := regexp.MustCompile(`(?m)^Max core file size +0 +0 `)
	var limits []byte
	for tries := 0; !none.Match(limits); tries++ {
		limits, _ = os.ReadFile(fmt.Sprintf("/proc/%d/limits", cmd.Process.Pid))
		if tries > 12_000 || reconcile.Sleep(t.Context(), 5*time.Millisecond) != nil {
			t.Fatalf("the program may leave core dumps: %s", limits)
		}
	}

	if err := leaveNoCore(); err != nil {
		t.Fatal(err)
	}
	if dumpable, _, _ := syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_GET_DUMPABLE, 0, 0); dumpable != 0 {
		t.Error("the memory may still be dumped")
	}
}
