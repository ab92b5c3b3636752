package sms

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coachline/models"
)

func TestIsReassigned(t *testing.T) {
	since := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for body, want := range map[string]bool{
		`{"reassigned_number":{"last_verified_date":"20260131","is_number_reassigned":"yes","error_code":null}}`: true,
		`{"reassigned_number":{"is_number_reassigned":"no"}}`:                                                    false,
		`{"reassigned_number":{"is_number_reassigned":"no-data-available"}}`:                                     false,
		`{}`: false,
	} {
		got, err := client(t, func(w http.ResponseWriter, r *http.Request) {
			assert.Equal(t, "/v2/PhoneNumbers/+12025550123", r.URL.Path)
			assert.Equal(t, "20260131", r.URL.Query().Get("LastVerifiedDate"))
			assert.Equal(t, "reassigned_number", r.URL.Query().Get("Fields"))
			answer(200, body)(w, r)
		}, nil).IsReassigned(t.Context(), "+12025550123", since)
		require.NoError(t, err)
		require.Equal(t, want, got, body)
	}
	_, err := client(t, answer(503, `<html>`), nil).IsReassigned(t.Context(), "+12025550123", since)
	require.Equal(t, models.CarrierRetry, carrierError(t, err).Class)
}
