package agent

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent/marks"
	"coachline/models"
	"coachline/models/wire"
)

// TestTextsCarryTheirTime: what the person wrote says when, and a short text which
// question of ours it answers, which is not always the newest one.
func TestTextsCarryTheirTime(t *testing.T) {
	at := func(hour, minute, second int) time.Time {
		return time.Date(2026, 11, 24, hour, minute, second, 0, time.UTC)
	}
	entry := func(id int64, turn string, role models.Role, kind models.EntryKind, when time.Time, text string) models.Message {
		return models.Message{ID: id, TurnID: turn, Role: role, Kind: kind, At: when, Text: text}
	}
	compose := func(now time.Time, window ...models.Message) []string {
		request, err := Compose(loadLibrary(t), Input{
			Context: models.TurnContext{Turn: models.Turn{ID: "p1-t9"}, Window: window}, Now: now, Zone: time.UTC, HistoryLimit: 30,
			Kind: wire.TurnReply, Programme: "Coachline",
		})
		require.NoError(t, err)
		var texts []string
		for _, m := range request.Messages[1:] {
			words, _, _ := strings.Cut(m.Content, marks.Notes)
			texts = append(texts, words)
		}
		return texts
	}
	asked := entry(2, "p1-t7", models.RoleAssistant, models.KindReply, at(7, 0, 5), "Good. Shall we keep the mornings?")
	prompt := entry(3, "p1-t8", models.RoleAssistant, models.KindPrompt, at(8, 0, 2), "After coffee, walk. Ready?")
	before := entry(1, "p1-t7", models.RoleUser, models.KindMessage, at(7, 0, 0), "see you tomorrow")

	require.Equal(t, []string{
		"[Tue 2026-11-24 07:00] see you tomorrow", "Good. Shall we keep the mornings?",
		`[Tue 2026-11-24 08:01, asked 08:00, to your question "Ready?"] yes`,
	}, compose(at(8, 1, 0), before, asked, prompt, entry(4, "p1-t9", models.RoleUser, models.KindMessage, at(8, 1, 0), "yes")))

	crossed := compose(at(8, 0, 3), before, asked, prompt, entry(4, "p1-t9", models.RoleUser, models.KindMessage, at(8, 0, 1), "yes"))
	require.Equal(t, `[Tue 2026-11-24 08:00, to your question "Shall we keep the mornings?"] yes`, crossed[2], "it was written before the prompt")

	late := compose(at(11, 0, 0), before, asked, prompt, entry(4, "p1-t9", models.RoleUser, models.KindMessage, at(8, 1, 0), "yes"))
	require.Equal(t, `[Tue 2026-11-24 08:01, asked 08:00, to your question "Ready?"] yes`, late[2], "it waited")

	long := compose(at(8, 1, 0), before, asked, prompt, entry(4, "p1-t9", models.RoleUser, models.KindMessage, at(8, 1, 0), "I walked to the river and back today"))
	require.Equal(t, "[Tue 2026-11-24 08:01, asked 08:00] I walked to the river and back today", long[2])
	own := compose(at(8, 1, 0), before, asked, entry(4, "p1-t9", models.RoleUser, models.KindMessage, at(8, 1, 0), "what?"))
	require.Equal(t, "[Tue 2026-11-24 08:01] what?", own[2])
	silent := compose(at(8, 1, 0).AddDate(0, 0, 2), before, asked, prompt, entry(4, "p1-t9", models.RoleAssistant, models.KindReminder, at(13, 0, 0), "A nudge."),
		entry(5, "p1-t10", models.RoleAssistant, models.KindPrompt, at(8, 0, 0).AddDate(0, 0, 1), "Walk."), entry(6, "p1-t11", models.RoleUser, models.KindMessage, at(8, 1, 0).AddDate(0, 0, 2), "I was away with the children and forgot"))
	require.Equal(t, "[asked from Tue 2026-11-24 to Wed 2026-11-25, no answer; Thu 2026-11-26 08:01] I was away with the children and forgot", silent[2])
}
