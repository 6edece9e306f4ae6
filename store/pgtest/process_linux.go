package pgtest

import "syscall"

// attributes runs the server as another user when the program is root, and ends it when
// the program dies without having stopped it.
func attributes(c *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: c, Pdeathsig: syscall.SIGQUIT, Setpgid: true}
}
