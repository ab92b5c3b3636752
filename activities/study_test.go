package activities_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/activities"
	"coachline/internal/agent"
	"coachline/internal/coach"
	"coachline/internal/study"
	"coachline/internal/tools"
	"coachline/models"
	"coachline/models/wire"
)

// changeStudy gives the default study settings and returns what is in force then.
func (w *storeFixture) changeStudy(settings models.StudySettings) *study.Resolver {
	w.t.Helper()
	text, err := json.Marshal(settings)
	require.NoError(w.t, err)
	body := string(text)
	_, err = w.people.Studies.ChangeStudy(w.t.Context(), models.StudyUpdate{
		ID: models.DefaultStudy, Patch: models.StudyPatch{Settings: &body}, Actor: "eve", Now: now,
	})
	require.NoError(w.t, err)
	return study.New(study.Config{Studies: w.people.Studies})
}

// offered keeps what a step was offered.
type offered struct {
	in   agent.StepInput
	last agent.Offer
}

func (o *offered) Respond(_ context.Context, in agent.StepInput) (models.Step, error) {
	o.in, o.last = in, in.Offer
	return models.Step{TurnID: in.Input.TurnID, Number: in.Input.Step, Text: "Well done.", CreatedAt: now}, nil
}

func (*offered) LookAgain(context.Context, models.TurnContext, int64) models.LookVerdict {
	return models.LookVerdict{State: models.LookNone}
}

// A turn records what was in force for it, offers no tool that the study leaves out,
// names the study's programme and goes out from the study's number.
func TestTurnOfAStudy(t *testing.T) {
	w := newStoreFixture(t)
	registry, err := tools.New()
	require.NoError(t, err)
	studies := w.changeStudy(models.StudySettings{
		Programme: "Walk Well", From: "+15017120000", StudyOverlay: models.StudyOverlay{ToolsOff: []string{"scheduler", "end_exchange"}},
	})
	w.closing.Turns.Studies, w.closing.Posts.Studies = studies, studies
	heard := &offered{}
	talk := &activities.ModelActivities{Turns: w.closing.Turns, Store: w.people.Turns, Attention: w.people.Attention, Tools: registry, Replies: heard}
	w.env.RegisterActivity(talk)
	turn := w.hear(talk, "I have a bad knee")
	for _, spec := range append(heard.last.Specs, heard.last.Controls...) {
		require.NotContains(t, []string{"scheduler", "end_exchange"}, spec.Name)
	}
	require.NotContains(t, heard.last.Core, "scheduler")
	require.Contains(t, heard.last.Core, "save_user_profile")
	_, err = w.send(ann, turn, wire.SourceFallback)
	require.NoError(t, err)
	require.Equal(t, models.Sender{From: "+15017120000"}, w.carrier.last.Sender)
	require.True(t, w.carrier.last.AnySender)
	row, err := w.people.Outbox.Row(t.Context(), w.carrier.last.OutboxID)
	require.NoError(t, err)
	require.Equal(t, "+15017120000", row.SentFrom)
	kept, err := w.people.Turns.TurnContext(t.Context(), turn, 10)
	require.NoError(t, err)
	require.Equal(t, int64(2), kept.Turn.StudyVersion)

	help := w.turn(ann, "help", models.Step{Text: "x"})
	value, err := w.env.ExecuteActivity(w.closing.SendTurn, wire.SendTurnInput{End: wire.PersistTurnInput{
		ParticipantID: ann, TurnID: help, Mode: wire.ModeIntake, Plan: wire.TurnPlan{Kind: wire.TurnHelp}, Source: wire.SourceFixed, Now: now,
	}})
	require.NoError(t, err)
	require.True(t, value.HasValue())
	require.Contains(t, w.carrier.last.Body, "Walk Well")
}

// Without settings a turn goes out as ever, and the record names the version.
func TestTurnOfTheDefaultStudy(t *testing.T) {
	w := newStoreFixture(t)
	studies := study.New(study.Config{Studies: w.people.Studies})
	w.closing.Turns.Studies, w.closing.Posts.Studies = studies, studies
	turn := w.turn(ann, "hello", models.Step{Text: "I see."})
	_, err := w.send(ann, turn, wire.SourceStep)
	require.NoError(t, err)
	require.Equal(t, models.Sender{}, w.carrier.last.Sender)
	require.False(t, w.carrier.last.AnySender)
}

// Rules decide with the quiet hours of the study of the state; a state from before
// there were studies has those of the default one.
func TestRulesOfAStudy(t *testing.T) {
	w := newStoreFixture(t)
	no := false
	studies := w.changeStudy(models.StudySettings{StudyOverlay: models.StudyOverlay{Reminders: &no}})
	rules := &activities.DecisionActivities{Rules: coach.Rules{ReminderDelay: time.Hour}, Studies: studies, Zones: time.LoadLocation}
	plan := wire.TurnPlan{Kind: wire.TurnPrompt, PromptID: "p1"}
	reminds := func(state wire.ParticipantState) bool {
		state.ParticipantID, state.Zone, state.Status, state.Mode = ann, "UTC", wire.StatusActive, wire.ModeFeedback
		decision, err := rules.Decide(t.Context(), wire.DecideInput{State: state, Event: wire.Event{Kind: wire.EventPromptSent, Plan: plan, At: now}, Now: now})
		require.NoError(t, err)
		for _, effect := range decision.Effects {
			if effect.Kind == wire.EffectSetDue && effect.Due.Kind == wire.DueReminder {
				return true
			}
		}
		return false
	}
	require.False(t, reminds(wire.ParticipantState{}))
	require.True(t, reminds(wire.ParticipantState{Study: "another"}), "unknown: as installed")
	rules.Studies = nil
	require.True(t, reminds(wire.ParticipantState{}))
}

// What a person gets who is about to join goes out from their study's number, also the
// safety text; what a stranger gets from the programme's.
func TestHintsOfAStudyGoFromItsNumber(t *testing.T) {
	w := newStoreFixture(t)
	studies := w.changeStudy(models.StudySettings{From: "+15017120000"})
	for _, c := range []struct {
		purpose models.HintPurpose
		study   string
		from    string
	}{
		{models.HintCrisis, models.DefaultStudy, "+15017120000"}, {models.HintJoinAgain, models.DefaultStudy, "+15017120000"}, {models.HintCrisis, "", ""}, {models.HintUnknown, "", ""},
	} {
		d := &noticeStore{claim: models.HintClaim{To: "+15550001", Post: true}, hint: models.HintText{Purpose: c.purpose, StudyID: c.study, Locale: "en"}}
		carrier := &hintCarrier{}
		front := newFront(t, d, carrier)
		front.Studies = studies
		_, err := front.SendHint(t.Context(), wire.SendHintInput{HintID: "hint-1"})
		require.NoError(t, err)
		require.Equal(t, c.from, carrier.sent[0].Sender.From, "%s %s", c.purpose, c.study)
	}
}
