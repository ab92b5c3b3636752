// Package api holds the JSON types of the HTTP API, once for the starter that
// serves them and the command line that reads them. Each file is one noun:
// participants, state, schedules, conversation, chat, holds, attention, alerts,
// turns, consents, memory and health. Path and query parameters are the
// starter's own.
package api

// StatusOK and StatusError are the values of status in an Envelope and a Failure.
const (
	StatusOK    = "ok"
	StatusError = "error"
)

// Envelope is the answer of the API: status ok, a sentence where there is
// something to say, and the result.
type Envelope[T any] struct {
	Status  string `json:"status" enum:"ok"`
	Message string `json:"message,omitempty"`
	Result  T      `json:"result"`
}

// Failure is the answer to a refused or failed request. Message names the field
// where one is to blame; it never repeats what was sent.
type Failure struct {
	Status  string `json:"status" enum:"error" doc:"Always error."`
	Message string `json:"message" doc:"What was refused and why; begins with the field's name where one is to blame."`
	// Code is for programs; it goes with the HTTP status.
	Code      string `json:"code,omitempty" enum:"bad_request,unauthorized,forbidden,not_found,method_not_allowed,not_acceptable,timeout,conflict,changed_meanwhile,too_large,unsupported_media_type,rate_limited,unavailable,internal,refused" doc:"What happened, for programs."`
	Field     string `json:"field,omitempty" doc:"The field, parameter or header that is to blame."`
	RequestID string `json:"request_id,omitempty" doc:"Names the request in the audit and the log; also in header X-Request-Id."`
}

// Problem is a Failure in the form of RFC 9457, for callers who accept
// application/problem+json.
type Problem struct {
	Type      string `json:"type"`
	Title     string `json:"title"`
	Status    int    `json:"status"`
	Detail    string `json:"detail"`
	Code      string `json:"code"`
	Field     string `json:"field,omitempty"`
	RequestID string `json:"request_id,omitempty"`
}

// Empty is a result without content.
type Empty struct{}
