package recall_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"coachline/internal/agent/recall"
	"coachline/models"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// talk is turns of a text and an answer each.
func talk(turns int) []models.Message {
	var out []models.Message
	for i := range turns {
		turn := fmt.Sprintf("t%d", i+1)
		out = append(out,
			models.Message{ID: int64(2*i + 1), TurnID: turn, Role: models.RoleUser, Kind: models.KindMessage, Text: fmt.Sprintf("walk %d", i+1), At: noon},
			models.Message{ID: int64(2*i + 2), TurnID: turn, Role: models.RoleAssistant, Kind: models.KindReply, Text: fmt.Sprintf("nice %d", i+1), At: noon})
	}
	return out
}

func toolRows(id int64, turn string, failed bool) []models.Message {
	calls, _ := json.Marshal([]models.ToolCall{{ID: "c1", Name: "web", Arguments: `{"q":"secret arguments"}`}})
	text, _ := json.Marshal(models.ToolResult{CallID: "c1", Name: "web", Content: "dry\nall day", Failed: failed})
	return []models.Message{
		{ID: id, TurnID: turn, Role: models.RoleAssistant, Kind: models.KindToolCall, Text: string(calls), At: noon},
		{ID: id + 1, TurnID: turn, Role: models.RoleTool, Kind: models.KindToolResult, Text: string(text), At: noon},
	}
}

func TestPlanSummary(t *testing.T) {
	big := talk(3)
	big[0].Text = long(800)
	// sized are six entries, of which the others hold 15 tokens.
	sized := func(first int) []models.Message {
		entries := talk(3)
		entries[0].Text = long(first)
		return entries
	}
	oneAnd21 := talk(11)
	for i := range oneAnd21[1:] {
		oneAnd21[i+1].TurnID = "t2"
	}
	tests := []struct {
		name string
		in   recall.SummaryInput
		due  bool
		upto int64
	}{
		{"20 entries", recall.SummaryInput{Entries: talk(10)}, false, 0},
		{"21 entries", recall.SummaryInput{Entries: talk(11)[:21]}, true, 16},
		{"more than 20", recall.SummaryInput{Entries: talk(11)}, true, 18},
		{"covered ones do not count", recall.SummaryInput{Entries: talk(12), Summary: models.Summary{UptoMessage: 4}}, false, 0},
		{"75 % of the window", recall.SummaryInput{Entries: big, ContextTokens: 400}, true, 2},
		{"less than 75 %", recall.SummaryInput{Entries: big, ContextTokens: 500}, false, 0},
		{"exactly 75 % of the window", recall.SummaryInput{Entries: sized(712), ContextTokens: 400}, false, 0},
		{"a token more", recall.SummaryInput{Entries: sized(714), ContextTokens: 400}, true, 2},
		{"a turn of one entry", recall.SummaryInput{Entries: oneAnd21}, true, 1},
		{"one turn of five entries is never cut", recall.SummaryInput{Entries: append(talk(1), append(toolRows(3, "t1", false), toolRows(5, "t1", false)[:1]...)...), ContextTokens: 4}, false, 0},
		{"four entries are left alone", recall.SummaryInput{Entries: talk(2), ContextTokens: 4}, false, 0},
		{"one turn is never cut", recall.SummaryInput{Entries: append(talk(1), toolRows(3, "t1", false)...), ContextTokens: 4}, false, 0},
		{"nothing", recall.SummaryInput{}, false, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plan, due := recall.PlanSummary(tt.in)
			require.Equal(t, tt.due, due)
			require.Equal(t, tt.upto, plan.Upto)
		})
	}
	t.Run("whole turns without turn ids", func(t *testing.T) {
		entries := talk(12)
		for i := range entries {
			entries[i].TurnID = ""
		}
		entries[20].Role, entries[21].Role = models.RoleAssistant, models.RoleAssistant
		plan, due := recall.PlanSummary(recall.SummaryInput{Entries: entries})
		require.True(t, due)
		require.Equal(t, int64(18), plan.Upto, "19 to 22 are one turn")
	})
	t.Run("an entry without a turn id goes on with the turn", func(t *testing.T) {
		entries := talk(12)
		entries[20].TurnID, entries[20].Role = "", models.RoleAssistant
		plan, due := recall.PlanSummary(recall.SummaryInput{Entries: entries})
		require.True(t, due)
		require.Equal(t, int64(18), plan.Upto, "19 to 22 are one turn")
	})
	t.Run("tool outcomes in one line", func(t *testing.T) {
		entries := append(append(talk(1), toolRows(3, "t2", false)...), toolRows(5, "t2", true)...)
		for i, entry := range talk(11) {
			entry.ID, entry.TurnID = int64(10+i), "u"+entry.TurnID
			entries = append(entries, entry)
		}
		entries = append(entries, models.Message{ID: 90, Kind: models.KindDebug, Role: models.RoleAssistant, Text: "debug"})
		plan, _ := recall.PlanSummary(recall.SummaryInput{Entries: entries})
		require.True(t, strings.HasPrefix(plan.Material,
			"person: walk 1\ncoach: nice 1\ntool web done: dry all day\ntool web failed: dry all day\nperson: walk 1\n"), plan.Material)
		require.NotContains(t, plan.Material, "secret")
		require.NotContains(t, plan.Material, "debug")
	})
	t.Run("oversize", func(t *testing.T) {
		plan, _ := recall.PlanSummary(recall.SummaryInput{Entries: big, ContextTokens: 400})
		require.Equal(t, "(a text of the person with 800 characters was left out)\ncoach: nice 1", plan.Material)
	})
	t.Run("exactly half of the window", func(t *testing.T) {
		entries := talk(11)
		entries[0].Text = long(92) // 40 tokens with its speaker
		plan, _ := recall.PlanSummary(recall.SummaryInput{Entries: entries, ContextTokens: 80})
		require.Equal(t, "person: "+long(92)+"\ncoach: nice 1", plan.Material, "and a short answer stays, for a note would be longer")
		entries[0].Text = long(93)
		plan, _ = recall.PlanSummary(recall.SummaryInput{Entries: entries, ContextTokens: 80})
		require.Equal(t, "(a text of the person with 93 characters was left out)\ncoach: nice 1\nperson: walk 2\ncoach: nice 2", plan.Material)
	})
	t.Run("whole turns of exactly half of the window", func(t *testing.T) {
		upto := func(entries []models.Message, context int) int64 {
			plan, due := recall.PlanSummary(recall.SummaryInput{Entries: entries, ContextTokens: context})
			require.True(t, due)
			return plan.Upto
		}
		// A turn holds 12 tokens with its speakers.
		require.Equal(t, int64(4), upto(talk(11), 48))
		require.Equal(t, int64(2), upto(talk(11), 46))
		first := talk(12)[1:]
		first[1].Text, first[2].Text = long(60), long(60)
		require.Equal(t, int64(2), upto(first, 48), "the first turn has one entry")
	})
	t.Run("what does not fit waits", func(t *testing.T) {
		entries := talk(20)
		plan, due := recall.PlanSummary(recall.SummaryInput{Entries: entries, ContextTokens: 80})
		require.True(t, due)
		require.LessOrEqual(t, recall.EstimateTokens(plan.Material), 40+8)
		require.Equal(t, "person: walk 1", strings.SplitN(plan.Material, "\n", 2)[0])
		require.Less(t, plan.Upto, int64(36))
	})
}

func TestSummaryMerge(t *testing.T) {
	earlier := models.Summary{ParticipantID: "p1", Text: "Walks at seven. Knee hurts.", UptoMessage: 10, Version: 3}
	entries := talk(22)
	plan, due := recall.PlanSummary(recall.SummaryInput{Entries: entries, Summary: earlier})
	require.True(t, due)
	t.Run("a text during the summary", func(t *testing.T) {
		got, ok := plan.Merge("<think>x</think>New.", noon)
		require.True(t, ok)
		require.Equal(t, models.Summary{ParticipantID: "p1", Text: "New.", UptoMessage: 40, Version: 3, UpdatedAt: noon}, got)
		later := append(entries, models.Message{ID: 45, TurnID: "t23", Role: models.RoleUser, Text: "I also fell", At: noon})
		for i := range 17 {
			later = append(later, models.Message{ID: int64(46 + i), TurnID: fmt.Sprintf("t%d", 24+i), Role: models.RoleUser, Text: "more", At: noon})
		}
		next, due := recall.PlanSummary(recall.SummaryInput{Entries: later, Summary: got})
		require.True(t, due)
		require.Contains(t, next.Material, "person: walk 21\n")
		require.Contains(t, next.Material, "I also fell")
		require.NotContains(t, next.Material, "walk 20\n")
	})
	t.Run("a failure changes nothing", func(t *testing.T) {
		for _, answer := range []string{"", " ", "NONE", "<think>x"} {
			got, ok := plan.Merge(answer, noon)
			require.False(t, ok)
			require.Equal(t, earlier, got)
		}
	})
	t.Run("too long", func(t *testing.T) {
		got, _ := plan.Merge(long(5000), noon)
		require.Equal(t, 3000, chars(got.Text))
	})
}

func TestPlanSummaryProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var entries []models.Message
		for i := range rapid.IntRange(0, 60).Draw(t, "entries") {
			role := rapid.SampledFrom([]models.Role{models.RoleUser, models.RoleAssistant}).Draw(t, "role")
			turn := fmt.Sprintf("t%d", i/rapid.IntRange(1, 5).Draw(t, "turn"))
			entries = append(entries, models.Message{ID: int64(i + 1), TurnID: turn, Role: role, Text: rapid.StringN(0, 300, -1).Draw(t, "text")})
		}
		in := recall.SummaryInput{Entries: entries, ContextTokens: rapid.IntRange(0, 2000).Draw(t, "context")}
		for range 100 {
			plan, due := recall.PlanSummary(in)
			if !due {
				return
			}
			require.Greater(t, plan.Upto, in.Summary.UptoMessage, "it moves on")
			require.LessOrEqual(t, plan.Upto, int64(len(entries)-4), "four stay")
			in.Summary.UptoMessage = plan.Upto
		}
		t.Fatal("it does not come to an end")
	})
}

func TestPlanNote(t *testing.T) {
	tokyo := time.FixedZone("Asia/Tokyo", 9*60*60)
	entries := append(talk(2), toolRows(5, "t3", false)...)
	entries[2].At, entries[3].At = noon.Add(4*time.Hour), noon.Add(5*time.Hour)
	entries = append(entries, models.Message{ID: 9, Kind: models.KindDebug, Role: models.RoleAssistant, Text: "debug", At: noon})
	in := recall.NoteInput{ParticipantID: "p1", Entries: entries, Zone: tokyo, Notes: []models.Note{
		{ParticipantID: "p1", LocalDate: "2026-11-20", Text: "Person: walked.", UptoMessage: 1},
		{ParticipantID: "p2", LocalDate: "2026-11-21", Text: "not hers", UptoMessage: 90},
	}}
	plan, open := recall.PlanNote(in)
	require.True(t, open)
	t.Run("the newest local day, with what is older under its date", func(t *testing.T) {
		require.Equal(t, models.Note{ParticipantID: "p1", LocalDate: "2026-11-21"}, plan.Earlier)
		require.Equal(t, "2026-11-20:\ncoach: nice 1\n2026-11-21:\nperson: walk 2\ncoach: nice 2", plan.Material)
		require.Equal(t, int64(4), plan.Upto)
	})
	t.Run("tool rows reach no note", func(t *testing.T) { require.NotContains(t, plan.Material, "dry") })
	t.Run("an addition", func(t *testing.T) {
		in := in
		in.Entries = entries[:3]
		in.Entries[2].At = noon
		plan, open := recall.PlanNote(in)
		require.True(t, open)
		require.Equal(t, in.Notes[0], plan.Earlier)
		require.Equal(t, "coach: nice 1\nperson: walk 2", plan.Material)
	})
	t.Run("nothing open", func(t *testing.T) {
		for _, entries := range [][]models.Message{toolRows(1, "t1", false), talk(1)[1:], nil} {
			_, open := recall.PlanNote(recall.NoteInput{ParticipantID: "p1", Entries: entries})
			require.False(t, open)
		}
	})
	t.Run("one note stands for all before it", func(t *testing.T) {
		entries := talk(10)
		for i := range entries {
			entries[i].At = noon.AddDate(0, 0, i/2)
		}
		note := models.Note{ParticipantID: "p1", LocalDate: "2026-11-28", UptoMessage: 18}
		plan, open := recall.PlanNote(recall.NoteInput{ParticipantID: "p1", Entries: entries, Notes: []models.Note{note}})
		require.True(t, open)
		require.Equal(t, "person: walk 10\ncoach: nice 10", plan.Material, "days without a note are not read again")
	})
	t.Run("half of the model's window, the newest first", func(t *testing.T) {
		plan, _ := recall.PlanNote(recall.NoteInput{ParticipantID: "p1", Entries: talk(40), ContextTokens: 100})
		require.Contains(t, plan.Material, "walk 40")
		require.NotContains(t, plan.Material, "walk 20")
		require.LessOrEqual(t, recall.EstimateTokens(plan.Material), 60)
	})
}

func TestMergeNote(t *testing.T) {
	words := func(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) }
	note := func(text string) models.Note {
		return models.Note{ParticipantID: "p1", LocalDate: "2026-11-20", Text: text, UptoMessage: 4}
	}
	tests := []struct {
		name, earlier, answer, want string
		rewrite                     bool
	}{
		{"first entry", "", "Person: walked.\n\nCoach: cheered.", "Person: walked.\nCoach: cheered.", false},
		{"addition", "Person: walked.", "Person: fell.", "Person: walked.\nPerson: fell.", false},
		{"an answer that repeats the note", "Person: walked.", "Person: walked.\nPerson: fell.", "Person: walked.\nPerson: fell.", false},
		{"nothing worth a line", "Person: walked.", "NONE.", "Person: walked.", false},
		{"200 words", words(150), words(90), words(150) + "\n" + words(50), false},
		{"a full note is written anew", words(190), words(250), words(200), true},
		{"a first day without news", "", "NONE", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plan, _ := recall.PlanNote(recall.NoteInput{ParticipantID: "p1", Entries: talk(4), Notes: []models.Note{note(tt.earlier)}})
			require.Equal(t, tt.rewrite, plan.Rewrite)
			got, ok := plan.Merge(tt.answer, noon)
			require.True(t, ok)
			require.Equal(t, tt.want, got.Text)
			require.Equal(t, int64(8), got.UptoMessage)
			require.Equal(t, noon, got.UpdatedAt)
			failed, ok := plan.Merge(" ", noon)
			require.False(t, ok)
			require.Equal(t, note(tt.earlier), failed)
		})
	}
	t.Run("a script without spaces", func(t *testing.T) {
		plan, _ := recall.PlanNote(recall.NoteInput{Entries: talk(1)})
		got, _ := plan.Merge(strings.Repeat("歩", 3000), noon)
		require.LessOrEqual(t, chars(got.Text), 1400)
	})
}

func TestNotesGrowWithinBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		current := models.Note{ParticipantID: "p1", LocalDate: "2026-11-20"}
		for i := range rapid.IntRange(1, 12).Draw(t, "times") {
			entries := []models.Message{{ID: int64(10 + i), Role: models.RoleUser, Text: "walked", At: noon}}
			plan, _ := recall.PlanNote(recall.NoteInput{ParticipantID: "p1", Entries: entries, Notes: []models.Note{current}})
			next, _ := plan.Merge(strings.Repeat("word ", rapid.IntRange(0, 300).Draw(t, "words")), noon)
			require.LessOrEqual(t, len(strings.Fields(next.Text)), 200)
			require.LessOrEqual(t, chars(next.Text), 1400)
			if !plan.Rewrite {
				require.True(t, strings.HasPrefix(next.Text, current.Text), "what was written stays")
			}
			current = next
		}
	})
}
