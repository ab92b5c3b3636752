package sizes

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"coachline/models"
	"coachline/models/wire"
)

// enrolled is the evening on which the person comes.
var enrolled = time.Date(2026, 3, 2, 19, 0, 0, 0, time.UTC)

// windowEntries is how many entries of a conversation a turn is loaded with.
const windowEntries = 120

// person is someone whose days are made up, and the conversation with them.
type person struct {
	id        string
	person    models.Participant
	profile   models.Profile
	schedules []models.ScheduleRow
	prompt    *models.Prompt
	window    []models.Message
	turn      int
	at        time.Time
	zone      *time.Location
}

// answers are what the person says of the days, one after the other; an empty one is
// silence.
var answers = []struct{ text, field, value, reply string }{
	{"did it! walked around the block", "last_successful_prompt", "After you put the cup down, walk to the corner and back; you feel awake for the kids.", "Around the block, and before work. What made it easy to begin?"},
	{"no, it was raining", "last_barrier", "rain", "Rain makes that hard. What could you do on a wet morning instead?"},
	{"", "", "", ""},
	{"stairs at home, two minutes", "last_tweak", "stairs when it rains", "Stairs on a wet day, that is your own idea. Shall it be the plan for rain?"},
	{"done", "last_motivator", "the shoes stand by the door", "Done again, that is three this week. What helped?"},
	{"not today, the kids were ill", "last_barrier", "ill kids", "That sounds like a short night. Would half the way be right for tomorrow?"},
}

// newPerson returns a person after a number of days, in the morning.
func newPerson(days int) *person {
	id := fmt.Sprint("conv_ada", days)
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		zone = time.UTC
	}
	p := &person{id: id, at: enrolled, zone: zone, person: models.Participant{
		ID: id, MemoryVersion: int64(days), Timezone: "America/New_York", Locale: "en-US", Channel: wire.ChannelSMS, EnrolledAt: enrolled,
		PersonTexts: models.PersonTexts[string]{Name: "Ada", Gender: "woman", Background: "Nurse, works shifts, two kids."},
	}}
	p.write(models.RoleAssistant, models.KindGreeting, "Hi Ada, this is Coachline, your automated coach. We chat a little now, then about one short text a day. What small habit would you like to start with?")
	if days == 0 {
		return p
	}
	p.intake()
	for day := 1; day <= days; day++ {
		p.day(day)
	}
	return p
}

// intake is the evening on which the profile is filled.
func (p *person) intake() {
	p.profile = models.Profile{HabitTexts: models.HabitTexts{HabitDomain: "a short walk", MotivationalFrame: "more energy for my kids", PreferredTime: "8 in the morning", PromptAnchor: "when I put my coffee cup down"}}
	for i, said := range []string{"a short walk", "more energy for my kids", "8 in the morning", "when I put my coffee cup down", "yes, 8am please"} {
		p.begin(wire.TurnReply, said)
		call := models.ToolCall{ID: fmt.Sprintf("call-%d", i), Name: "save_user_profile", Arguments: fmt.Sprintf(`{"habit_domain":%q}`, said)}
		p.calls(call, `{"ok":true,"changed":["habit_domain"],"profile":{"habit_domain":"a short walk"},"missing":["motivational_frame","preferred_time","prompt_anchor"]}`)
		p.end("Good, that is saved. What comes just before it in your day?")
	}
	p.schedules = []models.ScheduleRow{{ID: "s1", Type: wire.ScheduleFixed, At: "08:00"}}
}

// day is a prompt, what the person answers to it, and our question where they do not.
func (p *person) day(n int) {
	at := enrolled.In(p.zone).AddDate(0, 0, n)
	p.at = time.Date(at.Year(), at.Month(), at.Day(), 8, 0, 0, 0, p.zone).UTC()
	sent := p.at
	p.turn++
	prompt := fmt.Sprintf("After you put the cup down, walk to the corner and back; on day %d you feel awake for the kids.", n)
	p.write(models.RoleAssistant, models.KindPrompt, prompt)
	p.profile.TotalPrompts++
	p.profile.LastHabitPrompt = prompt
	p.prompt = &models.Prompt{ID: "prompt", State: models.PromptPending, SentAt: &sent}
	p.at = p.at.Add(40 * time.Minute)
	today := answers[(n-1)%len(answers)]
	if today.text == "" {
		p.at = p.at.Add(4 * time.Hour)
		p.turn++
		p.write(models.RoleAssistant, models.KindFeedbackQuestion, "How did today's step go? \"Done\", \"partly\" or \"not today\" is enough.")
		return
	}
	p.prompt.RespondedAt = &p.at
	*p.profile.Text(today.field) = today.value
	if today.field == "last_successful_prompt" || today.field == "last_motivator" {
		p.profile.SuccessCount++
		p.prompt.Outcome = models.OutcomeDone
	}
	p.begin(wire.TurnReply, today.text)
	arguments, _ := json.Marshal(map[string]string{today.field: today.value}) //nolint:errchkjson // a map of texts
	p.calls(models.ToolCall{ID: fmt.Sprintf("call-%d", p.turn), Name: "save_user_profile", Arguments: string(arguments)},
		`{"ok":true,"changed":["`+today.field+`"],"profile":{"habit_domain":"a short walk","motivational_frame":"more energy for my kids","preferred_time":"8 in the morning","prompt_anchor":"when I put my coffee cup down"},"missing":[]}`)
	p.end(today.reply)
}

// begin starts a turn with a text and returns what it is loaded with.
func (p *person) begin(kind wire.TurnKind, text string) models.TurnContext {
	p.turn++
	if kind == wire.TurnReply {
		p.write(models.RoleUser, models.KindMessage, text)
	}
	return p.context(kind)
}

// context returns what the newest turn is loaded with.
func (p *person) context(kind wire.TurnKind) models.TurnContext {
	mode := wire.ModeIntake
	if p.prompt != nil && p.prompt.Outcome == "" {
		mode = wire.ModeFeedback
	}
	window := append([]models.Message(nil), p.window[max(0, len(p.window)-windowEntries):]...)
	return models.TurnContext{
		Turn:        models.Turn{ID: models.TurnID(p.id, p.turn), ParticipantID: p.id, Number: p.turn, Kind: kind, Mode: mode, StartedAt: p.at},
		Participant: p.person, Profile: p.profile, Window: window, Outstanding: p.prompt, Schedules: p.schedules,
	}
}

// calls adds a call and its result to the conversation.
func (p *person) calls(call models.ToolCall, result string) {
	asked, _ := json.Marshal([]models.ToolCall{call})                                             //nolint:errchkjson // texts
	came, _ := json.Marshal(models.ToolResult{CallID: call.ID, Name: call.Name, Content: result}) //nolint:errchkjson // texts
	p.write(models.RoleAssistant, models.KindToolCall, string(asked))
	p.write(models.RoleTool, models.KindToolResult, string(came))
}

// end writes the coach's answer.
func (p *person) end(reply string) {
	p.write(models.RoleAssistant, models.KindReply, reply)
	p.at = p.at.Add(time.Minute)
}

func (p *person) write(role models.Role, kind models.EntryKind, text string) {
	p.window = append(p.window, models.Message{
		ID: int64(len(p.window) + 1), ParticipantID: p.id, TurnID: models.TurnID(p.id, p.turn), Role: role, Kind: kind, Text: text, At: p.at,
	})
}

// nothing is a store that holds nothing but what is remembered of a person.
type nothing struct{}

// Recall returns what is remembered of a person whom the coach knows.
func (nothing) Recall(_ context.Context, id string) (models.Memory, error) {
	at := enrolled.AddDate(0, 0, 1)
	out := models.Memory{
		Summary: models.Summary{ParticipantID: id, Text: "Ada began with walks of ten minutes, which were too long on early shifts, and went down to the corner and back. Rain and ill children got in the way; stairs at home are her own plan for such days. She likes to hear which days went well.", UpdatedAt: at},
		Notes:   []models.Note{{ParticipantID: id, LocalDate: "2026-03-03", Text: "Walked after coffee. Early shift tomorrow, wants to go after work instead."}},
	}
	for i, text := range []string{"Is a nurse and works shifts.", "Has two children, Mia and Tom.", "Wants more energy in the evening.", "Has a weak left knee.", "Likes short texts without emojis."} {
		kind := []models.FactKind{models.FactIdentity, models.FactIdentity, models.FactGoal, models.FactConstraint, models.FactPreference}[i]
		out.Facts = append(out.Facts, models.Fact{ID: fmt.Sprint("f", i+1), ParticipantID: id, Kind: kind, Text: text, CreatedAt: at, UpdatedAt: at})
	}
	return out, nil
}

func (nothing) Find(context.Context, models.FactQuery) ([]models.FoundFact, error) { return nil, nil }

func (nothing) FactsWithoutVector(context.Context, string, int) ([]models.Fact, error) {
	return nil, nil
}

func (nothing) KeepVectors(context.Context, string, []models.Fact, [][]float32) error { return nil }

func (nothing) SaveFact(_ context.Context, fact models.Fact, _ []float32) (models.Fact, error) {
	return fact, nil
}

func (nothing) UpdateFact(_ context.Context, fact models.Fact, _ []float32) (models.Fact, error) {
	return fact, nil
}

func (nothing) CloseConversation(context.Context, models.Closing) error { return nil }

func (nothing) StageBy(context.Context, string, models.StageName, string) (models.Stage, error) {
	return models.Stage{}, models.ErrNotFound
}

func (nothing) SaveStage(context.Context, models.Stage) error { return nil }

func (nothing) Capability(context.Context, string, string) (models.Capability, error) {
	return models.Capability{}, models.ErrNotFound
}

func (nothing) SaveCapability(context.Context, models.Capability) error { return nil }
