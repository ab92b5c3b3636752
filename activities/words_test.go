package activities_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

func TestFixedWordsInThePersonsLanguage(t *testing.T) {
	for _, tt := range []struct{ name, locale, want string }{
		{"Spanish", "es-MX", "Perdona, ahora mismo"},
		{"German", "de", "Entschuldige"},
		{"none", "", "Sorry, I couldn't"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newStoreFixture(t)
			_, err := w.people.People.UpdateParticipant(t.Context(), models.ParticipantUpdate{
				ID: ann, Patch: models.ParticipantPatch{Locale: &tt.locale}, Actor: "operator", Now: now,
			})
			require.NoError(t, err)
			turn := w.turn(ann, "hola", models.Step{})
			_, err = w.send(ann, turn, wire.SourceFallback)
			require.NoError(t, err)
			row, err := w.people.Outbox.Row(t.Context(), models.OutboxID(turn, 1))
			require.NoError(t, err)
			require.Contains(t, row.Body, tt.want)
		})
	}
}

// A reply that may not go is no outage: the person is told that there is no good answer, and
// asked something.
func TestRefusedReplyIsNoOutage(t *testing.T) {
	w := newStoreFixture(t)
	turn := w.turn(ann, "hello", models.Step{Trace: `{"question":"What helped?"}`})
	_, err := w.send(ann, turn, wire.SourceFallback)
	require.NoError(t, err)
	row, err := w.people.Outbox.Row(t.Context(), models.OutboxID(turn, 1))
	require.NoError(t, err)
	require.Contains(t, row.Body, "I don't have a good answer to that. What helped?")
}

func TestFrontSpeaksTheLanguageOfRegionAndPerson(t *testing.T) {
	d := &noticeStore{claim: models.HintClaim{To: "+15550001111", Post: true}, locale: "fr-CA"}
	w := &hintCarrier{}
	front := newFront(t, d, w)
	front.Locale = "und-MX"
	_, err := front.SendHint(t.Context(), wire.SendHintInput{HintID: "hint-1"})
	require.NoError(t, err)
	require.Contains(t, w.sent[0].Body, "Steps solo responde a quienes participan", "C13 a stranger in the programme's region")
	_, err = front.SendLimitNotice(t.Context(), wire.SendLimitInput{InboundID: 7})
	require.NoError(t, err)
	require.Contains(t, d.asked[0].Body, "Trop de SMS d'un coup pour Steps", "C13 a participant")
}
