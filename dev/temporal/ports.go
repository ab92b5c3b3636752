package temporal

import (
	"fmt"
	"net"
)

// portSet is one port for each listener of the engine.
type portSet struct {
	frontend, history, matching, worker, ui int
}

// choosePorts checks the wanted ports and finds free ones for the rest.
func choosePorts(frontend, ui int) (portSet, error) {
	var set portSet
	wanted := []struct {
		port int
		into *int
	}{
		{frontend, &set.frontend}, {0, &set.history}, {0, &set.matching}, {0, &set.worker}, {ui, &set.ui},
	}
	// All are held open until the last is known, so that no two are equal.
	var held []net.Listener
	defer func() {
		for _, l := range held {
			_ = l.Close() // Nothing was written to it.
		}
	}()
	for _, w := range wanted {
		if w.port == NoUI {
			continue
		}
		l, err := net.Listen("tcp", hostPort(w.port)) //nolint:noctx // A local bind does not block.
		if err != nil {
			return portSet{}, fmt.Errorf("port %d is taken (port 0 picks a free one): %w", w.port, err)
		}
		held = append(held, l)
		*w.into = l.Addr().(*net.TCPAddr).Port
		if w.port == 0 {
			if err := retire(l); err != nil {
				return portSet{}, err
			}
		}
	}
	return set, nil
}

// FreePort finds a port of loopback that nothing listens on and that no other
// search for a free port will find in the next minute.
func FreePort() (int, error) {
	l, err := net.Listen("tcp", hostPort(0)) //nolint:noctx // A local bind does not block.
	if err != nil {
		return 0, fmt.Errorf("looking for a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, retire(l)
}

// retire leaves a closed connection in TIME_WAIT on the listener's port. The
// kernel then hands that port to no other bind of port 0 for a minute, so that
// engines that start at the same moment do not take each other's ports; an
// explicit bind to it still works.
func retire(l net.Listener) error {
	dialed, err := net.Dial("tcp", l.Addr().String()) //nolint:noctx // Loopback, and the listener is open.
	if err != nil {
		return fmt.Errorf("reserving a port: %w", err)
	}
	accepted, err := l.Accept()
	if err != nil {
		return fmt.Errorf("reserving a port: %w", err)
	}
	// The side that closes first is the one that waits: it must be ours.
	if err := accepted.Close(); err != nil {
		return fmt.Errorf("reserving a port: %w", err)
	}
	return dialed.Close()
}
