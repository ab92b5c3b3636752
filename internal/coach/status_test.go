package coach

import (
	"testing"
	"time"

	"coachline/models"
	"coachline/models/wire"

	"github.com/stretchr/testify/require"
)

func TestStatusChange(t *testing.T) {
	allowed := map[wire.Status][]wire.Status{
		wire.StatusActive:    {wire.StatusActive, wire.StatusPaused, wire.StatusCompleted, wire.StatusWithdrawn, wire.StatusOptedOut},
		wire.StatusPaused:    {wire.StatusActive, wire.StatusPaused, wire.StatusCompleted, wire.StatusWithdrawn, wire.StatusOptedOut},
		wire.StatusCompleted: {wire.StatusCompleted, wire.StatusWithdrawn, wire.StatusOptedOut},
		wire.StatusWithdrawn: {wire.StatusCompleted, wire.StatusWithdrawn, wire.StatusOptedOut},
		wire.StatusOptedOut:  {wire.StatusCompleted, wire.StatusWithdrawn, wire.StatusOptedOut},
	}
	for _, from := range wire.Statuses() {
		for _, to := range wire.Statuses() {
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
	require.ErrorContains(t, StatusChange(wire.StatusOptedOut, wire.StatusActive), "only the participant can come back")
	require.ErrorContains(t, StatusChange(wire.StatusActive, "asleep"), "active, paused, completed, withdrawn, opted_out")
	require.Error(t, StatusChange("", wire.StatusActive))
}

func TestPause(t *testing.T) {
	got := decide(t, everything(at(t, noon)), wire.Event{Kind: wire.EventStatus, Status: wire.StatusPaused})
	require.Equal(t, []wire.Effect{
		setStatus(wire.StatusPaused), clearDue(wire.DueDebounce), clearDue(wire.DueDailyPrompt), clearDue(wire.DueReminder),
		clearDue(wire.DueAutoFeedback), clearDue(wire.DueFeedbackTimeout), clearDue(wire.DueFeedbackFollowup),
		clearDue(wire.DueCheckIn), clearDue(wire.DueGreeting),
	}, got.Effects, "a delayed transition stays")

	got = decide(t, waiting(at(t, noon), 0), wire.Event{Kind: wire.EventStatus, Status: wire.StatusPaused})
	require.Equal(t, []wire.Effect{setStatus(wire.StatusPaused), turn(wire.TurnPlan{Kind: wire.TurnMessage})}, got.Effects,
		"a burst under way is stored")
}

func TestPauseUntil(t *testing.T) {
	s := everything(at(t, noon))
	until := s.Now.Add(100 * time.Hour)
	plain := decide(t, s, wire.Event{Kind: wire.EventStatus, Status: wire.StatusPaused})
	got := decide(t, s, wire.Event{Kind: wire.EventPaused, At: until})
	end := wire.Due{Kind: wire.DuePauseEnd, At: until.UTC()}
	require.Equal(t, append([]wire.Effect{clearDue(wire.DuePauseEnd), {Kind: wire.EffectSetDue, Due: end}}, plain.Effects...), got.Effects,
		"an end that was set before is replaced")
	require.Equal(t, append([]wire.Effect{clearDue(wire.DuePauseEnd)}, plain.Effects...), decide(t, s, wire.Event{Kind: wire.EventPaused}).Effects)

	s.State.Status, s.State.Due = wire.StatusPaused, []wire.Due{end}
	require.Empty(t, decide(t, s, wire.Event{Kind: wire.EventStatus, Status: wire.StatusPaused}).Effects, "another change of the row leaves the end")
	require.Contains(t, decide(t, s, wire.Event{Kind: wire.EventStatus, Status: wire.StatusActive}).Effects, clearDue(wire.DuePauseEnd))
	require.Empty(t, decide(t, s, wire.Event{Kind: wire.EventDue, Due: end}).Effects, "the tables end it")
}

func TestResume(t *testing.T) {
	s := withSlot(t, "2026-01-20T13:00:00-05:00", fixedAt("12:00"), "2026-01-15T00:00:00-05:00")
	s.State.Status = wire.StatusPaused
	had := s.State.Schedules[0]
	had.ID, had.At, had.LastDate = "s2", "18:00", "2026-01-20"
	s.State.Schedules = append(s.State.Schedules, had)
	got := decide(t, waiting(s, 0), wire.Event{Kind: wire.EventStatus, Status: wire.StatusActive})

	require.Len(t, got.Effects, 5, "no catching up, nothing is answered")
	require.Equal(t, setStatus(wire.StatusActive), got.Effects[0])
	require.Equal(t, "2026-01-21", got.Effects[1].Schedule.Next.Date, "today's slot has passed")
	require.Equal(t, setDue(wire.DueDailyPrompt, "s1", instant(t, "2026-01-21T11:50:00-05:00")), got.Effects[2])
	require.Equal(t, "2026-01-21", got.Effects[3].Schedule.Next.Date, "today had its prompt")
	require.Equal(t, "2026-01-20", got.Effects[3].Schedule.LastDate)
	require.Equal(t, setDue(wire.DueDailyPrompt, "s2", instant(t, "2026-01-21T17:50:00-05:00")), got.Effects[4])
}

func TestLeaving(t *testing.T) {
	for _, status := range []wire.Status{wire.StatusCompleted, wire.StatusWithdrawn, wire.StatusOptedOut} {
		want := []wire.Effect{setStatus(status)}
		for _, kind := range everyDue() {
			want = append(want, clearDue(kind))
		}
		want = append(want, clearPending)
		require.Equal(t, want, decide(t, everything(at(t, noon)), wire.Event{Kind: wire.EventStatus, Status: status}).Effects)
	}
}

func TestConsent(t *testing.T) {
	told := turn(wire.TurnPlan{Kind: wire.TurnConsent})
	stop := wire.Event{Kind: wire.EventStatus, Status: wire.StatusOptedOut, Confirm: true}
	got := decide(t, waiting(at(t, noon), 0), stop)
	require.Equal(t, []wire.Effect{setStatus(wire.StatusOptedOut), told}, got.Effects, "the burst goes along")
	stop.Confirm = false
	got = decide(t, waiting(at(t, noon), 0), stop)
	require.Equal(t, []wire.Effect{setStatus(wire.StatusOptedOut), turn(wire.TurnPlan{Kind: wire.TurnMessage})}, got.Effects)

	s := withSlot(t, noon, fixedAt("12:00"), "2026-01-15T00:00:00-05:00")
	s.State.Status = wire.StatusOptedOut
	start := wire.Event{Kind: wire.EventStatus, Status: wire.StatusActive, Confirm: true}
	got = decide(t, s, start)
	require.Len(t, got.Effects, 4)
	require.Equal(t, setStatus(wire.StatusActive), got.Effects[0])
	require.Equal(t, setDue(wire.DueDailyPrompt, "s1", instant(t, "2026-01-16T11:50:00-05:00")), got.Effects[2], "the next slot only")
	require.Equal(t, told, got.Effects[3])

	s.State.Status = wire.StatusActive
	require.Equal(t, []wire.Effect{told}, decide(t, s, start).Effects, "both were told late")
}

func TestHelpAndGreeting(t *testing.T) {
	s := at(t, noon)
	for event, kind := range map[wire.EventKind]wire.TurnKind{wire.EventHelp: wire.TurnHelp, wire.EventEnrolled: wire.TurnGreeting} {
		s.State.Status = wire.StatusPaused
		require.Equal(t, []wire.Effect{turn(wire.TurnPlan{Kind: kind})}, decide(t, s, wire.Event{Kind: event}).Effects)
		s.State.Status = wire.StatusOptedOut
		require.Empty(t, decide(t, s, wire.Event{Kind: event}).Effects)
	}
}

func TestStatusThatChangesNothing(t *testing.T) {
	s := everything(at(t, noon))
	require.Equal(t, wire.Decision{}, decide(t, s, wire.Event{Kind: wire.EventStatus, Status: wire.StatusActive}))
	got := decide(t, s, wire.Event{Kind: wire.EventStatus, Status: "asleep"})
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
	move := func(zone string) wire.Decision {
		return decide(t, s, wire.Event{Kind: wire.EventZone, Zone: zone})
	}

	got := move("America/Los_Angeles")
	require.Len(t, got.Effects, 5, "a schedule with a zone of its own stays")
	require.Equal(t, wire.Effect{Kind: wire.EffectSetZone, Zone: "America/Los_Angeles"}, got.Effects[0])
	require.Equal(t, setDue(wire.DueDailyPrompt, "s1", instant(t, "2026-01-15T12:50:00-08:00")), got.Effects[2])
	require.Equal(t, "s3", got.Effects[3].Schedule.ID)
	require.Equal(t, setDue(wire.DueDailyPrompt, "s3", instant(t, "2026-01-16T12:50:00-08:00")), got.Effects[4],
		"the local date that had its prompt gets no second one")

	s.State.Status = wire.StatusPaused
	got = move("America/Los_Angeles")
	require.Len(t, got.Effects, 3, "held while paused")
	require.Equal(t, wire.EffectPutSchedule, got.Effects[2].Kind)

	require.Equal(t, wire.Decision{}, move(home))
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
		got := decide(t, s, wire.Event{Kind: wire.EventZone, Zone: c.zone})
		require.Equal(t, instant(t, c.want), got.Effects[1].Schedule.Next.TargetAt)
	}
}
