package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/doctor"
	"coachline/models"
)

// coach is an API and a simulated phone network in one: it answers every text.
type coach struct {
	mu       sync.Mutex
	enrolled string // JSON of the participant that has the phone already
	history  []models.HistoryEntry
	texts    []string
	mute     bool
}

func (c *coach) say(role models.Role, kind models.EntryKind, text string) {
	at := time.Date(2026, 11, 24, 13, 0, len(c.history), 0, time.UTC)
	c.history = append(c.history, models.HistoryEntry{Role: role, Kind: kind, Text: text, At: at})
}

func (c *coach) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ok := func(result string) { _, _ = w.Write([]byte(`{"status":"ok","result":` + result + `}`)) }
	switch r.Method + " " + r.URL.Path {
	case "POST /conversation/participants":
		if c.enrolled != "" {
			w.WriteHeader(http.StatusConflict)
			_, _ = w.Write([]byte(`{"status":"error","message":"phone_number: already enrolled"}`))
			return
		}
		c.say(models.RoleAssistant, models.KindGreeting, "Hi!")
		ok(`{"id":"conv_1","phone_number":"+15550001234","tester":true}`)
	case "GET /conversation/participants":
		ok(`{"participants":[{"id":"conv_0","phone_number":"+15550009999"},` + c.enrolled + `],"next_cursor":null}`)
	case "GET /conversation/participants/conv_1/history":
		raw, _ := json.Marshal(append([]models.HistoryEntry{}, c.history...))
		ok(string(raw))
	case "POST /sim/phones/+15550001234/messages":
		var in struct{ Body string }
		_ = json.NewDecoder(r.Body).Decode(&in)
		c.texts = append(c.texts, in.Body)
		c.say(models.RoleUser, models.KindMessage, in.Body)
		if !c.mute {
			c.say(models.RoleAssistant, models.KindReply, "You said "+in.Body)
		}
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func chatWith(t *testing.T, c http.Handler, in string, change func(*program, *chatConfig)) (string, error) {
	t.Helper()
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	var out bytes.Buffer
	p := &program{in: strings.NewReader(in), out: &out, client: newClient(func() (string, string, string, error) { return server.URL, "", "", nil })}
	cfg := chatConfig{Sim: server.URL + "/", Phone: "+1 (555) 000-1234", Poll: time.Millisecond, Wait: time.Minute}
	if change != nil {
		change(p, &cfg)
	}
	err := runChat(t.Context(), p, cfg)
	return out.String(), err
}

func TestChat(t *testing.T) {
	c := &coach{}
	out, err := chatWith(t, c, "walking\n\n  at eight \n", nil)
	require.NoError(t, err)
	require.Equal(t, []string{"walking", "at eight"}, c.texts)
	require.Equal(t, "coach (greeting):\n    Hi!\ncoach (reply):\n    You said walking\ncoach (reply):\n    You said at eight\n", out)
}

func TestChatGoesOn(t *testing.T) {
	c := &coach{enrolled: `{"id":"conv_1","phone_number":"+15550001234","tester":true}`}
	c.say(models.RoleAssistant, models.KindGreeting, "Hi!")
	out, err := chatWith(t, c, "again\n", func(p *program, _ *chatConfig) { p.json = true })
	require.NoError(t, err)
	require.NotContains(t, out, "Hi!")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, lines, 2)
	var last models.HistoryEntry
	require.NoError(t, json.Unmarshal([]byte(lines[1]), &last))
	require.Equal(t, "You said again", last.Text)
}

func TestChatRefuses(t *testing.T) {
	_, err := chatWith(t, &coach{enrolled: `{"id":"conv_1","phone_number":"+15550001234","tester":false}`}, "", nil)
	require.ErrorContains(t, err, "not a tester")
	_, err = chatWith(t, &coach{enrolled: `{"id":"conv_2","phone_number":"+15550005678","tester":true}`}, "", nil)
	require.ErrorContains(t, err, "not found")
	_, err = chatWith(t, &coach{mute: true}, "hello\n", func(_ *program, cfg *chatConfig) { cfg.Wait = 20 * time.Millisecond })
	require.ErrorContains(t, err, "no answer within 20ms")
	_, err = chatWith(t, &coach{}, "hello\n", func(_ *program, cfg *chatConfig) { cfg.Sim += "/elsewhere" })
	require.ErrorContains(t, err, "refused the text: HTTP 404")
}

func TestRunChecks(t *testing.T) {
	checks := []doctor.Check{
		{Name: "configuration", Run: func(context.Context) (string, error) { return "", nil }},
		{Name: "database", Run: func(context.Context) (string, error) { return "", errors.New("no route\nto host") }},
		{Name: "model", Run: func(context.Context) (string, error) { return "http://model", nil }},
	}
	var out bytes.Buffer
	require.ErrorIs(t, RunChecks(context.Background(), &out, false, checks), ErrCheckFailed)
	golden(t, "doctor", out.String())
	out.Reset()
	require.ErrorIs(t, RunChecks(context.Background(), &out, true, checks), ErrCheckFailed)
	require.JSONEq(t, `[{"name":"configuration","ok":true},{"name":"database","ok":false,"detail":"no route\nto host"},
		{"name":"model","ok":true,"detail":"http://model"}]`, out.String())
	require.NoError(t, RunChecks(context.Background(), io.Discard, false, checks[:1]))
}

// TestChatNamesWhoWrites: in the chat an operator's text is under their name.
func TestChatNamesWhoWrites(t *testing.T) {
	var out bytes.Buffer
	c := &chat{program: &program{out: &out}}
	for _, e := range []models.HistoryEntry{
		{Role: models.RoleAssistant, Kind: models.KindOperator, Text: "I call you at two.", By: "user:eve"},
		{Role: models.RoleAssistant, Kind: models.KindOperator, Text: "Shall we?", By: "operator"},
		{Role: models.RoleAssistant, Kind: models.KindReply, Text: "Well done."},
	} {
		require.NoError(t, c.printEntry(e))
	}
	require.Equal(t, "eve (operator):\n    I call you at two.\nteam (operator):\n    Shall we?\ncoach (reply):\n    Well done.\n", out.String())
}
