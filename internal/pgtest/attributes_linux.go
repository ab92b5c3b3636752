package pgtest

import "syscall"

// processAttributes has a program run as another user (nil: as the current one) and
// the kernel end it when the test binary dies, however it dies.
func processAttributes(as *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: as, Pdeathsig: syscall.SIGQUIT}
}
