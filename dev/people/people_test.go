package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/segments"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == workerArg {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		if err := runWorker(ctx, os.Environ()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// live plays some people and returns what came of it.
func live(t *testing.T, o options) (*world, bool, string) {
	t.Helper()
	var out bytes.Buffer
	o.seed, o.dir, o.calm = 1, t.TempDir(), true
	w, err := newWorld(t.Context(), o, &out)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.close()) })
	require.NoError(t, w.play())
	isRight, err := w.judge(&out)
	require.NoError(t, err)
	t.Logf("%d people, %d days: %s, %d steps", len(w.people), o.days, time.Since(w.began).Round(100*time.Millisecond), w.steps)
	return w, isRight, out.String()
}

// TestFivePeople is the short form of make people.
func TestFivePeople(t *testing.T) {
	t.Parallel()
	_, isRight, said := live(t, options{names: []string{"keen", "forgetful", "plain", "relapsing", "human"}, days: 14})
	require.True(t, isRight, said)
}

// TestPromptsKeepTheirInstant follows one person over several runs of the workflow.
func TestPromptsKeepTheirInstant(t *testing.T) {
	t.Parallel()
	w, _, said := live(t, options{names: []string{"keen"}, days: 12, settings: []string{"COACH_CONTINUE_AS_NEW_EVENTS=400"}})
	off, err := w.leads(w.people[0])
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(off), 11, said)
	t.Logf("away from their instant: %v", off)
	for _, one := range off { // A clock that is wrong is hours away; a busy machine, seconds.
		require.Less(t, one, time.Minute)
	}
	runs, err := w.list(`SELECT count(*) FROM prompts WHERE sent_at IS NULL AND state <> 'planned'`)
	require.NoError(t, err)
	require.Equal(t, []string{"0"}, runs, "every prompt went out")
}

// TestFourTextsADayAreFound breaks the product by a setting.
func TestFourTextsADayAreFound(t *testing.T) {
	t.Parallel()
	_, isRight, said := live(t, options{names: []string{"terse"}, days: 10, settings: []string{"COACH_MAX_INITIATED_PER_DAY=0"}})
	require.False(t, isRight)
	require.Regexp(t, `days with more than the disclosed maximum +[1-9]\d* +0 +WRONG`, said)
}

// TestNoteStormIsFound has each text closed as a conversation of its own.
func TestNoteStormIsFound(t *testing.T) {
	t.Parallel()
	_, isRight, said := live(t, options{names: []string{"chatty", "angry"}, days: 10, settings: []string{"COACH_HOT_WINDOW=1m"}})
	require.False(t, isRight)
	require.Regexp(t, `beside replies, a conversation +1\.[2-9]\d +1\.15 +WRONG`, said)
}

func TestPersonasCanBeRead(t *testing.T) {
	all, err := loadPersonas(nil)
	require.NoError(t, err)
	require.Len(t, all, 14)
	languages := map[string]bool{}
	phones := map[string]bool{}
	for _, p := range all {
		language, _, _ := strings.Cut(p.Who.Locale, "-")
		languages[language], phones[p.Phone] = true, true
		require.NotEmpty(t, p.Keeps, p.Key)
	}
	require.Len(t, languages, 5)
	require.Len(t, phones, 14)
	_, err = loadPersonas([]string{"keen", "nobody"})
	require.ErrorContains(t, err, "nobody")
}

func TestSpeech(t *testing.T) {
	for _, s := range speech {
		for _, language := range []string{"en", "es", "de", "fr", "pt"} {
			require.NotEmpty(t, s.in(language), "%s%s in %s", s.Of, s.Asks, language)
			for _, one := range s.in(language) {
				require.Regexp(t, s.wants, strings.ReplaceAll(one, "{1}", "07:15"), "what %q asks for", s.Asks)
				require.LessOrEqual(t, segments.Count(segments.Smart(one)).Segments, 2, one)
			}
		}
	}
	turn := map[string]int{}
	const script = "After parking the car, take two minutes for a walk: it clears your head."
	require.Equal(t, "After parking the car, take two minutes for a walk: it clears your head.", sayIn("en", script, turn, ""))
	require.Equal(t, "After parking the car: a walk, just two minutes, because it clears your head.", sayIn("en", script, turn, ""))
	require.Equal(t, "Nach dem Essen, zwei Minuten für Lesen: ich will es.", sayIn("de", "After nach dem Essen, take two minutes for Lesen: ich will es.", map[string]int{}, ""))
	require.Equal(t, "no sentence of the script", sayIn("de", "no sentence of the script", turn, ""))
}
