package activities

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent"
	"coachline/internal/segments"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

// While a crisis is open, HELP begins with the safety text, which says that the team is
// told only where it is, and the confirmation of a STOP has the emergency numbers.
func TestAnswersInACrisis(t *testing.T) {
	library, err := prompts.Load("")
	require.NoError(t, err)
	turns := &TurnLoader{Prompts: library, Programme: "Steps"}
	calm := models.TurnContext{Participant: models.Participant{Locale: "en-US"}}
	crisis := models.TurnContext{Participant: models.Participant{Locale: "en-US", Attention: wire.AttentionCrisis}}
	answer := func(kind wire.TurnKind, turn models.TurnContext) string {
		text, err := turns.answerText(kind, turn)
		require.NoError(t, err)
		return text
	}
	for _, turn := range []models.TurnContext{calm, crisis} {
		require.Contains(t, answer(wire.TurnHelp, turn), "In danger? Call 911.")
	}
	require.NotContains(t, answer(wire.TurnHelp, calm), "In danger now?")
	require.Regexp(t, `(?s)no person may read this soon.*988.*automated habit coach`, answer(wire.TurnHelp, crisis))
	violence := crisis
	violence.Safety = models.SafetyViolence
	require.NotContains(t, answer(wire.TurnHelp, violence), "988", "another may read the phone")
	turns.AlertsTeam = true
	require.Regexp(t, `(?s)is being told.*988.*automated habit coach`, answer(wire.TurnHelp, crisis))

	calm.Participant.Status, crisis.Participant.Status = wire.StatusOptedOut, wire.StatusOptedOut
	require.NotContains(t, answer(wire.TurnConsent, calm), "988")
	require.Contains(t, answer(wire.TurnConsent, crisis), "988")
	require.Contains(t, answer(wire.TurnConsent, crisis), "START")
	require.NotContains(t, answer(wire.TurnConsent, crisis), "is being told", "the numbers are enough where all is to end")
}

// A prompt without a model is made of what the profile says; where it says nothing of the
// habit, it is the fixed one.
func TestPromptWithoutAModel(t *testing.T) {
	library, err := prompts.Load("")
	require.NoError(t, err)
	turns := &TurnLoader{Prompts: library}
	in := wire.PersistTurnInput{Plan: wire.TurnPlan{Kind: wire.TurnPrompt}}
	prompt := func(locale string, p models.Profile) string {
		text, err := turns.fallbackText(in, models.TurnContext{Participant: models.Participant{Locale: locale}, Profile: p})
		require.NoError(t, err)
		return text
	}
	fixed := prompt("en", models.Profile{})
	for field, p := range map[string]models.Profile{
		"anchor": {HabitTexts: models.HabitTexts{PromptAnchor: "coffee"}}, "domain": {HabitTexts: models.HabitTexts{HabitDomain: "walking"}},
		"frame": {HabitTexts: models.HabitTexts{MotivationalFrame: "to feel awake"}},
	} {
		require.Equal(t, agent.HabitFallback(p), prompt("en", p), field)
		require.NotEqual(t, fixed, prompt("en", p), field)
		require.Equal(t, prompt("de", models.Profile{}), prompt("de", p), "a sentence is made in English only: "+field)
	}
}

// The closing of a reply is never cut off: it stands in the same text where both fit, and
// by itself where the reply is too long.
func TestClosingIsNeverCutOff(t *testing.T) {
	const closing = "Reply STOP to opt out."
	whole, parts := replyText{text: "Walk today.", closing: closing}.splitParts(wire.ChannelSMS)
	require.Equal(t, "Walk today.\n\n"+closing, whole)
	require.Equal(t, []string{whole}, parts.Texts)
	whole, parts = replyText{text: strings.Repeat("Walk a little further today. ", 400), closing: closing}.splitParts(wire.ChannelSMS)
	require.Positive(t, parts.LeftOut)
	require.Len(t, parts.Texts, segments.MaxParts)
	require.Equal(t, closing, parts.Texts[segments.MaxParts-1])
	require.Equal(t, strings.Join(parts.Texts, "\n"), whole)
}

// What a turn has sent before its final text counts as said when all its parts are out; a
// part that never left is named, so that it can be ended.
func TestWhatATurnHasSaid(t *testing.T) {
	out := time.Unix(1, 0)
	accepted, unknown := models.Outbox{ID: "a", Body: "One ", AcceptedAt: &out}, models.Outbox{ID: "u", Body: "moment.", Status: wire.OutboxUnknown}
	ready, failed := models.Outbox{ID: "r", Body: "moment.", Status: wire.OutboxReady}, models.Outbox{ID: "f", Body: "moment.", Status: wire.OutboxFailed}
	for _, c := range []struct {
		rows        []models.Outbox
		said, ready []string
	}{
		{nil, nil, nil},
		{[]models.Outbox{accepted, unknown}, []string{"onemoment"}, nil},
		{[]models.Outbox{accepted, ready}, nil, []string{"r"}},
		{[]models.Outbox{failed, accepted}, nil, nil},
	} {
		var earlier earlierTexts
		earlier.addParts(c.rows)
		require.Equal(t, c.said, earlier.sent)
		require.Equal(t, c.ready, earlier.ready)
		last := replyText{text: "One moment!"}
		require.Equal(t, c.said != nil, earlier.makesRedundant(last, wire.ChannelSMS))
		require.False(t, earlier.makesRedundant(replyText{text: "Walk after lunch, ten minutes."}, wire.ChannelSMS))
	}
}

// What we start names the programme after seven days of silence, and the first prompt of
// each 30 days says how to end the texts; replies never do.
func TestPromptNamesItsSender(t *testing.T) {
	const day = 24 * time.Hour
	at := time.Date(2026, 6, 1, 8, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name          string
		heard, last   time.Duration // before now; 0: never
		enrolled      time.Duration
		kind          wire.TurnKind
		named, saysIt bool
	}{
		{"after silence", 7 * day, day, 20 * day, wire.TurnPrompt, true, false},
		{"never heard", 0, day, 8 * day, wire.TurnPrompt, true, false},
		{"heard lately", 6 * day, day, 20 * day, wire.TurnPrompt, false, false},
		{"first of a month", day, 2 * day, 31 * day, wire.TurnPrompt, false, true},
		{"second of a month", day, day, 32 * day, wire.TurnPrompt, false, false},
		{"the next month", day, 40 * day, 95 * day, wire.TurnPrompt, false, true},
		{"a reply", 7 * day, 2 * day, 31 * day, wire.TurnReply, false, false},
		{"a check-in", 8 * day, 2 * day, 31 * day, wire.TurnCheckIn, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := models.Participant{ID: "p1", EnrolledAt: at.Add(-tt.enrolled)}
			if tt.heard > 0 {
				heard := at.Add(-tt.heard)
				p.LastInboundAt = &heard
			}
			library, err := prompts.Load("")
			require.NoError(t, err)
			sent := at.Add(-tt.last)
			loader := &TurnLoader{Prompts: library, Programme: "Steps", Store: pastPrompts{past: []models.PastPrompt{{Prompt: models.Prompt{SentAt: &sent}}}}}
			in := wire.PersistTurnInput{Plan: wire.TurnPlan{Kind: tt.kind}, Source: wire.SourceFallback, Now: at}
			words, err := loader.findText(t.Context(), in, models.TurnContext{Participant: p})
			require.NoError(t, err)
			require.Equal(t, tt.named, strings.HasPrefix(words.text, "Steps: "), words.text)
			require.Equal(t, tt.saysIt, strings.Contains(words.closing, "STOP"), words.closing)
		})
	}
}

// pastPrompts are the last prompts of a person, the newest first.
type pastPrompts struct {
	Turns
	past []models.PastPrompt
}

func (p pastPrompts) RecentPrompts(context.Context, string) ([]models.PastPrompt, error) {
	return p.past, nil
}

func (p pastPrompts) LastDisclosure(context.Context, string) (time.Time, error) {
	return time.Time{}, nil
}

// A name that reads as a keyword is left out of the greeting.
func TestGreetingByName(t *testing.T) {
	library, err := prompts.Load("")
	require.NoError(t, err)
	turns := &TurnLoader{Prompts: library, Programme: "Steps"}
	for name, want := range map[string]string{"Ada": "Hi Ada, this is Steps", "STOP": "Hi, this is Steps", "Stop.": "Hi, this is Steps", "Help": "Hi, this is Steps"} {
		text, err := turns.fixedText(prompts.GreetingFallback, models.TurnContext{Participant: models.Participant{PersonTexts: models.PersonTexts[string]{Name: name}}})
		require.NoError(t, err)
		require.Contains(t, text, want)
	}
	notices := &NoticeActivities{Prompts: library, Programme: "Steps"}
	for name, isCalled := range map[string]bool{"Ada": true, "Stop Smith": false} {
		reader := models.Participant{PersonTexts: models.PersonTexts[string]{Name: name}}
		text, err := notices.render(prompts.AskSamePerson, reader, prompts.FixedData{})
		require.NoError(t, err)
		require.Equal(t, isCalled, strings.Contains(text, reader.FirstName()), text)
	}
}

// A closing in GSM-7 is a text of its own where the text before it is UCS-2.
func TestClosingStandsApart(t *testing.T) {
	const closing = "Steps: mensajes automatizados. Responde STOP para terminar, HELP para ayuda."
	for text, want := range map[string]int{"Hola Ada, soy Steps.": 1, "Hola José, soy Steps.": 1, "Hola María, soy Steps. ¿Qué pequeño hábito?": 2} {
		_, parts := replyText{text: text, closing: closing}.splitParts(wire.ChannelSMS)
		require.Len(t, parts.Texts, want)
		if want == 2 {
			require.Equal(t, []string{text, closing}, parts.Texts)
		}
	}
}

// A person who wrote after an interim text waits for an answer, which thanks are not.
func TestPersonWroteSinceAnInterimText(t *testing.T) {
	own := func(role models.Role) models.Message { return models.Message{TurnID: "t1", Role: role} }
	for name, tt := range map[string]struct {
		window []models.Message
		want   bool
	}{
		"a text":               {[]models.Message{own(models.RoleUser)}, false},
		"answered":             {[]models.Message{own(models.RoleUser), own(models.RoleAssistant)}, false},
		"and written again":    {[]models.Message{own(models.RoleUser), own(models.RoleAssistant), own(models.RoleUser)}, true},
		"the answer of before": {[]models.Message{{TurnID: "t0", Role: models.RoleAssistant}, own(models.RoleUser)}, false},
	} {
		turn := models.TurnContext{Turn: models.Turn{ID: "t1"}, Window: tt.window}
		got, err := (&TurnLoader{}).loadAsides(t.Context(), turn)
		require.NoError(t, err)
		require.Equal(t, tt.want, got.overtaken, name)
		got.sent = []string{"onemoment"}
		require.Equal(t, !tt.want, got.makesRedundant(replyText{text: "Great, talk soon!"}, wire.ChannelSMS), name)
	}
}

// What is sent of a turn: a row for each part with the id of its place, the time after which
// it is of no use, and the whole text once in the conversation.
func TestRowsOfAText(t *testing.T) {
	until := time.Unix(9, 0)
	in := wire.PersistTurnInput{ParticipantID: "conv_1", TurnID: "conv_1-t1", Plan: wire.TurnPlan{Kind: wire.TurnPrompt, PromptID: "p1", Until: until}}
	text := strings.Repeat("Walk a little further today. ", 20)
	var out finishedTurn
	out.addText(in, replyText{text: text, outboxID: "first"}, wire.ChannelSMS)
	require.Len(t, out.Outbox, 2)
	require.Equal(t, []string{"first", models.OutboxID("conv_1-t1", 2)}, []string{out.Outbox[0].ID, out.Outbox[1].ID})
	for i, row := range out.Outbox {
		require.Equal(t, []any{i + 1, "p1", &until}, []any{row.Part, row.PromptID, row.SendBefore})
	}
	require.Len(t, out.Entries, 1)
	require.Equal(t, out.Entries[0].Text, out.HabitPrompt)

	var reply finishedTurn
	in.Plan = wire.TurnPlan{Kind: wire.TurnReply}
	reply.addText(in, replyText{text: "Yes.", outboxID: "first"}, wire.ChannelSMS)
	require.Empty(t, reply.HabitPrompt)
	require.Nil(t, reply.Outbox[0].SendBefore)
	var silent finishedTurn
	silent.addText(in, replyText{}, wire.ChannelSMS)
	require.Empty(t, silent.Outbox)
}

// The debug text is for testers who asked for it, and not where no carrier is.
func TestDebugTextIsForTesters(t *testing.T) {
	for _, tt := range []struct {
		tester, debug bool
		channel       wire.Channel
		want          bool
	}{{true, true, wire.ChannelSMS, true}, {true, true, wire.ChannelChat, false}, {false, true, wire.ChannelSMS, false}, {true, false, wire.ChannelSMS, false}} {
		turn := models.TurnContext{Turn: models.Turn{Channel: tt.channel}, Participant: models.Participant{Tester: tt.tester, Debug: tt.debug}}
		require.Equal(t, tt.want, (&TurnLoader{}).debugText(wire.PersistTurnInput{Mode: wire.ModeIntake}, turn) != "", tt)
	}
}

// A channel bounds the calls of a turn below the programme's limit.
func TestChannelBoundsCalls(t *testing.T) {
	limits := func(programme int, channel wire.Channel) int {
		return (&TurnLoader{Limits: wire.Limits{ToolCalls: programme}}).channelLimits(wire.PrepareTurnInput{Channel: channel}).ToolCalls
	}
	require.Equal(t, []int{8, 3, 2}, []int{limits(8, wire.ChannelSMS), limits(8, wire.ChannelChat), limits(2, wire.ChannelChat)})
}
