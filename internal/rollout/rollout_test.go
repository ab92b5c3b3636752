package rollout_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	sdk "go.temporal.io/sdk/worker"

	"coachline/internal/rollout"
)

// engine, deployments and handle are a server whose first answer is a failure.
type engine struct {
	client.Client
	handle *handle
}

func (e engine) WorkerDeploymentClient() client.WorkerDeploymentClient {
	return deployments{handle: e.handle}
}

type deployments struct {
	client.WorkerDeploymentClient
	handle *handle
}

func (d deployments) GetHandle(string) client.WorkerDeploymentHandle { return d.handle }

type handle struct {
	client.WorkerDeploymentHandle
	failure error
	asked   int
}

func (h *handle) Describe(context.Context, client.WorkerDeploymentDescribeOptions) (got client.WorkerDeploymentDescribeResponse, err error) {
	h.asked++
	if h.asked == 1 {
		return got, h.failure
	}
	got.Info.RoutingConfig.CurrentVersion = &sdk.WorkerDeploymentVersion{BuildID: "two"}
	return got, nil
}

// TestRouteIsReadAgain: where the server fails to query its own workflow it is asked
// again, and at no other failure.
func TestRouteIsReadAgain(t *testing.T) {
	h := &handle{failure: serviceerror.NewQueryFailed("[TMPRL1100] lookup failed")}
	route, err := rollout.Deployment{Client: engine{handle: h}}.Read(t.Context())
	require.NoError(t, err)
	require.Equal(t, "two", route.Current)

	h = &handle{failure: errors.New("no connection")}
	_, err = rollout.Deployment{Client: engine{handle: h}}.Read(t.Context())
	require.ErrorIs(t, err, h.failure)
	require.Equal(t, 1, h.asked)
}
