package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

func (s *system) serve(ctx context.Context, name string, server *http.Server) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", server.Addr)
	if err != nil {
		return fmt.Errorf("opening the %s: %w", name, err)
	}
	done := make(chan error, 1)
	go func() {
		err := server.Serve(listener)
		if errors.Is(err, http.ErrServerClosed) {
			err = nil
		} else {
			s.failed <- fmt.Errorf("serving the %s: %w", name, err)
		}
		done <- err
	}()
	s.add(name, func() error {
		// A page that follows the phones keeps its connection open for ever.
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if server.Shutdown(limit) != nil {
			return errors.Join(server.Close(), <-done)
		}
		return <-done
	})
	return nil
}
