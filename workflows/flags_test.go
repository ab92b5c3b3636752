package workflows_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"coachline/internal/coach"
	"coachline/models"
	"coachline/models/wire"
)

// upserts collects what the search attributes of the flags were set to.
func (w *world) upserts() *[]string {
	said := &[]string{}
	w.env.OnUpsertTypedSearchAttributes(mock.Anything).Run(func(args mock.Arguments) {
		attributes := args.Get(0).(temporal.SearchAttributes)
		if kinds, ok := attributes.GetKeywordList(temporal.NewSearchAttributeKeyKeywordList(wire.AttrAttention)); ok {
			*said = append(*said, kinds...)
		} else if attributes.Size() == 0 { // something was unset, and nothing set
			*said = append(*said, "none")
		}
		if reached, ok := attributes.GetBool(temporal.NewSearchAttributeKeyBool(wire.AttrUnreachable)); ok {
			*said = append(*said, map[bool]string{true: "unreachable!", false: "reachable!"}[reached])
		}
	}).Return(nil).Maybe()
	return said
}

// tellFlags tells the workflow the flags that the row has at an offset, as the
// relay does.
func (w *world) tellFlags(offset time.Duration) {
	w.at(offset, func() {
		p, err := w.store.People.Participant(w.t.Context(), "conv_1")
		require.NoError(w.t, err)
		flags, err := w.store.Attention.ParticipantFlags(w.t.Context(), p)
		require.NoError(w.t, err)
		w.env.UpdateWorkflow(wire.UpdateParticipant, wire.NoticeUpdateID(int64(offset)), &updated{}, wire.ParticipantChanged{Flags: &flags})
	})
}

func (w *world) attend(offset time.Duration) {
	w.at(offset, func() {
		_, err := w.store.Attention.ClearAttention(w.t.Context(), models.AttentionClearing{ParticipantID: "conv_1", Actor: "operator", Now: w.env.Now()})
		require.NoError(w.t, err)
	})
}

func (w *world) openAttention() []wire.Attention {
	w.t.Helper()
	rows, err := w.store.Attention.OpenAttention(w.t.Context(), models.AttentionQuery{})
	require.NoError(w.t, err)
	kinds := []wire.Attention{}
	for _, row := range rows {
		kinds = append(kinds, row.Kind)
	}
	return kinds
}

// A model that refuses is seen in the Temporal UI until an operator has looked;
// the person gets the fixed text.
func TestRefusalIsShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withRules(func(r *coach.Rules) { r.Debounce = 0 }))
	said := w.upserts()
	w.model.answer = func(models.ChatRequest) (models.ChatResponse, error) {
		return models.ChatResponse{}, &models.ModelError{Class: models.ModelRefused, Status: 400, Message: "no"}
	}
	w.text(0, "hello")
	w.text(time.Minute, "hello again")
	w.tellFlags(2 * time.Minute)
	w.at(3*time.Minute, func() {
		require.Equal(t, []wire.Attention{wire.AttentionRefusal}, w.openAttention())
		require.Equal(t, []wire.Attention{wire.AttentionRefusal}, w.status().Flags.Attention)
	})
	w.tellFlags(4 * time.Minute) // a second notice changes nothing
	w.attend(5 * time.Minute)
	w.tellFlags(6 * time.Minute)
	w.run(time.Hour)
	require.Len(t, w.carrier.of(models.KindReply), 2)
	require.Equal(t, []string{"refusal", "none"}, *said)
	require.Empty(t, w.openAttention())
}

// A reply whose number cannot be reached, and one that is given up.
func TestExhaustedSendIsShown(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		refusal models.CarrierError
		open    wire.Attention
		want    []string
	}{
		"unreachable": {models.CarrierError{Class: models.CarrierBadNumber, Code: "30005"}, wire.AttentionUnreachable, []string{"unreachable", "unreachable!", "none"}},
		"content":     {models.CarrierError{Class: models.CarrierContent, Code: "30007"}, wire.AttentionSend, []string{"send", "none"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, withRules(func(r *coach.Rules) { r.Debounce = 0 }))
			said := w.upserts()
			w.carrier.refuse = func(models.SMS) error { return errors.Join(&tc.refusal) }
			w.text(0, "hello")
			w.tellFlags(time.Minute)
			w.at(2*time.Minute, func() { require.Equal(t, []wire.Attention{tc.open}, w.openAttention()) })
			w.attend(3 * time.Minute)
			w.tellFlags(4 * time.Minute)
			w.run(time.Hour)
			require.Equal(t, tc.want, *said)
		})
	}
}

// The flags go along when a run is continued, and are read from the tables when
// a workflow is started again after a termination.
func TestFlagsOutliveTheRun(t *testing.T) {
	t.Parallel()
	raise := func(w *world) {
		for _, kind := range []wire.Attention{wire.AttentionFlood, wire.AttentionCrisis} {
			_, err := w.store.Attention.RaiseAttention(w.t.Context(), models.AttentionEntry{ParticipantID: "conv_1", Kind: kind, RaisedAt: monday})
			require.NoError(w.t, err)
		}
	}
	t.Run("continued", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		raise(w)
		said := w.upserts()
		w.tellFlags(time.Minute)
		w.at(2*time.Minute, func() { w.env.SetContinueAsNewSuggested(true) })
		w.update(3*time.Minute, wire.UpdatePause)
		w.run(time.Hour)
		want := wire.ParticipantFlags{Attention: []wire.Attention{wire.AttentionCrisis, wire.AttentionFlood}}
		next := w.continued()
		require.Equal(t, want, next.Flags)
		require.Equal(t, []string{"crisis", "flood"}, *said)
		require.True(t, next.AttributesShown)
		for shown, want := range map[bool][]string{true: {}, false: {"crisis", "flood"}} {
			again := newWorld(t)
			again.state = next
			again.state.AttributesShown = shown // older workers do not say so
			said = again.upserts()
			again.run(time.Hour)
			require.Equal(t, want, *said)
		}
	})
	t.Run("restored", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		raise(w)
		w.state.Restore = true
		said := w.upserts()
		w.run(time.Hour)
		require.Equal(t, []string{"crisis", "flood"}, *said)
	})
	t.Run("nothing to show", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		said := w.upserts()
		w.tellFlags(time.Minute)
		w.run(time.Hour)
		require.Empty(t, *said)
	})
}
