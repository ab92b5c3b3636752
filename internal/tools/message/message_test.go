package message

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/goldens"
	"coachline/internal/tools"
	"coachline/models"
	"coachline/models/wire"
)

// stub is one turn, and the events that were counted.
type stub struct {
	turn   models.TurnContext
	err    error
	events []string
}

func (s *stub) TurnContext(context.Context, string, int) (models.TurnContext, error) {
	return s.turn, s.err
}

func (s *stub) Security(event string) { s.events = append(s.events, event) }

func newStub() *stub {
	return &stub{turn: models.TurnContext{
		Turn:        models.Turn{ID: "conv_1-t3", Kind: wire.TurnReply},
		Participant: models.Participant{ID: "conv_1", Phone: "+12025550123", PersonTexts: models.PersonTexts[string]{Name: "Ada"}, Status: wire.StatusActive},
	}}
}

func (s *stub) run(t *testing.T, arguments string) (tools.Execution, error) {
	t.Helper()
	registry, err := tools.New(New(Config{Ledger: s, Events: s}).Tool())
	require.NoError(t, err)
	return registry.Run(t.Context(), tools.RunInput{TurnID: "conv_1-t3", Call: models.ToolCall{ID: "c", Name: models.ToolMessage, Arguments: arguments}})
}

func TestWords(t *testing.T) {
	ran := func(n int, failed bool) func(*stub) {
		return func(s *stub) {
			for i := range n {
				s.turn.Runs = append(s.turn.Runs, models.ToolRun{TurnID: "conv_1-t3", Step: i + 1, Name: models.ToolMessage, Failed: failed})
			}
		}
	}
	for _, tt := range []struct {
		name, content string
		given         func(*stub)
		say, refused  string
	}{
		{"words", "One moment.", func(*stub) {}, "One moment.", ""},
		{"as a reply is shown", "<think>hm</think>**One** moment.", func(*stub) {}, "One moment.", ""},
		{"a second one", "Again.", ran(1, false), "Again.", ""},
		{"a third one", "Again.", ran(2, false), "", "2 texts were sent"},
		{"what failed was not sent", "Again.", ran(4, true), "Again.", ""},
		{"nothing to see", "<think>hm</think>", func(*stub) {}, "", "no words"},
		{"written for a program", `{"tool": "scheduler"}`, func(*stub) {}, "", "no words"},
		{"masked", "Call [REDACTED_PHONE] now.", func(*stub) {}, "", "holds a number"},
		{"a greeting", "Hi.", func(s *stub) { s.turn.Turn.Kind = wire.TurnGreeting }, "", "the participant did not write"},
		{"after STOP", "Hi.", func(s *stub) { s.turn.Participant.Status = wire.StatusOptedOut }, "", "gets no texts"},
		{"a turn that is over", "Hi.", func(s *stub) { s.turn.Turn.Outcome = "canceled" }, "", "gets no texts"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStub()
			tt.given(s)
			arguments, err := json.Marshal(map[string]string{"content": tt.content})
			require.NoError(t, err)
			out, err := s.run(t, string(arguments))
			require.NoError(t, err)
			require.Equal(t, tt.say, out.Say)
			require.Equal(t, tt.refused != "", out.Result.Failed, out.Result.Content)
			require.Contains(t, out.Result.Content, tt.refused)
			require.Empty(t, s.events)
		})
	}
	t.Run("the turn cannot be read", func(t *testing.T) {
		s := &stub{err: errors.New("down")}
		_, err := s.run(t, `{"content":"hi"}`)
		require.ErrorContains(t, err, "reading the turn")
		_, err = s.run(t, `{"content":"hi","to":"Bob"}`)
		require.ErrorContains(t, err, "reading the turn")
	})
}

func TestRecipients(t *testing.T) {
	for _, tt := range []struct {
		name, extra string
		event       bool
	}{
		{"a number", `"to":"+1 202 555 0199"`, true},
		{"a masked number", `"to":"[REDACTED_PHONE]"`, true},
		{"a number as a number", `"phone_number":12025550199`, true},
		{"a number under another name", `"note":"send to 202-555-0199"`, true},
		{"somebody", `"participant_id":"conv_2"`, true},
		{"one of several", `"recipients":["Ada",{"id":"conv_2"}]`, true},
		{"a channel", `"Channel":"whatsapp"`, true},
		{"the chat from a text by SMS", `"channel":"chat"`, true},
		{"their own number", `"to":"+12025550123"`, false},
		{"themselves", `"participant":"conv_1"`, false},
		{"by name", `"to":"ada"`, false},
		{"the person", `"recipient":"user"`, false},
		{"their channel", `"channel":"sms"`, false},
		{"nobody", `"to":null`, false},
		{"something else", `"urgent":true,"tone":"warm"`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, arguments := range []string{`{"content":"hi",` + tt.extra + `}`, quoted(t, `{"content":"hi",`+tt.extra+`}`)} {
				log := captured(t)
				s := newStub()
				out, err := s.run(t, arguments)
				require.NoError(t, err)
				if tt.name != "nobody" {
					require.True(t, out.Result.Failed)
					require.Empty(t, out.Say)
				}
				require.Equal(t, tt.event, len(s.events) == 1, s.events)
				require.Equal(t, tt.event, strings.Contains(log.String(), "participant=conv_1"))
				for _, secret := range []string{"0199", "conv_2", "hi ", "whatsapp", "0123"} {
					require.NotContains(t, log.String(), secret)
				}
			}
		})
	}
}

func quoted(t *testing.T, text string) string {
	t.Helper()
	out, err := json.Marshal(text)
	require.NoError(t, err)
	return string(out)
}

func captured(t *testing.T) *bytes.Buffer {
	t.Helper()
	var out bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&out, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	return &out
}

// TestSpec pins what the model is given.
func TestSpec(t *testing.T) {
	extra := New(Config{}).Tool()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	require.NoError(t, encoder.Encode(map[string]any{
		"name": extra.Name, "description": extra.Description, "parameters": extra.Schema, "modes": extra.Modes, "control": extra.Control,
	}))
	file := filepath.Join("testdata", extra.Name+".golden.json")
	if goldens.ShouldRecord() {
		require.NoError(t, os.WriteFile(file, out.Bytes(), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "a tool needs its golden file")
	require.Equal(t, string(want), out.String())
}

// TestOffer: the tool is beside those of a mode, and a helper has none of it.
func TestOffer(t *testing.T) {
	registry, err := tools.New(New(Config{}).Tool())
	require.NoError(t, err)
	var names []string
	for _, spec := range registry.Controls(0) {
		names = append(names, spec.Name)
	}
	require.Equal(t, []string{models.ToolReportConcern, models.ToolAskForPerson, "end_exchange", models.ToolMessage}, names)
	for _, spec := range slices.Concat(registry.For(wire.ModeIntake), registry.ForSubagents()) {
		require.NotEqual(t, models.ToolMessage, spec.Name)
	}
}

func FuzzArguments(f *testing.F) {
	f.Add(`{"content":"hi","to":["+12025550199"]}`)
	f.Add(`"{\"to\":1e300}"`)
	f.Add(`[`)
	f.Fuzz(func(t *testing.T, text string) {
		extra := extras(text)
		require.NotContains(t, extra, "content")
		if len(extra) == 0 {
			require.False(t, foreign(extra, nil))
		}
	})
}
