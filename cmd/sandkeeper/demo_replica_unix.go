//go:build unix && !linux

package main

import "syscall"

// replicaAttributes: Ctrl-C is for the demo, which ends its replica.
func replicaAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
