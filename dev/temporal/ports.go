package temporal

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
)

// portSet is one port for each listener of the engine.
type portSet struct {
	frontend, history, matching, worker, ui int
}

// choosePorts checks the wanted ports and finds free ones for the rest.
func choosePorts(frontend, ui int) (set portSet, err error) {
	wanted := []struct {
		port int
		into *int
	}{
		{frontend, &set.frontend}, {0, &set.history}, {0, &set.matching}, {0, &set.worker}, {ui, &set.ui},
	}
	for _, w := range wanted {
		switch {
		case w.port == NoUI:
		case w.port != 0:
			if err := canListen(w.port); err != nil {
				return portSet{}, fmt.Errorf("port %d is taken (port 0 picks a free one): %w", w.port, err)
			}
			*w.into = w.port
		default:
			if *w.into, err = FreePort(); err != nil {
				return portSet{}, err
			}
		}
	}
	return set, nil
}

// Systems take the ports of outgoing connections from 32768 on (Linux) or 49152 (others):
// a free port from below is not taken by one before it is listened on.
const firstPort, endPort = 20000, 32768

// chosen are the locks of the ports that this process has chosen. The kernel lets go of
// them when it ends.
var chosen struct {
	sync.Mutex
	locks []*os.File
}

// FreePort finds a port of loopback that nothing listens on, and that no other process
// finds while this one lives.
func FreePort() (int, error) {
	folder := filepath.Join(os.TempDir(), "coachline-ports-"+strconv.Itoa(os.Getuid()))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return 0, fmt.Errorf("looking for a free port: %w", err)
	}
	var err error
	for _, n := range rand.Perm(endPort - firstPort) {
		port := firstPort + n
		var lock *os.File
		lock, err = os.OpenFile(filepath.Join(folder, strconv.Itoa(port)), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			break
		}
		if err = errors.Join(syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), canListen(port)); err == nil {
			chosen.Lock()
			defer chosen.Unlock()
			chosen.locks = append(chosen.locks, lock)
			return port, nil
		}
		_ = lock.Close() // Nothing was written to it.
	}
	return 0, fmt.Errorf("looking for a free port: %w", err)
}

func canListen(port int) error {
	l, err := net.Listen("tcp", hostPort(port)) //nolint:noctx // A local bind does not block.
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	return l.Close()
}
