package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

// What an older claim asks for changes nothing: a row belongs to its newest one.
func TestOlderClaimChangesNothing(t *testing.T) {
	requests := map[string]func(w *world, old models.SendClaim) error{
		"post": func(w *world, old models.SendClaim) error {
			_, err := w.Outbox.StartPost(w.ctx, old, at(9))
			return err
		},
		"release":  func(w *world, old models.SendClaim) error { return w.Outbox.ReleaseSend(w.ctx, old.Ref(), at(9)) },
		"postpone": func(w *world, old models.SendClaim) error { return w.Outbox.PostponeSend(w.ctx, old.Ref(), at(9)) },
		"missing":  func(w *world, old models.SendClaim) error { return w.Outbox.ReleaseMissing(w.ctx, old.Ref(), at(9)) },
		"note":     func(w *world, old models.SendClaim) error { return w.Outbox.NoteMissing(w.ctx, old.Ref(), at(9)) },
		"accept": func(w *world, old models.SendClaim) error {
			return w.Outbox.RecordAccepted(w.ctx, old.Ref(), models.Receipt{ProviderSID: "SM1", Status: wire.OutboxQueued}, at(9))
		},
		"fail": func(w *world, old models.SendClaim) error {
			return w.Outbox.RecordFailed(w.ctx, models.SendFailure{OutboxID: old.Outbox.ID, Token: old.Outbox.ClaimToken, Status: wire.OutboxFailed, Now: at(9)})
		},
	}
	for name, ask := range requests {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *world) {
				w.enrolled()
				id := w.turn(1, replyPlan, 1)
				old := w.post(id, 2)
				require.NoError(t, w.Outbox.ReleaseMissing(w.ctx, old.Ref(), at(3)))
				w.post(id, 4)
				before, err := w.Outbox.Row(w.ctx, id)
				require.NoError(t, err)
				require.ErrorIs(t, ask(w, old), models.ErrStale)
				after, err := w.Outbox.Row(w.ctx, id)
				require.NoError(t, err)
				require.Equal(t, before, after)
				require.Equal(t, wire.OutboxSending, after.Status)
			})
		})
	}
}

// A change between the claim and the established connection is seen before the
// text is written.
func TestStartPostRepeatsTheSendCheck(t *testing.T) {
	for _, tt := range []struct {
		name   string
		kind   wire.TurnKind
		happen func(w *world)
		code   string // empty: it may be written
	}{
		{"nothing", wire.TurnReply, func(*world) {}, ""},
		{"a change of no account", wire.TurnReply, func(w *world) { w.setStatus(wire.StatusActive) }, ""},
		{"STOP", wire.TurnReply, func(w *world) { w.stops(5) }, "opted_out"},
		{"STOP before HELP is answered", wire.TurnHelp, func(w *world) { w.stops(5) }, "opted_out"},
		{"STOP before an operator's message", wire.TurnOperator, func(w *world) { w.stops(5) }, "opted_out"},
		{"paused", wire.TurnReply, func(w *world) { w.setStatus(wire.StatusPaused) }, "paused"},
		{"removed", wire.TurnReply, func(w *world) { require.NoError(w.t, w.People.RemoveParticipant(w.ctx, "p1", "operator", at(5))) }, "removed"},
		{"answered", wire.TurnReminder, func(w *world) { w.inbound("SM1", 5, "done") }, "answered"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *world) {
				w.enrolled()
				pending := promptPlan("2026-03-01")
				w.sent(w.turn(1, pending, 0), 0)
				id := w.turn(2, wire.TurnPlan{Kind: tt.kind, PromptID: pending.PromptID}, 1)
				claim, err := w.Outbox.ClaimSend(w.ctx, id, at(2))
				require.NoError(t, err)
				require.True(t, claim.Post)
				tt.happen(w)
				for range 2 {
					row, err := w.Outbox.StartPost(w.ctx, claim, at(6))
					require.NoError(t, err)
					if tt.code == "" {
						require.Equal(t, wire.OutboxSending, row.Status)
						require.Equal(t, at(6), row.AttemptedAt.UTC())
						continue
					}
					require.Equal(t, []any{wire.OutboxCanceled, tt.code}, []any{row.Status, row.ErrorCode})
				}
				kept, err := w.Outbox.Row(w.ctx, id)
				require.NoError(t, err)
				require.Equal(t, tt.code == "", kept.AttemptedAt != nil)
			})
		})
	}
}

// A report that comes before the text is written says that an earlier attempt
// has reached the carrier.
func TestStartPostAfterAReport(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		id := w.turn(1, replyPlan, 1)
		first := w.post(id, 2)
		require.NoError(t, w.Outbox.ReleaseMissing(w.ctx, first.Ref(), at(3)))
		second, err := w.Outbox.ClaimSend(w.ctx, id, at(4))
		require.NoError(t, err)
		require.True(t, second.Post && !second.Resumed)
		_, err = w.Outbox.AcceptStatus(w.ctx, models.StatusCallback{OutboxID: id, ProviderSID: "SM1", Status: wire.OutboxSent, At: at(4)})
		require.NoError(t, err)
		row, err := w.Outbox.StartPost(w.ctx, second, at(5))
		require.NoError(t, err)
		require.Equal(t, wire.OutboxSent, row.Status)
	})
}

// TestUnsettledSince: a row is unsettled from its first post of unknown outcome,
// and not at all while every post was refused.
func TestUnsettledSince(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		id := w.turn(1, replyPlan, 1)
		stand := func() (posts int, unsettled, missing string) {
			row, err := w.Outbox.Row(w.ctx, id)
			require.NoError(t, err)
			minute := func(at *time.Time) string {
				if at == nil {
					return ""
				}
				return fmt.Sprint(at.Sub(start).Minutes())
			}
			return row.UnknownPosts, minute(row.UnsettledSince), minute(row.MissingSince)
		}
		want := func(posts int, unsettled, missing string) {
			t.Helper()
			gotPosts, gotUnsettled, gotMissing := stand()
			require.Equal(t, []any{posts, unsettled, missing}, []any{gotPosts, gotUnsettled, gotMissing})
		}
		require.NoError(t, w.Outbox.ReleaseSend(w.ctx, w.post(id, 2).Ref(), at(3)))
		want(0, "", "")
		claim := w.post(id, 4)
		want(0, "4", "")
		require.NoError(t, w.Outbox.NoteMissing(w.ctx, claim.Ref(), at(5)))
		require.NoError(t, w.Outbox.NoteMissing(w.ctx, claim.Ref(), at(6)))
		want(0, "4", "5")
		require.NoError(t, w.Outbox.ReleaseMissing(w.ctx, claim.Ref(), at(7)))
		require.NoError(t, w.Outbox.ReleaseMissing(w.ctx, claim.Ref(), at(7)), "a retry counts once")
		want(1, "4", "")
		require.NoError(t, w.Outbox.ReleaseSend(w.ctx, w.post(id, 8).Ref(), at(9)))
		want(1, "4", "")
	})
}

// A reply whose post did not arrive is not sent after a newer reply; the other
// rows are.
func TestReplyIsNotSentAfterANewerOne(t *testing.T) {
	for _, tt := range []struct {
		name  string
		kind  wire.TurnKind
		newer wire.TurnKind
		post  func(w *world, newer string) // what became of the newer text
		code  string
	}{
		{"posted", wire.TurnReply, wire.TurnReply, func(w *world, newer string) { w.post(newer, 6) }, "newer_reply"},
		{"taken", wire.TurnReply, wire.TurnReply, func(w *world, newer string) { w.sent(newer, 6) }, "newer_reply"},
		{"greeting", wire.TurnGreeting, wire.TurnReply, func(w *world, newer string) { w.sent(newer, 6) }, "newer_reply"},
		{"only written", wire.TurnReply, wire.TurnReply, func(*world, string) {}, ""},
		{"a prompt", wire.TurnReply, wire.TurnPrompt, func(w *world, newer string) { w.sent(newer, 6) }, ""},
		{"an operator's message", wire.TurnOperator, wire.TurnReply, func(w *world, newer string) { w.sent(newer, 6) }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *world) {
				w.enrolled()
				plan := wire.TurnPlan{Kind: tt.newer}
				if tt.newer == wire.TurnPrompt {
					plan = promptPlan("2026-03-02")
				}
				old := w.turn(1, wire.TurnPlan{Kind: tt.kind}, 1)
				claim := w.post(old, 2)
				newer := w.turn(2, plan, 5)
				tt.post(w, newer)
				resumed, err := w.Outbox.ClaimSend(w.ctx, old, at(7))
				require.NoError(t, err)
				require.True(t, resumed.Resumed, "what the carrier may have is looked up")
				require.ErrorIs(t, w.Outbox.ReleaseMissing(w.ctx, claim.Ref(), at(8)), models.ErrStale)
				require.NoError(t, w.Outbox.ReleaseMissing(w.ctx, resumed.Ref(), at(8)))
				again, err := w.Outbox.ClaimSend(w.ctx, old, at(9))
				require.NoError(t, err)
				require.Equal(t, tt.code == "", again.Post)
				if tt.code != "" {
					require.Equal(t, []any{wire.OutboxCanceled, tt.code}, []any{again.Outbox.Status, again.Outbox.ErrorCode})
				}
				tc, err := w.Turns.TurnContext(w.ctx, "p1-t2", 10)
				require.NoError(t, err)
				for _, m := range tc.Window {
					require.Equal(t, tt.code != "" && m.OutboxID == old, m.Undelivered, m.OutboxID)
				}
			})
		})
	}
}

// The newer reply may be posted between the claim of the older one and its post.
func TestNewerReplyBetweenClaimAndPost(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		old := w.turn(1, replyPlan, 1)
		require.NoError(t, w.Outbox.ReleaseMissing(w.ctx, w.post(old, 2).Ref(), at(3)))
		claim, err := w.Outbox.ClaimSend(w.ctx, old, at(4))
		require.NoError(t, err)
		require.True(t, claim.Post)
		w.sent(w.turn(2, replyPlan, 5), 6)
		row, err := w.Outbox.StartPost(w.ctx, claim, at(7))
		require.NoError(t, err)
		require.Equal(t, []any{wire.OutboxCanceled, "newer_reply"}, []any{row.Status, row.ErrorCode})
	})
}
