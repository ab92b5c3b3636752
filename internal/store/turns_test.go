package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

func begin(n int, plan wire.TurnPlan, inbound ...int64) wire.PrepareTurnInput {
	return wire.PrepareTurnInput{ParticipantID: "p1", TurnID: models.TurnID("p1", n), Number: n,
		Mode: wire.ModeIntake, Plan: plan, InboundIDs: inbound, Now: at(2)}
}

var replyPlan = wire.TurnPlan{Kind: wire.TurnReply}

func TestBeginTurnAppendsTexts(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		one := w.inbound("SM1", 1, "one").Inbound.ID
		two, err := w.Inbound.AcceptInbound(w.ctx, models.Inbound{ProviderSID: "SM2", From: phone, MediaCount: 1, ReceivedAt: at(2)})
		require.NoError(t, err)
		for range 2 {
			res, err := w.Turns.BeginTurn(w.ctx, begin(1, replyPlan, one))
			require.NoError(t, err)
			require.Equal(t, wire.PrepareTurnResult{}, res)
		}
		_, err = w.Turns.BeginTurn(w.ctx, begin(1, replyPlan, two.Inbound.ID, one, one))
		require.NoError(t, err)

		tc, err := w.Turns.TurnContext(w.ctx, "p1-t1", 50)
		require.NoError(t, err)
		require.Equal(t, []string{"one", "[the person sent 1 picture or file; you cannot see it]"}, texts(tc.Window))
		require.Equal(t, models.Message{ID: tc.Window[0].ID, ParticipantID: "p1", TurnID: "p1-t1", Key: "in-1",
			Role: models.RoleUser, Kind: models.KindMessage, Text: "one", At: at(1)}, tc.Window[0])
		require.Equal(t, models.Turn{ID: "p1-t1", ParticipantID: "p1", Number: 1, Kind: wire.TurnReply,
			Mode: wire.ModeIntake, StartedAt: at(2)}, tc.Turn)

		for range 2 {
			res, err := w.Turns.BeginTurn(w.ctx, begin(2, replyPlan, 999))
			require.NoError(t, err)
			require.Equal(t, wire.PrepareTurnResult{Skip: true, Gone: 1}, res, "the database has lost it")
		}
		require.Equal(t, 1, w.count("SELECT count(*) FROM attention WHERE kind = 'lost_rows'"))
		res, err := w.Turns.BeginTurn(w.ctx, begin(1, replyPlan, one, 999))
		require.NoError(t, err)
		require.Equal(t, wire.PrepareTurnResult{Gone: 1}, res, "the others are answered")
		unknown := begin(1, replyPlan)
		unknown.ParticipantID = "nobody"
		_, err = w.Turns.BeginTurn(w.ctx, unknown)
		require.ErrorIs(t, err, models.ErrNotFound)
		require.Equal(t, 1, w.count("SELECT count(*) FROM turns"))
	})
}

func TestBeginTurnRemoved(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		in := w.inbound("SM1", 1, "one").Inbound.ID
		require.NoError(t, w.People.RemoveParticipant(w.ctx, "p1", "operator", at(2)))
		res, err := w.Turns.BeginTurn(w.ctx, begin(1, replyPlan, in))
		require.NoError(t, err)
		require.True(t, res.Skip)
		require.Equal(t, 0, w.count("SELECT count(*) FROM turns"))
		res, err = w.Turns.BeginTurn(w.ctx, begin(2, wire.TurnPlan{Kind: wire.TurnNotice}))
		require.NoError(t, err)
		require.False(t, res.Skip)
	})
}

func TestBeginTurnPrompt(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		plan := promptPlan("2026-03-02")
		for range 2 {
			res, err := w.Turns.BeginTurn(w.ctx, begin(1, plan))
			require.NoError(t, err)
			require.Equal(t, wire.PrepareTurnResult{}, res)
			require.Equal(t, models.PromptPlanned, w.promptState(plan.PromptID))
		}
		profile, err := w.People.Profile(w.ctx, "p1")
		require.NoError(t, err)
		profile.PreparedPrompt = "stretch"
		require.NoError(t, w.Turns.CommitTool(w.ctx, models.ToolCommit{Run: models.ToolRun{TurnID: "p1-t1"}, Profile: &profile}))
		res, err := w.Turns.BeginTurn(w.ctx, begin(1, plan))
		require.NoError(t, err)
		require.Equal(t, wire.PrepareTurnResult{Prepared: true}, res)

		w.sent(w.turn(1, plan, 3), 4)
		res, err = w.Turns.BeginTurn(w.ctx, begin(2, plan, w.inbound("SM1", 5, "done").Inbound.ID))
		require.NoError(t, err)
		require.Equal(t, wire.PrepareTurnResult{Skip: true}, res)
		require.Equal(t, 1, w.count("SELECT count(*) FROM turns"), "a skipped prompt is no turn")
		require.Equal(t, 1, w.count("SELECT count(*) FROM messages WHERE kind = 'message'"), "its texts are kept all the same")

		missed := promptPlan("2026-03-03")
		require.NoError(t, w.Turns.SaveState(w.ctx, wire.SaveStateInput{ParticipantID: "p1", Now: at(6),
			Missed: []wire.MissedPrompt{{ScheduleID: "s1", Slot: missed.Slot, Reason: "outage"}}}))
		res, err = w.Turns.BeginTurn(w.ctx, begin(3, missed))
		require.NoError(t, err)
		require.True(t, res.Skip)
	})
}

const twoCalls = `[{"id":"a"},{"id":"b"}]`

func TestTurnContext(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		_, err := w.Turns.TurnContext(w.ctx, "p1-t1", 50)
		require.ErrorIs(t, err, models.ErrNotFound)
		for n := 1; n <= 4; n++ {
			w.turn(n, replyPlan, n)
		}
		for _, n := range []int{2, 1} {
			require.NoError(t, w.saveStep(models.Step{TurnID: "p1-t4", Number: n, Calls: twoCalls, Usage: models.Usage{Prompt: n}, CreatedAt: at(n)}))
			for _, call := range []int{1, 0} {
				require.NoError(t, w.Turns.CommitTool(w.ctx, models.ToolCommit{Run: models.ToolRun{TurnID: "p1-t4", Step: n, Call: call, CreatedAt: at(n)}}))
			}
		}
		require.NoError(t, w.Turns.SaveState(w.ctx, wire.SaveStateInput{ParticipantID: "p1", Now: at(9),
			Schedules: []wire.Schedule{{ID: "s2", Type: wire.ScheduleRandom, From: "08:00", To: "10:00"}, {ID: "s1", Type: wire.ScheduleFixed, At: "08:00", Zone: "Europe/Paris", Next: wire.Slot{SendAt: at(60)}}}}))

		tests := []struct {
			name string
			size int
			want []string
		}{
			{"newest two", 2, []string{"text of p1-t3", "text of p1-t4"}},
			{"all of them", 50, []string{"text of p1-t1", "text of p1-t2", "text of p1-t3", "text of p1-t4"}},
			{"no cap", -1, []string{"text of p1-t1", "text of p1-t2", "text of p1-t3", "text of p1-t4"}},
			{"none", 0, nil},
		}
		for _, tt := range tests {
			tc, err := w.Turns.TurnContext(w.ctx, "p1-t4", tt.size)
			require.NoError(t, err)
			require.Equal(t, tt.want, texts(tc.Window), tt.name)
		}
		tc, err := w.Turns.TurnContext(w.ctx, "p1-t4", 0)
		require.NoError(t, err)
		require.Nil(t, tc.Outstanding)
		require.Equal(t, []models.Step{{TurnID: "p1-t4", Number: 1, Calls: twoCalls, Usage: models.Usage{Prompt: 1}, CreatedAt: at(1)},
			{TurnID: "p1-t4", Number: 2, Calls: twoCalls, Usage: models.Usage{Prompt: 2}, CreatedAt: at(2)}}, tc.Steps)
		var runs [][2]int
		for _, r := range tc.Runs {
			runs = append(runs, [2]int{r.Step, r.Call})
		}
		require.Equal(t, [][2]int{{1, 0}, {1, 1}, {2, 0}, {2, 1}}, runs)
		ending, err := w.Turns.EndingTurn(w.ctx, "p1-t4")
		require.NoError(t, err)
		require.Equal(t, []string{"text of p1-t4"}, texts(ending.Window), "its own entries")
		require.Equal(t, []any{tc.Turn, tc.Participant, tc.Profile, tc.Steps, tc.Runs},
			[]any{ending.Turn, ending.Participant, ending.Profile, ending.Steps, ending.Runs})
		require.Empty(t, ending.Schedules)
		_, err = w.Turns.EndingTurn(w.ctx, "p1-t5")
		require.ErrorIs(t, err, models.ErrNotFound)
		next := at(60)
		require.Equal(t, []models.ScheduleRow{
			{ParticipantID: "p1", ID: "s1", Type: wire.ScheduleFixed, At: "08:00", Zone: "Europe/Paris", NextAt: &next, UpdatedAt: at(9)},
			{ParticipantID: "p1", ID: "s2", Type: wire.ScheduleRandom, FromTime: "08:00", ToTime: "10:00", UpdatedAt: at(9)},
		}, tc.Schedules)
	})
}

// What a turn is opened with is what reading it gives.
func TestOpenTurn(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		w.turn(1, replyPlan, 1)
		require.NoError(t, w.Turns.SaveState(w.ctx, wire.SaveStateInput{ParticipantID: "p1", Now: at(2),
			Schedules: []wire.Schedule{{ID: "s1", Type: wire.ScheduleFixed, At: "08:00", Zone: "UTC"}}}))
		w.sent(w.turn(2, promptPlan("2026-03-01"), 3), 4)
		open := func(in wire.PrepareTurnInput, size int) models.TurnContext {
			t.Helper()
			in.Now = in.Now.Add(777 * time.Nanosecond) // finer than a database keeps
			res, opened, err := w.Turns.OpenTurn(w.ctx, in, size)
			require.NoError(t, err)
			require.Equal(t, wire.PrepareTurnResult{}, res)
			read, err := w.Turns.TurnContext(w.ctx, in.TurnID, size)
			require.NoError(t, err)
			if len(read.Steps) == 0 { // none, or none yet
				read.Steps, opened.Steps = nil, nil
			}
			require.Equal(t, read, opened)
			return opened
		}
		one := w.inbound("SM1", 5, "one").Inbound.ID
		opened := open(begin(3, replyPlan, one), 50)
		require.Equal(t, []string{"text of p1-t1", "text of p1-t2", "one"}, texts(opened.Window))
		require.NotNil(t, opened.Outstanding)
		require.Len(t, opened.Schedules, 1)
		require.Len(t, open(begin(3, replyPlan, one), 2).Window, 2)

		require.NoError(t, w.saveStep(models.Step{TurnID: "p1-t3", Number: 1, Calls: twoCalls, CreatedAt: at(6)}))
		two := w.inbound("SM2", 6, "two").Inbound.ID
		opened = open(begin(3, replyPlan, one, two), 50)
		require.Len(t, opened.Steps, 1, "the turn stood there before")
		require.Equal(t, "two", opened.Window[len(opened.Window)-1].Text)

		_, err := w.Turns.FinishTurn(w.ctx, models.TurnOutcome{TurnID: "p1-t3", ParticipantID: "p1", Outcome: "step", At: at(7)})
		require.NoError(t, err)
		require.Equal(t, "step", open(begin(3, replyPlan, one, two), 50).Turn.Outcome)

		res, opened, err := w.Turns.OpenTurn(w.ctx, begin(4, promptPlan("2026-03-01")), 50)
		require.NoError(t, err)
		require.Equal(t, wire.PrepareTurnResult{Skip: true}, res, "it went out before")
		require.Zero(t, opened)
		res, opened, err = w.Turns.OpenTurn(w.ctx, begin(4, replyPlan, 999), 50)
		require.NoError(t, err)
		require.Equal(t, wire.PrepareTurnResult{Skip: true, Gone: 1}, res, "the database has lost it")
		require.Zero(t, opened)
	})
}

func TestSteps(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		_, err := w.Turns.BeginTurn(w.ctx, begin(1, replyPlan))
		require.NoError(t, err)
		_, err = w.Turns.Step(w.ctx, "p1-t1", 1)
		require.ErrorIs(t, err, models.ErrNotFound)
		require.ErrorIs(t, w.saveStep(models.Step{TurnID: "p1-t9", Number: 1}), models.ErrNotFound)
		step := models.Step{TurnID: "p1-t1", Number: 1, AfterMessage: 7, Text: "hi", Calls: "[]", FinishReason: "stop", Model: "m",
			PromptVersion: "v1", Usage: models.Usage{Prompt: 3, Completion: 4}, CreatedAt: at(1)}
		require.NoError(t, w.saveStep(step))
		second := step
		second.Text = "paid twice"
		require.NoError(t, w.saveStep(second))
		got, err := w.Turns.Step(w.ctx, "p1-t1", 1)
		require.NoError(t, err)
		require.Equal(t, step, got)
	})
}

func TestCommitTool(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		_, err := w.Turns.BeginTurn(w.ctx, begin(1, replyPlan))
		require.NoError(t, err)
		_, err = w.Turns.ToolRun(w.ctx, "p1-t1", 1, 0)
		require.ErrorIs(t, err, models.ErrNotFound)
		require.ErrorIs(t, w.Turns.CommitTool(w.ctx, models.ToolCommit{Run: models.ToolRun{TurnID: "p1-t9"}}), models.ErrNotFound)

		profile, err := w.People.Profile(w.ctx, "p1")
		require.NoError(t, err)
		profile.PromptAnchor, profile.SuccessCount, profile.UpdatedAt = "after coffee", 40, at(1)
		profile.Tone = models.Tone{Tags: []string{"concise"}, Scores: map[string]float64{"casual": 0.5}, ImplicitAt: at(1)}
		commit := models.ToolCommit{Run: models.ToolRun{TurnID: "p1-t1", Step: 1, Name: "save_user_profile", Result: "{}", CreatedAt: at(1)}, Profile: &profile}
		require.NoError(t, w.Turns.CommitTool(w.ctx, commit))
		stored, err := w.People.Profile(w.ctx, "p1")
		require.NoError(t, err)
		want := profile
		want.Version, want.SuccessCount = 2, 0
		require.Equal(t, want, stored, "counters are the system's")

		require.NoError(t, w.Turns.CommitTool(w.ctx, commit), "a repeated commit is done already")
		other := commit
		other.Run.Call = 1
		require.ErrorIs(t, w.Turns.CommitTool(w.ctx, other), models.ErrStale)
		_, err = w.Turns.ToolRun(w.ctx, "p1-t1", 1, 1)
		require.ErrorIs(t, err, models.ErrNotFound, "a stale commit leaves nothing")
		run, err := w.Turns.ToolRun(w.ctx, "p1-t1", 1, 0)
		require.NoError(t, err)
		require.Equal(t, commit.Run, run)
	})
}

func TestCountSuccess(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		call := 0
		count := func() int {
			call++
			require.NoError(t, w.Turns.CommitTool(w.ctx, models.ToolCommit{Run: models.ToolRun{TurnID: "p1-t1", Call: call}, Outcome: models.OutcomeDone}))
			profile, err := w.People.Profile(w.ctx, "p1")
			require.NoError(t, err)
			return profile.SuccessCount
		}
		_, err := w.Turns.BeginTurn(w.ctx, begin(1, replyPlan))
		require.NoError(t, err)
		require.Equal(t, 0, count(), "no prompt was sent")
		w.sent(w.turn(2, promptPlan("2026-03-02"), 1), 2)
		require.Equal(t, 1, count())
		require.Equal(t, 1, count(), "done twice for one prompt")
		w.sent(w.turn(3, promptPlan("2026-03-03"), 10), 11)
		require.Equal(t, 2, count())
	})
}

func TestFinishTurn(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		_, err := w.Turns.BeginTurn(w.ctx, begin(1, replyPlan))
		require.NoError(t, err)
		o := outcome("p1-t1", wire.TurnReply, "", 3)
		o.Outbox = append(o.Outbox, models.Outbox{ID: "p1-t1-p2", Part: 2, Kind: models.KindReply, Body: "second part"})
		o.HabitPrompt = "stretch"
		for range 2 {
			ids, err := w.finish(o)
			require.NoError(t, err)
			require.Equal(t, []string{"p1-t1-p1", "p1-t1-p2"}, ids)
		}
		tc, err := w.Turns.TurnContext(w.ctx, "p1-t1", 50)
		require.NoError(t, err)
		finished := at(3)
		require.Equal(t, models.Turn{ID: "p1-t1", ParticipantID: "p1", Number: 1, Kind: wire.TurnReply, Mode: wire.ModeIntake,
			PromptVersion: "v1", Outcome: "reply", StartedAt: at(2), FinishedAt: &finished}, tc.Turn)
		require.Equal(t, []string{"text of p1-t1"}, texts(tc.Window))
		require.Equal(t, at(3), tc.Window[0].At)
		require.Equal(t, "stretch", tc.Profile.LastHabitPrompt)
		require.Equal(t, int64(2), tc.Profile.Version, "changed once")

		late := o
		late.Outcome, late.Entries, late.Outbox = "fallback", nil, nil
		ids, err := w.finish(late)
		require.NoError(t, err)
		require.Len(t, ids, 2, "a finished turn stays as it is")

		_, err = w.Turns.FinishTurn(w.ctx, models.TurnOutcome{TurnID: "p1-t9", ParticipantID: "p1", Outcome: "reply"})
		require.ErrorIs(t, err, models.ErrNotFound)
		_, err = w.Turns.FinishTurn(w.ctx, models.TurnOutcome{TurnID: "p1-t1", ParticipantID: "p1"})
		require.ErrorContains(t, err, "outcome")
	})
}

func TestFinishTurnSavesTheState(t *testing.T) {
	state := &wire.SaveStateInput{
		ParticipantID: "p1", Mode: wire.ModeFeedback, Now: at(3),
		Schedules: []wire.Schedule{{ID: "s1", Type: wire.ScheduleFixed, At: "08:00", Next: wire.Slot{Date: "2026-03-03", SendAt: at(9)}}},
		Missed:    []wire.MissedPrompt{{ScheduleID: "s1", Slot: promptPlan("2026-03-01").Slot, Reason: "outage"}},
	}
	const schedules, missed = "SELECT count(*) FROM schedules WHERE id = 's1'", "SELECT count(*) FROM prompts WHERE state = 'missed'"
	t.Run("once, with the end", func(t *testing.T) {
		onBoth(t, func(t *testing.T, w *world) {
			w.enrolled()
			_, err := w.Turns.BeginTurn(w.ctx, begin(1, replyPlan))
			require.NoError(t, err)
			o := outcome("p1-t1", wire.TurnReply, "", 3)
			o.State = state
			for _, first := range []bool{true, false} {
				ended, err := w.Turns.FinishTurn(w.ctx, o)
				require.NoError(t, err)
				require.Equal(t, first, ended.Saved)
			}
			p, err := w.People.Participant(w.ctx, "p1")
			require.NoError(t, err)
			require.Equal(t, wire.ModeFeedback, p.Mode)
			tc, err := w.Turns.TurnContext(w.ctx, "p1-t1", 50)
			require.NoError(t, err)
			require.Len(t, tc.Schedules, 1)
			require.Equal(t, at(9), *tc.Schedules[0].NextAt)
			require.Equal(t, 1, w.count(missed))
		})
	})
	t.Run("not of somebody who opted out meanwhile", func(t *testing.T) {
		onBoth(t, func(t *testing.T, w *world) {
			w.enrolled()
			_, err := w.Turns.BeginTurn(w.ctx, begin(1, replyPlan))
			require.NoError(t, err)
			w.says(2, models.IntentStop, models.MethodKeyword)
			o := outcome("p1-t1", wire.TurnReply, "", 3)
			o.State = state
			ended, err := w.Turns.FinishTurn(w.ctx, o)
			require.NoError(t, err)
			require.False(t, ended.Saved)
			require.Zero(t, w.count(schedules)+w.count(missed))
		})
	})
}

func TestFinishTurnClearsPrepared(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		plan := promptPlan("2026-03-02")
		_, err := w.Turns.BeginTurn(w.ctx, begin(1, plan))
		require.NoError(t, err)
		profile, err := w.People.Profile(w.ctx, "p1")
		require.NoError(t, err)
		profile.PreparedPrompt, profile.PromptAnchor = "stretch", "coffee"
		require.NoError(t, w.Turns.CommitTool(w.ctx, models.ToolCommit{Run: models.ToolRun{TurnID: "p1-t1"}, Profile: &profile}))
		o := outcome("p1-t1", wire.TurnPrompt, plan.PromptID, 3)
		o.ClearPrepared = true
		_, err = w.Turns.FinishTurn(w.ctx, o)
		require.NoError(t, err)
		got, err := w.People.Profile(w.ctx, "p1")
		require.NoError(t, err)
		require.Empty(t, got.PreparedPrompt)
		require.Equal(t, "coffee", got.PromptAnchor)
	})
}

func TestFinishTurnAfterRemoval(t *testing.T) {
	tests := []struct {
		name    string
		kind    wire.TurnKind
		outcome string
		rows    int
	}{
		{"a reply is canceled", wire.TurnReply, "canceled", 0},
		{"a notice is said", wire.TurnNotice, "reply", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *world) {
				w.enrolled()
				_, err := w.Turns.BeginTurn(w.ctx, begin(1, wire.TurnPlan{Kind: tt.kind}))
				require.NoError(t, err)
				require.NoError(t, w.People.RemoveParticipant(w.ctx, "p1", "operator", at(2)))
				for range 2 {
					ids, err := w.finish(outcome("p1-t1", tt.kind, "", 3))
					require.NoError(t, err)
					require.Len(t, ids, tt.rows)
				}
				tc, err := w.Turns.TurnContext(w.ctx, "p1-t1", 50)
				require.NoError(t, err)
				require.Equal(t, tt.outcome, tc.Turn.Outcome)
				require.Len(t, tc.Window, tt.rows)
			})
		})
	}
}

func TestFinishTurnOfOperatorMessage(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		row, _, err := w.Outbox.QueueOperatorMessage(w.ctx, models.OperatorMessage{ParticipantID: "p1", Body: "call me", Key: "k", Actor: "eve", Now: at(1)})
		require.NoError(t, err)
		_, err = w.Turns.BeginTurn(w.ctx, begin(1, wire.TurnPlan{Kind: wire.TurnOperator, OutboxID: row.ID}))
		require.NoError(t, err)
		o := models.TurnOutcome{TurnID: "p1-t1", ParticipantID: "p1", Outcome: "reply", At: at(3), Outbox: []models.Outbox{row},
			Entries: []models.Message{{Key: "op", Role: models.RoleAssistant, Kind: models.KindOperator, Text: row.Body, OutboxID: row.ID}}}
		for range 2 {
			ids, err := w.finish(o)
			require.NoError(t, err)
			require.Equal(t, []string{row.ID}, ids)
		}
		claim, err := w.Outbox.ClaimSend(w.ctx, row.ID, at(4))
		require.NoError(t, err)
		require.True(t, claim.Post)
		require.Equal(t, "call me", claim.Outbox.Body)
		require.Equal(t, "p1-t1", claim.Outbox.TurnID)
		require.Equal(t, at(1), claim.Outbox.CreatedAt)
	})
}

func TestSaveState(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		missed := wire.MissedPrompt{ScheduleID: "s1", Slot: wire.Slot{Date: "2026-03-02", TargetAt: at(10)}, Reason: "quiet_hours"}
		in := wire.SaveStateInput{ParticipantID: "p1", Mode: wire.ModeFeedback, Status: wire.StatusPaused, Now: at(5),
			Schedules: []wire.Schedule{{ID: "s1", At: "08:00", Next: wire.Slot{SendAt: at(9)}}, {ID: "s2", At: "09:00"}}, Missed: []wire.MissedPrompt{missed}}
		for range 2 {
			require.NoError(t, w.Turns.SaveState(w.ctx, in))
		}
		p, err := w.People.Participant(w.ctx, "p1")
		require.NoError(t, err)
		require.Equal(t, wire.ModeFeedback, p.Mode)
		require.Equal(t, wire.StatusPaused, p.Status)
		require.Equal(t, int64(2), p.Version, "absolute values: the second call changes nothing")
		require.Equal(t, 1, w.count("SELECT count(*) FROM prompts WHERE state = 'missed' AND reason = 'quiet_hours'"))
		require.NoError(t, w.Turns.SaveState(w.ctx, wire.SaveStateInput{ParticipantID: "p1", Mode: wire.ModeFeedback, Now: at(5), Schedules: in.Schedules,
			LeftOut: []wire.LeftOut{{PromptID: models.PromptID("p1", "s1", "2026-03-02"), Reason: "next_day"}, {PromptID: "p2-s1-2026-03-02", Reason: "next_day"}}}))
		require.Equal(t, 1, w.count("SELECT count(*) FROM prompts WHERE left_out = 'next_day'"))
		left, err := w.People.LeftOutPrompts(w.ctx, models.AgendaQuery{ParticipantID: "p1", From: at(10), Until: at(11)})
		require.NoError(t, err)
		require.Len(t, left, 1)
		what, reason := left[0].What()
		require.Equal(t, []string{"p1", "prompt", "quiet_hours"}, []string{left[0].Participant.ID, what, reason})
		for _, other := range []models.AgendaQuery{{ParticipantID: "p1", From: at(11), Until: at(20)}, {ParticipantID: "p2", From: at(0), Until: at(20)}, {StudyID: "other", From: at(0), Until: at(20)}} {
			left, err = w.People.LeftOutPrompts(w.ctx, other)
			require.NoError(t, err)
			require.Empty(t, left)
		}
		require.Equal(t, 2, w.count("SELECT count(*) FROM schedules"))
		require.Zero(t, w.count("SELECT count(*) FROM schedules WHERE next_at IS NOT NULL"), "no prompt goes out to people who are paused")

		require.NoError(t, w.Turns.SaveState(w.ctx, wire.SaveStateInput{ParticipantID: "p1", Mode: wire.ModeIntake, Now: at(6)}))
		require.Equal(t, 0, w.count("SELECT count(*) FROM schedules"))
		p, err = w.People.Participant(w.ctx, "p1")
		require.NoError(t, err)
		require.Equal(t, wire.StatusPaused, p.Status, "an empty status leaves the row's")
		require.ErrorIs(t, w.Turns.SaveState(w.ctx, wire.SaveStateInput{ParticipantID: "nobody", Now: at(6)}), models.ErrNotFound)

		_, err = w.People.UpdateParticipant(w.ctx, models.ParticipantUpdate{ID: "p1", Patch: models.ParticipantPatch{Status: ptr(wire.StatusOptedOut)}, Now: at(7)})
		require.NoError(t, err)
		require.NoError(t, w.Turns.SaveState(w.ctx, wire.SaveStateInput{ParticipantID: "p1", Status: wire.StatusActive, Now: at(8)}))
		p, err = w.People.Participant(w.ctx, "p1")
		require.NoError(t, err)
		require.Equal(t, wire.StatusOptedOut, p.Status)
		require.NoError(t, w.People.RemoveParticipant(w.ctx, "p1", "operator", at(9)))
		require.NoError(t, w.Turns.SaveState(w.ctx, wire.SaveStateInput{ParticipantID: "p1", Status: wire.StatusActive, Now: at(10)}))
		require.Equal(t, "withdrawn", w.text("SELECT status FROM participants"))
	})
}

// The first row may be claimed in the transaction that writes it; the send checks are
// those of a claim of its own.
func TestFinishTurnClaimsTheFirstRow(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		_, err := w.Turns.BeginTurn(w.ctx, begin(1, replyPlan))
		require.NoError(t, err)
		o := outcome("p1-t1", wire.TurnReply, "", 3)
		o.Claim = true
		ended, err := w.Turns.FinishTurn(w.ctx, o)
		require.NoError(t, err)
		require.True(t, ended.First.Post)
		require.Equal(t, phone, ended.First.To)
		require.Equal(t, wire.OutboxSending, ended.First.Outbox.Status)
		require.Equal(t, 1, ended.First.Outbox.Attempts)
		again, err := w.Turns.FinishTurn(w.ctx, o)
		require.NoError(t, err)
		require.Equal(t, ended.OutboxIDs, again.OutboxIDs)
		require.Empty(t, again.First.Outbox.ID, "an earlier attempt claimed it")
		claim, err := w.Outbox.ClaimSend(w.ctx, ended.OutboxIDs[0], at(4))
		require.NoError(t, err)
		require.True(t, claim.Post && !claim.Resumed, "nothing was written under the earlier claim")
		_, err = w.Outbox.StartPost(w.ctx, ended.First, at(4))
		require.ErrorIs(t, err, models.ErrStale)

		_, err = w.Turns.BeginTurn(w.ctx, begin(2, replyPlan))
		require.NoError(t, err)
		w.setStatus(wire.StatusPaused)
		o = outcome("p1-t2", wire.TurnReply, "", 5)
		o.Claim = true
		ended, err = w.Turns.FinishTurn(w.ctx, o)
		require.NoError(t, err)
		require.False(t, ended.First.Post)
		require.Equal(t, wire.OutboxCanceled, ended.First.Outbox.Status)
		require.Equal(t, "paused", ended.First.Outbox.ErrorCode)
		row, err := w.Outbox.Row(w.ctx, ended.OutboxIDs[0])
		require.NoError(t, err)
		require.Equal(t, wire.OutboxCanceled, row.Status)
	})
}

// A turn is read with all of its texts, however many there are, at its steps and
// at its end; of what was said before, the newest entries are enough.
func TestTurnWithManyTexts(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		w.sent(w.turn(1, replyPlan, 1), 1)
		var ids []int64
		for n := range 503 {
			ids = append(ids, w.inbound(fmt.Sprintf("SM%d", n), 2, fmt.Sprintf("text %d", n)).Inbound.ID)
		}
		_, turn, err := w.Turns.OpenTurn(w.ctx, begin(2, replyPlan, ids...), 50)
		require.NoError(t, err)
		again, err := w.Turns.TurnContext(w.ctx, "p1-t2", 50)
		require.NoError(t, err)
		end, err := w.Turns.EndingTurn(w.ctx, "p1-t2")
		require.NoError(t, err)
		for name, window := range map[string][]models.Message{"opened": turn.Window, "read": again.Window, "ending": end.Window} {
			require.Len(t, window, 503, name)
			for n, entry := range window {
				require.Equal(t, fmt.Sprintf("text %d", n), entry.Text, name)
			}
		}
		few, err := w.Turns.TurnContext(w.ctx, "p1-t2", 503)
		require.NoError(t, err)
		require.Len(t, few.Window, 503)
		all, err := w.Turns.TurnContext(w.ctx, "p1-t2", -1)
		require.NoError(t, err)
		require.Len(t, all.Window, 504)
	})
}

// After a fail-over that lost commits the row numbers messages again that the workflow
// has seen: those are new, and numbers, also of notices, go on behind the workflow's.
func TestCheckNumbersAfterAFailOver(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		known, fresh := w.inbound("SM1", 1, "known").Inbound, w.inbound("SM2", 2, "fresh").Inbound
		_, err := w.Turns.BeginTurn(w.ctx, begin(1, replyPlan, known.ID))
		require.NoError(t, err)
		_, err = w.finish(outcome("p1-t1", wire.TurnReply, "", 3))
		require.NoError(t, err)
		item := func(in models.Inbound) wire.InboxItem {
			return wire.InboxItem{MessageID: in.ID, Seq: in.Seq, ReceivedAt: in.ReceivedAt.UTC()}
		}
		check := wire.NumberCheck{ParticipantID: "p1", LastSeq: 2, Repeated: []wire.InboxItem{item(known)}, Now: at(4)}
		got, err := w.Turns.CheckNumbers(w.ctx, check)
		require.NoError(t, err)
		require.Empty(t, got, "delivered again")
		require.Zero(t, w.count("SELECT count(*) FROM attention"))

		check.LastSeq, check.LastNotice, check.Repeated = 7, 500, []wire.InboxItem{item(known), item(fresh)}
		for range 2 {
			got, err = w.Turns.CheckNumbers(w.ctx, check)
			require.NoError(t, err)
			require.Equal(t, []wire.InboxItem{item(fresh)}, got)
		}
		require.Equal(t, 1, w.count("SELECT count(*) FROM attention WHERE kind = 'lost_rows' AND participant_id = 'p1'"))
		next := w.inbound("SM3", 5, "next")
		require.Equal(t, int64(8), next.Inbound.Seq)
		if strings.HasPrefix(w.url, "postgres") {
			require.Greater(t, next.NoticeID, int64(500))
		}
		check.Held, check.Repeated = []int64{fresh.ID}, []wire.InboxItem{item(fresh)}
		check.LastSeq = 8
		got, err = w.Turns.CheckNumbers(w.ctx, check)
		require.NoError(t, err)
		require.Empty(t, got, "it waits already")
	})
}
