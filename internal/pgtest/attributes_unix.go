//go:build unix && !linux

package pgtest

import "syscall"

// processAttributes has a program run as another user (nil: as the current one),
// away from the terminal, so that an interrupt reaches the test binary alone, which then
// stops the server in order.
func processAttributes(as *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: as, Setpgid: true}
}
