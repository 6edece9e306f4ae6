package main

import (
	"errors"
	"syscall"
)

// leaveNoCore keeps a crash from writing the memory, with all credentials, to a file. A program that
// collects cores (kernel.core_pattern with a pipe) asks for no limit; it gets none of a process that is
// not dumpable, whose memory nobody of the same user can read either.
func leaveNoCore() error {
	err := syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
	_, _, failed := syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, 0, 0)
	if failed != 0 {
		err = errors.Join(err, failed)
	}
	return err
}
