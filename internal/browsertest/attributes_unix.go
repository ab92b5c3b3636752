//go:build unix && !linux

package browsertest

import "syscall"

// attributes give the browser a process group of its own.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
