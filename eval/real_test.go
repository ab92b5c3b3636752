package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/eval/cases"
	"coachline/internal/config"
)

// recordedAnswer is what SmolLM2-135M-Instruct (of Hugging Face, Apache 2.0) answered to
// a request of the product, as its server sent it. Request is without the product's own
// instructions. The people are Ada and Dora of eval/people, who are made up.
type recordedAnswer struct {
	Turn, Purpose string
	Request       []struct{ Role, Content string }
	Answer        json.RawMessage
}

// recordedPurposes are told by how their instructions begin.
var recordedPurposes = map[string]string{
	"# Persona": "chat", "Judge a text before": "advice", "Break the person's message": "planner",
}

// replay serves recorded answers: each request has the next answer to the newest text of
// the person in it, for the same purpose, and the last one again once all were served.
type replay struct {
	mu   sync.Mutex
	left []recordedAnswer
	used map[string]bool
}

func (r *replay) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	var in struct {
		Messages []struct{ Role, Content string }
	}
	if json.NewDecoder(request.Body).Decode(&in) != nil || len(in.Messages) == 0 {
		http.NotFound(w, request)
		return
	}
	purpose := ""
	for beginning, name := range recordedPurposes {
		if strings.HasPrefix(in.Messages[0].Content, beginning) {
			purpose = name
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	newest, at := -1, -1
	last, _, _ := strings.Cut(in.Messages[len(in.Messages)-1].Content, "[notes of the programme]")
	for i, one := range r.left {
		text := cmp.Or(one.Turn, "[hint] The person has just enrolled")
		if where := strings.LastIndex(last, text); one.Purpose == purpose && where > at {
			newest, at = i, where
		}
	}
	if newest < 0 {
		http.NotFound(w, request)
		return
	}
	answer := r.left[newest]
	r.used[answer.Turn+purpose] = true
	if slices.ContainsFunc(r.left[newest+1:], func(o recordedAnswer) bool { return o.Turn == answer.Turn && o.Purpose == purpose }) {
		r.left = slices.Delete(r.left, newest, newest+1)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(answer.Answer)
}

// TestRealAnswers replays twenty answers of a small real model through the product: its
// client, its workflow and its guards. The file beside it says what reached the phone, and
// what was refused for what.
func TestRealAnswers(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/real.jsonl")
	require.NoError(t, err)
	served := &replay{used: map[string]bool{}}
	ada := cases.Case{Clock: "2026-03-02 10:00", Person: cases.Person{Name: "Ada", Zone: "America/New_York", Locale: "en", New: true}}
	for line := range bytes.Lines(raw) {
		var one recordedAnswer
		require.NoError(t, json.Unmarshal(line, &one))
		require.Contains(t, one.Request[len(one.Request)-1].Content, one.Turn)
		if n := len(served.left); n == 0 || served.left[n-1].Turn != one.Turn {
			ada.Steps = append(ada.Steps, cases.Step{Text: one.Turn})
		}
		served.left = append(served.left, one)
	}
	require.Len(t, served.left, 20)
	server := httptest.NewServer(served)
	t.Cleanup(server.Close)
	settings, err := config.Load(nil, config.Defaults{"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": server.URL + "/v1"})
	require.NoError(t, err)
	d, err := New(Config{Column: Setup{Model: "smollm2-135m-instruct"}, Settings: settings})
	require.NoError(t, err)
	d.rests = true
	steps, err := d.Play(t.Context(), ada)
	require.NoError(t, err)
	var out strings.Builder
	for _, step := range steps {
		fmt.Fprintf(&out, "> %s\n", step.Text)
		for _, guard := range step.Guards {
			fmt.Fprintf(&out, "  %s\n", guard)
		}
		fmt.Fprintf(&out, "%s < %s\n\n", step.Outcome, oneLine(step.Reply()))
	}
	require.Empty(t, slices.DeleteFunc(served.left, func(one recordedAnswer) bool {
		return served.used[one.Turn+one.Purpose] || one.Purpose == "advice" // A draft that the guard refuses gets no look.
	}), "asked for every purpose of every text")
	golden(t, "real.golden.txt", []byte(out.String()))
}
