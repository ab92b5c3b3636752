package browsertest

import "syscall"

// attributes have the kernel end the browser when the test binary dies,
// however it dies, and give the browser a process group of its own.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
