package starter

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"go.temporal.io/sdk/client"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/config"
	"coachline/internal/connect"
	"coachline/internal/doctor"
	"coachline/internal/offer"
	"coachline/prompts"
	"coachline/prompts/pages"
)

const settingsPath = "/settings"

// buildsLimit is how long Temporal may take to list the builds of workers.
const buildsLimit = 2 * time.Second

// SettingsConfig is what operators may see of the configuration. Without a table
// there are no routes for it.
type SettingsConfig struct {
	Table []config.Setting
	// PromptsDir is the folder of the installation's own texts; empty for none.
	PromptsDir    string
	PromptVersion string
	// Playbooks and Focuses are the pages of prompts that the starter sees.
	Playbooks, Focuses []api.PromptPage
	// Offer is what else the coach has.
	Offer offer.Offer
	// Checks are those of coachline doctor.
	Checks []doctor.Check
	// Builds lists the builds of workers.
	Builds func(ctx context.Context) ([]api.WorkerBuild, error)
}

// newSettings shows the configuration of a starter. Prompts that cannot be read
// stop workers, not starters, which only show their version.
func newSettings(cfg config.Config, conns *connect.Connections) SettingsConfig {
	settings := SettingsConfig{
		Table: cfg.Table(), PromptsDir: cfg.Worker.PromptsDir, Checks: doctor.List(cfg, nil),
		Builds: func(ctx context.Context) ([]api.WorkerBuild, error) {
			return listBuilds(ctx, conns.Temporal, cfg.Worker.Deployment)
		},
	}
	library, err := prompts.LoadWith(cfg.Worker.PromptsDir, cfg.Replies.Focuses == config.SwitchOn)
	if err != nil {
		conns.Logger.Warn("the console shows neither version, playbooks nor focuses of the prompts: they cannot be read", "error", err)
		return settings
	}
	settings.PromptVersion = library.Version()
	settings.Playbooks, settings.Focuses = newPromptPages(library.Playbooks()), newPromptPages(library.Focuses())
	settings.Offer = offer.New(cfg, library)
	return settings
}

func newPromptPages(all []pages.Page) []api.PromptPage {
	out := make([]api.PromptPage, 0, len(all))
	for _, page := range all {
		out = append(out, api.PromptPage{Name: page.Name, Description: page.Description})
	}
	return out
}

func listBuilds(ctx context.Context, engine client.Client, deployment string) ([]api.WorkerBuild, error) {
	got, err := engine.WorkerDeploymentClient().GetHandle(deployment).Describe(ctx, client.WorkerDeploymentDescribeOptions{})
	if err != nil {
		return nil, err
	}
	current := got.Info.RoutingConfig.CurrentVersion
	builds := make([]api.WorkerBuild, 0, len(got.Info.VersionSummaries))
	for _, v := range got.Info.VersionSummaries {
		build := api.WorkerBuild{Build: v.Version.BuildID, Current: current != nil && v.Version.BuildID == current.BuildID}
		switch v.DrainageStatus {
		case client.WorkerDeploymentVersionDrainageStatusDraining:
			build.State = "draining"
		case client.WorkerDeploymentVersionDrainageStatusDrained:
			build.State = "drained"
		case client.WorkerDeploymentVersionDrainageStatusUnspecified:
		}
		builds = append(builds, build)
	}
	return builds, nil
}

// settingRoutes answers what is in force in this installation.
type settingRoutes struct {
	base
	settings SettingsConfig
	version  string
}

func (h *settingRoutes) register(router huma.API) {
	if h.settings.Table == nil {
		return
	}
	register(router, route{method: http.MethodGet, path: settingsPath, id: "get-settings", needs: auth.SettingsRead,
		summary: "What the starter runs with, secrets masked"}, h.getSettings)
	register(router, route{method: http.MethodGet, path: settingsPath + "/checks", id: "run-checks", needs: auth.SettingsRead,
		summary: "Check configuration, database, keys, audit, webhooks, alerts, Temporal, workers, model and carrier"}, h.runChecks)
}

func (h *settingRoutes) getSettings(ctx context.Context, _ *noInput) (*answer[api.Settings], error) {
	out := api.Settings{
		Version: h.version, PromptVersion: h.settings.PromptVersion, Workers: []api.WorkerBuild{}, Settings: []api.Setting{},
		Playbooks: append([]api.PromptPage{}, h.settings.Playbooks...), Focuses: append([]api.PromptPage{}, h.settings.Focuses...),
		Tools: append([]string{}, h.settings.Offer.Tools...), Workspace: append([]string{}, h.settings.Offer.Workspace...), Memory: h.settings.Offer.Memory,
	}
	for _, one := range h.settings.Table {
		out.Settings = append(out.Settings, api.Setting{Name: one.Name, Value: one.Value, InForce: one.InForce, Source: one.Source, Meaning: config.Explain(one.Name)})
	}
	ctx, cancel := context.WithTimeout(ctx, buildsLimit)
	defer cancel()
	builds, err := h.settings.Builds(ctx)
	if err != nil {
		h.log.Info("builds of workers are not shown: Temporal did not list them", "error", err)
	}
	out.Workers = append(out.Workers, builds...)
	return newAnswer("", out), nil
}

func (h *settingRoutes) runChecks(ctx context.Context, _ *noInput) (*answer[api.CheckList], error) {
	return newAnswer("", api.CheckList{Checks: doctor.Run(ctx, h.settings.Checks)}), nil
}
