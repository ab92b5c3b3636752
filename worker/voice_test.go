package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/config"
	"coachline/internal/dbtest"
	"coachline/internal/llm"
	"coachline/internal/seal"
	"coachline/internal/sim/openai"
	"coachline/internal/sim/twilio"
	"coachline/internal/sms"
	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

const account, noteURL = "AC1", "https://api.twilio.com/2010-04-01/Accounts/AC1/Messages/MM1/Media/ME1"

// spy is a carrier and a model, or what stands in for them, and counts.
type spy struct {
	recorder
	writer
	fetched, written int
	fetchErr         error
	writeErr         error
	silent           bool
}

func (s *spy) Recording(ctx context.Context, address string) (models.Recording, error) {
	s.fetched++
	if s.fetchErr != nil {
		return models.Recording{}, s.fetchErr
	}
	return s.recorder.Recording(ctx, address)
}

func (s *spy) Transcribe(ctx context.Context, sound models.Recording) (string, error) {
	s.written++
	if s.writeErr != nil || s.silent {
		return "", s.writeErr
	}
	return s.writer.Transcribe(ctx, sound)
}

// studio is a store with one person, the simulator's sound, and a worker that
// listens.
type studio struct {
	t    *testing.T
	rows *store.Store
	spy  *spy
	now  time.Time
}

func newStudio(t *testing.T) *studio {
	t.Helper()
	ring, err := seal.Parse("k1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
	require.NoError(t, err)
	rows, err := store.Open(t.Context(), store.Config{URL: dbtest.SQLite(t), Sealer: ring})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rows.Close()) })
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	_, err = rows.People.Enroll(t.Context(), models.Participant{ID: "ann", Phone: "+12025550123", Timezone: "UTC", EnrolledAt: now}, "operator")
	require.NoError(t, err)
	phones, err := twilio.New(twilio.Config{AccountSID: account, AuthToken: "secret1", From: "+15017122661"})
	require.NoError(t, err)
	server := httptest.NewServer(phones.Handler())
	t.Cleanup(func() { server.Close(); require.NoError(t, phones.Close()) })
	carrier, err := sms.New(sms.Config{AccountSID: account, AuthToken: "secret1", From: "+15017122661", BaseURL: server.URL})
	require.NoError(t, err)
	model, err := llm.New(llm.Config{BaseURL: server.URL + "/v1", Keys: []string{"k"}, SpeechModel: "whisper"})
	require.NoError(t, err)
	return &studio{t: t, rows: rows, spy: &spy{recorder: carrier, writer: model}, now: now}
}

// text stores a text with a voice note.
func (s *studio) text(sid, body string) int64 {
	s.t.Helper()
	in, err := s.rows.Inbound.AcceptInbound(s.t.Context(), models.Inbound{
		ProviderSID: sid, From: "+12025550123", Body: body, MediaCount: 1, ReceivedAt: s.now,
		Voice: fmt.Sprintf(`[{"index":0,"type":"audio/wav","url":%q}]`, noteURL),
	})
	require.NoError(s.t, err)
	return in.Inbound.ID
}

// begin begins a turn twice, as a retry does, and returns the person's text.
func (s *studio) begin(model string, id int64) string {
	s.t.Helper()
	cfg := config.Config{Model: config.Model{Transcribe: model}}
	rows := withTranscriber(cfg, s.rows.Turns, transcriber{
		notes: s.rows.Inbound, carrier: s.spy, model: s.spy, log: slog.New(slog.DiscardHandler), now: func() time.Time { return s.now },
	})
	for range 2 {
		_, err := rows.BeginTurn(s.t.Context(), wire.PrepareTurnInput{
			ParticipantID: "ann", TurnID: "ann-t1", Number: 1, Mode: wire.ModeIntake,
			Plan: wire.TurnPlan{Kind: wire.TurnReply}, InboundIDs: []int64{id}, Now: s.now,
		})
		require.NoError(s.t, err)
	}
	turn, err := s.rows.Turns.TurnContext(s.t.Context(), "ann-t1", 10)
	require.NoError(s.t, err)
	return turn.Window[len(turn.Window)-1].Text
}

func TestVoiceNotes(t *testing.T) {
	told := func(why string) string { return "[voice note; it could not be listened to: " + why + "]" }
	tests := []struct {
		name, model, body string
		set               func(*spy)
		want              string
		fetched, written  int
	}{
		{"heard once", "whisper", "", nil, "[voice note] " + openai.Transcript, 1, 1},
		{"beside words", "whisper", "Listen!", nil, "Listen!\n[voice note] " + openai.Transcript, 1, 1},
		{"off", "", "", nil, "[the person sent 1 picture or file; you cannot see it]", 0, 0},
		{"too long", "whisper", "", func(s *spy) { s.fetchErr = fmt.Errorf("x: %w: it is too long", models.ErrNotOpened) },
			told("it is too long"), 1, 0},
		{"no format of the model's", "whisper", "", func(s *spy) { s.writeErr = &models.ModelError{Class: models.ModelRefused} },
			told("its format is not supported"), 1, 1},
		{"model down", "whisper", "", func(s *spy) { s.writeErr = &models.ModelError{Class: models.ModelBusy} },
			told("something went wrong on our side"), 1, 1},
		{"carrier down", "whisper", "", func(s *spy) { s.fetchErr = errors.New("unreachable") },
			told("something went wrong on our side"), 1, 0},
		{"silence", "whisper", "", func(s *spy) { s.silent = true }, told("nothing was said"), 1, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStudio(t)
			if tt.set != nil {
				tt.set(s.spy)
			}
			require.Equal(t, tt.want, s.begin(tt.model, s.text("MM1", tt.body)))
			require.Equal(t, []int{tt.fetched, tt.written}, []int{s.spy.fetched, s.spy.written})
		})
	}
}
