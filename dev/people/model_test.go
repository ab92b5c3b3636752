package main

import (
	"bytes"
	"errors"
	"io"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/dev/temporal"
	"coachline/internal/sim/openai"
	"coachline/models"
)

// serveSecond answers as a second model over HTTP: write gets the task and the material.
func serveSecond(t *testing.T, write func(task, material string) (string, error)) string {
	t.Helper()
	server := httptest.NewServer(openai.New(openai.Config{Answer: func(body []byte) (openai.Answer, error) {
		ask, err := openai.ReadRequest(body)
		if err != nil {
			return openai.Answer{}, err
		}
		said, err := write(string(ask.Messages[0].Content), string(ask.Messages[1].Content))
		return openai.Answer{Text: said}, err
	}}).Handler())
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

// oneWorld has one person, the clock of the first evening, and no engine.
func oneWorld(t *testing.T) (*world, *player) {
	t.Helper()
	personas, err := loadPersonas([]string{"keen"})
	require.NoError(t, err)
	clock, err := temporal.OpenClock(filepath.Join(t.TempDir(), clockFile))
	require.NoError(t, err)
	begin, err := time.Parse(time.RFC3339, begins)
	require.NoError(t, err)
	clock.AtLeast(begin.AddDate(0, 0, 7))
	x, err := newPlayer(personas[0], 1, begin)
	require.NoError(t, err)
	x.lines = []line{
		{At: begin.AddDate(0, 0, 7).Add(-time.Hour), FromUs: true, Body: "Did you walk?", Kind: models.KindPrompt},
		{At: begin.AddDate(0, 0, 7).Add(-time.Minute), Body: "walked"},
	}
	return &world{installation: &installation{clock: clock}, ctx: t.Context(), people: []*player{x}}, x
}

func TestSecondModelPlays(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "a-key")
	for name, test := range map[string]struct {
		writes string
		fails  error
		own    string
		want   string
	}{
		"its words":         {writes: "round the block, in the rain", own: "walked", want: "round the block, in the rain"},
		"a name and quotes": {writes: `Ada: "round the` + "\n" + `block"`, own: "walked", want: "round the block"},
		"too long":          {writes: strings.Repeat("I walked ", 9), own: "walked", want: "walked"},
		"nothing":           {writes: " ", own: "walked", want: "walked"},
		"a keyword":         {writes: "Stop.", own: "walked", want: "walked"},
		"a failure":         {fails: errors.New("broken"), own: "walked", want: "walked"},
		"an event":          {writes: "My cat is called Crumb", own: "My dog is called Biscuit", want: "My dog is called Biscuit"},
	} {
		t.Run(name, func(t *testing.T) {
			w, x := oneWorld(t)
			var task, material string
			var err error
			w.actor, err = openSecond(serveSecond(t, func(a, b string) (string, error) {
				task, material = a, b
				return test.writes, test.fails
			}), "second")
			require.NoError(t, err)
			require.Equal(t, test.want, w.phrase(x, words{text: test.own, means: test.own}))
			if name == "an event" {
				require.Empty(t, task, "the model is not asked for what is judged")
				return
			}
			for _, part := range []string{"Keen and brief", "her back hurts on Fridays", "tells of her dog (0 days ago)", "at most 36 characters", "en-US", "mood"} {
				require.Contains(t, task, part)
			}
			require.NotContains(t, task, "a better time", "that is to come")
			require.Regexp(t, `coach: Did you walk\?\n.*Ada: walked\n\nNow they say that they did the habit`, material)
			isPlayed := test.want != test.own
			require.Equal(t, isPlayed, w.actor.played == 1)
			require.Equal(t, !isPlayed, w.actor.own == 1 && w.actor.problem != "")
		})
	}
}

func TestSecondModelReadsTranscripts(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "a-key")
	w, _ := oneWorld(t)
	answers := []string{`Here: {"findings": [{"line": 1, "what": "asks too early"}, {"line": 99, "what": "of no line"}]}`, "all is well"}
	scanner, err := openSecond(serveSecond(t, func(_, material string) (string, error) {
		require.Regexp(t, `^1 Sun 13 Jan 18:00 coach: Did you walk\?\n2 .* Ada: walked$`, material)
		said := answers[0]
		answers = answers[1:]
		return said, nil
	}), "second")
	require.NoError(t, err)
	var out bytes.Buffer
	w.scanWith(scanner, &out)
	require.Contains(t, out.String(), "what second found in the transcripts: 2; parts that it could not read: 0")
	require.Contains(t, out.String(), `keen, day 6, 18:00, was sent "Did you walk?": asks too early`)
	require.Contains(t, out.String(), "keen: of no line")
	out.Reset()
	w.scanWith(scanner, &out)
	require.Contains(t, out.String(), "found in the transcripts: 0; parts that it could not read: 1")
}

// TestSecondModelInTheRun has it play and read three days.
func TestSecondModelInTheRun(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "a-key")
	url := serveSecond(t, func(task, _ string) (string, error) {
		if strings.HasPrefix(task, "You read") {
			return `{"findings": [{"line": 2, "what": "as the stub says"}]}`, nil
		}
		return "round the block it was", nil
	})
	o, err := parse([]string{"-people", "keen", "-days", "3", "-play", "model", "-play-url", url, "-play-model", "second"}, io.Discard)
	require.NoError(t, err)
	w, _, said := live(t, o)
	require.Positive(t, w.actor.played)
	require.Zero(t, w.actor.own, w.actor.problem)
	require.Contains(t, said, "what second found in the transcripts: 1")
	x := w.people[0]
	lines := x.sorted()
	answered := 0
	for i, l := range lines {
		if l.Body == "round the block it was" {
			answer, isThere := answerTo(l, lines[i+1:], false)
			require.True(t, isThere && answer.Kind == models.KindReply, answer.Body)
			answered++
		}
	}
	require.Positive(t, answered)
}

func TestSecondModelWantsAServer(t *testing.T) {
	for _, args := range []string{"-play model", "-play model -play-url http://a", "-play me -play-url http://a -play-model b", "-scan-url http://a"} {
		_, err := parse(strings.Fields(args), io.Discard)
		require.ErrorContains(t, err, "wants its server", args)
	}
}
