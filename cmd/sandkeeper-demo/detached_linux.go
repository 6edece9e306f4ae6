package main

import "syscall"

// detached: Ctrl-C is for the demo, which ends what it started; and a demo that is
// killed leaves none behind.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
