package api_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
)

func TestMoney(t *testing.T) {
	for micros, want := range map[int64]string{0: "0.00 USD", 41: "0.000041 USD", 12_300_000: "12.30 USD", -1_500_000: "-1.50 USD"} {
		require.Equal(t, want, api.FormatMoney(micros, "USD"))
	}
	require.Equal(t, "1.00", api.FormatMoney(1_000_000, ""))
	for text, want := range map[string]int64{"25": 25_000_000, " 12.50 ": 12_500_000, "0.000001": 1} {
		got, err := api.ParseMoney(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, text := range []string{"", "-1", "1.0000001", "1,5", ".5", "1e3", "12345678901234"} {
		_, err := api.ParseMoney(text)
		require.ErrorContains(t, err, "is not an amount", text)
	}
}
