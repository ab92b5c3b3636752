package starter

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/config"
	"coachline/internal/doctor"
	"coachline/internal/offer"
)

func TestSettings(t *testing.T) {
	builds := []api.WorkerBuild{{Build: "v2", Current: true}, {Build: "v1", State: "draining"}}
	var away error
	h := startWithAccess(t, func(cfg *Config) {
		cfg.Settings = SettingsConfig{
			Table: []config.Setting{{Name: "COACH_API_TOKEN", Value: "set", Source: "environment"}}, PromptVersion: "9f2c",
			Playbooks: []api.PromptPage{{Name: "sleep", Description: "sleeping better"}},
			Offer:     offer.Offer{Tools: []string{"scheduler"}, Memory: "after"},
			Checks: []doctor.Check{
				{Name: "database", Run: func(context.Context) (string, error) { return "", nil }},
				{Name: "model", Run: func(context.Context) (string, error) { return "", errors.New("refuses the key") }},
			},
			Builds: func(context.Context) ([]api.WorkerBuild, error) { return builds, away },
		}
	})
	read := call{method: "GET", path: settingsPath}
	want := api.Settings{
		Version: "v0-test", PromptVersion: "9f2c", Workers: builds,
		Playbooks: []api.PromptPage{{Name: "sleep", Description: "sleeping better"}}, Focuses: []api.PromptPage{}, Tools: []string{"scheduler"}, Workspace: []string{}, Memory: "after",
		Settings: []api.Setting{{Name: "COACH_API_TOKEN", Value: "set", Source: "environment", Meaning: config.Explain("COACH_API_TOKEN")}},
	}
	require.NotEmpty(t, want.Settings[0].Meaning)
	require.Equal(t, want, result[api.Settings](t, h.do(read)))
	away, builds = errors.New("away"), nil
	require.Empty(t, result[api.Settings](t, h.do(read)).Workers)
	checks := result[api.CheckList](t, h.do(call{method: "GET", path: settingsPath + "/checks"})).Checks
	require.Equal(t, []api.Check{{Name: "database", OK: true}, {Name: "model", Detail: "refuses the key"}}, checks)
	_, secret := h.token(auth.UserRead)
	h.refused(withToken(read, secret), http.StatusForbidden, "permission settings:read is needed")
}
