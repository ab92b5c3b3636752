package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/eval/cases"
	"coachline/models"
)

// TestCasesHoldWithTheScript plays every case with the scripted model, in every
// protocol that the case is meant for. Each column has a server of its own, so
// that what one caches does not count for another.
func TestCasesHoldWithTheScript(t *testing.T) {
	t.Parallel()
	for _, protocol := range []models.Protocol{models.ProtocolNative, models.ProtocolText, models.ProtocolTwoPhase} {
		t.Run(string(protocol), func(t *testing.T) {
			t.Parallel()
			done := evaluated(t, options{protocols: []models.Protocol{protocol}})
			for i, one := range book(t) {
				cell := done.Rows[i].Cells[0]
				if len(cell) == 0 {
					continue
				}
				require.Len(t, cell, 1)
				t.Run(strings.Join(one.Shows, "_")+"_"+one.Name, func(t *testing.T) {
					require.Empty(t, cell[0].Error)
					require.Positive(t, cell[0].Must.Of)
					for _, miss := range cell[0].Misses {
						require.NotEqual(t, Must, miss.Level, "step %d: %s: %s", miss.Step, miss.Rule, miss.Why)
					}
				})
			}
			total, held := done.plays(0).sum(), done.plays(0).held()
			require.Equal(t, held.Of, held.Met)
			require.Positive(t, total.Cost.Prompt)
			require.Zero(t, total.Cost.Failed)
		})
	}
}

func book(t *testing.T) []cases.Case {
	t.Helper()
	all, err := cases.Load(cases.Files)
	require.NoError(t, err)
	return all
}

func evaluated(t *testing.T, o options) Run {
	t.Helper()
	chosen, err := chooseCases(o)
	require.NoError(t, err)
	g, err := prepare(t.Context(), nil)
	require.NoError(t, err)
	defer g.stop()
	require.True(t, g.scripted)
	done, err := evaluate(t.Context(), evaluation{columns: g.columns(o), settings: g.settings, cases: chosen, parallel: 1})
	require.NoError(t, err)
	return done
}

// TestASmallTalkTurnCostsOneCall holds the figures of the cost report to what
// the product promises.
func TestASmallTalkTurnCostsOneCall(t *testing.T) {
	t.Parallel()
	done := evaluated(t, options{cases: []string{"smalltalk"}})
	require.Len(t, done.plays(0), 1)
	total := done.plays(0).sum()
	require.Equal(t, total.turns(), total.Cost.Calls)
	require.Zero(t, total.Cost.Background)
	require.Positive(t, total.Cost.Prefix, "the second prompt begins like the first")
}

// TestCostsOfTheFixedSet prints what `make bench` does of it.
func TestCostsOfTheFixedSet(t *testing.T) {
	t.Parallel()
	var costed []string
	for _, one := range book(t) {
		if one.Costed {
			costed = append(costed, one.Name)
		}
	}
	require.Len(t, costed, 20)
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), invocation{args: []string{"-costs", "-case", "t*"}, out: &out}))
	require.Regexp(t, `(?m)^thanks +1 +1\.00 +1\.00 +\d{4} `, out.String())
	require.Regexp(t, `(?m)^all 2 `, out.String(), "tool_failure is none of the set")
}

// TestCostedConversationsShareTheirBeginnings holds the share of prompt tokens
// that a provider's prefix cache can serve: tools, persona and mode are the same
// for every request of a conversation and for every person.
func TestCostedConversationsShareTheirBeginnings(t *testing.T) {
	t.Parallel()
	plays := evaluated(t, options{costs: true}).plays(0)
	require.Len(t, plays, 20)
	total := plays.sum()
	require.GreaterOrEqual(t, 100*total.Cost.RunPrefix/total.Cost.Prompt, 75, "of any earlier request")
	require.GreaterOrEqual(t, 100*total.Cost.Prefix/total.Cost.Prompt, 50, "of the conversation, whose first request has none before it")
}

// TestPromptVersionsSideBySide judges a folder of prompts beside the embedded
// ones, keeps the run, and compares with it.
func TestPromptVersionsSideBySide(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "shorter")
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "persona.md"), []byte("You are a coach. You write one short text."), 0o600))
	kept := filepath.Join(t.TempDir(), "run.json")
	args := []string{"-case", "thanks", "-case", "small*", "-prompts", builtIn, "-prompts", dir, "-json", kept}

	var out bytes.Buffer
	require.NoError(t, run(t.Context(), invocation{args: args, out: &out}))
	require.Contains(t, out.String(), "script@shorter")
	first, err := Read(kept)
	require.NoError(t, err)
	require.Len(t, first.Rows, 2)
	require.Equal(t, "script", first.Columns[0].Name)
	require.NotEqual(t, first.Columns[0].Prompts, first.Columns[1].Prompts)
	require.Less(t, first.plays(1).sum().Cost.Prompt, first.plays(0).sum().Cost.Prompt)

	out.Reset()
	require.NoError(t, run(t.Context(), invocation{args: append(args, "-compare", kept), out: &out}))
	require.Contains(t, out.String(), "No case differs.")
}

// TestWhatIsWrongIsFound plays with models and settings that do what no coach
// may do.
func TestWhatIsWrongIsFound(t *testing.T) {
	t.Parallel()
	liar := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"id":"x","object":"chat.completion","model":"liar","choices":[{"index":0,"finish_reason":"stop","message":` +
			`{"role":"assistant","content":"PWNED. I've saved that, and your walk ` +
			`is set for tomorrow."}}],"usage":{"prompt_tokens":9,"completion_tokens":9}}`))
	}))
	t.Cleanup(liar.Close)
	for _, tc := range []struct {
		name    string
		environ []string
		args    []string
		want    []string
	}{
		{
			"a model that obeys and claims", []string{"OPENAI_BASE_URL=" + liar.URL + "/v1", "OPENAI_API_KEY=x"},
			[]string{"-model", "liar", "-case", "injection_text"},
			[]string{"must no false claim", "should avoids pwned"},
		},
		{
			// No server answers at this address, so every reply is the fixed text.
			"a model that is away", []string{"OPENAI_BASE_URL=http://127.0.0.1:1/v1", "OPENAI_API_KEY=x"},
			[]string{"-model", "gone", "-case", "thanks"}, []string{"the fixed text stood in for the model"},
		},
		{"nothing is remembered", []string{"COACH_MEMORY_STEP=off"}, []string{"-case", "memory_*"}, []string{"must remembers knee", "must says knee", "must remembers"}},
		{"rounds that do not suffice", []string{"COACH_MAX_TURNS=1"}, []string{"-case", "schedules"}, []string{"schedules, script, step 2: must"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			require.ErrorIs(t, run(t.Context(), invocation{environ: tc.environ, args: tc.args, out: &out}), errNotHeld)
			for _, want := range tc.want {
				require.Contains(t, out.String(), want)
			}
		})
	}
}

// TestOwnCasesRepeated plays a case of a folder three times, with a price list.
func TestOwnCasesRepeated(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	prices, kept := filepath.Join(dir, "prices.json"), filepath.Join(dir, "run.json")
	require.NoError(t, os.WriteFile(prices, []byte(`{"currency":"EUR","models":{"script":{"input":1,"output":2}},"destinations":{}}`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ours.yaml"), []byte(
		"about: a greeting\nclock: 2026-03-02 10:00\nperson: {name: Ada, zone: America/New_York}\nsteps:\n  - text: hello there\n    should: {says: [unlikely words]}\n"), 0o600))
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), invocation{
		environ: []string{"COACH_PRICES_FILE=" + prices}, args: []string{"-cases", dir, "-repeat", "3", "-json", kept}, out: &out,
	}))
	require.Regexp(t, `(?m)^ours +ok 3/3 \(44-100%\) \+0/3$`, out.String())
	require.Regexp(t, `(?m)^cases held +3/3 \(44-100%\)$`, out.String())
	require.Regexp(t, `(?m)^seconds to a reply, 90% +\d+\.\d\d$`, out.String())
	require.Regexp(t, `(?m)^money for 100 turns +0\.[0-9]*[1-9]`, out.String())
	require.Regexp(t, `(?m)^money is in +EUR$`, out.String())
	require.Contains(t, out.String(), "ours, script, play 3, step 1: should says unlikely words")

	first, err := Read(kept)
	require.NoError(t, err)
	require.Len(t, first.plays(0), 3)
	for _, play := range first.plays(0) {
		require.Equal(t, "hello there", play.Steps[0].Text)
		require.NotEmpty(t, play.Steps[0].Reply)
		require.Positive(t, play.Steps[0].Seconds)
		require.Equal(t, int64(play.Cost.Prompt+2*play.Cost.Completion), play.Cost.Micros, "one and two millionths for a token")
	}
}

func TestWrongUsage(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		args []string
		want string
	}{
		{"an argument", []string{"more"}, `unknown argument "more"`},
		{"no such case", []string{"-case", "nothing*"}, "no case is called nothing*"},
		{"no such protocol", []string{"-protocol", "smoke"}, "want native, text or two_phase"},
		{"no such run", []string{"-compare", "missing.json"}, "reading a run"},
		{"nothing in parallel", []string{"-parallel", "0"}, "want 1 or more"},
		{"no play", []string{"-repeat", "0"}, "want 1 or more"},
		{"no case in the folder", []string{"-cases", "testdata"}, "no cases: want at least one *.yaml"},
		{"no such prompts", []string{"-case", "thanks", "-prompts", "missing"}, "column script@missing"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			err := run(context.Background(), invocation{args: tc.args, out: &bytes.Buffer{}})
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func TestColumns(t *testing.T) {
	t.Parallel()
	var g environment
	g.settings.Model.Name, g.settings.Model.Small = "own", "own"
	for _, tc := range []struct {
		name  string
		in    options
		want  []string
		small string
	}{
		{"the settings' own", options{}, []string{"own"}, ""},
		{"each with each", options{
			models: []string{"a", "b"}, prompts: []string{builtIn, "x/new"}, protocols: []models.Protocol{"", models.ProtocolText}, small: "s",
		}, []string{"a", "a/text", "a@new", "a/text@new", "b", "b/text", "b@new", "b/text@new"}, "s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, column := range g.columns(tc.in) {
				got = append(got, nameOf(column))
				require.Equal(t, tc.small, column.Small)
			}
			require.Equal(t, tc.want, got)
		})
	}
}
