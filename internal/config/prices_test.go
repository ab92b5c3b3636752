package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPricesFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prices.json")
	load := func(content string) (Config, error) {
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return Load([]string{"COACH_PRICES_FILE=" + path}, nil)
	}
	cfg, err := load(`{"currency": "EUR"}`)
	require.NoError(t, err)
	require.Equal(t, "EUR", cfg.Costs.Prices.Currency())
	_, err = load(`{"currency": "EUR", "models": {"m": {"input": "much", "output": 1}}}`)
	require.ErrorContains(t, err, "COACH_PRICES_FILE: ")
	_, err = load(`{"currency": "EUR", "models": {"m": {"output": 1}}}`)
	require.ErrorContains(t, err, "COACH_PRICES_FILE: models.m.input: is required; want a file like deploy/prices.example.json")
	_, err = Load([]string{"COACH_PRICES_FILE=" + path + ".missing"}, nil)
	require.ErrorContains(t, err, "COACH_PRICES_FILE: opening it")
	cfg, err = Load(nil, nil)
	require.NoError(t, err)
	require.Nil(t, cfg.Costs.Prices)
}
