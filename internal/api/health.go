package api

// Readiness says of each dependency of the starter whether it answers.
type Readiness struct {
	Database string `json:"database" enum:"ok,unreachable"`
	Temporal string `json:"temporal" enum:"ok,unreachable"`
	Workers  string `json:"workers" doc:"ok, or why messages are stored and not answered; the starter takes messages all the same."`
}

// Version is the version of the running build.
type Version struct {
	Version string `json:"version"`
}
