package api

// Readiness says of each dependency of the starter whether it answers.
type Readiness struct {
	Database string `json:"database" enum:"ok,unreachable"`
	Temporal string `json:"temporal" enum:"ok,unreachable"`
}

// Version is the version of the running build.
type Version struct {
	Version string `json:"version"`
}
