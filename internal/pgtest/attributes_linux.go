package pgtest

import "syscall"

// processAttributes run a program as another user (nil: as the current one) and have
// the kernel end it when the test binary dies, however it dies.
func processAttributes(as *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: as, Pdeathsig: syscall.SIGQUIT}
}
