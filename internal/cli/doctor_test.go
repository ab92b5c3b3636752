package cli

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"coachline/internal/seal"
	"coachline/internal/store"
	"coachline/models"
)

// TestDoctorFindsABrokenAudit changes a row behind the program's back.
func TestDoctorFindsABrokenAudit(t *testing.T) {
	path := t.TempDir() + "/coach.db"
	ring, err := seal.Parse(doctorKey)
	require.NoError(t, err)
	rows, err := store.Open(t.Context(), store.Config{URL: "sqlite:" + path, Sealer: ring})
	require.NoError(t, err)
	for range 3 {
		require.NoError(t, rows.Audit.RecordAudit(t.Context(), models.AuditRow{Actor: "eve", Action: "update", At: time.Unix(0, 0)}))
	}
	require.NoError(t, rows.Close())
	environ := []string{"DATABASE_URL=sqlite:" + path, "COACH_PAYLOAD_KEYS=" + doctorKey}
	_, out, _ := call(t, environ, "doctor")
	require.Regexp(t, `audit +ok +3 rows, head [0-9a-f]{64}`, out)

	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	for _, statement := range []string{"DROP TRIGGER audit_keep", "DROP TRIGGER audit_fixed", "UPDATE audit SET actor = 'ida' WHERE seq = 2"} {
		_, err := db.ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	require.NoError(t, db.Close())
	code, out, _ := call(t, environ, "doctor")
	require.Equal(t, exitFailed, code)
	require.Regexp(t, `audit +failed +row 2: the row or its hash was changed`, out)
}

const doctorKey = "k1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

// doctorStore opens a new database, and returns the environment of doctor with it.
func doctorStore(t *testing.T) (rows *store.Store, environ []string) {
	t.Helper()
	path := t.TempDir() + "/coach.db"
	ring, err := seal.Parse(doctorKey)
	require.NoError(t, err)
	rows, err = store.Open(t.Context(), store.Config{URL: "sqlite:" + path, Sealer: ring})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rows.Close()) })
	return rows, []string{"DATABASE_URL=sqlite:" + path, "COACH_PAYLOAD_KEYS=" + doctorKey}
}

// TestDoctorTellsOfWebhooksThatFail: since when, why and what to do, until the
// receiver takes an event again.
func TestDoctorTellsOfWebhooksThatFail(t *testing.T) {
	rows, environ := doctorStore(t)
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for _, id := range []string{"whk_down", "whk_gone", "whk_well"} {
		_, err := rows.Webhooks.AddWebhook(t.Context(), models.Webhook{
			ID: id, URL: "https://example.org/?token=hunter2", Secret: "whsec_c2VjcmV0", State: models.WebhookActive, CreatedBy: "user:kim", CreatedAt: at,
		})
		require.NoError(t, err)
	}
	_, out, _ := call(t, environ, "doctor")
	require.Regexp(t, `webhooks +ok`, out)

	attempt := func(id string, answer models.WebhookAttempt) {
		_, err := rows.Webhooks.AddTestDelivery(t.Context(), id, "user:kim", at)
		require.NoError(t, err)
		due, err := rows.Webhooks.ClaimDeliveries(t.Context(), id, at, at.Add(time.Minute), 5)
		require.NoError(t, err)
		require.Len(t, due, 1)
		answer.Delivery, answer.Next, answer.Now = due[0], at.Add(24*time.Hour), at
		require.NoError(t, rows.Webhooks.RecordDelivery(t.Context(), answer))
	}
	attempt("whk_down", models.WebhookAttempt{Answer: 503, Error: "the receiver answered 503 Service Unavailable"})
	attempt("whk_gone", models.WebhookAttempt{Answer: 410, Error: "the receiver answered 410 Gone", Gone: true})
	attempt("whk_well", models.WebhookAttempt{Answer: 200})
	code, out, _ := call(t, environ, "doctor")
	require.Equal(t, exitFailed, code)
	require.Regexp(t, `webhooks +failed +whk_down fails since 2026-03-02T09:00:00Z: the receiver answered 503 Service Unavailable; mend the receiver, `+
		`or coachline webhook change whk_down --state disabled; whk_gone is disabled since 2026-03-02T09:00:00Z by its receiver`, out)
	require.NotContains(t, out, "whk_well")
	require.NotContains(t, out, "hunter2")
	at = at.Add(25 * time.Hour) // the first event, which the other one waits for, is due again
	attempt("whk_down", models.WebhookAttempt{Answer: 200})
	require.NoError(t, rows.Webhooks.RemoveWebhook(t.Context(), "whk_gone", "user:kim", at))
	_, out, _ = call(t, environ, "doctor")
	require.Regexp(t, `webhooks +ok`, out)
}

// TestDoctorTellsOfLateAlerts: alerts that nothing was begun for, and pages that no
// receiver took where there is an address for them.
func TestDoctorTellsOfLateAlerts(t *testing.T) {
	rows, environ := doctorStore(t)
	at, now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), time.Now()
	alert := func(id string, raised time.Time, toldAt, acknowledgedAt *time.Time) models.Alert {
		return models.Alert{ID: id, Tier: "A", Pages: true, CreatedAt: raised, ToldAt: toldAt, AcknowledgedAt: acknowledgedAt}
	}
	add := func(alerts ...models.Alert) {
		require.NoError(t, rows.Database().Write(t.Context(), func(tx *gorm.DB) error { return tx.Create(&alerts).Error }))
	}
	add(alert("seen", at, &at, &at), alert("new", now, nil, nil))
	paging := append(environ, "COACH_ALERT_URL=https://pager.example.org/")
	_, out, _ := call(t, paging, "doctor")
	require.Regexp(t, `alerts +ok`, out)

	add(alert("unpaged", at, &at, nil))
	_, out, _ = call(t, environ, "doctor")
	require.Regexp(t, `alerts +warning +no person is paged in a crisis: set COACH_ALERT_URL`, out)
	_, out, _ = call(t, paging, "doctor")
	require.Regexp(t, `alerts +failed +1 alert, of 2026-03-02T09:00:00Z: the page was not taken`, out)

	add(alert("untold", at.Add(time.Hour), nil, nil))
	code, out, _ := call(t, environ, "doctor")
	require.Equal(t, exitFailed, code)
	require.Regexp(t, `alerts +failed +1 alert, of 2026-03-02T10:00:00Z: neither safety text nor page was begun`, out)
}

// TestDoctorTellsOfCountriesWithoutNumbers: people there read of no number to call.
func TestDoctorTellsOfCountriesWithoutNumbers(t *testing.T) {
	rows, environ := doctorStore(t)
	for id, phone := range map[string]string{"ada": "+12025550123", "ola": "+48512345678", "jan": "+48512345679", "leo": "+39312345678"} {
		_, err := rows.People.Enroll(t.Context(), models.Participant{ID: id, Phone: phone, Locale: "en", Timezone: "UTC", EnrolledAt: time.Now()}, "kim")
		require.NoError(t, err)
	}
	_, out, _ := call(t, environ, "doctor")
	require.Regexp(t, `helplines +warning +no numbers for people in danger in IT \(1\), PL \(2\): they read`, out)
	path := filepath.Join(t.TempDir(), "helplines.tsv")
	require.NoError(t, os.WriteFile(path, []byte("PL\temergency\t112\t\t\thttps://www.gov.pl\t2026-11-25\nIT\temergency\t112\t\t\thttps://112.gov.it\t2026-11-25\n"), 0o600))
	_, out, _ = call(t, append(environ, "COACH_HELPLINES_FILE="+path), "doctor")
	require.Regexp(t, `helplines +ok`, out)
}

// TestDoctorTellsOfSenders: people whose networks block the sender's country, and hours that
// the carrier's Compliance Toolkit would change.
func TestDoctorTellsOfSenders(t *testing.T) {
	rows, environ := doctorStore(t)
	for id, phone := range map[string]string{"ada": "+12025550123", "bob": "+447700900123", "ann": "+353851234567", "leo": "+39312345678"} {
		_, err := rows.People.Enroll(t.Context(), models.Participant{ID: id, Phone: phone, Locale: "en", Timezone: "UTC", EnrolledAt: time.Now()}, "kim")
		require.NoError(t, err)
	}
	environ = append(environ, "TWILIO_FROM=+15017122661")
	_, out, _ := call(t, environ, "doctor")
	require.Regexp(t, `senders +warning +1 people in GB, whose networks block senders of US.*; 1 people in IE`, out)
	require.NotContains(t, out, "Compliance Toolkit")
	night := `{"quiet_hours":"off"}`
	_, err := rows.Studies.ChangeStudy(t.Context(), models.StudyUpdate{ID: models.DefaultStudy, Actor: "kim", Now: time.Now(), Patch: models.StudyPatch{Settings: &night}})
	require.NoError(t, err)
	_, out, _ = call(t, append(environ, "COACH_QUIET_HOURS=22:00-08:00"), "doctor")
	require.Contains(t, out, "(COACH_QUIET_HOURS, default): Twilio's Compliance Toolkit")
}
