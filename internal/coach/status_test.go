package coach

import (
	"testing"
	"time"

	"coachline/models"

	"github.com/stretchr/testify/require"
)

func TestStatusChange(t *testing.T) {
	allowed := map[models.Status][]models.Status{
		models.StatusActive:    {models.StatusActive, models.StatusPaused, models.StatusCompleted, models.StatusWithdrawn, models.StatusOptedOut},
		models.StatusPaused:    {models.StatusActive, models.StatusPaused, models.StatusCompleted, models.StatusWithdrawn, models.StatusOptedOut},
		models.StatusCompleted: {models.StatusCompleted, models.StatusWithdrawn, models.StatusOptedOut},
		models.StatusWithdrawn: {models.StatusCompleted, models.StatusWithdrawn, models.StatusOptedOut},
		models.StatusOptedOut:  {models.StatusCompleted, models.StatusWithdrawn, models.StatusOptedOut},
	}
	for _, from := range models.Statuses() {
		for _, to := range models.Statuses() {
			err := StatusChange(from, to)
			ok := false
			for _, status := range allowed[from] {
				ok = ok || status == to
			}
			if ok {
				require.NoError(t, err, "%s to %s", from, to)
				continue
			}
			var field *models.FieldError
			require.ErrorAs(t, err, &field, "%s to %s", from, to)
			require.Equal(t, "status", field.Field)
		}
	}
	require.ErrorContains(t, StatusChange(models.StatusOptedOut, models.StatusActive), "only the participant can come back")
	require.ErrorContains(t, StatusChange(models.StatusActive, "asleep"), "active, paused, completed, withdrawn, opted_out")
	require.Error(t, StatusChange("", models.StatusActive))
}

func TestPause(t *testing.T) {
	got := decide(t, everything(at(t, noon)), models.Event{Kind: models.EventStatus, Status: models.StatusPaused})
	require.Equal(t, []models.Effect{
		setStatus(models.StatusPaused), clearDue(models.DueDebounce), clearDue(models.DueDailyPrompt), clearDue(models.DueReminder),
		clearDue(models.DueAutoFeedback), clearDue(models.DueFeedbackTimeout), clearDue(models.DueFeedbackFollowup),
		clearDue(models.DueCheckIn), clearDue(models.DueGreeting),
	}, got.Effects, "a delayed transition stays")

	got = decide(t, waiting(at(t, noon), 0), models.Event{Kind: models.EventStatus, Status: models.StatusPaused})
	require.Equal(t, []models.Effect{setStatus(models.StatusPaused), turn(models.TurnPlan{Kind: models.TurnMessage})}, got.Effects,
		"a burst under way is stored")
}

func TestPauseUntil(t *testing.T) {
	s := everything(at(t, noon))
	until := s.Now.Add(100 * time.Hour)
	plain := decide(t, s, models.Event{Kind: models.EventStatus, Status: models.StatusPaused})
	got := decide(t, s, models.Event{Kind: models.EventPaused, At: until})
	end := models.Due{Kind: models.DuePauseEnd, At: until.UTC()}
	require.Equal(t, append([]models.Effect{clearDue(models.DuePauseEnd), {Kind: models.EffectSetDue, Due: end}}, plain.Effects...), got.Effects,
		"an end that was set before is replaced")
	require.Equal(t, append([]models.Effect{clearDue(models.DuePauseEnd)}, plain.Effects...), decide(t, s, models.Event{Kind: models.EventPaused}).Effects)

	s.State.Status, s.State.Due = models.StatusPaused, []models.Due{end}
	require.Empty(t, decide(t, s, models.Event{Kind: models.EventStatus, Status: models.StatusPaused}).Effects, "another change of the row leaves the end")
	require.Contains(t, decide(t, s, models.Event{Kind: models.EventStatus, Status: models.StatusActive}).Effects, clearDue(models.DuePauseEnd))
	require.Empty(t, decide(t, s, models.Event{Kind: models.EventDue, Due: end}).Effects, "the tables end it")
}

func TestResume(t *testing.T) {
	s := withSlot(t, "2026-01-20T13:00:00-05:00", fixedAt("12:00"), "2026-01-15T00:00:00-05:00")
	s.State.Status = models.StatusPaused
	had := s.State.Schedules[0]
	had.ID, had.At, had.LastDate = "s2", "18:00", "2026-01-20"
	s.State.Schedules = append(s.State.Schedules, had)
	got := decide(t, waiting(s, 0), models.Event{Kind: models.EventStatus, Status: models.StatusActive})

	require.Len(t, got.Effects, 5, "no catching up, nothing is answered")
	require.Equal(t, setStatus(models.StatusActive), got.Effects[0])
	require.Equal(t, "2026-01-21", got.Effects[1].Schedule.Next.Date, "today's slot has passed")
	require.Equal(t, setDue(models.DueDailyPrompt, "s1", instant(t, "2026-01-21T11:50:00-05:00")), got.Effects[2])
	require.Equal(t, "2026-01-21", got.Effects[3].Schedule.Next.Date, "today had its prompt")
	require.Equal(t, "2026-01-20", got.Effects[3].Schedule.LastDate)
	require.Equal(t, setDue(models.DueDailyPrompt, "s2", instant(t, "2026-01-21T17:50:00-05:00")), got.Effects[4])
}

func TestLeaving(t *testing.T) {
	for _, status := range []models.Status{models.StatusCompleted, models.StatusWithdrawn, models.StatusOptedOut} {
		want := []models.Effect{setStatus(status)}
		for _, kind := range everyDue() {
			want = append(want, clearDue(kind))
		}
		want = append(want, clearPending)
		require.Equal(t, want, decide(t, everything(at(t, noon)), models.Event{Kind: models.EventStatus, Status: status}).Effects)
	}
}

func TestConsent(t *testing.T) {
	told := turn(models.TurnPlan{Kind: models.TurnConsent})
	stop := models.Event{Kind: models.EventStatus, Status: models.StatusOptedOut, Confirm: true}
	got := decide(t, waiting(at(t, noon), 0), stop)
	require.Equal(t, []models.Effect{setStatus(models.StatusOptedOut), told}, got.Effects, "the burst goes along")
	stop.Confirm = false
	got = decide(t, waiting(at(t, noon), 0), stop)
	require.Equal(t, []models.Effect{setStatus(models.StatusOptedOut), turn(models.TurnPlan{Kind: models.TurnMessage})}, got.Effects)

	s := withSlot(t, noon, fixedAt("12:00"), "2026-01-15T00:00:00-05:00")
	s.State.Status = models.StatusOptedOut
	start := models.Event{Kind: models.EventStatus, Status: models.StatusActive, Confirm: true}
	got = decide(t, s, start)
	require.Len(t, got.Effects, 4)
	require.Equal(t, setStatus(models.StatusActive), got.Effects[0])
	require.Equal(t, setDue(models.DueDailyPrompt, "s1", instant(t, "2026-01-16T11:50:00-05:00")), got.Effects[2], "the next slot only")
	require.Equal(t, told, got.Effects[3])

	s.State.Status = models.StatusActive
	require.Equal(t, []models.Effect{told}, decide(t, s, start).Effects, "both were told late")
}

func TestHelpAndGreeting(t *testing.T) {
	s := at(t, noon)
	for event, kind := range map[models.EventKind]models.TurnKind{models.EventHelp: models.TurnHelp, models.EventEnrolled: models.TurnGreeting} {
		s.State.Status = models.StatusPaused
		require.Equal(t, []models.Effect{turn(models.TurnPlan{Kind: kind})}, decide(t, s, models.Event{Kind: event}).Effects)
		s.State.Status = models.StatusOptedOut
		require.Empty(t, decide(t, s, models.Event{Kind: event}).Effects)
	}
}

func TestStatusThatChangesNothing(t *testing.T) {
	s := everything(at(t, noon))
	require.Equal(t, models.Decision{}, decide(t, s, models.Event{Kind: models.EventStatus, Status: models.StatusActive}))
	got := decide(t, s, models.Event{Kind: models.EventStatus, Status: "asleep"})
	require.Empty(t, got.Effects)
	require.Contains(t, got.Refused, "asleep")
}

func TestMoveZone(t *testing.T) {
	s := withSlot(t, noon, fixedAt("13:00"), noon)
	own := fixedAt("13:00")
	own.ID, own.Zone = "s2", "Asia/Tokyo"
	had := s.State.Schedules[0]
	had.ID, had.LastDate = "s3", "2026-01-15"
	s.State.Schedules = append(s.State.Schedules, own, had)
	move := func(zone string) models.Decision {
		return decide(t, s, models.Event{Kind: models.EventZone, Zone: zone})
	}

	got := move("America/Los_Angeles")
	require.Len(t, got.Effects, 5, "a schedule with a zone of its own stays")
	require.Equal(t, models.Effect{Kind: models.EffectSetZone, Zone: "America/Los_Angeles"}, got.Effects[0])
	require.Equal(t, setDue(models.DueDailyPrompt, "s1", instant(t, "2026-01-15T12:50:00-08:00")), got.Effects[2])
	require.Equal(t, "s3", got.Effects[3].Schedule.ID)
	require.Equal(t, setDue(models.DueDailyPrompt, "s3", instant(t, "2026-01-16T12:50:00-08:00")), got.Effects[4],
		"the local date that had its prompt gets no second one")

	s.State.Status = models.StatusPaused
	got = move("America/Los_Angeles")
	require.Len(t, got.Effects, 3, "held while paused")
	require.Equal(t, models.EffectPutSchedule, got.Effects[2].Kind)

	require.Equal(t, models.Decision{}, move(home))
	for _, zone := range []string{"", "Local", "Mars/Olympus"} {
		got := move(zone)
		require.Contains(t, got.Refused, "IANA")
		require.Empty(t, got.Effects)
	}
}

// West over the date line and back: no local date gets two prompts.
func TestMoveZoneOverTheDateLine(t *testing.T) {
	s := withSlot(t, noon, fixedAt("12:00"), "2026-01-15T00:00:00-05:00")
	s.State.Schedules[0].LastDate = "2026-01-15"
	for _, c := range []struct{ zone, want string }{
		{"Pacific/Auckland", "2026-01-16T12:00:00+13:00"},
		{"Pacific/Pago_Pago", "2026-01-16T12:00:00-11:00"},
	} {
		got := decide(t, s, models.Event{Kind: models.EventZone, Zone: c.zone})
		require.Equal(t, instant(t, c.want), got.Effects[1].Schedule.Next.TargetAt)
	}
}
