package starter

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/internal/coach"
	"coachline/internal/metrics"
	"coachline/internal/study"
	"coachline/models/wire"
	"coachline/starter/relay"
)

// What could not be used is refused where a study is changed.
func TestStudySettingsThatCannotBeUsed(t *testing.T) {
	h, _ := startWithStore(t, nil)
	for settings, field := range map[string]string{
		`{"messaging_service":"MG1"}`: "messaging_service",
		`{"quiet_hours":"21-8"}`:      "quiet_hours",
		`{"tools_off":["dance"]}`:     "tools_off",
		`{"programme":"a\nb"}`:        "programme",
		`{"arms":[{"name":"a","weight":1,"overlay":{"quiet_hours":"x"}},{"name":"b","weight":1}],"randomisation":{"method":"simple"}}`: "arms[0].overlay.quiet_hours",
	} {
		h.refused(call{method: "PUT", path: studiesPath + "/default", body: `{"settings":` + settings + `}`}, http.StatusBadRequest, field)
	}
	changed := h.do(call{method: "PUT", path: studiesPath + "/default", body: `{"settings":{"quiet_hours":"off","tools_off":["scheduler"]}}`})
	require.Equal(t, http.StatusOK, changed.status, changed.raw)
}

// The quiet hours of a study decide when its people are greeted, at once.
func TestGreetingKeepsToTheHoursOfTheStudy(t *testing.T) {
	h, rows := startWithStore(t, func(cfg *Config) {
		cfg.Defaults.Rules = coach.Rules{Quiet: coach.QuietHours{From: 0, To: 1}}
	})
	at := func(phone string) time.Time {
		added := h.do(call{method: "POST", path: participantsPath, body: `{"phone_number":"` + phone + `","timezone":"UTC"}`})
		require.Equal(t, http.StatusCreated, added.status, added.raw)
		p, err := rows.People.Participant(t.Context(), result[api.Participant](t, added).ID)
		require.NoError(t, err)
		return p.GreetingAt.UTC()
	}
	require.Equal(t, testNow.UTC(), at("+14155550101"))
	from, to := testNow.UTC().Add(-time.Hour), testNow.UTC().Add(2*time.Hour)
	quiet := from.Format("15:04") + "-" + to.Format("15:04")
	changed := h.do(call{method: "PUT", path: studiesPath + "/default", body: `{"settings":{"quiet_hours":"` + quiet + `"}}`})
	require.Equal(t, http.StatusOK, changed.status, changed.raw)
	require.Equal(t, to.Truncate(time.Minute), at("+14155550102").Truncate(time.Minute))
}

// Texts to a study's own number or service reach the person, and its number cannot
// be enrolled.
func TestTextsToTheNumberOfAStudy(t *testing.T) {
	const theirs, service = "+15017120000", "MG0123456789abcdef0123456789abcdef"
	h, rows := startWithStore(t, nil)
	enrolled := h.do(call{method: "POST", path: participantsPath, body: `{"phone_number":"` + herNumber + `"}`})
	require.Equal(t, http.StatusCreated, enrolled.status, enrolled.raw)
	send := func(n byte, to, serviceSID string) int {
		form := url.Values{"MessageSid": {sid(n)}, "AccountSid": {testAccount}, "From": {herNumber}, "To": {to}, "Body": {"Hi"}, "NumMedia": {"0"}}
		if serviceSID != "" {
			form.Set("MessagingServiceSid", serviceSID)
		}
		return h.webhook(inboundPath, form).status
	}
	require.Equal(t, http.StatusBadRequest, send(1, theirs, ""))
	h.do(call{method: "PUT", path: studiesPath + "/default", body: `{"settings":{"from":"` + theirs + `"}}`})
	require.Equal(t, http.StatusOK, send(2, theirs, ""))
	require.Equal(t, http.StatusOK, send(3, ourNumber, ""), "the installation's stays")
	p, err := rows.People.Participant(t.Context(), result[api.Participant](t, enrolled).ID)
	require.NoError(t, err)
	require.Equal(t, int64(3), p.NextSeq, "both have reached the person")
	h.refused(call{method: "POST", path: participantsPath, body: `{"phone_number":"` + theirs + `"}`}, http.StatusBadRequest, "own number")

	h.do(call{method: "PUT", path: studiesPath + "/default", body: `{"settings":{"messaging_service":"` + service + `"}}`})
	require.Equal(t, http.StatusOK, send(4, "+15017129999", service))
	require.Equal(t, http.StatusBadRequest, send(5, "+15017129999", "MG2"))
}

// People of a study that was closed get its last text outside their quiet hours.
func TestClosingAStudyClosesItsPeopleOut(t *testing.T) {
	var used Config
	h, rows := startWithStore(t, func(cfg *Config) {
		defer func() { used = *cfg }()
		from := testNow.UTC().Add(-time.Hour)
		clock := coach.Clock(from.Hour()*60 + from.Minute())
		cfg.Defaults.Rules = coach.Rules{Quiet: coach.QuietHours{From: clock, To: (clock + 120) % (24 * 60)}}
	})
	add := func(phone, zone string) string {
		added := h.do(call{method: "POST", path: participantsPath, body: `{"phone_number":"` + phone + `","timezone":"` + zone + `"}`})
		require.Equal(t, http.StatusCreated, added.status, added.raw)
		return result[api.Participant](t, added).ID
	}
	asleep, awake := add("+14155550101", "UTC"), add("+14155550102", "Asia/Tokyo")
	changed := h.do(call{method: "PUT", path: studiesPath + "/default", body: `{"state":"closed","settings":{"close_out":"Thank you."}}`})
	require.Equal(t, http.StatusOK, changed.status, changed.raw)
	counted, err := metrics.New(metrics.Config{Logger: used.Logger})
	require.NoError(t, err)
	worker := &closeOuts{
		base{used.Logger, used.Now, relay.New(relay.Config{Store: relay.StoreOf(rows), Engine: h.engine, Logger: used.Logger, Now: used.Now, Costs: rows.Costs, Metrics: counted})},
		rows.People, used.Defaults.Rules, study.New(study.Config{Studies: rows.Studies}),
	}
	_, err = worker.closeOutSome(t.Context(), "")
	require.NoError(t, err)
	for id, status := range map[string]wire.Status{asleep: wire.StatusActive, awake: wire.StatusCompleted} {
		p, err := rows.People.Participant(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, status, p.Status)
	}
	row, err := rows.Outbox.Row(t.Context(), awake+"-closeout")
	require.NoError(t, err)
	require.Equal(t, "Thank you.", row.Body)
}
