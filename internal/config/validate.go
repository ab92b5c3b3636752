package config

import (
	"errors"
	"fmt"
)

// Role is a part of the system that a process may play.
type Role string

const (
	// RoleWorker runs workflows and activities.
	RoleWorker Role = "worker"
	// RoleStarter serves the API and the carrier's webhooks.
	RoleStarter Role = "starter"
)

// Validate reports what the role needs and the environment does not give, all
// of it in one joined error. Nil means that the role can start.
func (c Config) Validate(role Role) error {
	problems := c.needShared(role)
	switch role {
	case RoleWorker:
		problems = append(problems, c.needWorker()...)
	case RoleStarter:
		problems = append(problems, c.needStarter()...)
	default:
		problems = append(problems, fmt.Errorf("unknown role %q", role))
	}
	return errors.Join(problems...)
}

func (c Config) needShared(role Role) []error {
	var problems []error
	if !c.Database.URL.IsSet() {
		problems = append(problems, missing(databaseURL, role, "postgres://... or sqlite:PATH"))
	}
	if !c.Payload.Keys.IsSet() {
		problems = append(problems, missing(payloadKeys, role, makeKey))
	}
	if c.Carrier.AccountSID == "" {
		problems = append(problems, missing(accountSID, role, "the account's SID, AC..."))
	}
	if c.Carrier.AuthTokens.Len() == 0 {
		problems = append(problems, missing(authToken, role, "the account's auth token"))
	}
	return problems
}

func (c Config) needWorker() []error {
	var problems []error
	// A server of one's own may want no key; OpenAI's always does.
	if len(c.Model.Keys()) == 0 && c.Model.BaseURL == "" {
		problems = append(problems, missing("OPENAI_API_KEY", RoleWorker, "a key, "+keysFile+" for several, or OPENAI_BASE_URL for a server that needs none"))
	}
	if c.Carrier.From == "" && c.Carrier.MessagingServiceSID == "" {
		problems = append(problems, missing(from, RoleWorker, "the sending number, or "+messagingService))
	}
	return problems
}

// MinTokenLength is the least length of the API token in characters.
const MinTokenLength = 32

func (c Config) needStarter() []error {
	var problems []error
	if token := c.HTTP.APIToken.Reveal(); token != "" && len(token) < MinTokenLength {
		problems = append(problems, fmt.Errorf("COACH_API_TOKEN: shorter than %d characters: make one with: openssl rand -hex 32", MinTokenLength))
	}
	if c.HTTP.Loopback() {
		return problems
	}
	if !c.HTTP.APIToken.IsSet() {
		problems = append(problems, missing("COACH_API_TOKEN", RoleStarter,
			"a bearer token, because COACH_HTTP_ADDR "+c.HTTP.Addr+" is not a loopback address"))
	}
	if c.HTTP.PublicURL == "" {
		problems = append(problems, missing("COACH_PUBLIC_URL", RoleStarter,
			"the public base address of the webhooks, which the carrier's signatures cover"))
	}
	return problems
}

func missing(name string, role Role, want string) error {
	return fmt.Errorf("%s: not set, and the %s needs it: %s", name, role, want)
}
