//go:build unix && !linux

package main

import "syscall"

// leaveNoCore keeps a crash from writing the memory, with all credentials, to a file.
func leaveNoCore() error { return syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}) }
