package harness

import "syscall"

// attributes run a program as another user (nil: as the current one) and have
// the kernel end it when the driver dies, however it dies.
func attributes(as *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: as, Pdeathsig: syscall.SIGKILL}
}
