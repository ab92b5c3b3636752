//go:build unix && !linux

package harness

import "syscall"

// attributes run a program as another user (nil: as the current one), away from
// the terminal, so that an interrupt reaches the driver alone.
func attributes(as *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: as, Setpgid: true}
}
