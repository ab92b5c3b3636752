package sms

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

func TestFetch(t *testing.T) {
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, http.MethodGet, r.Method)
		assert.Contains(t, r.URL.Path, "/Messages/SM1.json")
		answer(200, `{"sid":"SM1","status":"undelivered","error_code":30003}`)(w, r)
	}, nil)
	got, err := c.Fetch(t.Context(), "SM1")
	require.NoError(t, err)
	require.Equal(t, models.StatusCallback{ProviderSID: "SM1", Status: wire.OutboxUndelivered, ErrorCode: "30003", Class: models.CarrierRetryOnce}, got)
}

func TestFetchErrors(t *testing.T) {
	for _, test := range []struct {
		name   string
		status int
		body   string
		want   models.CarrierClass
	}{
		{"unknown id", 404, `{"code":20404,"message":"m","status":404}`, models.CarrierAccount},
		{"away", 503, `<html>`, models.CarrierRetry},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := client(t, answer(test.status, test.body), nil).Fetch(t.Context(), "SM1")
			require.Equal(t, test.want, carrierError(t, err).Class)
		})
	}
}
