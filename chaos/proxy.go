package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
)

// lostCommits is how many of a hundred answers to commits are lost.
const lostCommits = 2

// idle is how PostgreSQL ends an answer outside a transaction; changes are the tags of
// statements that may have been committed by themselves, or that commit.
var (
	idle    = []byte("Z\x00\x00\x00\x05I")
	changes = [][]byte{[]byte("COMMIT\x00"), []byte("INSERT 0 "), []byte("UPDATE "), []byte("DELETE ")}
)

// serveProxy passes the product's connections on to PostgreSQL until its listener is
// closed. Some answers to commits are lost with their connection.
func (s *storm) serveProxy(ctx context.Context) error {
	var err error
	if s.proxy, err = new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0"); err != nil {
		return fmt.Errorf("opening the proxy of PostgreSQL: %w", err)
	}
	go func() {
		for {
			from, err := s.proxy.Accept()
			if err != nil {
				return
			}
			go s.passOn(ctx, from)
		}
	}()
	return nil
}

func (s *storm) passOn(ctx context.Context, from net.Conn) {
	defer func() { _ = from.Close() }()
	to, err := new(net.Dialer).DialContext(ctx, "tcp", s.address["postgres"])
	if err != nil {
		return // it is being restarted
	}
	defer func() { _ = to.Close() }()
	go func() {
		_, _ = io.Copy(to, from)
		_, _ = to.Close(), from.Close()
	}()
	buffer := make([]byte, maxBody)
	for {
		n, err := to.Read(buffer)
		if answersCommit(buffer[:n]) && s.losesCommit() {
			return
		}
		if _, failed := from.Write(buffer[:n]); failed != nil || err != nil {
			return
		}
	}
}

// answersCommit reports whether a change has been committed when an answer comes.
func answersCommit(answer []byte) bool {
	if !bytes.HasSuffix(answer, idle) {
		return false
	}
	for _, tag := range changes {
		if bytes.Contains(answer, tag) {
			return true
		}
	}
	return false
}

func (s *storm) losesCommit() bool {
	s.drawing.Lock()
	defer s.drawing.Unlock()
	if s.calm || s.random.IntN(100) >= lostCommits {
		return false
	}
	s.counts["answer to a commit lost"]++
	return true
}
