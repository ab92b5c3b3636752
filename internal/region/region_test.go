package region

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStateOf(t *testing.T) {
	for phone, want := range map[string]string{
		"+12127350123": "NY", "+19177350123": "NY", "+13157350123": "NY", "+18017350123": "UT", "+12067350123": "WA", "+13602350123": "WA",
		"+12105550123": "TX", "+15127350123": "TX", "+12027350123": "DC", "+14043350123": "GA", "+18602350123": "CT",
		"+18002350123": "", "+14165550123": "", "+4915112345678": "", "": "", "212": "",
	} {
		require.Equal(t, want, StateOf(phone), phone)
	}
}

func TestCountryOf(t *testing.T) {
	for _, c := range []struct{ phone, locale, want string }{
		{"+12027350123", "de-DE", "US"}, {"+4915112345678", "en-US", "DE"}, {"", "fr-CA", "CA"}, {"", "fr", ""}, {"+88312345678901", "pt-BR", "BR"},
	} {
		require.Equal(t, c.want, CountryOf(c.phone, c.locale), c.phone+c.locale)
	}
}
