package prices_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/prices"
)

const list = `{"currency": "USD",
	"models": {"small": {"input": 0.4, "cached_input": 0.1, "output": 1.6}, "plain": {"input": 2, "output": 8}, "ear": {"audio_minute": 0.006}, "both": {"input": 6, "output": 10, "audio_minute": 0.003}},
	"destinations": {"+1": {"outbound": 0.0083, "inbound": 0.0075, "carrier_fee": 0.003}, "+1876": {"outbound": 0.2, "inbound": 0.01}}}`

func TestPrices(t *testing.T) {
	l, err := prices.Parse([]byte(list))
	require.NoError(t, err)
	require.Equal(t, "USD", l.Currency())
	for _, tt := range []struct {
		model string
		used  prices.Used
		want  int64
	}{
		{"small", prices.Used{Input: 1_000_000, Output: 1_000_000}, 2_000_000},
		{"small", prices.Used{Input: 1_000_000, Cached: 1_000_000}, 100_000},
		{"small", prices.Used{Input: 1}, 0},
		{"small", prices.Used{Input: 5, Cached: 5}, 1}, // half a millionth goes up
		{"small-2026-04-14", prices.Used{Output: 10}, 16},
		{"plain", prices.Used{Input: 10, Cached: 10}, 20},
		{"ear", prices.Used{AudioMillis: 90_000}, 9000},
		{"ear", prices.Used{AudioMillis: 5}, 1},
		{"both", prices.Used{AudioMillis: 60_000}, 3000},
		{"both", prices.Used{Input: 1_000_000, Output: 100_000}, 7_000_000},
	} {
		got := l.Model(tt.model, tt.used)
		require.NotNil(t, got, tt.model)
		require.Equal(t, tt.want, *got, tt)
	}
	require.Nil(t, l.Model("small-nano", prices.Used{Input: 1}))
	require.Nil(t, l.Model("plain", prices.Used{AudioMillis: 1}), "its minutes have no price")
	require.Nil(t, l.Model("ear", prices.Used{}), "how long it was is not known")
	require.Equal(t, int64(22_600), *l.Outbound("+15558675310", 2))
	require.Equal(t, int64(7_500), *l.Inbound("+15558675310", 1))
	require.Equal(t, int64(200_000), *l.Outbound("+18765550100", 1))
	require.Nil(t, l.Outbound("+4915112345678", 1))
}

func TestNoPrices(t *testing.T) {
	var none *prices.List
	require.Empty(t, none.Currency())
	require.Nil(t, none.Model("small", prices.Used{Input: 1}))
	require.Nil(t, none.Inbound("+15558675310", 1))
}

func TestBadPriceLists(t *testing.T) {
	for in, want := range map[string]string{
		`[]`:                                "it is not a price list",
		`{"currency": "usd"}`:               `currency: "usd" is not three capital letters`,
		`{"currency": "USD"} {}`:            "something follows",
		`{"currency": "USD", "prices": {}}`: `unknown field "prices"`,
		`{"currency": "USD", "models": {"m": {"output": 1}}}`:                                            "models.m.input: is required",
		`{"currency": "USD", "models": {"m": {"input": 1}}}`:                                             "models.m.output: is required",
		`{"currency": "USD", "models": {"m": {"input": -1, "output": 1}}}`:                               "models.m.input: -1 is not a price",
		`{"currency": "USD", "models": {"m": {"input": 1, "output": 1, "cached_input": 0.1234567}}}`:     "models.m.cached_input: 0.1234567 is not a price",
		`{"currency": "USD", "models": {"m": {"audio_minute": -1}}}`:                                     "models.m.audio_minute: -1 is not a price",
		`{"currency": "USD", "models": {"m": {"audio_minute": 1, "output": 1}}}`:                         "models.m.input: is required",
		`{"currency": "USD", "destinations": {"1": {"outbound": 1, "inbound": 1}}}`:                      "destinations.1: want the beginning",
		`{"currency": "USD", "destinations": {"+1": {"outbound": 1}}}`:                                   "destinations.+1.inbound: is required",
		`{"currency": "USD", "destinations": {"+1": {"inbound": 1}}}`:                                    "destinations.+1.outbound: is required",
		`{"currency": "USD", "destinations": {"+1": {"outbound": 1, "inbound": 1, "carrier_fee": 1e3}}}`: "destinations.+1.carrier_fee: 1e3 is not a price",
	} {
		_, err := prices.Parse([]byte(in))
		require.ErrorContains(t, err, want, in)
	}
}

func TestExampleParses(t *testing.T) {
	raw, err := os.ReadFile("../../deploy/prices.example.json")
	require.NoError(t, err)
	l, err := prices.Parse(raw)
	require.NoError(t, err)
	require.NotNil(t, l.Model("gpt-4.1-mini", prices.Used{Input: 1}))
}
