package main

import (
	"context"
	"errors"
	"path"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// quiet are calls of the Temporal client that are made without anything to do.
var quiet = map[string]bool{
	"GetSystemInfo": true, "DescribeNamespace": true, "RecordWorkerHeartbeat": true, "ShutdownWorker": true,
	"ListWorkers": true, "DescribeWorkerDeployment": true, "Check": true,
}

// intercept passes the calls of an instance's Temporal client through its
// faults. Calls for tasks are no points, but end with the instance.
//
//nolint:revive // the arguments are those of grpc.UnaryClientInterceptor
func (i *instance) intercept(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := i.onDeath(cancel)
	defer stop()
	name := path.Base(method)
	do := func() error { return invoke(ctx, method, req, reply, cc, options...) }
	if quiet[name] || strings.HasPrefix(name, "Poll") {
		if i.isDead() {
			return status.Error(codes.Canceled, errDead.Error())
		}
		return do()
	}
	op := operation{kind: "engine", name: name, lost: status.Error(codes.Unavailable, errLost.Error())}
	if !strings.HasPrefix(name, "Get") && !strings.HasPrefix(name, "Describe") && !strings.HasPrefix(name, "List") {
		op.effect = writes
	}
	err := i.call(ctx, op, do)
	if errors.Is(err, errDead) {
		return status.Error(codes.Canceled, errDead.Error())
	}
	return err
}

// onDeath calls end when the instance is killed, unless stop is called first.
func (i *instance) onDeath(end func()) (stop func()) {
	over := make(chan struct{})
	go func() {
		select {
		case <-i.dead:
			end()
		case <-over:
		}
	}()
	return func() { close(over) }
}
