package agent

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/helplines"
	"coachline/models"
	"coachline/models/wire"
)

// One section while attention is open, before the clock; no other request
// differs.
func TestOpenAttentionIsOneSection(t *testing.T) {
	plain, err := Compose(loadLibrary(t), baseInput(t))
	require.NoError(t, err)
	in := baseInput(t)
	since := time.Date(2026, 11, 24, 13, 0, 0, 0, time.UTC)
	in.Context.Participant.Attention, in.Context.Participant.AttentionAt = wire.AttentionCrisis, &since
	open, err := Compose(loadLibrary(t), in)
	require.NoError(t, err)
	before, after := newest(plain), newest(open)
	require.NotContains(t, before, "may be a crisis")
	require.Equal(t, strings.Count(before, "\n")+3, strings.Count(after, "\n"))
	require.Contains(t, after, "\n# Safety\nOn Tue 2026-11-24 08:00 the person wrote something that may be a crisis. Nobody of the team has been told")
	require.Contains(t, after, "point to their local emergency number and people nearby")
	in.AlertsTeam, in.Lines = true, (*helplines.Table)(nil).Find("+4366412345678", "de-AT")
	told, err := Compose(loadLibrary(t), in)
	require.NoError(t, err)
	require.Contains(t, newest(told), "may be a crisis. A person of the team is being told")
	require.NotContains(t, newest(told), "Nobody of the team")
	require.Contains(t, newest(told), "point to 144 (in an emergency), 142 (to talk to someone) and people nearby")
	require.Less(t, strings.Index(after, "may be a crisis"), strings.Index(after, "# Now"))
}

// TestNumbersToCallMayBeSent: what the coach says in danger keeps its numbers.
func TestNumbersToCallMayBeSent(t *testing.T) {
	for _, phone := range []string{"+12025550123", "+447400123456", "+61412345678", "+4915112345678", "+32470123456", "+525512345678", "+5491123456789", "+351912345678"} {
		lines := (*helplines.Table)(nil).Find(phone, "fr")
		text := "Call now: " + strings.Join(lines.Numbers(), ", or ") + "."
		require.Equal(t, Screened{Text: text}, Screen(Outbound{Text: text, Phone: phone, Known: lines.Numbers()}))
	}
}

// Who asks for fewer messages or for other times in this turn is asked nothing by rule:
// the coach is told, where it can change the schedule.
func TestPartialRequestIsTold(t *testing.T) {
	for body, isTold := range map[string]bool{
		"please not at night": true, "weniger Nachrichten bitte": true, "walked at night": false,
	} {
		in := baseInput(t)
		earlier := userEntry(2, "no texts after 8pm pls")
		earlier.TurnID = "conv_1-t1"
		entry := userEntry(3, body)
		entry.TurnID = in.Context.Turn.ID
		in.Context.Window = []models.Message{earlier, entry}
		request, err := Compose(loadLibrary(t), in)
		require.NoError(t, err)
		require.Equal(t, isTold, strings.Contains(newest(request), "# Request\nThe person may want fewer messages"), body)
		in.Tools = nil
		request, err = Compose(loadLibrary(t), in)
		require.NoError(t, err)
		require.NotContains(t, newest(request), "# Request", "nothing can be changed")
	}
}

// TestMinorIsToldToModel: of a minor whom a study takes the model knows that breaks are due
// and no bonds.
func TestMinorIsToldToModel(t *testing.T) {
	for name, change := range map[string]func(*models.Participant){
		"said it": func(p *models.Participant) { p.Attention = wire.AttentionMinor }, "born lately": func(p *models.Participant) { p.BirthYear = "2012" },
	} {
		in := baseInput(t)
		change(&in.Context.Participant)
		request, err := Compose(loadLibrary(t), in)
		require.NoError(t, err)
		require.Contains(t, request.Messages[0].Content, "They are under 18: suggest breaks", name)
	}
	in := baseInput(t)
	in.Context.Participant.BirthYear = "1980"
	request, err := Compose(loadLibrary(t), in)
	require.NoError(t, err)
	require.NotContains(t, request.Messages[0].Content, "They are under 18")
}
