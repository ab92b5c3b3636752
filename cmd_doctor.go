package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"coachline/internal/cli"
	"coachline/internal/config"
	"coachline/internal/connect"
)

func (p *program) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Check configuration, database, payload keys, audit, Temporal, model and carrier", Args: exactArgs(0),
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := p.besideDev()
			return cli.RunChecks(c.Context(), p.out, p.json, listChecks(cfg, err))
		},
	}
}

// listChecks returns what to examine; a configuration that cannot be read
// leaves nothing else to try.
func listChecks(cfg config.Config, loadErr error) []cli.Check {
	configuration := cli.Check{Name: "configuration", Run: func(context.Context) (string, error) {
		if loadErr != nil {
			return "", loadErr
		}
		return "", errors.Join(cfg.Validate(config.RoleWorker), cfg.Validate(config.RoleStarter))
	}}
	if loadErr != nil {
		return []cli.Check{configuration}
	}
	return []cli.Check{
		configuration,
		{Name: "database", Run: func(ctx context.Context) (string, error) { return "", connect.CheckDatabase(ctx, cfg) }},
		{Name: "keys", Run: func(ctx context.Context) (string, error) { return connect.CheckKeys(ctx, cfg) }},
		{Name: "audit", Run: func(ctx context.Context) (string, error) { return connect.CheckAudit(ctx, cfg) }},
		{Name: "temporal", Run: func(ctx context.Context) (string, error) {
			return cfg.Temporal.Address, connect.CheckTemporal(ctx, cfg)
		}},
		{Name: "model", Run: func(ctx context.Context) (string, error) {
			return eachKey(cfg.Model.Keys(), func(key string) (string, error) {
				return cli.ProbeModel(ctx, cfg.Model.BaseURL, key)
			})
		}},
		{Name: "carrier", Run: func(ctx context.Context) (string, error) {
			// The first token sends; a second one may not be valid yet.
			token := append(cfg.Carrier.AuthTokens.Reveal(), "")[0]
			return cli.ProbeCarrier(ctx, cfg.Carrier.BaseURL, cfg.Carrier.AccountSID, token)
		}},
	}
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
