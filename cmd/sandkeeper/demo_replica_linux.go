package main

import "syscall"

// replicaAttributes: Ctrl-C is for the demo, which ends its replica; and a demo that is
// killed leaves none behind.
func replicaAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
