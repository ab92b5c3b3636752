//go:build unix

package harness

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"
)

// fillers are more than enough connections to fill the queue of a listener whose
// backlog is zero, fillLimit how long each of them is tried.
const (
	fillers   = 4
	fillLimit = 50 * time.Millisecond
)

// SlowListener is a TCP listener that can leave new connections in the
// handshake for a while: the kernel drops their first packets while the queue is
// full, and the caller's repeats them after a second or more.
type SlowListener struct {
	net.Listener
	mu   sync.Mutex
	held chan struct{} // closed when connections are taken again; nil: they are
}

// NewSlowListener listens on a free port of this machine.
func NewSlowListener(ctx context.Context) (*SlowListener, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("opening an address: %w", err)
	}
	raw, err := listener.(*net.TCPListener).SyscallConn()
	if err == nil {
		// Listening again changes the length of the queue.
		failed := raw.Control(func(fd uintptr) { err = syscall.Listen(int(fd), 0) })
		err = errors.Join(err, failed)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("shortening the queue of connections: %w", err), listener.Close())
	}
	return &SlowListener{Listener: listener}, nil
}

// Accept waits while connections are held.
func (l *SlowListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	l.mu.Lock()
	held := l.held
	l.mu.Unlock()
	if held != nil {
		<-held
	}
	return conn, err
}

// Hold takes no new connections until release is called. It returns when the
// queue is full.
func (l *SlowListener) Hold(ctx context.Context) (release func()) {
	held := make(chan struct{})
	l.mu.Lock()
	l.held = held
	l.mu.Unlock()
	var filling []net.Conn
	for range fillers {
		dialer := net.Dialer{Timeout: fillLimit}
		// Where it fails the queue is full, or the machine is busy.
		if conn, err := dialer.DialContext(ctx, "tcp", l.Addr().String()); err == nil {
			filling = append(filling, conn)
		}
	}
	return sync.OnceFunc(func() {
		l.mu.Lock()
		l.held = nil
		l.mu.Unlock()
		close(held)
		for _, conn := range filling {
			_ = conn.Close() // Nothing was sent on it.
		}
	})
}
