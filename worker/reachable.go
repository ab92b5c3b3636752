package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"coachline/internal/wrap"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc/codes"
)

// Pace of waiting for Temporal. A worker that waits is ready a moment after
// Temporal is, so the pause stays short.
const (
	reachLimit    = 2 * time.Second
	reachPause    = 250 * time.Millisecond
	reachLogEvery = time.Minute
)

// waitUntilReachable runs prepare until Temporal answers it, however long that
// takes, and returns what it answered: nil, or a refusal such as an unknown
// namespace, which no waiting fixes. prepare must be safe to repeat.
func waitUntilReachable(ctx context.Context, prepare func(context.Context) error, logger *slog.Logger) error {
	var logged time.Time
	for {
		err := prepare(ctx)
		if !isUnreachable(err) {
			return err
		}
		if ctx.Err() != nil {
			return fmt.Errorf("waiting for Temporal: %w", errors.Join(ctx.Err(), err))
		}
		if time.Since(logged) >= reachLogEvery {
			logged = time.Now()
			logger.Warn("Temporal is unreachable, waiting: check TEMPORAL_ADDRESS and the server", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(reachPause):
		}
	}
}

// checkNamespace asks for the namespace, which a server that does not answer
// shows soonest. NamespaceNotFound for an unknown one.
func checkNamespace(ctx context.Context, c client.Client, namespace string) error {
	ctx, cancel := context.WithTimeout(ctx, reachLimit)
	defer cancel()
	_, err := c.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: namespace})
	return wrap.Errorf(err, "TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE: asking for namespace %s", namespace)
}

// isUnreachable says that Temporal did not answer, or only that it is starting.
func isUnreachable(err error) bool {
	if err == nil {
		return false
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	var coded serviceerror.ServiceError
	if !errors.As(err, &coded) {
		return false
	}
	code := coded.Status().Code()
	return code == codes.Unavailable || code == codes.DeadlineExceeded
}
