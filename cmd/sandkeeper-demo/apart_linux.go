package main

import "syscall"

// apart: Ctrl-C is for the demo, which ends what it started; and a demo that is
// killed leaves none behind.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
