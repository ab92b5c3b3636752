package main

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"
)

// hangLimit is when a connection on which nothing comes is given up by the
// system, where the caller has no deadline of its own.
const hangLimit = time.Minute

var (
	errLost = errors.New("fault injected: connection reset by peer")
	errDead = errors.New("fault injected: the process was killed")
)

// instance is one run of a role's process. Everything that leaves it passes
// through call, so a killed instance has no effect any more.
type instance struct {
	installation *installation
	role         string
	name         string // unique among all instances of the program
	address      string // of a starter
	dead         chan struct{}
	end          sync.Once
	cancel       context.CancelFunc
	process      *os.Process // of a storm
	done         chan error
}

func (i *instance) isDead() bool {
	select {
	case <-i.dead:
		return true
	default:
		return false
	}
}

// kill ends the instance as SIGKILL does: from now on nothing leaves it. The
// installation starts another one.
func (i *instance) kill() {
	i.end.Do(func() {
		close(i.dead)
		i.cancel()
		go i.installation.restart(i.role)
	})
}

// operation is one call on its way out.
type operation struct {
	kind, name string
	effect     effect
	lost       error // what the caller sees when the connection breaks
}

// call runs one operation, with the fault that is planned for it.
func (i *instance) call(ctx context.Context, op operation, do func() error) error {
	if i.isDead() {
		return errDead
	}
	what := i.installation.arrive(point{Role: i.role, Kind: op.kind, Name: op.name}, op.effect)
	if what == before || what == kill && op.effect == reads || what == hang && op.effect == reads {
		return i.failCall(ctx, what, op)
	}
	err := do()
	switch {
	case i.isDead():
		return errDead
	case what == none || err != nil:
		return err
	}
	return i.failCall(ctx, what, op)
}

func (i *instance) failCall(ctx context.Context, what fault, op operation) error {
	switch what {
	case hang:
		limit := time.NewTimer(hangLimit)
		defer limit.Stop()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-i.dead:
			return errDead
		case <-limit.C:
		}
	case kill:
		i.kill()
		return errDead
	case none, before, after, codedBefore, codedAfter:
	}
	return op.lost
}
