package activities

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/tools"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

// raisedAlerts keeps concerns; the urgent ones page.
type raisedAlerts struct{ asked []models.Concern }

func (a *raisedAlerts) ReportConcern(_ context.Context, c models.Concern) (models.Alert, error) {
	a.asked = append(a.asked, c)
	return models.Alert{Pages: c.IsUrgent, Safety: c.Safety()}, nil
}

// The result tells the model number and sentence, and of a person only where one is told.
func TestConcernTellsWhatToSay(t *testing.T) {
	library, err := prompts.Load("")
	require.NoError(t, err)
	registry, err := tools.New()
	require.NoError(t, err)
	report := func(arguments string, isPaged bool) tools.Execution {
		own := &ToolActivities{Alerts: &raisedAlerts{}, Prompts: library, Programme: "Steps", AlertsTeam: isPaged}
		out, err := registry.Run(t.Context(), tools.RunInput{
			Call: models.ToolCall{Name: "report_concern", Arguments: arguments}, TurnID: "t1",
			Concerns: concerns{tools: own, person: models.Participant{Phone: "+4915112345678", Locale: "de"}},
		})
		require.NoError(t, err)
		return out
	}
	now := `{"who":"self","what":"suicide","urgency":"now","reason":"will, house cleaned, calm"}`
	require.Contains(t, report(now, false).Result.Content, "vielleicht liest das so bald kein Mensch. In Gefahr? Ruf 112 an. Zum Reden: 0800 111 0 111 anrufen.")
	require.Contains(t, report(now, true).Result.Content, "Ein Mensch aus dem Team von Steps wird informiert")
	soon := report(`{"who":"another","what":"suicide","urgency":"soon"}`, true).Result.Content
	require.Contains(t, soon, "Ist die Person gerade in Sicherheit")
	require.NotContains(t, soon, "wird informiert")
	require.True(t, report(`{"who":"me","what":"suicide","urgency":"now"}`, true).Result.Failed)
}

// After a report the person is sent a number to call, also where the model wrote none.
func TestNoReplyLacksTheNumbers(t *testing.T) {
	content, err := json.Marshal(map[string]any{"ok": true, "sentence": "Call 911.", "numbers": []string{"911", "988"}})
	require.NoError(t, err)
	stored, err := json.Marshal(models.ToolResult{Name: models.ToolReportConcern, Content: string(content)})
	require.NoError(t, err)
	runs := []models.ToolRun{{Name: models.ToolReportConcern, Result: string(stored)}}
	for _, c := range []struct {
		source       wire.TextSource
		text         string
		runs         []models.ToolRun
		said, closes string
	}{
		{wire.SourceStep, "I hear you. Please call 988.", runs, "I hear you. Please call 988.", ""},
		{wire.SourceStep, "I hear you.", runs, "I hear you.", "Call 911."},
		{wire.SourceFallback, "Sorry, I could not answer.", runs, "Call 911.", ""},
		{wire.SourceSilent, "", runs, "Call 911.", ""},
		{wire.SourceStep, "Well done.", nil, "Well done.", ""},
	} {
		s := replyText{text: c.text}
		s.addSafety(c.source, c.runs)
		require.Equal(t, replyText{text: c.said, closing: c.closes}, s)
	}
}
