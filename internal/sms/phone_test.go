package sms

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

func TestCanonical(t *testing.T) {
	for _, test := range []struct{ name, in, region, want string }{
		{"one person, written out", "+1 (555) 000-0002", "US", "+15550000002"},
		{"one person, with country code", "1 555 000 0002", "US", "+15550000002"},
		{"one person, national", "555 000 0002", "US", "+15550000002"},
		{"dots and slash", "555.000/0002", "US", "+15550000002"},
		{"magic number", "+15005550006", "US", "+15005550006"},
		{"test number, possible only", "+15558675310", "US", "+15558675310"},
		{"national UK", "07400 123456", "GB", "+447400123456"},
		{"international beats region", "+44 7400 123456", "US", "+447400123456"},
		{"Arabic-Indic digits", "+١٥٥٥٨٦٧٥٣١٠", "US", "+15558675310"},
		{"full width", "＋１５５５８６７５３１０", "US", "+15558675310"},
		{"pasted with direction marks", "\u202a+1\u00a0555\u2011867\u20115310\u202c", "US", "+15558675310"},
		{"Italian leading zero", "+39 06 12345678", "IT", "+390612345678"},
		{"Falkland mobile, short and real", "+500 51234", "US", "+50051234"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Canonical(test.in, test.region)
			require.NoError(t, err)
			require.Equal(t, test.want, got)
		})
	}
	for _, test := range []struct{ name, in, region, want string }{
		{"empty", "", "US", "required"},
		{"signs only", " ()- ", "US", "required"},
		{"letters", "1-800-FLOWERS", "US", "letters"},
		{"alphanumeric sender", "COACH", "US", "letters"},
		{"letters of another script", "+1555867531О", "US", "letters"},
		{"extension word", "+1 555 867 5310 ext 5", "US", "letters"},
		{"extension sign", "+1 555 867 5310 #5", "US", "only digits"},
		{"extension parameter", "+15558675310;5", "US", "only digits"},
		{"second plus", "+1+5558675310", "US", "only digits"},
		{"short code", "72975", "US", ""},
		{"six digits", "729750", "US", ""},
		{"short code in a country with short numbers", "12345", "DE", "short codes"},
		{"emergency", "911", "US", ""},
		{"no area code", "867 5310", "US", "not a possible number"},
		{"national UK read as US", "07400 123456", "US", "not a possible number"},
		{"too many digits", "+1234567890123456", "US", ""},
		{"very long", "+1 555 867 5310                                                              ", "US", "too long"},
		{"no such country code", "+999 555 867 5310", "US", "not a phone number"},
		{"national without region", "5558675310", "", "not a phone number"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Canonical(test.in, test.region)
			var field *models.FieldError
			require.ErrorAs(t, err, &field)
			require.Equal(t, "phone_number", field.Field)
			require.Contains(t, field.Message, test.want)
		})
	}
}

func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{"+1 (555) 000-0002", "07400 123456", "+500 51234", "+54 9 11 2345 6789", "+52 1 55 1234 5678", "١٢٣", "1-800-FLOWERS", "+", "72975"} {
		f.Add(seed, "US")
		f.Add(seed, "GB")
	}
	f.Fuzz(func(t *testing.T, phone, region string) {
		got, err := Canonical(phone, region)
		if err != nil {
			var field *models.FieldError
			require.ErrorAs(t, err, &field)
			require.Empty(t, got)
			return
		}
		require.Regexp(t, `^\+[1-9][0-9]{6,14}$`, got)
		again, err := Canonical(got, region)
		require.NoError(t, err, "%q gives %q", phone, got)
		require.Equal(t, got, again)
	})
}
