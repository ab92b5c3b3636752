package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestKappa: agreement as in a table whose kappa is known, and where chance alone agrees.
func TestKappa(t *testing.T) {
	list := func(text string) []string { return strings.Split(text, "") }
	for _, tc := range []struct {
		name, a, b string
		want       float64
		isKnown    bool
	}{
		// Of 50, 20 are yes for both, 15 no for both: 0.7 agreed, 0.5 by chance.
		{"of a textbook", strings.Repeat("y", 25) + strings.Repeat("n", 25), strings.Repeat("y", 20) + strings.Repeat("n", 5) + strings.Repeat("y", 10) + strings.Repeat("n", 15), 0.4, true},
		{"whole", "yynn", "yynn", 1, true},
		{"none", "yynn", "nnyy", -1, true},
		{"by chance", "yyyy", "yyyn", 0, true},
		{"one answer alone", "yyyy", "yyyy", 0, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			kappa, isKnown := countKappa(list(tc.a), list(tc.b))
			require.Equal(t, tc.isKnown, isKnown)
			require.InDelta(t, tc.want, kappa, 1e-9)
		})
	}
}

// keptRun is a run of forty replies, each fourth of which is long.
func keptRun(t *testing.T, word string) string {
	t.Helper()
	run := Run{Columns: []Column{{Name: "m"}}}
	for i := range 40 {
		reply := fmt.Sprintf("%s reply %d", word, i)
		if i%4 == 0 {
			reply += " LONG"
		}
		run.Rows = append(run.Rows, Row{Case: fmt.Sprint("c", i), Cells: []Cell{{{Steps: []Said{{Text: fmt.Sprint("text ", i), Reply: reply, Known: []string{"likes tea"}}}}}}})
	}
	path := filepath.Join(t.TempDir(), "run.json")
	require.NoError(t, run.Write(path))
	return path
}

// stubJudge answers over HTTP; all is fine but long texts, and of two conversations the
// one that pick names is better.
func stubJudge(t *testing.T, pick func(shown string) string) (environ []string, asked *atomic.Int32) {
	t.Helper()
	asked = &atomic.Int32{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Messages []struct{ Content string } }
		if json.NewDecoder(r.Body).Decode(&in) != nil || len(in.Messages) != 2 {
			http.NotFound(w, r)
			return
		}
		asked.Add(1)
		shown := in.Messages[1].Content
		answers := map[string]string{better: pick(shown)}
		if !strings.Contains(in.Messages[0].Content, better+":") {
			answers = map[string]string{"fits": "yes", "one": "yes", "true": "yes", "scope": "yes", "warm": "yes", "short": "yes"}
			if strings.Contains(shown, "LONG") {
				answers["short"] = "no"
			}
		}
		text, _ := json.Marshal(answers)
		out, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"message": map[string]any{"content": "Here: " + string(text)}}}})
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(out)
	}))
	t.Cleanup(server.Close)
	return []string{"OPENAI_BASE_URL=" + server.URL + "/v1", "OPENAI_API_KEY=x", "COACH_MODEL=strong"}, asked
}

// typist labels as the terminal asks, letters for the replies that it is shown.
type typist struct {
	screen bytes.Buffer
	read   int
	letter func(shown string) string
}

func (p *typist) Write(b []byte) (int, error) { return p.screen.Write(b) }

func (p *typist) Read(b []byte) (int, error) {
	shown := p.screen.String()[p.read:]
	p.read = p.screen.Len()
	return copy(b, p.letter(shown)+"\n"), nil
}

func label(t *testing.T, who *typist, args ...string) string {
	t.Helper()
	from := who.screen.Len()
	require.NoError(t, run(t.Context(), invocation{args: append([]string{"label"}, args...), out: who, in: who}))
	return who.screen.String()[from:]
}

// lengths says of each reply that only long ones are not short.
func lengths(shown string) string {
	if strings.Contains(shown, "LONG") {
		return "yyyyny"
	}
	return "yyyyyy"
}

// TestJudge: without two people there is no score; with two who agree with the judge there
// is one for the question that they can agree about, and none where one of them does not.
func TestJudge(t *testing.T) {
	t.Parallel()
	path := keptRun(t, "a")
	environ, asked := stubJudge(t, func(string) string { return theFirst })
	judge := func() string {
		var out bytes.Buffer
		require.NoError(t, run(t.Context(), invocation{environ: environ, args: []string{"judge", path}, out: &out}))
		return out.String()
	}
	require.Contains(t, judge(), "no score: 0 people labelled, want two")
	require.EqualValues(t, 40, asked.Load())

	// Ann stops after three, types one wrong and begins it again, and goes on another day.
	count := 0
	ann := &typist{letter: func(shown string) string {
		count++
		switch count {
		case 2:
			return "nr" + lengths(shown)
		case 4:
			return "q"
		}
		return lengths(shown)
	}}
	require.Contains(t, label(t, ann, "-by", "ann", path), "40 to go")
	kept, err := readLabels(labelsFile(path, "ann"))
	require.NoError(t, err)
	require.Len(t, kept, 3)
	require.Contains(t, label(t, ann, "-by", "ann", path), "37 to go")
	require.Contains(t, judge(), "no score: 1 people labelled")
	label(t, &typist{letter: lengths}, "-by", "ben", path)
	kept, err = readLabels(labelsFile(path, "ann"))
	require.NoError(t, err)
	require.Len(t, kept, 40)

	report := judge()
	require.Regexp(t, `(?m)^short +40 +ann 1\.00, ben 1\.00 +1\.00$`, report)
	require.Regexp(t, `(?m)^short +m +yes 30/40 \(60-86%\)$`, report)
	require.Regexp(t, `(?m)^fits +no score: all answers are the same`, report)
	require.EqualValues(t, 40, asked.Load(), "what was judged is not asked for again")
}

// TestJudgeThatDisagrees: what the report says when a judge does not agree with people.
func TestJudgeThatDisagrees(t *testing.T) {
	t.Parallel()
	answers := func(text string) map[string]string {
		out := map[string]string{}
		for i, letter := range text {
			out[fmt.Sprint(i)] = string(letter)
		}
		return out
	}
	half := strings.Repeat("yn", 20)
	for _, tc := range []struct{ name, judge, ann, ben, want string }{
		{"few", "yn", half, half, "all three labelled 2 texts, 30 are needed"},
		{"below the limit", "yyyyyyyyyyyyyyyyyyyy" + half[20:], half, half, "the judge agrees with ann by 0.50, below 0.70"},
		{"below the people", "yyyyyyyy" + half[8:], half, half, "the judge agrees with ann by 0.80, more than 0.05 below the people's 1.00"},
		{"enough", half, half, "yy" + half[2:], ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := newAgreement([3]string{"judge", "ann", "ben"}, [3]map[string]string{answers(tc.judge), answers(tc.ann), answers(tc.ben)})
			require.Equal(t, tc.want, got.why)
		})
	}
}

// TestPairsInBothOrders: a judge that goes by the order finds no difference, one that goes
// by the text finds the later run better, whichever is shown first.
func TestPairsInBothOrders(t *testing.T) {
	t.Parallel()
	before, after := keptRun(t, "plain"), keptRun(t, "good")
	first := regexp.MustCompile(`(?s)CONVERSATION 1\n.*good.*CONVERSATION 2`)
	byText := func(shown string) string {
		if strings.Contains(shown, "reply 1 ") || strings.Contains(shown, "reply 1\n") {
			return bothSame
		}
		if first.MatchString(shown) {
			return theFirst
		}
		return theSecond
	}
	letters := func(shown string) string {
		if strings.Contains(shown, "CONVERSATION 1") {
			return byText(shown)[:1]
		}
		return lengths(shown)
	}
	for _, who := range []string{"ann", "ben"} {
		label(t, &typist{letter: letters}, "-by", who, "-compare", before, after)
	}
	for _, tc := range []struct {
		name, want string
		pick       func(string) string
	}{
		{"by the text", `(?m)^better +m +better than before 39/39 \(91-100%\), the same 1, beyond noise$`, byText},
		{"by the order", `(?m)^better +no score: the judge agrees with ann by 0\.00`, func(string) string { return theFirst }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			environ, _ := stubJudge(t, tc.pick)
			var out bytes.Buffer
			args := []string{"judge", "-model", tc.name, "-compare", before, after}
			require.NoError(t, run(t.Context(), invocation{environ: environ, args: args, out: &out}))
			require.Regexp(t, tc.want, out.String())
		})
	}
}

func TestWrongUsageOfLabels(t *testing.T) {
	t.Parallel()
	path := keptRun(t, "a")
	for _, tc := range []struct{ args, want string }{
		{"label " + path, "-by: want your name"},
		{"label -by ann", "want one file that -json kept"},
		{"judge missing.json", "reading a run"},
		{"judge " + path, "the scripted model cannot judge"},
	} {
		require.ErrorContains(t, run(t.Context(), invocation{args: strings.Fields(tc.args), out: &bytes.Buffer{}}), tc.want)
	}
}
