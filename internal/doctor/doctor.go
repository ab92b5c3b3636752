// Package doctor checks what an installation needs: its configuration, the
// database with its keys and its audit, receivers of events, alerts, Temporal, the
// model and the carrier.
// probes.go asks the model and the carrier.
package doctor

import (
	"context"
	"errors"
	"time"

	"coachline/internal/api"
	"coachline/internal/config"
	"coachline/internal/connect"
	"coachline/internal/web/mcp"
)

const probeLimit = 10 * time.Second

// Check is one line of the report. Run returns a remark, which may be empty, or
// what is wrong; neither holds a secret.
type Check struct {
	Name string
	Run  func(ctx context.Context) (remark string, err error)
}

// Run runs the checks one after the other, each for 10 s at most.
func Run(ctx context.Context, checks []Check) []api.Check {
	findings := make([]api.Check, 0, len(checks))
	for _, check := range checks {
		findings = append(findings, runCheck(ctx, check))
	}
	return findings
}

func runCheck(ctx context.Context, check Check) api.Check {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	remark, err := check.Run(ctx)
	var warning connect.Warning
	if err != nil {
		return api.Check{Name: check.Name, OK: errors.As(err, &warning), Warning: warning != "", Detail: err.Error()}
	}
	return api.Check{Name: check.Name, OK: true, Detail: remark}
}

// List returns what to examine; a configuration that cannot be read leaves
// nothing else to try.
func List(cfg config.Config, loadErr error) []Check {
	configuration := Check{Name: "configuration", Run: func(context.Context) (string, error) {
		if loadErr != nil {
			return "", loadErr
		}
		return "", errors.Join(cfg.Validate(config.RoleWorker), cfg.Validate(config.RoleStarter))
	}}
	if loadErr != nil {
		return []Check{configuration}
	}
	// The first token sends; a second one may not be valid yet.
	token := append(cfg.Carrier.AuthTokens.Reveal(), "")[0]
	checks := []Check{
		configuration,
		{Name: "database", Run: func(ctx context.Context) (string, error) { return "", connect.CheckDatabase(ctx, cfg) }},
		{Name: "keys", Run: func(ctx context.Context) (string, error) { return connect.CheckKeys(ctx, cfg) }},
		{Name: "audit", Run: func(ctx context.Context) (string, error) { return connect.CheckAudit(ctx, cfg) }},
		{Name: "allocations", Run: func(ctx context.Context) (string, error) { return connect.CheckAllocations(ctx, cfg) }},
		{Name: "webhooks", Run: func(ctx context.Context) (string, error) { return connect.CheckWebhooks(ctx, cfg) }},
		{Name: "alerts", Run: func(ctx context.Context) (string, error) { return "", connect.CheckAlerts(ctx, cfg) }},
		{Name: "helplines", Run: func(ctx context.Context) (string, error) { return "", connect.CheckHelplines(ctx, cfg) }},
		{Name: "senders", Run: func(ctx context.Context) (string, error) { return "", connect.CheckSender(ctx, cfg) }},
		{Name: "campaign", Run: func(ctx context.Context) (string, error) { return probeCampaign(ctx, cfg.Carrier, token) }},
		{Name: "claims", Run: func(ctx context.Context) (string, error) { return "", connect.CheckClaims(ctx, cfg) }},
		{Name: "temporal", Run: func(ctx context.Context) (string, error) {
			return cfg.Temporal.Address, connect.CheckTemporal(ctx, cfg)
		}},
		{Name: "workers", Run: func(ctx context.Context) (string, error) { return "", connect.CheckWorkers(ctx, cfg) }},
		{Name: "model", Run: func(ctx context.Context) (string, error) {
			return eachKey(cfg.Model.Keys(), func(key string) (string, error) {
				return probeModel(ctx, cfg.Model.BaseURL, key)
			})
		}},
		{Name: "support", Run: func(context.Context) (string, error) { return checkSupport(cfg) }},
		{Name: "programme", Run: func(context.Context) (string, error) {
			return checkProgramme(cfg.Coaching.Programme, cfg.Coaching.DefaultLocale())
		}},
		{Name: "offer", Run: func(context.Context) (string, error) { return checkOffer(cfg) }},
		{Name: "stop", Run: func(context.Context) (string, error) { return describeStop(cfg) }},
		{Name: "embeddings", Run: func(ctx context.Context) (string, error) { return probeEmbeddings(ctx, cfg.Model) }},
		{Name: "context", Run: func(ctx context.Context) (string, error) { return describeModel(ctx, cfg) }},
		{Name: "answer", Run: func(ctx context.Context) (string, error) { return probeAnswer(ctx, cfg.Model) }},
		{Name: "sender", Run: func(ctx context.Context) (string, error) { return probeSender(ctx, cfg.Carrier, token) }},
		{Name: "address", Run: func(ctx context.Context) (string, error) { return probeWebhook(ctx, cfg.HTTP.PublicURL, token) }},
		{Name: "carrier", Run: func(ctx context.Context) (string, error) {
			return probeCarrier(ctx, cfg.Carrier.BaseURL, cfg.Carrier.AccountSID, token)
		}},
	}
	if second := cfg.Model.Second; second != nil {
		checks = append(checks, Check{Name: "second model", Run: func(ctx context.Context) (string, error) {
			return probeModel(ctx, second.URL, second.Key.Reveal())
		}})
	}
	for _, server := range cfg.Web.Servers {
		checks = append(checks, Check{Name: "mcp " + server.Name, Run: func(ctx context.Context) (string, error) {
			return probeServer(ctx, mcp.New(server, cfg.Web.Allow))
		}})
	}
	return checks
}

// eachKey tries every key, because any of them may be the one in use; without
// a key it tries once.
func eachKey(keys []string, try func(key string) (string, error)) (string, error) {
	if len(keys) == 0 {
		keys = []string{""}
	}
	var remark string
	var failed []error
	for _, key := range keys {
		said, err := try(key)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		remark = said
	}
	return remark, errors.Join(failed...)
}
