//go:build unix && !linux

package main

import "syscall"

// apart: Ctrl-C is for the demo, which ends what it started.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
