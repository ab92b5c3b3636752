package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"go.temporal.io/server/common/config"

	"coachline/dev/temporal"
)

const (
	// serverRate is how often a call of the server to its database fails, for
	// each of the two failures.
	serverRate = 0.02
	// serverTurns are run of each scenario.
	serverTurns = 5
	serverSeed  = 7
)

// serverMethods are the calls by which the server keeps workflows and tasks.
var serverMethods = map[config.DataStoreName][]string{
	config.ExecutionStoreName: {
		"AppendHistoryNodes", "CreateWorkflowExecution", "UpdateWorkflowExecution", "GetWorkflowExecution", "GetCurrentExecution",
		"AddHistoryTasks", "GetHistoryTasks", "CompleteHistoryTask", "RangeCompleteHistoryTasks", "ReadHistoryBranch",
	},
	config.TaskStoreName:  {"CreateTasks", "GetTasks", "UpdateTaskQueue", "GetTaskQueue", "CompleteTasksLessThan"},
	config.ShardStoreName: {"UpdateShard", "AssertShardOwnership"},
}

// errorsOfServer has calls time out, half of them after they were carried out.
func errorsOfServer() *config.FaultInjection {
	stores := map[config.DataStoreName]config.FaultInjectionDataStoreConfig{}
	for store, methods := range serverMethods {
		of := map[string]config.FaultInjectionMethodConfig{}
		for _, method := range methods {
			of[method] = config.FaultInjectionMethodConfig{
				Errors: map[string]float64{"Timeout": serverRate, "ExecuteAndTimeout": serverRate}, Seed: serverSeed,
			}
		}
		stores[store] = config.FaultInjectionDataStoreConfig{Methods: of}
	}
	return &config.FaultInjection{Targets: config.FaultInjectionTargets{DataStores: stores}}
}

// serverFaults runs turns on a server whose own database fails now and then.
func serverFaults(ctx context.Context, o options, out io.Writer) (right bool, err error) {
	s, err := newSurroundings(ctx, temporal.Config{Faults: errorsOfServer()}, o.cache)
	if err != nil {
		return false, err
	}
	defer func() {
		if closed := s.close(); err == nil {
			err = closed
		}
	}()
	right = true
	for _, r := range newRounds(o, s, out) {
		wrong, err := r.runTurns(ctx, serverTurns)
		if err != nil {
			return false, fmt.Errorf("scenario %s: %w", r.scenario.name, err)
		}
		right = right && wrong == 0
		fmt.Fprintf(out, "%-10s %4d runs with errors of the server's database %3d wrong\n", r.scenario.name, serverTurns, wrong)
	}
	return right, nil
}

// runTurns runs a scenario without faults of its own and counts what went wrong.
func (r *round) runTurns(ctx context.Context, n int) (wrong int, err error) {
	l, err := r.newInstallation(ctx)
	if err != nil {
		return 0, err
	}
	for range n {
		if o := l.run(r.scenario, job{}); len(o.verdict) > 0 {
			wrong++
			r.printf("%s: %s\n", r.scenario.name, strings.Join(o.verdict, "; "))
		}
	}
	return wrong, l.close()
}
