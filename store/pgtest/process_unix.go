//go:build unix && !linux

package pgtest

import "syscall"

// attributes runs the server as another user when the program is root.
func attributes(c *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: c, Setpgid: true}
}
