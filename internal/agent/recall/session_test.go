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
		{"P31 20 entries", recall.SummaryInput{Entries: talk(10)}, false, 0},
		{"P31 21 entries", recall.SummaryInput{Entries: talk(11)[:21]}, true, 16},
		{"P31 more than 20", recall.SummaryInput{Entries: talk(11)}, true, 18},
		{"P31 covered ones do not count", recall.SummaryInput{Entries: talk(12), Summary: models.Summary{UptoMessage: 4}}, false, 0},
		{"P31 75 % of the window", recall.SummaryInput{Entries: big, ContextTokens: 400}, true, 2},
		{"P31 less than 75 %", recall.SummaryInput{Entries: big, ContextTokens: 500}, false, 0},
		{"P31 exactly 75 % of the window", recall.SummaryInput{Entries: sized(712), ContextTokens: 400}, false, 0},
		{"P31 a token more", recall.SummaryInput{Entries: sized(714), ContextTokens: 400}, true, 2},
		{"P32 a turn of one entry", recall.SummaryInput{Entries: oneAnd21}, true, 1},
		{"P32 one turn of five entries is never cut", recall.SummaryInput{Entries: append(talk(1), append(toolRows(3, "t1", false), toolRows(5, "t1", false)[:1]...)...), ContextTokens: 4}, false, 0},
		{"2.12 four entries are left alone", recall.SummaryInput{Entries: talk(2), ContextTokens: 4}, false, 0},
		{"P32 one turn is never cut", recall.SummaryInput{Entries: append(talk(1), toolRows(3, "t1", false)...), ContextTokens: 4}, false, 0},
		{"nothing", recall.SummaryInput{}, false, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plan, due := recall.PlanSummary(tt.in)
			require.Equal(t, tt.due, due)
			require.Equal(t, tt.upto, plan.Upto)
		})
	}
	t.Run("P32 whole turns without turn ids", func(t *testing.T) {
		entries := talk(12)
		for i := range entries {
			entries[i].TurnID = ""
		}
		entries[20].Role, entries[21].Role = models.RoleAssistant, models.RoleAssistant
		plan, due := recall.PlanSummary(recall.SummaryInput{Entries: entries})
		require.True(t, due)
		require.Equal(t, int64(18), plan.Upto, "19 to 22 are one turn")
	})
	t.Run("P32 an entry without a turn id goes on with the turn", func(t *testing.T) {
		entries := talk(12)
		entries[20].TurnID, entries[20].Role = "", models.RoleAssistant
		plan, due := recall.PlanSummary(recall.SummaryInput{Entries: entries})
		require.True(t, due)
		require.Equal(t, int64(18), plan.Upto, "19 to 22 are one turn")
	})
	t.Run("P33 tool outcomes in one line", func(t *testing.T) {
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
	t.Run("P33 oversize", func(t *testing.T) {
		plan, _ := recall.PlanSummary(recall.SummaryInput{Entries: big, ContextTokens: 400})
		require.Equal(t, "(a text of the person with 800 characters was left out)\ncoach: nice 1", plan.Material)
	})
	t.Run("P33 exactly half of the window", func(t *testing.T) {
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

func TestSummaryRequest(t *testing.T) {
	earlier := models.Summary{ParticipantID: "p1", Text: "Walks at seven. Knee hurts.", UptoMessage: 10, Version: 3}
	entries := talk(22)
	plan, due := recall.PlanSummary(recall.SummaryInput{Entries: entries, Summary: earlier})
	require.True(t, due)
	req, err := plan.Request(library(t), "m")
	text := system(t, req, err)
	golden(t, "summary_request.golden.txt", text)
	t.Run("A62 W14", func(t *testing.T) { require.Contains(t, text, "Walks at seven. Knee hurts.") })
	t.Run("P34", func(t *testing.T) { require.Equal(t, 1024, req.MaxTokens) })
	t.Run("A61", func(t *testing.T) {
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

// A check that finds nothing to do is saved, and nothing leaves the model's
// sight before it is summed up.
func TestNeedsSummary(t *testing.T) {
	big := talk(3)
	big[0].Text = long(800)
	tests := []struct {
		name  string
		in    recall.SummaryInput
		shown int
		want  bool
	}{
		{"P31 not before it is due", recall.SummaryInput{Entries: talk(10)}, 10, false},
		{"little is shown", recall.SummaryInput{Entries: talk(11)}, 10, true},
		{"no bound on what is shown", recall.SummaryInput{Entries: talk(11)}, -1, true},
		{"due, with room left", recall.SummaryInput{Entries: talk(13)}, 30, false},
		{"due, and the oldest are about to go", recall.SummaryInput{Entries: talk(14)}, 30, true},
		{"P31 covered ones do not count", recall.SummaryInput{Entries: talk(15), Summary: models.Summary{UptoMessage: 4}}, 30, false},
		{"P31 75 % of the window", recall.SummaryInput{Entries: big, ContextTokens: 400}, 30, true},
		{"nothing", recall.SummaryInput{}, 30, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, tt.in.NeedsSummary(tt.shown))
			_, due := recall.PlanSummary(tt.in)
			require.True(t, due || !tt.want, "what presses is due")
		})
	}
}

func TestDayOver(t *testing.T) {
	paris, err := time.LoadLocation("Europe/Paris")
	require.NoError(t, err)
	late := time.Date(2026, 11, 20, 23, 30, 0, 0, time.UTC) // the 21st in Paris
	entry := func(id int64, at time.Time) models.Message {
		return models.Message{ID: id, Role: models.RoleUser, Kind: models.KindMessage, Text: "walk", At: at}
	}
	tool := toolRows(2, "t1", false)
	note := func(day string, upto int64) []models.Note {
		return []models.Note{{ParticipantID: "conv_1", LocalDate: day, UptoMessage: upto}}
	}
	tests := []struct {
		name  string
		in    recall.NoteInput
		want  bool
		entry []models.Message
	}{
		{"J51 one day", recall.NoteInput{}, false, []models.Message{entry(1, noon), entry(2, late)}},
		{"J51 a local day is over", recall.NoteInput{Zone: paris}, true, []models.Message{entry(1, noon), entry(2, late)}},
		{"its note is there", recall.NoteInput{Zone: paris, Notes: note("2026-11-20", 1)}, false, []models.Message{entry(1, noon), entry(2, late)}},
		{"its note lacks something", recall.NoteInput{Zone: paris, Notes: note("2026-11-20", 1)}, true, []models.Message{entry(1, noon), entry(2, noon), entry(3, late)}},
		{"another person's note", recall.NoteInput{Zone: paris, Notes: []models.Note{{ParticipantID: "conv_2", LocalDate: "2026-11-20", UptoMessage: 1}}}, true, []models.Message{entry(1, noon), entry(2, late)}},
		{"J17 nothing but tools", recall.NoteInput{Zone: paris}, false, append(tool, entry(4, late))},
		{"nothing", recall.NoteInput{}, false, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.in.ParticipantID, tt.in.Entries = "conv_1", tt.entry
			require.Equal(t, tt.want, tt.in.DayOver())
		})
	}
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

func TestPlanNotes(t *testing.T) {
	tokyo := time.FixedZone("Asia/Tokyo", 9*60*60)
	entries := append(talk(2), toolRows(5, "t3", false)...)
	entries[2].At, entries[3].At = noon.Add(4*time.Hour), noon.Add(5*time.Hour)
	entries = append(entries, models.Message{ID: 9, Kind: models.KindDebug, Role: models.RoleAssistant, Text: "debug", At: noon})
	diary := recall.NoteInput{ParticipantID: "p1", Entries: entries, Zone: tokyo, Notes: []models.Note{
		{ParticipantID: "p1", LocalDate: "2026-11-20", Text: "Person: walked.", UptoMessage: 1},
		{ParticipantID: "p2", LocalDate: "2026-11-21", Text: "not hers", UptoMessage: 90},
	}}
	plans := recall.PlanNotes(diary)
	require.Len(t, plans, 2)
	t.Run("P44 local days", func(t *testing.T) {
		require.Equal(t, "coach: nice 1", plans[0].Material)
		require.Equal(t, diary.Notes[0], plans[0].Earlier)
		require.Equal(t, models.Note{ParticipantID: "p1", LocalDate: "2026-11-21"}, plans[1].Earlier)
		require.Equal(t, "person: walk 2\ncoach: nice 2", plans[1].Material)
		require.Equal(t, int64(4), plans[1].Upto)
	})
	t.Run("J17", func(t *testing.T) { require.NotContains(t, plans[0].Material+plans[1].Material, "dry") })
	t.Run("nothing open", func(t *testing.T) {
		require.Empty(t, recall.PlanNotes(recall.NoteInput{ParticipantID: "p1", Entries: toolRows(1, "t1", false)}))
	})
	t.Run("J51", func(t *testing.T) {
		req, err := plans[1].Request(library(t), "m")
		golden(t, "note_request.golden.txt", system(t, req, err))
		req, err = plans[0].Request(library(t), "m")
		text := system(t, req, err)
		golden(t, "note_more_request.golden.txt", text)
		require.Contains(t, text, "at most 198 words")
		require.Contains(t, text, "Person: walked.")
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
		{"P46 first entry", "", "Person: walked.\n\nCoach: cheered.", "Person: walked.\nCoach: cheered.", false},
		{"P46 addition", "Person: walked.", "Person: fell.", "Person: walked.\nPerson: fell.", false},
		{"P46 an answer that repeats the note", "Person: walked.", "Person: walked.\nPerson: fell.", "Person: walked.\nPerson: fell.", false},
		{"nothing worth a line", "Person: walked.", "NONE.", "Person: walked.", false},
		{"J51 200 words", words(150), words(90), words(150) + "\n" + words(50), false},
		{"J51 a full note is written anew", words(190), words(250), words(200), true},
		{"a first day without news", "", "NONE", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plan := recall.PlanNotes(recall.NoteInput{ParticipantID: "p1", Entries: talk(4), Notes: []models.Note{note(tt.earlier)}})[0]
			require.Equal(t, tt.rewrite, plan.Rewrite)
			req, err := plan.Request(library(t), "m")
			require.Contains(t, system(t, req, err), tt.earlier)
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
	t.Run("J51 a script without spaces", func(t *testing.T) {
		plan := recall.PlanNotes(recall.NoteInput{Entries: talk(1)})[0]
		got, _ := plan.Merge(strings.Repeat("歩", 3000), noon)
		require.LessOrEqual(t, chars(got.Text), 1400)
	})
}

func TestNotesGrowWithinBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		current := models.Note{ParticipantID: "p1", LocalDate: "2026-11-20"}
		for i := range rapid.IntRange(1, 12).Draw(t, "times") {
			entries := []models.Message{{ID: int64(10 + i), Role: models.RoleUser, Text: "walked", At: noon}}
			plan := recall.PlanNotes(recall.NoteInput{ParticipantID: "p1", Entries: entries, Notes: []models.Note{current}})[0]
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
