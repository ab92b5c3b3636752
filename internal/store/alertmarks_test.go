package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

func (w *world) markAlert(id string, mark models.AlertMark, minutes int) models.Alert {
	w.t.Helper()
	row, err := w.Alerts.MarkAlert(w.ctx, models.AlertMarking{AlertID: id, Mark: mark, Actor: "user:kim", Now: at(minutes)})
	require.NoError(w.t, err)
	return row
}

// A wrong alert holds nothing any more from the moment that it is marked: the next prompt
// goes. Each decision point says which alert held it, and what became of that alert.
func TestWrongAlertHoldsNothing(t *testing.T) {
	const day = 24 * 60
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolRandomised()
		w.beginSlot(0)
		first := w.inbound("SM1", 60, crisis).AlertID
		held, _ := w.beginSlot(1)
		require.True(t, held.Skip)
		second := w.inbound("SM2", day+60, crisis).AlertID

		require.NotNil(t, w.markAlert(first, models.MarkWrong, day+120).ClearedAt)
		p, err := w.People.Participant(w.ctx, "p1")
		require.NoError(t, err)
		require.Equal(t, wire.AttentionCrisis, p.Attention, "the second alert is open")
		w.beginSlot(2)

		before := p.Version
		require.Equal(t, models.MarkWrong, w.markAlert(second, models.MarkWrong, 2*day+60).Mark)
		w.markAlert(second, models.MarkWrong, 2*day+61)
		p, err = w.People.Participant(w.ctx, "p1")
		require.NoError(t, err)
		require.Empty(t, p.Attention)
		require.Equal(t, before+1, p.Version, "a repeated mark changes nothing")
		w.beginSlot(3)

		type heldBy struct {
			available bool
			alert     string
			mark      models.AlertMark
		}
		var found []heldBy
		for _, row := range w.decisions(start.AddDate(0, 0, 9)) {
			found = append(found, heldBy{row.Available, row.AlertID, row.AlertMark})
		}
		require.Equal(t, []heldBy{{true, "", ""}, {false, first, models.MarkWrong}, {false, second, models.MarkWrong}, {true, "", ""}}, found)
	})
}

// A right alert holds what it held until a person has taken care.
func TestRightAlertHoldsOn(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolRandomised()
		alert := w.inbound("SM1", 0, crisis).AlertID
		require.Nil(t, w.markAlert(alert, models.MarkRight, 5).ClearedAt)
		held, _ := w.beginSlot(1)
		require.True(t, held.Skip)
		row := w.decisions(start.AddDate(0, 0, 9))[0]
		require.Equal(t, []any{alert, models.MarkRight}, []any{row.AlertID, row.AlertMark})
		w.markAlert(alert, models.MarkWrong, 2*24*60)
		require.Equal(t, models.MarkWrong, w.decisions(start.AddDate(0, 0, 9))[0].AlertMark)
		w.beginSlot(2)
		require.True(t, w.decisions(start.AddDate(0, 0, 9))[1].Available)
	})
}

// A wrong alert ends the silence that it began, and not that of an operator.
func TestWrongAlertEndsItsTakeOver(t *testing.T) {
	for _, byOperator := range []bool{false, true} {
		inboundWith(t, store.Config{CrisisTakeOver: time.Hour}, func(w *inboundWorld) {
			alert := w.crisis(0).AlertID
			require.Equal(w.t, models.TakenOverByAlert, w.ann().TakenOverBy)
			if byOperator {
				_, err := w.TakeOvers.TakeOver(w.ctx, models.TakeOver{ParticipantID: "ann", Actor: "user:ada", Force: true, Until: inboundAt(3600), Now: inboundAt(5)})
				require.NoError(w.t, err)
			}
			_, err := w.Alerts.MarkAlert(w.ctx, models.AlertMarking{AlertID: alert, Mark: models.MarkWrong, Actor: "user:kim", Now: inboundAt(10)})
			require.NoError(w.t, err)
			require.Empty(w.t, w.ann().Attention)
			require.Equal(w.t, byOperator, w.ann().IsTakenOver())
		})
	}
}
