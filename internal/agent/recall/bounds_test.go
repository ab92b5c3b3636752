package recall_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent/recall"
	"coachline/models"
)

// What a stopped turn did is described within exactly 2,000 characters.
func TestActivityFitsExactly(t *testing.T) {
	lines := func(first int) []models.ChatMessage {
		out := []models.ChatMessage{{Role: "user", Content: long(first)}, {Role: "user", Content: long(200)}}
		for range 8 {
			out = append(out, models.ChatMessage{Role: "user", Content: long(199)})
		}
		return out
	}
	require.Equal(t, 2000, chars(recall.TurnActivity(lines(199))))
	require.Equal(t, 1800, chars(recall.TurnActivity(lines(200))), "the oldest line has no room")
}

// A message is cut at its share of the space; short ones leave theirs to
// others.
func TestMessagesShareTheRoom(t *testing.T) {
	last := func(texts []string) int {
		lines := strings.Split(recall.PlanMessages(texts).Raw, "\n")
		return chars(lines[len(lines)-1])
	}
	require.Equal(t, 2+416, last(many(100, 416)), "the whole share")
	require.Equal(t, 2+416+1, last(many(100, 417)), "a character more, and its ellipsis")
	require.Equal(t, 2+817+1, last(append(many(50, 16), many(50, 1000)...)))
	first, _, _ := strings.Cut(recall.PlanMessages(append(many(50, 1000), many(50, 16)...)).Raw, "\n")
	require.Equal(t, 2+817+1, chars(first), "whatever their order")
}

// Without an answer each message is shortened to its first words, in exactly
// the space that there is.
func TestFirstWordsFitExactly(t *testing.T) {
	three := recall.PlanMessages(many(3, 10))
	for room, want := range map[int]string{
		40: "0000xxxxxx / 0001xxxxxx / 0002xxxxxx", 39: "0000xxxxxx / 0001xxxxxx / and 1 more", 13: "0000xxxxxx / and 2 more", 1: "0000xxxxxx / and 2 more",
	} {
		require.Equal(t, want, three.Messages(nil, room).Text, room)
	}
	ten := strings.Split(recall.PlanMessages(many(10, 98)).Messages(nil, 300).Text, " / ")
	require.Len(t, ten, 10)
	require.Equal(t, "0000"+long(18)+"…", ten[0])
	two := recall.PlanMessages(many(200, 40))
	lost := strings.Count(two.Batches[1], "\n") + 1
	// 26 characters for the answer with its line break, and 1 for the other line.
	exact := two.Messages(said("They walk.", ""), 12+lost*43)
	require.NotContains(t, exact.Text, "more")
	require.Contains(t, two.Messages(said("They walk.", ""), 12+lost*15-1).Text, "more")
}

// An outcome has at most 160 characters, by each sign that it is a tool's.
func TestOutcomesInSummaries(t *testing.T) {
	text, err := json.Marshal(models.ToolResult{Name: "web", Content: long(161)})
	require.NoError(t, err)
	for _, row := range []models.Message{{Role: models.RoleTool}, {Kind: models.KindToolResult, Role: models.RoleAssistant}} {
		entries := talk(12)
		row.ID, row.TurnID, row.Text, row.At = entries[1].ID, entries[1].TurnID, string(text), noon
		entries[1] = row
		plan, due := recall.PlanSummary(recall.SummaryInput{Entries: entries})
		require.True(t, due)
		require.Contains(t, plan.Material, "tool web done: "+long(160)+"…\n")
		note, _ := recall.PlanNote(recall.NoteInput{Entries: entries})
		require.NotContains(t, note.Material, "tool", "tool rows reach no note")
	}
}

// A note with space for 40 words and 280 characters is added to; with less it
// is written anew.
func TestNotesThatAreFull(t *testing.T) {
	for _, tt := range []struct {
		earlier string
		rewrite bool
		limit   int
	}{
		{strings.TrimSpace(strings.Repeat("a ", 160)), false, 40},
		{strings.TrimSpace(strings.Repeat("a ", 161)), true, 200},
		{long(1120), false, 199},
		{long(1121), true, 200},
	} {
		note := models.Note{ParticipantID: "p1", LocalDate: "2026-11-20", Text: tt.earlier}
		plan, _ := recall.PlanClosing(recall.ClosingInput{ParticipantID: "p1", Entries: talk(1), Memory: models.Memory{Notes: []models.Note{note}}})
		req, err := plan.Request(library(t), recall.ClosingAsk{})
		require.NoError(t, err)
		require.Contains(t, req.Messages[0].Content, fmt.Sprintf("%d words", tt.limit))
		require.Equal(t, 1, strings.Count(req.Messages[0].Content, tt.earlier), "the note so far is in the request once")
		require.Contains(t, req.Messages[0].Content, "person: walk 1\ncoach: nice 1", "and so is what is new")
		require.Equal(t, tt.rewrite, strings.Contains(req.Messages[0].Content, "write all of it anew"), "%d characters", len(tt.earlier))
	}
}

// What is added keeps the note within 200 words and 1,400 characters, and whole
// lines where they fit.
func TestAdditionsFitExactly(t *testing.T) {
	merged := func(earlier, answer string) string {
		note, ok := recall.NotePlan{Earlier: models.Note{Text: earlier}}.Merge(answer, time.Time{})
		require.True(t, ok)
		return note.Text
	}
	words := func(n int) string { return strings.TrimSpace(strings.Repeat("a ", n)) }
	require.Equal(t, words(200), merged("", words(200)))
	require.Equal(t, words(200), merged("", words(201)))
	require.Equal(t, words(200), merged("", words(200)+"\nz"), "nothing behind a full note")
	require.Equal(t, words(150)+"\n"+words(50), merged(words(150), words(51)))
	require.Equal(t, words(100)+"\n"+words(99)+"\n"+words(1), merged(words(100), words(99)+"\n"+words(2)+"\nz"))
	require.Equal(t, long(1400), merged("", long(1400)))
	require.Equal(t, long(1399)+"…", merged("", long(1401)))
	require.Equal(t, long(1000)+"\n"+long(399), merged(long(1000), long(399)))
	require.Equal(t, long(1000)+"\n"+long(398)+"…", merged(long(1000), long(400)))
	require.Equal(t, long(700)+"\n"+long(698)+"…", merged("", long(700)+"\n"+long(800)+"\nz"), "nothing behind a line that was cut")
	require.Equal(t, long(699)+"\n"+long(700), merged("", long(699)+"\n\n"+long(700)))
	require.Equal(t, long(1397)+"\nz…", merged("", long(1397)+"\nzzz"))
	require.Equal(t, long(1398), merged("", long(1398)+"\nzzz"), "no line of an ellipsis alone")
}

// One call reads 2,500 characters of a result, in whole paragraphs.
func TestToolBatchesFitExactly(t *testing.T) {
	require.Len(t, recall.PlanTool(toolInput(long(1249)+"\n\n"+long(1249))).Batches, 1)
	require.Len(t, recall.PlanTool(toolInput(long(1249)+"\n\n"+long(1250))).Batches, 2)
}
