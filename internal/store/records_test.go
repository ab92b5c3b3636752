package store_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/memory"
	"coachline/internal/seal"
	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

// archiveWorld is an archive beside a store with two people: ann, who texts, and ben.
type archiveWorld struct {
	*store.Records
	rows   *store.Store
	stages *memory.Store
	t      *testing.T
	ctx    context.Context
}

// archiveOnBoth runs a test on SQLite and on PostgreSQL, each on an empty database.
func archiveOnBoth(t *testing.T, test func(t *testing.T, w *archiveWorld)) {
	t.Helper()
	onEachDatabase(t, func(t *testing.T, url string) { test(t, newArchiveWorld(t, url)) })
}

func newArchiveWorld(t *testing.T, url string) *archiveWorld {
	t.Helper()
	ring, err := seal.Parse(testKeys)
	require.NoError(t, err)
	rows, err := store.Open(t.Context(), store.Config{URL: url, Sealer: ring})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rows.Close()) })
	past := rows.Records
	stages := rows.Memory
	w := &archiveWorld{Records: past, rows: rows, stages: stages, t: t, ctx: t.Context()}
	for id, number := range map[string]string{"ann": phone, "ben": "+15550000002"} {
		_, err := rows.People.Enroll(w.ctx, models.Participant{ID: id, Phone: number, Timezone: "UTC", Status: wire.StatusActive, EnrolledAt: start}, "operator")
		require.NoError(t, err)
	}
	return w
}

// says stores a text of ann's.
func (w *archiveWorld) says(body string, minutes int, intent models.Intent) int64 {
	w.t.Helper()
	got, err := w.rows.Inbound.AcceptInbound(w.ctx, models.Inbound{
		ProviderSID: "SM" + body, From: phone, To: "+15017122661", Body: body, ReceivedAt: at(minutes),
		Intent: intent, IntentMethod: models.MethodKeyword,
	})
	require.NoError(w.t, err)
	return got.Inbound.ID
}

// turn runs turn n of a participant, with one step for each trace, and its
// reply.
func (w *archiveWorld) turn(id string, n int, inbound []int64, traces ...models.StepTrace) string {
	w.t.Helper()
	turn := models.TurnID(id, n)
	_, err := w.rows.Turns.BeginTurn(w.ctx, wire.PrepareTurnInput{
		ParticipantID: id, TurnID: turn, Number: n, Mode: wire.ModeIntake, Plan: wire.TurnPlan{Kind: wire.TurnReply}, InboundIDs: inbound, Now: at(n),
	})
	require.NoError(w.t, err)
	for i, trace := range traces {
		kept, err := json.Marshal(trace)
		require.NoError(w.t, err)
		_, err = w.rows.Turns.SaveStep(w.ctx, models.Step{
			TurnID: turn, Number: i + 1, Model: "m", Text: "Hi", Usage: models.Usage{Prompt: 10, Completion: 1}, Trace: string(kept), CreatedAt: at(n),
		})
		require.NoError(w.t, err)
	}
	_, err = w.rows.Turns.FinishTurn(w.ctx, models.TurnOutcome{
		TurnID: turn, ParticipantID: id, Outcome: "step", PromptVersion: "v1", At: at(n),
		Entries: []models.Message{{Key: turn, Role: models.RoleAssistant, Kind: models.KindReply, Text: "Hi Ann", At: at(n)}},
		Outbox:  []models.Outbox{{ID: models.OutboxID(turn, 1), Part: 1, Kind: models.KindReply, Body: "Hi Ann"}},
	})
	require.NoError(w.t, err)
	return turn
}

func TestTurn(t *testing.T) {
	archiveOnBoth(t, func(t *testing.T, w *archiveWorld) {
		// The first step asked twice; the second one has no record of its calls.
		asked := models.StepTrace{Stages: []models.Stage{
			{Name: models.StageRecallCheck, Decision: "gate skip 0.75"},
			{Name: models.StageModel, Usage: models.Usage{Prompt: 100, Cached: 60, Completion: 5}},
			{Name: models.StageModel, Usage: models.Usage{Prompt: 110, Cached: 90, Completion: 6}},
		}}
		w.turn("ben", 1, nil, asked)
		turn := w.turn("ann", 1, []int64{w.says("Hello", 1, models.IntentNone)}, asked, models.StepTrace{})
		require.NoError(t, w.rows.Turns.CommitTool(w.ctx, models.ToolCommit{
			Run: models.ToolRun{TurnID: turn, Step: 2, Name: "scheduler", Result: `{"content":"no"}`, Failed: true, CreatedAt: at(2)},
		}))
		require.NoError(t, w.rows.Turns.CommitTool(w.ctx, models.ToolCommit{
			Run: models.ToolRun{TurnID: turn, Step: 1, Name: "save_user_profile", Result: `{"content":"ok"}`, CreatedAt: at(1)},
		}))
		// Stages are numbered by their input and shown by their time.
		for number, minutes := range map[int]int{7: 3, 9: 2} {
			require.NoError(t, w.stages.SaveStage(w.ctx, models.Stage{
				TurnID: turn, Number: number, Name: models.StageMemory, InputHash: "h", Usage: models.Usage{Prompt: 1000}, CreatedAt: at(minutes),
			}))
		}

		got, err := w.Turn(w.ctx, "ann", 1)
		require.NoError(t, err)
		require.Equal(t, turn, got.Totals.ID)
		require.Equal(t, "v1", got.Totals.PromptVersion)
		require.Equal(t, 2, got.Totals.Steps)
		require.Equal(t, []string{"save_user_profile", "scheduler"}, got.Totals.Tools)
		require.Equal(t, models.Usage{Prompt: 2220, Cached: 150, Completion: 12}, got.Totals.Tokens)
		require.Equal(t, []int{1, 2}, []int{got.Steps[0].Number, got.Steps[1].Number})
		require.Equal(t, []int{9, 7}, []int{got.Stages[0].Number, got.Stages[1].Number})
		require.Equal(t, []string{"Hello", "Hi Ann"}, []string{got.Entries[0].Text, got.Entries[1].Text})
		require.Equal(t, "Hi Ann", got.Outbox[0].Body)
		require.Len(t, got.Outbox, 1)
		require.True(t, got.Runs[1].Failed)

		_, err = w.Turn(w.ctx, "ann", 2)
		require.ErrorIs(t, err, models.ErrNotFound)
		require.NoError(t, w.rows.People.RemoveParticipant(w.ctx, "ann", "operator", at(9)))
		_, err = w.Turn(w.ctx, "ann", 1)
		require.ErrorIs(t, err, models.ErrNotFound, "after removal")
	})
}

func TestTurns(t *testing.T) {
	archiveOnBoth(t, func(t *testing.T, w *archiveWorld) {
		none, err := w.Turns(w.ctx, models.TurnQuery{ParticipantID: "ann", Limit: 5})
		require.NoError(t, err)
		require.Empty(t, none)
		w.turn("ben", 1, nil)
		for n := 1; n <= 12; n++ {
			w.turn("ann", n, nil, models.StepTrace{})
		}
		for _, tc := range []struct {
			name          string
			before, limit int
			want          []int
		}{
			{"newest", 0, 3, []int{12, 11, 10}},
			{"next", 10, 2, []int{9, 8}},
			{"last", 3, 5, []int{2, 1}},
			{"none", 1, 5, nil},
		} {
			t.Run(tc.name, func(t *testing.T) {
				rows, err := w.Turns(w.ctx, models.TurnQuery{ParticipantID: "ann", Before: tc.before, Limit: tc.limit})
				require.NoError(t, err)
				var got []int
				for _, row := range rows {
					got = append(got, row.Number)
					require.Equal(t, models.Usage{Prompt: 10, Completion: 1}, row.Tokens)
				}
				require.Equal(t, tc.want, got)
			})
		}
		for _, limit := range []int{0, 501} {
			var field *models.FieldError
			_, err = w.Turns(w.ctx, models.TurnQuery{ParticipantID: "ann", Limit: limit})
			require.ErrorAs(t, err, &field)
		}
		_, err = w.Turns(w.ctx, models.TurnQuery{ParticipantID: "eve", Limit: 5})
		require.ErrorIs(t, err, models.ErrNotFound)
	})
}

// The ledger outlives the participant.
func TestConsents(t *testing.T) {
	archiveOnBoth(t, func(t *testing.T, w *archiveWorld) {
		none, err := w.Consents(w.ctx, "ann")
		require.NoError(t, err)
		require.Empty(t, none)
		w.says("STOP", 1, models.IntentStop)
		w.says("START", 2, models.IntentStart)
		require.NoError(t, w.rows.People.RemoveParticipant(w.ctx, "ann", "operator", at(3)))

		got, err := w.Consents(w.ctx, "ann")
		require.NoError(t, err)
		require.Len(t, got, 2)
		require.Equal(t, models.ConsentOptOut, got[0].Action)
		require.Equal(t, models.ConsentOptIn, got[1].Action)
		require.Equal(t, []string{"STOP", "START"}, []string{got[0].Text, got[1].Text})
		require.Equal(t, models.MethodKeyword, got[0].Method)
		require.Equal(t, "participant", got[0].RecordedBy)
		require.True(t, got[0].At.Equal(at(1)))
		other, err := w.Consents(w.ctx, "ben")
		require.NoError(t, err)
		require.Empty(t, other)
		_, err = w.Consents(w.ctx, "eve")
		require.ErrorIs(t, err, models.ErrNotFound)
	})
}
