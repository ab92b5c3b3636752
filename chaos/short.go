package main

// shortJobs are the runs of the short form: points at which the answer to a
// change may be lost, and from which a turn recovers within seconds. A point
// that is not reached any more is an error, so the list cannot go stale.
var shortJobs = map[string][]job{
	"reply": {
		{point: point{"starter", "webhook", "inbound", 1}, fault: after},
		{point: point{"starter", "sql", "COMMIT INSERT inbound", 1}, fault: after},
		{point: point{"starter", "sql", "COMMIT INSERT inbound", 1}, fault: kill},
		{point: point{"starter", "engine", "SignalWithStartWorkflowExecution", 1}, fault: after},
		{point: point{"starter", "engine", "SignalWithStartWorkflowExecution", 1}, fault: kill},
		{point: point{"starter", "sql", "UPDATE notices", 1}, fault: before},
		{point: point{"worker", "sql", "COMMIT INSERT messages", 1}, fault: after},
		{point: point{"worker", "http", "POST completion", 1}, fault: after},
		{point: point{"worker", "sql", "INSERT steps", 1}, fault: after},
		{point: point{"worker", "engine", "RespondActivityTaskCompleted", 1}, fault: after},
		{point: point{"worker", "engine", "RespondWorkflowTaskCompleted", 3}, fault: after},
		{point: point{"worker", "sql", "COMMIT UPDATE turns", 1}, fault: after},
		{point: point{"starter", "webhook", "status delivered", 1}, fault: after},
	},
	"tools": {
		{point: point{"worker", "sql", "COMMIT INSERT tool_runs", 1}, fault: after},
		{point: point{"worker", "sql", "COMMIT INSERT tool_runs", 2}, fault: after},
		{point: point{"worker", "sql", "COMMIT UPDATE turns", 1}, fault: after},
	},
	"prompt": {
		{point: point{"worker", "sql", "COMMIT UPDATE turns", 2}, fault: after},
		{point: point{"worker", "engine", "RespondActivityTaskCompleted", 4}, fault: after},
	},
	"stop": {
		{point: point{"starter", "sql", "COMMIT INSERT inbound", 2}, fault: after},
		{point: point{"starter", "engine", "UpdateWorkflowExecution", 1}, fault: after},
		{point: point{"worker", "sql", "COMMIT INSERT messages", 2}, fault: after},
	},
	"continue": {
		{point: point{"starter", "engine", "SignalWithStartWorkflowExecution", 2}, fault: after},
		{point: point{"starter", "sql", "UPDATE notices", 2}, fault: before},
		{point: point{"worker", "engine", "RespondWorkflowTaskCompleted", 5}, fault: after},
	},
	"operator": {
		{point: point{"starter", "webhook", "api POST", 1}, fault: after},
		{point: point{"starter", "engine", "UpdateWorkflowExecution", 1}, fault: after},
		{point: point{"starter", "sql", "UPDATE notices", 1}, fault: before},
		{point: point{"starter", "sql", "UPDATE notices", 2}, fault: before},
		{point: point{"starter", "sql", "UPDATE notices", 2}, fault: kill},
	},
}
